"""Cells of maps as vector shapes, because pictures would blur or show seams in vector files."""

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPainterPath, QPen

from attnlab.figures.layout import Grid
from attnlab.figures.palette import Palette

MOST_SHAPES = 20_000
"""Maps with more cells than this are a lossless picture in vector files, which would otherwise be huge."""
_VECTORS = (QPaintEngine.Type.Pdf, QPaintEngine.Type.SVG, QPaintEngine.Type.Picture)
HATCH_PX = 6
RADIUS = 3.0


def wants_shapes(painter: QPainter, grid: Grid) -> bool:
    """Return whether the painter writes vectors and the cells are large and few enough to be shapes."""
    if painter.paintEngine().type() not in _VECTORS:
        return False
    painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)  # otherwise a small picture becomes a JPEG
    return grid.framed and grid.count * grid.rows * grid.columns <= MOST_SHAPES


def draw_shapes(
    painter: QPainter,
    grid: Grid,
    image: NDArray[np.uint32],
    masked: NDArray[np.bool_] | None,
    empty: NDArray[np.bool_] | None,
    palette: Palette,
) -> None:
    """Draw cells of ARGB colours [n, rows, columns] with rounded corners, masked ones [rows, columns] hatched.

    ``empty`` ones [n, rows, columns] get a hairline. All cells of one colour are one shape, which keeps files small.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    shown = image if masked is None else np.where(masked, np.uint32(0), image)
    for colour in np.unique(shown[shown != 0]).tolist():
        painter.fillPath(_make_path(grid, np.argwhere(shown == colour)), QColor.fromRgba(colour))
    if masked is not None and masked.any():
        hidden = np.broadcast_to(masked, image.shape)
        _draw_hatching(painter, grid, np.argwhere(hidden), palette)
    if empty is not None and empty.any():
        painter.strokePath(_make_path(grid, np.argwhere(empty)), QPen(QColor(palette.hairline), 1))
    painter.restore()


def _make_path(grid: Grid, places: NDArray[np.intp]) -> QPainterPath:
    """Return one path of cells (index, row, column), each inset by half the gap."""
    least = min(grid.cell_width, grid.cell_height)
    gap, radius = (1.0 if least >= 8 else 0.5), (RADIUS if least >= 12 else 1.5)
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    for index, row, column in places.tolist():
        rect = QRectF(*grid.rect(index, row, column))
        path.addRoundedRect(rect.adjusted(gap / 2, gap / 2, -gap / 2, -gap / 2), radius, radius)
    return path


def _draw_hatching(painter: QPainter, grid: Grid, places: NDArray[np.intp], palette: Palette) -> None:
    """Draw fine diagonal lines over cells, cut off at each cell by arithmetic, because Qt's SVG has no clipping."""
    painter.fillPath(_make_path(grid, places), QColor(palette.control))
    lines = trace_hatching(grid, places)
    painter.strokePath(lines, QPen(QColor(palette.hatch), 1, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))


def trace_hatching(grid: Grid, places: NDArray[np.intp]) -> QPainterPath:
    """Return fine diagonal lines over cells (index, row, column)."""
    inset = 1.0 + (0.5 if min(grid.cell_width, grid.cell_height) >= 8 else 0.25)
    lines = QPainterPath()
    for index, row, column in places.tolist():
        x, y, width, height = grid.rect(index, row, column)
        left, top, right, bottom = x + inset, y + inset, x + width - inset, y + height - inset
        first = math.ceil((left + top) / HATCH_PX) * HATCH_PX
        for total in range(first, math.floor(right + bottom) + 1, HATCH_PX):  # x + y is the same all along a line
            start, end = max(left, total - bottom), min(right, total - top)
            if end - start > 0.5:
                lines.moveTo(start, total - start)
                lines.lineTo(end, total - end)
    return lines

"""Marks over the cells of maps: hatching of masked cells that have a number, crosses on cells dropped at random."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from attnlab.figures.empty_cells import find_rects
from attnlab.figures.layout import Grid
from attnlab.figures.map_shapes import trace_hatching, wants_shapes
from attnlab.figures.palette import Palette
from attnlab.figures.tiles import make_hatching

if TYPE_CHECKING:
    from attnlab.figures.map_data import MapData

_CROSS = 0.2
"""Half the side of a cross, relative to the shorter side of its cell."""
_LARGEST_CROSS_PX = 7.0


def draw_marks(painter: QPainter, grid: Grid, data: "MapData", palette: Palette) -> None:
    """Hatch the ``filled`` cells of maps over their colour, and cross the ``dropped`` ones out if they are large."""
    if data.filled is not None and data.filled.any():
        _hatch(painter, grid, np.broadcast_to(data.filled, data.values.shape), palette)
    if data.dropped is not None and grid.framed and data.dropped.any():
        _cross_out(painter, grid, np.broadcast_to(data.dropped, data.values.shape), palette)


def _hatch(painter: QPainter, grid: Grid, cells: NDArray[np.bool_], palette: Palette) -> None:
    if wants_shapes(painter, grid):
        painter.strokePath(trace_hatching(grid, np.argwhere(cells)), make_hatching_pen(palette))
        return
    brush = make_hatching(palette, clear=True)
    for rect in find_rects(grid, cells):
        painter.fillRect(rect, brush)


def make_hatching_pen(palette: Palette) -> QPen:
    """Return the pen of the lines over coloured cells."""
    return QPen(QColor(palette.muted), 0.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)


def _cross_out(painter: QPainter, grid: Grid, cells: NDArray[np.bool_], palette: Palette) -> None:
    reach = min(_CROSS * min(grid.cell_width, grid.cell_height), _LARGEST_CROSS_PX)
    path = QPainterPath()
    for index, row, column in np.argwhere(cells).tolist():
        x, y, width, height = grid.rect(index, row, column)
        middle = QPointF(x + width / 2, y + height / 2)
        for slope in (1, -1):
            path.moveTo(middle + QPointF(-reach, -reach * slope))
            path.lineTo(middle + QPointF(reach, reach * slope))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(path, QPen(QColor(palette.muted), 1.2))
    painter.restore()

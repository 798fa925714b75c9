"""Cells without numbers yet, drawn as empty frames, and a veil over cells whose numbers are new."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.base.text_marks import COVER
from attnlab.figures.layout import Grid
from attnlab.figures.palette import Palette
from attnlab.figures.tiles import RADIUS, draw_hollow

NARROW = 9.0
"""The width in pixels below which the frames of single cells would be a grey area."""


def find_runs(cells: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Return the runs of True along the rows of maps [n, rows, columns]: map, row, first column and end."""
    padded = np.pad(cells.astype(np.int8), ((0, 0), (0, 0), (1, 1)))
    steps = np.diff(padded, axis=-1)
    starts, stops = np.argwhere(steps == 1).tolist(), np.argwhere(steps == -1).tolist()
    return [(index, row, first, last[2]) for (index, row, first), last in zip(starts, stops, strict=True)]


def draw_frames(painter: QPainter, grid: Grid, empty: NDArray[np.bool_], palette: Palette) -> None:
    """Draw a hairline around each empty cell [n, rows, columns], around rows if cells are narrow, else the map."""
    if not grid.framed:
        painter.setPen(QColor(palette.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for index in range(grid.count):
            painter.drawRect(QRectF(*grid.rect(index, None, None)))
        return
    if grid.cell_width < NARROW:
        painter.setPen(QColor(palette.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for rect in find_rects(grid, empty):
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        return
    tile = draw_hollow(grid.cell_width, grid.cell_height, painter.device().devicePixelRatioF(), palette.hairline)
    for rect in find_rects(grid, empty):
        painter.drawTiledPixmap(rect, tile)


def draw_covers(
    painter: QPainter, grid: Grid, cells: Iterable[tuple[int, int, int]], font: QFont, palette: Palette
) -> None:
    """Cover the cells (map, row, column) that are asked for: blocks with a question mark in a size that fits."""
    rects = [QRectF(*grid.rect(*cell)) for cell in cells]
    if not rects:
        return
    least = min(grid.cell_width, grid.cell_height)
    gap, radius = (1.0 if least >= 8 else 0.0), (RADIUS if least >= 12 else 0.0)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.cover))
    for rect in rects:
        painter.drawRoundedRect(rect.adjusted(gap / 2, gap / 2, -gap / 2, -gap / 2), radius, radius)
    mark = QFont(font)
    mark.setPixelSize(max(round(min(font.pixelSize(), 0.8 * grid.cell_height, 1.2 * grid.cell_width)), 1))
    if mark.pixelSize() >= 6:
        painter.setPen(QColor(palette.on_cover))
        painter.setFont(mark)
        for rect in rects:
            painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), COVER)
    painter.restore()


def draw_veil(painter: QPainter, grid: Grid, cells: NDArray[np.bool_], colour: str, strength: float) -> None:
    """Draw a colour over cells [n, rows, columns] with an opacity of ``strength``, 0 to 1."""
    veil = QColor(colour)
    veil.setAlphaF(strength)
    for rect in find_rects(grid, cells):
        painter.fillRect(rect, veil)


def find_rects(grid: Grid, cells: NDArray[np.bool_]) -> list[QRectF]:
    """Return rectangles that cover the cells, with whole rows joined."""
    if cells.all():
        return [QRectF(*grid.rect(index, None, None)) for index in range(grid.count)]
    rects = []
    for index, row, start, stop in find_runs(cells):
        x, y, _, height = grid.rect(index, row, start)
        rects.append(QRectF(x, y, (stop - start) * grid.cell_width, height))
    return rects

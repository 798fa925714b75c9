"""The one routine that draws the cells of maps: on the screen, into a picture and into vector files."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from attnlab.figures.cell_marks import draw_marks
from attnlab.figures.empty_cells import draw_frames
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_shapes import draw_shapes, wants_shapes
from attnlab.figures.palette import Palette
from attnlab.figures.raster import colour_cells, join_maps, reduce_cells, reduce_maps
from attnlab.figures.tiles import RADIUS, draw_frame, make_hatching

LEAST_GROUPED = 3.0
"""Columns narrower than this, in pixels, have no lines between their groups."""
THIN_BELOW = 10.0
"""Frames around rows and columns narrower than this, in pixels, are hairlines; thicker ones would cover them."""


def draw_cells(painter: QPainter, grid: Grid, data: MapData, palette: Palette) -> None:
    """Draw the cells of all maps: colours, hatching of masked cells, and frames if there is room."""
    values, masked, muted = data.values, data.masked, data.is_muted
    empty = data.empty
    if min(grid.cell_width, grid.cell_height) < 1:
        rows, cols = _count_pixels(grid, painter)
        values = reduce_maps(_reduce_coarsely(data, rows, cols), rows, cols)
        if empty is not None:
            empty = reduce_cells(empty, rows, cols)
        if masked is not None:
            masked = reduce_cells(masked, rows, cols)
        if muted is not None:
            muted = reduce_cells(muted[None], 1, cols)[0]
    image = colour_cells(values, data.kind, data.scale, palette, masked, muted)
    if empty is not None:
        image[empty] = QColor(palette.surface).rgba()
    if wants_shapes(painter, grid):
        draw_shapes(painter, grid, image, masked, empty, palette)
        if data.column_group:
            _draw_group_lines(painter, grid, data.column_group, palette)
        draw_marks(painter, grid, data, palette)
        return
    if data.masked is not None:
        for index in range(grid.count):
            painter.fillRect(QRectF(*grid.rect(index, None, None)), make_hatching(palette))
    _draw_image(painter, grid, data, palette, image)
    if data.column_group:
        _draw_group_lines(painter, grid, data.column_group, palette)
    if data.empty is not None:
        draw_frames(painter, grid, data.empty, palette)
    draw_marks(painter, grid, data, palette)


_coarse: "WeakKeyDictionary[MapData, NDArray[np.floating]]" = WeakKeyDictionary()


def _reduce_coarsely(data: MapData, rows: int, columns: int) -> NDArray[np.floating]:
    """Return the numbers of maps reduced to at least twice ``rows`` × ``columns``, and cached, so that the same maps in
    another size are quickly drawn."""
    height, width = (1 << (2 * size - 1).bit_length() for size in (rows, columns))
    if data.values.shape[1] <= height and data.values.shape[2] <= width:
        return _replace_hidden(data)
    known = _coarse.get(data)
    size = min(height, data.values.shape[1]), min(width, data.values.shape[2])
    if known is None or known.shape[1:] != size:
        known = _coarse[data] = reduce_maps(_replace_hidden(data), *size)
    return known


def _replace_hidden(data: MapData) -> NDArray[np.floating]:
    """Return the numbers of maps with 0 in their masked and empty cells, which have no colour."""
    values, empty = data.values, data.empty
    if empty is not None:
        values = np.where(empty, np.float32(0), values)
    if data.is_muted is not None:
        values = np.where(data.is_muted, np.float32(0), values)  # the others in a pixel's block count
    return values if data.masked is None else np.where(values == -np.inf, np.float32(0), values)


def _draw_image(painter: QPainter, grid: Grid, data: MapData, palette: Palette, image: NDArray[np.uint32]) -> None:
    """Draw the colours of all maps: as one image if each cell has its own pixels, else map by map."""
    gap = grid.gap
    if image.shape[1:] != data.values.shape[1:]:
        for index in range(grid.count):
            painter.drawImage(QRectF(*grid.rect(index, None, None)), to_image(np.ascontiguousarray(image[index])))
        return
    sheet = join_maps(image, grid.per_row, gap)
    smooth = painter.testRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)  # it would blend a cell with the next
    painter.drawImage(QRectF(grid.x, grid.y, grid.width, grid.height), to_image(sheet))
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
    if grid.framed:
        ratio = painter.device().devicePixelRatioF()
        tile = draw_frame(grid.cell_width, grid.cell_height, ratio, palette.surface)
        for first in range(0, grid.count, grid.per_row):  # not over the titles between two rows of maps
            _, y, _, height = grid.rect(first, None, None)
            painter.drawTiledPixmap(QRectF(grid.x, y, grid.width, height), tile)


def _draw_group_lines(painter: QPainter, grid: Grid, group: int, palette: Palette) -> None:
    """Draw a thin line between groups of columns if these are wide enough, inside the gap of framed cells."""
    if grid.cell_width < LEAST_GROUPED:
        return
    for index in range(grid.count):
        x, y, _, height = grid.rect(index, None, None)
        for column in range(group, grid.columns, group):
            left = x + column * grid.cell_width
            if grid.framed:
                painter.fillRect(QRectF(left - 2, y, 4, height), QColor(palette.surface))
            painter.fillRect(QRectF(left - 1, y, 1, height), QColor(palette.hatch))


def draw_outlines(painter: QPainter, grid: Grid, outlines: Sequence[Outline]) -> None:
    """Draw frames around cells, rows or columns, at least 4 px wide, so that they are visible on large maps."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for outline in outlines:
        for index in range(grid.count) if outline.index is None else (outline.index,):
            if index >= grid.count:
                continue
            rect = QRectF(*grid.rect(index, outline.row, outline.column))
            if rect.width() < 4 or rect.height() < 4:
                grow_x, grow_y = max(4 - rect.width(), 0) / 2, max(4 - rect.height(), 0) / 2
                rect.adjust(-grow_x, -grow_y, grow_x, grow_y)
            thin = None in (outline.row, outline.column) and min(rect.width(), rect.height()) < THIN_BELOW
            painter.setPen(QPen(QColor(outline.colour), 1.0 if thin else outline.width))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _count_pixels(grid: Grid, painter: QPainter) -> tuple[int, int]:
    ratio = painter.device().devicePixelRatioF()
    rows = min(grid.rows, max(1, int(grid.rows * grid.cell_height * ratio)))
    return rows, min(grid.columns, max(1, int(grid.columns * grid.cell_width * ratio)))


def to_image(argb: NDArray[np.uint32], kind: QImage.Format = QImage.Format.Format_ARGB32_Premultiplied) -> QImage:
    """Return ARGB colours [rows, columns] as an image, which shares their memory."""
    height, width = argb.shape
    return QImage(argb.data, width, height, width * 4, kind)

"""Draws the cells of a figure on pixels and vectors: as shapes if they are few, else as one lossless picture."""

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter

from attnlab.figures.cell_marks import draw_marks
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.map_painter import to_image
from attnlab.figures.map_shapes import MOST_SHAPES, draw_shapes
from attnlab.figures.palette import Palette
from attnlab.figures.raster import colour_cells, join_maps, reduce_cells, reduce_maps

MOST_DOTS = 6_000_000
"""The largest picture inside a vector file, in pixels."""
_HATCH_UNITS = 6.0


def draw_figure_cells(painter: QPainter, grid: Grid, data: MapData, palette: Palette, ratio: float) -> None:
    """Draw the cells of one line of maps at ``ratio`` dots to the unit, and nothing around them.

    Some renderers smooth pictures and would blur cells of one dot, so each cell is a block of dots.
    """
    values, masked, muted = data.values, data.masked, data.is_muted
    rows, columns = _count_dots(grid.rows, grid.cell_height, ratio), _count_dots(grid.columns, grid.cell_width, ratio)
    if rows < grid.rows or columns < grid.columns:
        if masked is not None:
            masked = reduce_cells(masked, rows, columns)
            values = np.where(values == -np.inf, np.float32(0), values)
        if muted is not None:
            values = np.where(muted, np.float32(0), values)  # the others in a dot's block count
            muted = reduce_cells(muted[None], 1, columns)[0]
        values = reduce_maps(values, rows, columns)
    image = colour_cells(values, data.kind, data.scale, palette, masked, muted)
    if data.dropped is not None and image.shape == data.values.shape:
        image[np.broadcast_to(data.dropped, image.shape)] = QColor(palette.surface).rgba()
    if grid.framed and image.size <= MOST_SHAPES:
        draw_shapes(painter, grid, image, masked, None, palette)
        draw_marks(painter, grid, data, palette)
        return
    _draw_sheet(painter, grid, image, masked, palette, ratio)
    draw_marks(painter, grid, data, palette)


def _draw_sheet(
    painter: QPainter,
    grid: Grid,
    image: NDArray[np.uint32],
    masked: NDArray[np.bool_] | None,
    palette: Palette,
    ratio: float,
) -> None:
    """Draw cells of ARGB colours [n, rows, columns] as one lossless picture, masked ones hatched."""
    rows, columns = image.shape[1:]
    pixels = (
        painter.paintEngine().type() == QPaintEngine.Type.Raster
    )  # raster painting enlarges cells without smoothing
    ratio = painter.worldTransform().m11() if pixels else ratio  # a preview has fewer dots than a file
    sides = grid.cell_width * ratio, grid.cell_height * ratio
    even = pixels and all(abs(side - round(side)) < 1e-6 for side in sides)
    blocks = (1, 1) if even and masked is None else _find_block_size(grid, image.size, ratio)
    sheet = image.repeat(blocks[0], 1).repeat(blocks[1], 2)
    if masked is not None and masked.any():
        hidden = masked.repeat(blocks[0], -2).repeat(blocks[1], -1)
        _hatch(sheet, hidden, _HATCH_UNITS * blocks[1] * columns / (grid.columns * grid.cell_width), palette)
    painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)  # otherwise a PDF stores a JPEG
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, pixels and not even)  # all cells equally wide
    if sheet.shape[1:] == (rows * blocks[0], columns * blocks[1]) and (rows, columns) == (grid.rows, grid.columns):
        picture = join_maps(sheet, grid.per_row, (grid.gap[0] * blocks[0], grid.gap[1] * blocks[1]))
        if not pixels:  # PDF viewers blend colours and transparency separately, which would darken edges
            picture[picture == 0] = QColor(palette.surface).rgba() & 0xFFFFFF
        kind = QImage.Format.Format_ARGB32_Premultiplied if pixels else QImage.Format.Format_ARGB32
        painter.drawImage(QRectF(grid.x, grid.y, grid.width, grid.height), to_image(picture, kind))
        return
    for index in range(grid.count):
        painter.drawImage(QRectF(*grid.rect(index, None, None)), to_image(np.ascontiguousarray(sheet[index])))


def _count_dots(count: int, cell: float, ratio: float) -> int:
    """Return the number of dots along an axis if cells are narrower than a dot, else the number of cells."""
    return min(count, max(1, math.floor(count * cell * ratio + 1e-6)))


def _find_block_size(grid: Grid, cells: int, ratio: float) -> tuple[int, int]:
    """Return the dots of a cell, down and across, within the limit of the whole picture."""
    down, across = (max(1, math.ceil(side * ratio - 1e-6)) for side in (grid.cell_height, grid.cell_width))
    most = max(1, math.isqrt(MOST_DOTS // cells))
    return min(down, most), min(across, most)


def _hatch(sheet: NDArray[np.uint32], masked: NDArray[np.bool_], dots: float, palette: Palette) -> None:
    """Fill masked cells with diagonal lines, ``dots`` apart."""
    period = max(round(dots), 2)
    down, right = np.arange(masked.shape[-2])[:, None], np.arange(masked.shape[-1])
    line = (down + right) % period < max(period // 6, 1)
    tones = np.where(line, np.uint32(QColor(palette.hatch).rgba()), np.uint32(QColor(palette.control).rgba()))
    np.copyto(sheet, tones, where=masked)

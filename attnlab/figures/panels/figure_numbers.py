"""Draws the numbers in the cells of a figure: if they are legible, or whenever they fit, if requested."""

import numpy as np
from PySide6.QtGui import QColor, QPainter

from attnlab.figures.cell_numbers import draw_numbers, find_bright, write_cell_text
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData, find_power
from attnlab.figures.palette import DARK_INK, LIGHT_INK, Palette
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.panels.figure_type import NUMBER_PX, make_figure_font
from attnlab.figures.text import Pen

_READABLE_PX, _LEAST_PX = 8, 4
"""The smallest font sizes of automatic numbers and of requested numbers."""


def choose_power(data: MapData, spec: FigureSpec) -> int | None:
    """Return the power of ten in which a figure writes the numbers of maps.

    Without numbers, and with decimals that the user has chosen, it is the maps' own.
    """
    return data.exponent if spec.numbers == "off" or spec.decimals is not None else find_power(data)


def draw_figure_numbers(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, spec: FigureSpec, all_lines: MapData
) -> bool:
    """Draw the numbers of one line of maps, in the format that fits those of all lines; return whether they fit."""
    if spec.numbers == "off" or not data.has_numbers:
        return False
    least = _READABLE_PX if spec.numbers == "auto" else _LEAST_PX
    if grid.cell_height < least:
        return False
    fonts = [make_figure_font(size) for size in range(NUMBER_PX, least - 1, -1)]
    if spec.decimals is None:
        return draw_numbers(painter, grid, data, palette, *fonts, alike=all_lines)
    texts = set(_write_texts(all_lines, spec.decimals).values())
    for font in fonts:
        pen = Pen(painter, font)
        if font.pixelSize() + 2 <= grid.cell_height and max(map(pen.width, texts), default=0.0) + 2 <= grid.cell_width:
            _draw(painter, pen, grid, data, palette, _write_texts(data, spec.decimals))
            return True
    return False


def _write_texts(data: MapData, decimals: int) -> dict[tuple[int, int, int], str]:
    """Return the text of each cell that has a number, by map, row and column."""
    shown = np.ones(data.values.shape, dtype=np.bool_)
    for left_out in (data.masked, data.dropped):
        if left_out is not None:
            shown &= ~left_out
    places = [(index, row, column) for index, row, column in np.argwhere(shown).tolist()]
    return {place: write_cell_text(float(data.values[place]) * data.factor, decimals) for place in places}


def _draw(
    painter: QPainter, pen: Pen, grid: Grid, data: MapData, palette: Palette, texts: dict[tuple[int, int, int], str]
) -> None:
    on_light = np.stack([find_bright(data, index, palette) for index in range(grid.count)]) & np.isfinite(data.values)
    for dark in (True, False):
        painter.setPen(QColor(DARK_INK if dark else LIGHT_INK))
        for place, text in texts.items():
            if on_light[place] == dark:
                x, y, width, height = grid.rect(*place)
                pen.draw(x + width / 2, y + height / 2, text, 0.5)

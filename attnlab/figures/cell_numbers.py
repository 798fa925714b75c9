"""The numbers in the cells of maps: as many digits as fit, in ink that is legible on each colour."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.base.number_text import trim_exponent
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.palette import DARK_INK, LIGHT_INK, Palette, choose_dark_text
from attnlab.figures.raster import MAP_OF, find_indices
from attnlab.figures.text import Pen, find_key, measure_text

MIN_NUMBER = 6.0
"""Cells narrower than this, in pixels, have no numbers: one digit would not fit."""


def draw_numbers(
    painter: QPainter,
    grid: Grid,
    data: MapData,
    palette: Palette,
    *fonts: QFont,
    decimals: int | None = None,
    rounded: bool = True,
    air: float = 0.0,
    alike: MapData | None = None,
) -> bool:
    """Draw the number of each cell, all in one format, in the first of ``fonts`` (largest first) that fits.

    The format fits the numbers of ``alike`` if given: those of all lines of maps, of which ``data`` are one.

    They have this many ``decimals`` if these fit; None: four if these fit, else two. Only if they may be ``rounded``
    further, large ones have fewer than two where two do not fit. An exact zero is a "0", to tell it from a small number
    that is rounded to 0.0000. Between numbers side by side are ``air`` font sizes. Only numbers inside the painter's
    clip are drawn. Returns whether there is room for numbers at all.
    """
    if not _has_room(grid, data, fonts):
        return False
    shown, factor = _find_shown(data), data.factor
    alike = data if alike is None else alike
    chosen = _choose_format(grid, alike, _find_shown(alike), fonts, decimals, rounded, air)
    if chosen is None:
        return False
    font, write = chosen
    pen = Pen(painter, font)

    def form(value: float) -> str:
        return write(factor * value) if value else "0"

    empty = data.empty
    for index in range(grid.count):
        x, y = grid.origin(index)
        rows = find_visible(painter, y, grid.cell_height, grid.rows, vertical=True)
        columns = find_visible(painter, x, grid.cell_width, grid.columns, vertical=False)
        values = data.values[index, rows, columns]
        known = shown[index, rows, columns]
        if empty is not None:
            known = known & ~empty[index, rows, columns]
        on_dark = ~find_bright(data, index, palette)[rows, columns] | ~np.isfinite(values)
        for light in (False, True):
            painter.setPen(QColor(LIGHT_INK if light else DARK_INK))
            for row, column in np.argwhere(known & (on_dark == light)).tolist():
                middle = x + (columns.start + column + 0.5) * grid.cell_width
                pen.draw(middle, y + (rows.start + row + 0.5) * grid.cell_height, form(float(values[row, column])), 0.5)
        muted = empty[index, rows, columns] if empty is not None and data.mark else None
        if data.under is not None:
            muted = ~known
        if muted is None:
            continue
        painter.setPen(QColor(palette.muted))
        for row, column in np.argwhere(muted).tolist():
            middle = x + (columns.start + column + 0.5) * grid.cell_width
            under = data.mark if data.under is None else form(float(data.under[index, rows, columns][row, column]))
            pen.draw(middle, y + (rows.start + row + 0.5) * grid.cell_height, under, 0.5)
    return True


def count_decimals(grid: Grid, data: MapData, *fonts: QFont, most: int = 4) -> int | None:
    """Return for how many decimals :func:`draw_numbers` has room, ``most`` or two; None if for fewer."""
    chosen = _find_format(grid, data, fonts, most)
    decimals = {_fix_decimals(most): most, _fix_decimals(2): 2, _write_bare: 2}
    return decimals.get(chosen[1]) if chosen is not None else None


def rank_detail(grid: Grid, data: MapData, *fonts: QFont, most: int = 4, air: float = 0.0) -> int:
    """Return how much of its numbers :func:`draw_numbers` writes: more for more decimals, least for no numbers."""
    chosen = _find_format(grid, data, fonts, most, air)
    powers = _fix_digits(1), _fix_digits(2)
    ranks = (*powers, _fix_decimals(0), _fix_decimals(1), _write_bare, _fix_decimals(2), _fix_decimals(most))
    return ranks.index(chosen[1]) if chosen is not None else -1


def find_size(grid: Grid, data: MapData, *fonts: QFont, most: int = 4, air: float = 0.0) -> int:
    """Return the pixel size in which :func:`draw_numbers` writes numbers; 0 for no numbers."""
    chosen = _find_format(grid, data, fonts, most, air)
    return chosen[0].pixelSize() if chosen is not None else 0


def find_bright(data: MapData, index: int, palette: Palette) -> NDArray[np.bool_]:
    """Return on which cells of a map dark text reads better than light text."""
    scale = data.scale.of(index, index + 1)
    entries = find_indices(data.values[index : index + 1], data.kind, scale)[0]
    bright: NDArray[np.bool_] = choose_dark_text(MAP_OF[data.kind], palette)[entries]
    if data.muted:
        columns = list(data.muted)
        bright[:, columns] = choose_dark_text("grey", palette)[entries[:, columns]]
    return bright


def _find_format(
    grid: Grid, data: MapData, fonts: Sequence[QFont], most: int, air: float = 0.0
) -> tuple[QFont, Callable[[float], str]] | None:
    """Return the font and the format in which rounded numbers are written; None for no numbers."""
    if not _has_room(grid, data, fonts):
        return None
    return _choose_format(grid, data, _find_shown(data), fonts, most, True, air)


def _has_room(grid: Grid, data: MapData, fonts: Sequence[QFont]) -> bool:
    """Return whether a cell has room for a digit; asked first, as looking through the numbers of a map takes long."""
    high = any(font.pixelSize() + 2 <= grid.cell_height for font in fonts)
    return data.has_numbers and high and grid.cell_width >= MIN_NUMBER


def _find_shown(data: MapData) -> NDArray[np.bool_]:
    """Return which cells have a number of their own."""
    shown = np.ones(data.values.shape, dtype=bool)
    if data.masked is not None:
        shown &= ~data.masked
    if data.least_number:
        shown &= np.abs(data.values) >= data.least_number
    return shown


def _choose_format(
    grid: Grid,
    data: MapData,
    shown: NDArray[np.bool_],
    fonts: Sequence[QFont],
    decimals: int | None,
    rounded: bool,
    air: float = 0.0,
) -> tuple[QFont, Callable[[float], str]] | None:
    """Return the font and the format: two decimals or more in the largest font, else fewer characters in the smallest.

    Shorter formats lose too much of small numbers, so one decimal is only for numbers from 1 on, none for numbers from
    10 on, and powers of ten for numbers from 1000 on.
    """
    fonts = tuple(font for font in fonts if font.pixelSize() + 2 <= grid.cell_height)
    most = 2 if data.exponent else 4 if decimals is None else decimals
    values = (data.values[shown] if data.under is None else np.where(shown, data.values, data.under)) * data.factor
    finite = values[np.isfinite(values)]
    ends = [float(finite.min(initial=0.0)), float(finite.max(initial=0.0))]
    odd = ["NaN"] * (len(finite) < values.size)
    forms = ((_fix_decimals(most), 6.0 if most == 4 else 1.25), (_fix_decimals(2), 1.25))
    tried = [(font, form, room) for font in fonts for form, room in forms]
    largest = max(-ends[0], ends[1])
    powers = (_fix_digits(2), 1000), (_fix_digits(1), 1000)
    shorter = (_write_bare, 0), (_fix_decimals(1), 1), (_fix_decimals(0), 10), *powers
    for form, least in shorter if rounded else shorter[:1]:
        tried += [(font, form, 1.25) for font in fonts if largest >= least]
    for font, form, room in tried:
        texts = [re.sub("[0-9]", "4", form(value)) for value in ends] + odd  # 4 is as wide as any digit
        key = find_key(font)
        if max(measure_text(text, key) for text in texts) <= grid.cell_width - max(room, air * font.pixelSize()):
            return font, form
    return None


def find_visible(painter: QPainter, start: float, cell: float, count: int, *, vertical: bool) -> slice:
    """Return the slice of ``count`` rows or columns from ``start`` inside the painter's clip; all without a clip."""
    if not painter.hasClipping():
        return slice(0, count)
    clip = painter.clipBoundingRect()
    low, high = (clip.top(), clip.bottom()) if vertical else (clip.left(), clip.right())
    first = min(max(int((low - start) // cell), 0), count)
    return slice(first, max(first, min(int((high - start) // cell) + 1, count)))


@lru_cache(maxsize=8)
def _fix_decimals(decimals: int) -> Callable[[float], str]:
    """Return a function that writes numbers with this many decimals, however large they are."""

    def write(value: float) -> str:
        return _write_special(value) or _correct_sign(f"{value:.{decimals}f}")

    return write


def _write_bare(value: float) -> str:
    """Return a number with two decimals and no 0 before the point."""
    return _write_special(value) or re.sub(r"^(−?)0\.", r"\1.", _correct_sign(f"{value:.2f}"))


@lru_cache(maxsize=2)
def _fix_digits(digits: int) -> Callable[[float], str]:
    """Return a function that writes numbers as this many digits and a power of ten; smaller ones rounded to a whole."""

    def write(value: float) -> str:
        if abs(value) < 10**digits - 0.5:
            return _correct_sign(f"{value:.0f}")
        return _write_special(value) or trim_exponent(f"{value:.{digits - 1}e}").replace("-", "−")

    return write


def _write_special(value: float) -> str:
    if value != value:
        return "NaN"
    return "" if abs(value) != float("inf") else ("∞" if value > 0 else "−∞")


def _correct_sign(text: str) -> str:
    """Return a number with a proper minus sign, and a zero without one."""
    return (text[1:] if text.startswith("-") and not text.strip("-0.") else text).replace("-", "−")


def write_cell_text(value: float, decimals: int) -> str:
    """Return a short text of a number: fixed decimals, or an exponent if it is long; ∞ and NaN as such."""
    if not abs(value) < float("inf"):
        return _write_special(value)
    if abs(value) < 10 ** (5 - min(decimals, 3)):
        return _correct_sign(f"{value:.{decimals}f}")
    return f"{value:.0e}".replace("e+0", "e").replace("e+", "e").replace("-", "−")

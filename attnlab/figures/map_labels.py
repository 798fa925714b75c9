"""The labels of the rows and columns of maps, and the titles above them."""

import math
import re
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.figures.cell_numbers import find_visible
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.palette import Palette
from attnlab.figures.text import Pen, elide_text, find_key, mark_blank, measure_text

LABEL_LETTERS = 14
"""Labels of tokens are whole up to this many letters where there is room; longer ones lose their middle."""
LABEL_SPACING = 1.0
"""Labels of rows are at least so many sizes of type apart; in narrower rows some have none."""
_NUMBER = re.compile(r"[0-9]+")
NOTHING_KEPT: Mapping[int, float] = MappingProxyType({})


def draw_labels(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, font: QFont, strong: tuple[int | None, int | None]
) -> None:
    """Draw row labels left of the first maps and column labels above the top ones; ``strong`` ones in full ink."""
    if data.bold_rows:
        _draw_row_labels(painter, grid, data, palette, _embolden(font), strong[0], bold=True)
    pen = _draw_row_labels(painter, grid, data, palette, font, strong[0], bold=False)
    if not grid.column_space:
        return
    if data.column_group:
        _draw_group_labels(painter, grid, data, palette, pen, strong[1])
        return
    flat = grid.column_space < 2 * font.pixelSize() or _fit_columns(grid, data, font)
    if flat and not _are_words_legible(grid, data, font):
        return
    apart = LABEL_SPACING * font.pixelSize()
    if flat:  # words are elided to their cells, but letters cannot be
        apart = max((pen.width(label) for label in data.column_labels if len(label) == 1), default=0.0)
    for place in range(min(grid.per_row, grid.count)):
        x, _ = grid.origin(place)
        seen = find_visible(painter, x, grid.cell_width, grid.columns, vertical=False)
        for column in _thin_out(grid.columns, grid.cell_width, apart, strong[1], seen):
            painter.setPen(QColor(palette.ink if column == strong[1] else palette.muted))
            middle = x + (column + 0.5) * grid.cell_width
            if flat:
                text = data.column_labels[column]
                text = mark_blank(text) if text.isspace() else text
                if len(text) > 1:  # one letter may be a little wider than its cell
                    text = pen.elide(text, math.ceil(grid.cell_width - 2), middle=True)
                pen.draw(middle, grid.y - 4, text, 0.5, 1.0)
            else:
                text = pen.elide(data.column_labels[column], math.ceil(grid.column_space - 6), middle=True)
                pen.draw_upwards(middle, grid.y - 4, text)


def count_labels(grid: Grid, data: MapData, font: QFont) -> int:
    """Return how many labels :func:`draw_labels` has room for on a painter without a clip."""
    apart = LABEL_SPACING * font.pixelSize()
    across = min(grid.per_row, grid.count) if grid.column_space else 0
    flat = grid.column_space < 2 * font.pixelSize()
    if flat and not _are_words_legible(grid, data, font):
        across = 0
    wide = 0.0 if flat else apart
    rows = _thin_out(grid.rows, grid.cell_height, apart, None, slice(0, grid.rows)) if grid.label_width else []
    columns = _thin_out(grid.columns, grid.cell_width, wide, None, slice(0, grid.columns))
    return grid.lines * len(rows) + across * len(columns)


def _fit_columns(grid: Grid, data: MapData, font: QFont) -> bool:
    """Return whether each label of a column fits above its cells."""
    key = find_key(font)
    return all(measure_text(label, key) <= grid.cell_width - 2 for label in data.column_labels)


def _are_words_legible(grid: Grid, data: MapData, font: QFont) -> bool:
    """Return whether words above their cells fit or keep two letters; of one letter nobody can tell the word."""
    is_narrow = grid.cell_width - 2 < measure_text("nn", find_key(font))
    words = any(len(label) > 1 for label in data.column_labels)
    return not (is_narrow and words) or _fit_columns(grid, data, font)


def _draw_row_labels(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, font: QFont, strong: int | None, *, bold: bool
) -> Pen:
    """Draw the labels of the rows that are bold, or of the others; return the pen of the font."""
    pen = Pen(painter, font)
    for line in range(grid.lines if grid.label_width else 0):
        _, y = grid.origin(line * grid.per_row)
        seen = find_visible(painter, y, grid.cell_height, grid.rows, vertical=True)
        for row in _thin_out(grid.rows, grid.cell_height, LABEL_SPACING * font.pixelSize(), strong, seen):
            if (row in data.bold_rows) == bold:
                painter.setPen(QColor(palette.ink if row == strong or bold else palette.muted))
                text = pen.elide(data.row_labels[row], math.ceil(grid.label_width - 6), middle=True)
                pen.draw(grid.x - 6, y + (row + 0.5) * grid.cell_height, text, 1.0)
    return pen


def _embolden(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.Bold)
    return bold


def _draw_group_labels(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, pen: Pen, strong: int | None
) -> None:
    """Draw each group's label above the middle of its columns, or only its last word, if all fit; otherwise none."""
    group = data.column_group
    labels, apart = data.group_labels, pen.width("n")
    if any(pen.width(label) > group * grid.cell_width - apart for label in labels):
        labels = tuple(label.split(" ")[-1] for label in labels)
    if any(pen.width(label) > group * grid.cell_width - 4 for label in labels):
        return
    for place in range(min(grid.per_row, grid.count)):
        x, _ = grid.origin(place)
        for index, label in enumerate(labels):
            painter.setPen(QColor(palette.ink if strong is not None and strong // group == index else palette.muted))
            pen.draw(x + (index + 0.5) * group * grid.cell_width, grid.y - 4, label, 0.5, 1.0)


def draw_titles(
    painter: QPainter,
    grid: Grid,
    data: MapData,
    palette: Palette,
    font: QFont,
    *,
    kept: Mapping[int, float] = NOTHING_KEPT,
    struck: Container[int] = (),
    space: float = 2.0,
) -> None:
    """Draw each map's title above it and above the column labels, if any.

    All have the longest form that fits everywhere: "head 12 · columns 24–31", "head 12 · 24–31", "head 12" or "12".
    A state such as in "head 12, pinned" follows in each, and in the end alone, or two titles would be the same;
    ``kept`` pixels at the right of each map stay free, and ``space`` pixels below each title. The titles of the maps in
    ``struck`` are crossed out.
    """
    if grid.count < 2 or grid.title_height < 8:
        return
    pen, key = Pen(painter, font), find_key(font)
    painter.setPen(QColor(palette.muted))
    rooms = [(grid.columns + grid.gap[1]) * grid.cell_width - 0.5 * font.pixelSize()] * len(data.titles)
    for index, free in kept.items():
        if free and index < len(rooms):
            rooms[index] = grid.columns * grid.cell_width - free
    forms = [_find_form(title, key, room) for title, room in zip(data.titles, rooms, strict=True)]
    for index, title in enumerate(data.titles):
        x, y = grid.origin(index)
        bottom = y - (grid.column_space if index < grid.per_row else 0.0) - space
        room = rooms[index]
        shown = _write_title(title, max(forms), key, room)
        pen.draw(x, bottom, shown, 0.0, 1.0)
        if index in struck:
            middle = round(bottom - 0.6 * font.pixelSize())
            painter.drawLine(QPointF(x - 1, middle), QPointF(x + min(pen.width(shown), room) + 1, middle))


def measure_titles(titles: Sequence[str], font: QFont) -> float:
    """Return the width that a map and the gap beside it need for the shortest form of the longest title, in pixels."""
    key = find_key(font)
    return max((measure_text(_list_forms(title)[-1], key) for title in titles), default=0.0) + 0.5 * font.pixelSize()


def _list_forms(title: str) -> tuple[str, ...]:
    """Return the forms of a title, the longest first: of "L3 H2" the last is "3.2", as head 2 is in every layer."""
    named, comma, state = title.partition(", ")
    name, _, span = named.partition(" · ")
    numbers = _NUMBER.findall(name)
    number = ".".join(numbers) if len(numbers) > 1 else name.split(" ")[-1]
    forms = named, f"{name} · {span.split(' ')[-1]}" if span else name, name, number
    return *(f"{form}{comma}{state}" for form in forms), state or number


@lru_cache(maxsize=1024)
def _find_form(title: str, font_key: str, room: float) -> int:
    """Return the index of the longest form of a title that fits; the last if none does."""
    forms = _list_forms(title)
    return next((n for n, text in enumerate(forms) if measure_text(text, font_key) <= room), len(forms) - 1)


@lru_cache(maxsize=1024)
def _write_title(title: str, form: int, font_key: str, room: float) -> str:
    """Return a form of a title, shortened if even that does not fit."""
    text = _list_forms(title)[form]
    return text if measure_text(text, font_key) <= room else elide_text(text, font_key, int(room))


def _thin_out(count: int, cell: float, least: float, strong: int | None, seen: slice) -> list[int]:
    """Return the labels to draw among those ``seen``, at least ``least`` px apart; the strong one always."""
    step = max(1, int(np.ceil(least / cell))) if cell else 1
    chosen = list(range(seen.start // step * step, seen.stop, step))
    if strong is not None and strong < count and strong not in chosen:
        chosen = [i for i in chosen if abs(i - strong) >= step] + [strong]
    return chosen

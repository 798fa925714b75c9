"""Maps of numbers in words: the names of their cells for screen readers, and the keys that walk from cell to cell."""

from collections.abc import Container, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from attnlab.base.spoken_text import COVERED, HIDDEN, NOT_YET, speak_number, speak_token
from attnlab.figures.map_data import MapData

MapCell = tuple[int, int, int]
"""A map, and a row and a column of it."""
NOTHING: frozenset[tuple[int, int]] = frozenset()
_Key = Qt.Key
_ARROWS = {_Key.Key_Left: (0, -1), _Key.Key_Right: (0, 1), _Key.Key_Up: (-1, 0), _Key.Key_Down: (1, 0)}


def join_cell(shape: tuple[int, ...], cell: MapCell) -> int:
    """Return the index of a cell among all cells of maps of a shape [n, rows, columns]."""
    index, row, column = cell
    return (index * shape[1] + row) * shape[2] + column


def split_cell(shape: tuple[int, ...], place: int) -> MapCell:
    """Return the cell with an index."""
    line, column = divmod(place, shape[2])
    index, row = divmod(line, shape[1])
    return index, row, column


def name_cell(
    data: MapData,
    cell: MapCell,
    *title: str,
    tokens: tuple[bool, bool] = (True, True),
    covered: Container[tuple[int, int]] = NOTHING,
    now: bool = False,
) -> str:
    """Return a cell in words: "weights, starts to journey, 0.3791", or with ``now`` "…, now 0.3791".

    ``title`` are the parts before the row, such as the stage and the head; empty ones are left out. ``tokens`` tells
    whether rows and columns are tokens, or numbered. A cell whose place [row, column] is ``covered`` does not say its
    value, nor does one that the mask hides or that is not computed yet.
    """
    value = describe_value(data, cell, covered)
    value = f"now {value}" if now and value != NOT_YET else value
    return ", ".join([*filter(None, title), name_place(data, cell, tokens), value])


def are_tokens(labels: Sequence[str]) -> bool:
    """Return whether labels are tokens, and not the numbers of rows or columns."""
    return not all(label.isdigit() for label in labels)


def name_place(data: MapData, cell: MapCell, tokens: tuple[bool, bool] = (True, True)) -> str:
    """Return the row and the column of a cell in words."""
    _, row, column = cell
    down, across = _label(data.row_labels, row, tokens[0]), _label(data.column_labels, column, tokens[1])
    if all(tokens):
        return f"{down} to {across}"
    return f"{down if tokens[0] else f'row {down}'}, {across if tokens[1] else f'column {across}'}"


def describe_value(data: MapData, cell: MapCell, covered: Container[tuple[int, int]] = NOTHING) -> str:
    """Return the value of a cell in words, or why it is not shown."""
    index, row, column = cell
    if (row, column) in covered:
        return COVERED
    if _has(data.masked, cell):
        under = data.under
        return HIDDEN if under is None else f"{HIDDEN}, before it {speak_number(float(under[index, row, column]))}"
    if _has(data.unknown, cell):
        return "unknown" if data.mark else NOT_YET
    if _has(data.dropped, cell):
        return "dropped out"
    if not data.has_numbers:
        return "seen"
    value = speak_number(float(data.values[index, row, column]))
    return f"{HIDDEN}, filled with {value}" if _has(data.filled, cell) else value


def _has(marked: NDArray[np.bool_] | None, cell: MapCell) -> bool:
    """Return whether a cell is marked on all maps [rows, columns] or on its own [n, rows, columns]."""
    return marked is not None and bool(marked[cell[-marked.ndim :]])


def _label(labels: Sequence[str], place: int, is_token: bool) -> str:
    """Return a label in words; the position tells equal tokens apart."""
    if place >= len(labels):
        return str(place)
    label = labels[place]
    if not is_token:
        return label or str(place)
    twice = sum(1 for each in labels if each == label) > 1
    return f"{speak_token(label)} at {place + 1}" if twice else speak_token(label)


def move_cell(event: QKeyEvent, cell: MapCell | None, shape: tuple[int, ...], *, plain: bool) -> MapCell | None:
    """Return the cell to which a key leads on maps [n, rows, columns]; None if the key does not walk.

    Ctrl and an arrow go to the next cell, Ctrl+Home and Ctrl+End to the first and last of the map, Ctrl+PageUp and
    Ctrl+PageDown to the same cell of the map before or after. With ``plain``, the arrows alone walk, and Home and End
    go to the ends of the row. Without a cell, the walk begins at the first.
    """
    if not np.prod(shape):
        return None
    control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    if event.modifiers() & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier):
        return None
    key, (count, rows, columns) = Qt.Key(event.key()), shape
    if key in _ARROWS and (control or plain):
        if cell is None:
            return 0, 0, 0
        index, row, column = cell
        by = _ARROWS[key]
        return index, min(max(row + by[0], 0), rows - 1), min(max(column + by[1], 0), columns - 1)
    index, row, column = cell or (0, 0, 0)
    ends: dict[Qt.Key, MapCell] = {}
    if control:
        ends = {
            _Key.Key_Home: (index, 0, 0),
            _Key.Key_End: (index, rows - 1, columns - 1),
            _Key.Key_PageUp: (max(index - 1, 0), row, column),
            _Key.Key_PageDown: (min(index + 1, count - 1), row, column),
        }
    elif plain:
        ends = {_Key.Key_Home: (index, row, 0), _Key.Key_End: (index, row, columns - 1)}
    return ends.get(key)

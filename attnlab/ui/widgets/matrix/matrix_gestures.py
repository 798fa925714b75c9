"""Mouse gestures in a matrix table: sideways drags change numbers, other drags select, the wheel steps.

The table applies what these state machines return; they know positions and cells, but no numbers.
"""

from dataclasses import dataclass
from enum import Enum, auto
from itertools import count

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent

from attnlab.ui.widgets.matrix.matrix_grid import Grid, Hit
from attnlab.ui.widgets.matrix.matrix_keys import DRAG, STEP, pace
from attnlab.ui.widgets.matrix.matrix_selection import Block, Selection

THRESHOLD_PX = 4
BURST_MS = 700
NOTCH = 120
"""Eighths of a degree per wheel notch, as Qt counts them."""

ARROW = "arrow"
"""The first part of the gesture with which an arrow is dragged, before its number."""

_gesture_numbers = count(1)


def new_gesture() -> int:
    """Return a number unique among the gestures of all tables, so that an undo stack can merge by it alone."""
    return next(_gesture_numbers)


@dataclass(frozen=True, slots=True)
class Scrub:
    """Set a block to its values at the drag's start plus ``total``."""

    block: Block
    total: float
    gesture: int


class _Mode(Enum):
    UNDECIDED = auto()
    SCRUB = auto()
    CELLS = auto()
    ROWS = auto()
    COLUMNS = auto()
    OVER = auto()


@dataclass(slots=True)
class _Drag:
    mode: _Mode
    origin: QPoint
    last_x: int
    cell: tuple[int, int]
    extend: bool
    before: Selection
    selection: Selection
    total: float = 0.0
    gesture: int = 0


class MouseDrag:
    """The left button from press to release."""

    def __init__(self) -> None:
        self._drag: _Drag | None = None

    def is_active(self) -> bool:
        """Return whether the button is down and the drag not yet over."""
        return self._drag is not None and self._drag.mode is not _Mode.OVER

    def press(self, hit: Hit, point: QPoint, extend: bool, selection: Selection, grid: Grid) -> Selection:
        """Begin a drag; return the selection made by the press alone.

        With Shift on a cell, a click extends the block and a sideways drag is a fine scrub.
        """
        made, mode = _begin_press(hit, extend, selection, grid)
        self._drag = _Drag(mode, point, point.x(), (hit.row, hit.column), extend, selection, made)
        return selection if extend and mode is _Mode.UNDECIDED else made

    def move(
        self, point: QPoint, modifiers: Qt.KeyboardModifier, grid: Grid, *, editable: bool
    ) -> Scrub | Selection | None:
        """Follow the mouse; return the selection or scrub to apply, or None while undecided."""
        drag = self._drag
        if drag is None or drag.mode is _Mode.OVER:
            return None
        if drag.mode is _Mode.UNDECIDED:
            self._decide(drag, point, editable)
        if drag.mode is _Mode.UNDECIDED:
            return None
        if drag.mode is _Mode.SCRUB:
            drag.total = round(drag.total + (point.x() - drag.last_x) * DRAG * pace(modifiers), 9)
            drag.last_x = point.x()
            return Scrub(drag.selection.block(), drag.total, drag.gesture)
        return self._reach(drag, grid.nearest(point), grid)

    def release(self) -> Selection | None:
        """End the drag; return the selection of a mere click: the cell, or with Shift the block up to it."""
        drag, self._drag = self._drag, None
        if drag is None or drag.mode is not _Mode.UNDECIDED:
            return None
        return drag.before.extend_to(*drag.cell) if drag.extend else Selection.at(*drag.cell)

    def cancel(self) -> Scrub | None:
        """End before the release; return the scrub that restores the values, if any were changed."""
        drag = self._drag
        if drag is None or drag.mode is _Mode.OVER:
            return None
        scrubbing = drag.mode is _Mode.SCRUB
        drag.mode = _Mode.OVER
        return Scrub(drag.selection.block(), 0.0, drag.gesture) if scrubbing else None

    @staticmethod
    def _decide(drag: _Drag, point: QPoint, editable: bool) -> None:
        across, down = abs(point.x() - drag.origin.x()), abs(point.y() - drag.origin.y())
        if max(across, down) < THRESHOLD_PX:
            return
        if across >= down and editable:
            drag.mode, drag.gesture = _Mode.SCRUB, new_gesture()
        else:
            drag.mode, drag.selection = _Mode.CELLS, drag.before if drag.extend else Selection.at(*drag.cell)

    @staticmethod
    def _reach(drag: _Drag, cell: tuple[int, int], grid: Grid) -> Selection:
        row, column = cell
        if drag.mode is _Mode.ROWS:
            return drag.selection.extend_to(row, grid.columns - 1)
        if drag.mode is _Mode.COLUMNS:
            return drag.selection.extend_to(grid.rows - 1, column)
        return drag.selection.extend_to(row, column)


def _begin_press(hit: Hit, extend: bool, selection: Selection, grid: Grid) -> tuple[Selection, _Mode]:
    last_row, last_column = grid.rows - 1, grid.columns - 1
    if hit.region == "corner":
        return Selection(0, 0, last_row, last_column), _Mode.OVER
    if hit.region == "row":
        first = selection.row if extend else hit.row
        return Selection(first, 0, hit.row, last_column), _Mode.ROWS
    if hit.region == "column":
        first = selection.column if extend else hit.column
        return Selection(0, first, last_row, hit.column), _Mode.COLUMNS
    if hit.region == "group":
        first, columns = grid.group_columns(hit.column)
        return Selection.of((0, first, grid.rows, columns)), _Mode.OVER
    if selection.contains(hit.row, hit.column):
        return selection, _Mode.UNDECIDED
    return Selection.at(hit.row, hit.column), _Mode.UNDECIDED


class WheelSteps:
    """Wheel events over the current cell, gathered into whole notches and bursts."""

    def __init__(self) -> None:
        self._cell = (-1, -1)
        self._last_ms = 0
        self._rest = 0
        self._gesture = 0

    def turn(self, event: QWheelEvent, cell: tuple[int, int]) -> tuple[float, int]:
        """Return by how much to change the value (0 before a whole notch) and the burst's gesture number."""
        turned = event.angleDelta()
        # Shift and Alt make the wheel horizontal on some platforms, so the larger of both axes counts.
        delta = turned.y() if abs(turned.y()) >= abs(turned.x()) else turned.x()
        if cell != self._cell or event.timestamp() - self._last_ms >= BURST_MS or not self._gesture:
            self._cell, self._rest, self._gesture = cell, 0, new_gesture()
        self._last_ms = event.timestamp()
        notches = int((self._rest + delta) / NOTCH)
        self._rest += delta - notches * NOTCH
        return notches * STEP * pace(event.modifiers()), self._gesture

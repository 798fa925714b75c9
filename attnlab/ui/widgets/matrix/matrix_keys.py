"""The meaning of each key and modifier in a matrix table."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

STEP = 0.1
"""One arrow key or wheel notch."""
DRAG = 0.01
"""One pixel sideways."""
FAR = 1 << 30
"""Longer than any table; movements are clamped to the table."""

_Key = Qt.Key
_Standard = QKeySequence.StandardKey
_MOVES: dict[int, tuple[int, int]] = {
    _Key.Key_Up: (-1, 0),
    _Key.Key_Down: (1, 0),
    _Key.Key_Left: (0, -1),
    _Key.Key_Right: (0, 1),
    _Key.Key_Home: (0, -FAR),
    _Key.Key_End: (0, FAR),
}
_STANDARD = {
    _Standard.Copy: "copy",
    _Standard.Cut: "cut",
    _Standard.Paste: "paste",
    _Standard.SelectAll: "select_all",
}


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do: move, page, step, edit, type, clear, copy, cut, paste or select_all."""

    name: str
    rows: int = 0
    columns: int = 0
    extend: bool = False
    amount: float = 0.0
    text: str = ""


def pace(modifiers: Qt.KeyboardModifier) -> float:
    """Return the factor by which modifiers scale an edit: 0.1 with Shift, 10 with Ctrl."""
    fine = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
    coarse = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    return 1.0 if fine == coarse else 0.1 if fine else 10.0


def tab_direction(event: QKeyEvent) -> int:
    """Return 1 for Tab, -1 for Shift+Tab, 0 for other keys, also for Tab with Ctrl or Alt."""
    others = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    if others or event.key() not in (_Key.Key_Tab, _Key.Key_Backtab):
        return 0
    back = event.key() == _Key.Key_Backtab or bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    return -1 if back else 1


def command_for(event: QKeyEvent) -> Command | None:
    """Return the command of a key press, or None if the table does not use the key (such as undo)."""
    for standard, name in _STANDARD.items():
        if event.matches(standard):
            return Command(name)
    key = event.key()
    shift, control, alt = (
        bool(event.modifiers() & modifier)
        for modifier in (
            Qt.KeyboardModifier.ShiftModifier,
            Qt.KeyboardModifier.ControlModifier,
            Qt.KeyboardModifier.AltModifier,
        )
    )
    if key in (_Key.Key_Up, _Key.Key_Down) and not alt:
        return Command("step", amount=STEP * pace(event.modifiers()) * (1 if key == _Key.Key_Up else -1))
    if key in (_Key.Key_Left, _Key.Key_Right) and not alt and (shift or control):
        return None
    if key in _MOVES:
        rows, columns = _MOVES[_Key(key)]
        if control and columns:
            rows = columns
        return Command("move", rows, columns, extend=shift)
    if control or alt or event.modifiers() & Qt.KeyboardModifier.MetaModifier:
        return None
    return _plain(key, shift, event.text())


def _plain(key: int, shift: bool, text: str) -> Command | None:
    if key in (_Key.Key_PageUp, _Key.Key_PageDown):
        return Command("page", rows=-1 if key == _Key.Key_PageUp else 1, extend=shift)
    if key in (_Key.Key_Return, _Key.Key_Enter, _Key.Key_F2):
        return Command("edit")
    if key in (_Key.Key_Delete, _Key.Key_Backspace):
        return Command("clear")
    if text.isprintable() and text.strip():
        return Command("type", text=text)
    return None

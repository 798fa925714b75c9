"""Two scroll areas that scroll together, as far as each reaches."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QScrollBar


class ScrollPair(QObject):
    """Moves each of two scroll bars with the other while its parent lives; the longer one still reaches its end."""

    def __init__(self, one: QScrollBar, other: QScrollBar, parent: QObject) -> None:
        super().__init__(parent)
        self._one, self._other, self._moving = one, other, False
        one.valueChanged.connect(self._move_other)
        other.valueChanged.connect(self._move_one)

    @Slot(int)
    def _move_other(self, value: int) -> None:
        self._move(self._other, value)

    @Slot(int)
    def _move_one(self, value: int) -> None:
        self._move(self._one, value)

    def _move(self, bar: QScrollBar, value: int) -> None:
        if not self._moving:  # a shorter bar stops at its end, and does not pull the longer one back
            self._moving = True
            bar.setValue(value)
            self._moving = False

"""Base of painted lists whose items are walked one at a time by arrow keys, Home and End."""

from typing import ClassVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.widgets.drawn_list import DrawnList

_ENDS = {Qt.Key.Key_Home: -(10**6), Qt.Key.Key_End: 10**6}
ACROSS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, **_ENDS}
DOWN = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, **_ENDS}


@guarded
class WalkedList(DrawnList):
    """Keeps the index of the current item in ``_cursor``; subclasses scroll to an item in ``walk_to``."""

    keys: ClassVar = ACROSS
    """How far each key moves."""
    usual_width: ClassVar = 320
    """In pixels at 100 %."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._cursor = 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @property
    def current_cell(self) -> int | None:
        return self._cursor if self.count_cells() else None

    def walk_to(self, index: int) -> None:
        """Make an item the current one, and scroll to it."""
        raise NotImplementedError

    def sizeHint(self) -> QSize:
        return QSize(px(self.usual_width), self.height())

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() in self.keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        count, step = self.count_cells(), self.keys.get(Qt.Key(event.key()))
        if count and step is not None:
            self.walk_to(min(max(self._cursor + step, 0), count - 1))
            self.tell_cell()
            self.viewport().update()
        else:
            event.ignore()

"""Base for layouts that store their items in a list; subclasses position them."""

from PySide6.QtCore import QMargins
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from attnlab.ui.base.guard import guarded


@guarded
class ItemsLayout(QLayout):
    """Items ``gap`` pixels apart, whose height follows from the width."""

    def __init__(self, parent: QWidget | None, margins: QMargins, gap: int) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(margins)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        self.invalidate()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        return True

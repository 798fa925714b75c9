"""The history as a list: every step by name; a click goes there."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.popup import Popup

if TYPE_CHECKING:
    from attnlab.document.history import History


@guarded
class HistoryList(Popup):
    """A popup that lists the steps, oldest first, the present one marked, undone ones muted."""

    step_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        title = QLabel("History")
        title.setProperty("role", "section")
        column.addWidget(title)
        self.list = QListWidget()
        self.list.setAccessibleName("History")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.itemClicked.connect(self._on_item_clicked)
        column.addWidget(self.list)
        self.resize(320, 360)

    def fill(self, history: "History") -> None:
        """List a history."""
        self.list.clear()
        for index, entry in enumerate(history.entries):
            item = QListWidgetItem(entry.label)
            if index > history.index:
                item.setForeground(QColor(self._palette.muted))
            self.list.addItem(item)
        self.list.setCurrentRow(history.index)
        self.list.scrollToItem(self.list.item(history.index))

    def popup(self, at: QPoint, history: "History") -> None:
        """Show the list at a point."""
        self.fill(history)
        self.move(at)
        self.show()
        self.list.setFocus()

    @Slot(QListWidgetItem)
    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self.step_chosen.emit(self.list.row(item))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step_chosen.emit(self.list.currentRow())
        else:
            super().keyPressEvent(event)

"""The history as a list of clickable steps, with its memory and the limit."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from attnlab.base.counted import format_count
from attnlab.document.settings import HISTORY_CHOICES
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.formula_items import FormulaItems
from attnlab.ui.widgets.popup import Popup

if TYPE_CHECKING:
    from attnlab.document.history import History

SIZE = (320, 400)
"""The size in pixels at 100 %; on a small screen it is smaller."""


@guarded
class HistoryList(FollowsTheme, Popup):
    """A popup that lists the steps, oldest first; the current one is marked, undone ones are muted."""

    step_chosen = Signal(int)
    budget_chosen = Signal(int)
    """The chosen limit of the history in MiB."""

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
        self.list.setItemDelegate(FormulaItems(self.list))
        self.list.itemClicked.connect(self._on_item_clicked)
        column.addWidget(self.list)
        self.used = QLabel()
        self.used.setProperty("role", "muted")
        self.used.setWordWrap(True)
        column.addWidget(self.used)
        self.budget = Segments("Memory for the history")
        self.budget.set_choices(
            [Choice(mib, _format_bytes(mib << 20), f"Keep up to {_format_bytes(mib << 20)}") for mib in HISTORY_CHOICES]
        )
        self.budget.chosen.connect(self._on_budget_chosen)
        column.addWidget(self.budget)

    def restyle(self) -> None:
        """Set the size."""
        self.resize(px(SIZE[0]), px(SIZE[1]))

    def fill(self, history: "History") -> None:
        """List a history."""
        self.list.clear()
        for index, entry in enumerate(history.entries):
            item = QListWidgetItem(entry.label)
            if index > history.index:
                item.setForeground(QColor(palette_of(self).muted))
            self.list.addItem(item)
        self.list.setCurrentRow(history.index)
        self.list.scrollToItem(self.list.item(history.index))
        gone = f" {format_count(history.let_go, 'older step')} dropped." if history.let_go else ""
        self.used.setText(f"Uses {_format_bytes(history.nbytes)} of at most {_format_bytes(history.budget)}.{gone}")
        self.budget.set_value(history.budget >> 20)

    def popup(self, at: QPoint, history: "History") -> None:
        """Show the list at a point."""
        self.fill(history)
        room = self.screen().availableGeometry()
        self.resize(min(px(SIZE[0]), room.width()), min(px(SIZE[1]), room.height()))
        self.move(min(at.x(), room.right() + 1 - self.width()), min(at.y(), room.bottom() + 1 - self.height()))
        self.show()
        self.list.setFocus()

    @Slot(object)
    def _on_budget_chosen(self, mib: object) -> None:
        assert isinstance(mib, int)
        self.budget_chosen.emit(mib)

    @Slot(QListWidgetItem)
    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self.step_chosen.emit(self.list.row(item))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step_chosen.emit(self.list.currentRow())
        else:
            super().keyPressEvent(event)


def _format_bytes(bytes_: int) -> str:
    """Return a number of bytes in MiB, at least 1, or in whole GiB."""
    mib = max(round(bytes_ / (1 << 20)), 1)
    return f"{mib >> 10} GiB" if mib % 1024 == 0 else f"{mib} MiB"

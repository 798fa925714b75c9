"""A list of rows, for lessons and for steps: chosen by click and arrows, opened by Enter, moved by drag."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListWidget, QListWidgetItem, QStyledItemDelegate, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.lessons.list_rows import ROW, Row, RowPainter


@guarded
class RowList(FollowsTheme, QListWidget):
    """Shows rows; emits the index of the chosen one, of an opened one, and the move that a drag requests."""

    chosen = Signal(int)
    opened = Signal(int)
    moved = Signal(int, int)
    deleted = Signal()

    def __init__(
        self,
        name: str,
        painter: QStyledItemDelegate | None = None,
        *,
        movable: bool = False,
        cards: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """``painter`` paints the rows. Cards stand side by side, and one click opens them; rows need two."""
        super().__init__(parent)
        self._rows: tuple[Row, ...] = ()
        self._movable = movable
        self._painter = painter or RowPainter()  # Qt does not keep it
        if cards:
            self.setFlow(QListWidget.Flow.LeftToRight)
            self.setWrapping(True)
        self.setItemDelegate(self._painter)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if movable:
            self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
            self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.currentRowChanged.connect(self._on_current_changed)
        (self.itemClicked if cards else self.itemDoubleClicked).connect(self._on_item_opened)

    def restyle(self) -> None:
        """Lay the rows out again: their heights depend on the size of type."""
        self.scheduleDelayedItemsLayout()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows."""
        return self._rows

    def show_rows(self, rows: Sequence[Row], chosen: int = -1) -> None:
        """Show other rows, one of them chosen; no signal is emitted."""
        blocked = self.blockSignals(True)
        if [replace(row, thumbnail=None) for row in rows] == [replace(row, thumbnail=None) for row in self._rows]:
            for index, (row, old) in enumerate(zip(rows, self._rows, strict=True)):
                if row != old:
                    self.item(index).setData(ROW, row)
            self._rows = tuple(rows)
        else:
            self._rows = tuple(rows)
            self.clear()
            for row in rows:
                self.addItem(self._make_item(row))
        selected = [index.row() for index in self.selectedIndexes()]  # none where Qt entered the list at row 0
        if chosen != self.currentRow() or (chosen >= 0 and selected != [chosen]):
            self.setCurrentRow(chosen)
        self.blockSignals(blocked)

    def _make_item(self, row: Row) -> QListWidgetItem:
        item = QListWidgetItem()
        item.setData(ROW, row)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, row.spoken)
        item.setToolTip("" if row.section else plain_tip(row.title))
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if row.section:
            flags = Qt.ItemFlag.NoItemFlags
        elif self._movable:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        item.setFlags(flags)
        return item

    @Slot(int)
    def _on_current_changed(self, row: int) -> None:
        if row >= 0:
            self.chosen.emit(row)

    @Slot(QListWidgetItem)
    def _on_item_opened(self, item: QListWidgetItem) -> None:
        self.opened.emit(self.row(item))

    def sizeHint(self) -> QSize:
        return QSize(260, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 80)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, row = event.key(), self.currentRow()
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if self._movable and alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(row, row + (1 if key == Qt.Key.Key_Down else -1))
        elif self._movable and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.deleted.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self.opened.emit(row)
        else:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the requested move and change nothing: the owner of the rows then shows them again."""
        at = self.indexAt(event.position().toPoint())
        source = self.currentRow()
        target = at.row() if at.isValid() else self.count() - 1
        where, places = self.dropIndicatorPosition(), QAbstractItemView.DropIndicatorPosition
        if at.isValid() and where == places.BelowItem:
            target += 1
        if at.isValid() and target > source and where != places.OnItem:
            target -= 1
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        self.moved.emit(source, target)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.scheduleDelayedItemsLayout()

"""Base of scrolled lists that paint their items themselves: no frame, one item under the pointer, tool tips."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QToolTip, QWidget

from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys


@guarded
class DrawnList(HasCells, KeepsKeys, QAbstractScrollArea):
    """Keeps the index of the item under the pointer in ``_hovered``; as wide as its room, as high as subclasses say."""

    cells_role, cell_role = QAccessible.Role.List, QAccessible.Role.ListItem

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hovered: int | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName(name)

    def find_cell(self, at: QPointF) -> int | None:
        return self.item_at(at.toPoint())

    def cells_area(self) -> QWidget:
        return self.viewport()

    def item_at(self, point: QPoint) -> int | None:
        """Return the index of the item at a point of the viewport."""
        raise NotImplementedError

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        """Show the tool tip of an item."""
        raise NotImplementedError

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self.item_at(event.pos())
            if at is None:
                QToolTip.hideText()
            else:
                self.show_tip(at, event)
            return True
        if event.type() == QEvent.Type.Leave:
            self._hovered = None
            self.viewport().update()
        return super().viewportEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hovered = self.item_at(event.position().toPoint())
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()

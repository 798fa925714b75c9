"""Two tables, one above or beside the other, so that neither is cut while there is room for both."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded

FIRST_SHARE = 0.6
"""The share of the height that the first table may take if the two together need more than there is."""
MARGIN_PX = 8
"""The space between a table and the line between the two."""


@guarded
class FittedSplitter(QSplitter):
    """Gives each half the height that it needs, until the line between them is dragged.

    Where both do not fit above each other but do fit side by side, they stand side by side.
    """

    def __init__(self, first: QVBoxLayout, second: QVBoxLayout, measure: Callable[[], tuple[QSize, QSize]]) -> None:
        """``measure`` returns the sizes, in pixels, with which each half shows its whole table."""
        super().__init__(Qt.Orientation.Vertical)
        self._columns, self._measure, self._was_dragged = (first, second), measure, False
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        for column in self._columns:
            half = QWidget()
            half.setLayout(column)
            self.addWidget(half)
        self.splitterMoved.connect(self._on_moved)
        self._set_margins()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:  # the tables have other rows, or another size of type
            self._share()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        first, second = self._measure()
        room = self.size() - QSize(self.handleWidth(), self.handleWidth())
        self._turn(
            first.height() + second.height() + 2 * MARGIN_PX > room.height()
            and first.width() + second.width() + 2 * MARGIN_PX <= room.width()
        )
        if self._was_dragged:
            return
        if self.orientation() == Qt.Orientation.Horizontal:
            whole, given = room.width(), (room.width() + first.width() - second.width()) // 2
        else:
            whole, rest = room.height(), second.height() + MARGIN_PX
            given = min(first.height() + MARGIN_PX, max(round(FIRST_SHARE * whole), whole - rest))
        if self.sizes() != [given, whole - given]:
            self.setSizes([given, whole - given])

    def _turn(self, beside: bool) -> None:
        """Put the two beside each other, or above each other again."""
        orientation = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if orientation != self.orientation():
            self._was_dragged = False
            self.setOrientation(orientation)
            self._set_margins()

    def _set_margins(self) -> None:
        first, second = self._columns
        beside = self.orientation() == Qt.Orientation.Horizontal
        first.setContentsMargins(0, 0, *((MARGIN_PX, 0) if beside else (0, MARGIN_PX)))
        second.setContentsMargins(*((MARGIN_PX, 0) if beside else (0, MARGIN_PX)), 0, 0)

    @Slot()
    def _on_moved(self) -> None:
        self._was_dragged = True

"""Two tables above each other, which share the height so that neither is cut while the other is half empty."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from attnlab.ui.base.guard import guarded

UPPER_SHARE = 0.6
"""The share of the height that the upper table may take if the two together need more than there is."""


@guarded
class FittedSplitter(QSplitter):
    """Gives each half the height that it needs, until the line between them is dragged."""

    def __init__(self, upper: QWidget, lower: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._needs, self._was_dragged = (0, 0), False
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.addWidget(upper)
        self.addWidget(lower)
        self.splitterMoved.connect(self._on_moved)

    def set_needs(self, upper: int, lower: int) -> None:
        """Store the heights, in pixels, with which each half shows all its rows."""
        if (upper, lower) != self._needs:
            self._needs = upper, lower
            self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        if self._was_dragged or not any(self._needs):
            return
        (upper, lower), room = self._needs, self.height() - self.handleWidth()
        given = min(upper, max(round(UPPER_SHARE * room), room - lower))
        self.setSizes([given, room - given])

    @Slot()
    def _on_moved(self) -> None:
        self._was_dragged = True

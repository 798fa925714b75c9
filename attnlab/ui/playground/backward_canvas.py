"""The canvas of the backward pass: the loss and its gradients as cards, joined by wires."""

import math

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import scale
from attnlab.ui.playground.canvas import Canvas
from attnlab.ui.playground.canvas_plan import plan_canvas
from attnlab.ui.playground.card_needs import collect_backward_needs


@guarded
class BackwardCanvas(Canvas):
    """Shows the stage that a loss is about, the loss, and the gradients; it has no card of heads.

    It stands on a page. If the page scrolls, the canvas is as high as its cards, and the wheel scrolls the page.
    """

    place_wanted = Signal(QRect)
    """Emitted with the place of a card that the page must show."""
    width_changed = Signal()
    is_backward = True
    collect = staticmethod(collect_backward_needs)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_whole = False
        """Whether the page scrolls in place of the canvas."""
        self.setAccessibleName("Canvas: the loss and its gradients")

    def measure_height(self) -> int:
        """Return the height in pixels that all cards need in the present width, at the least size of type."""
        if self._trace is None or self._view is None or self._view.alone is not None:
            return 0
        needs = self._needs.find(self._trace, self._view, self._pinned)
        return math.ceil(plan_canvas(needs, float(self.width()), 1.0, scale()).height)

    def show_card(self, name: str) -> None:
        super().show_card(name)
        if self.is_whole and (place := self._places.get(name)) is not None:
            self.place_wanted.emit(place.toRect())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.width_changed.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.is_whole and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        super().wheelEvent(event)

"""The canvas of the backward pass: the loss and its gradients as cards, joined by wires."""

from PySide6.QtWidgets import QWidget

from attnlab.ui.playground.canvas import Canvas
from attnlab.ui.playground.card_needs import collect_backward_needs


class BackwardCanvas(Canvas):
    """Shows the stage that a loss is about, the loss, and the gradients; it has no card of heads."""

    is_backward = True
    collect = staticmethod(collect_backward_needs)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Canvas: the loss and its gradients")

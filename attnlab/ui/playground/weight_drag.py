"""Dragging a weight up or down to say what it should be."""

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from attnlab.ui.base.theme import px

FULL = 200
"""Pixels, at 100 %, that a drag takes from 0 to 1: two for each hundredth, to which the wanted weight is rounded."""


class WeightDrag:
    """One drag, from the press to the release; ``signed`` weights may leave 0 to 1."""

    def __init__(self, start: QPointF, weight: float, *, signed: bool) -> None:
        self._start, self._weight, self._signed = start, weight, signed
        self.wanted: float | None = None
        """What the weight should be; None until the pointer has moved far enough for a drag."""

    def move(self, to: QPointF) -> float | None:
        """Follow the pointer, and return the wanted weight. A softmax gives neither 0 nor 1, so neither is wanted."""
        up = self._start.y() - to.y()
        if self.wanted is not None or abs(up) >= QApplication.startDragDistance():
            moved = round(up / px(FULL), 2)  # 0 where the drag comes back: the weight stays, without rounding
            self.wanted = self._bound(round(self._weight + moved, 2)) if moved else self._weight
        return self.wanted

    def _bound(self, wanted: float) -> float:
        return wanted if self._signed else min(max(wanted, 0.001), 0.999)

"""Two widgets beside one another, or one below the other where that is too narrow."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px

LEAST_WIDTH = 640
"""From so many pixels on, at the usual size of type, both have room beside one another."""


@guarded
class SideBySide(QWidget):
    """Shares its room evenly between two widgets."""

    def __init__(self, one: QWidget, other: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        for widget in (one, other):
            self._row.addWidget(widget, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        direction = QBoxLayout.Direction
        wide = event.size().width() >= px(LEAST_WIDTH)
        self._row.setDirection(direction.LeftToRight if wide else direction.TopToBottom)

"""Two widgets side by side, or one below the other if it is too narrow for that."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px

LEAST_WIDTH = 640
"""The least width for both side by side, in pixels at the usual size of type."""


@guarded
class SideBySide(QWidget):
    """Divides its space evenly between two widgets."""

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

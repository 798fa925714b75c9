"""The right side of the editor: the slide of the chosen step, as wide as there is room."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.present.slide_view import SlideView

ASPECT = 9 / 16
LEAST, WIDTH = 240, 520


@guarded
class StepPicture(QWidget):
    """Shows a slide at its proportions under a heading."""

    def __init__(self, view: SlideView) -> None:
        super().__init__()
        self._view = view
        self.setProperty("ground", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(px(LEAST))
        heading = QLabel("Slide")
        heading.setProperty("role", "section")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 16, 20, 16)
        column.setSpacing(6)
        column.addWidget(heading)
        column.addWidget(view)
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = max(self.width() - 28, 1)
        self._view.setFixedSize(wide, round(wide * ASPECT))

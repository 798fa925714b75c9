"""A popup with round corners on the surface of the theme."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import cut_corners, round_corners
from attnlab.ui.base.themed import palette_of


@guarded
class Popup(QFrame):
    """A window that closes with Esc or a click elsewhere; it paints its own background, as it is transparent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        round_corners(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        cut_corners(self, 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = palette_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.hatch))
        painter.setBrush(QColor(palette.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.end()

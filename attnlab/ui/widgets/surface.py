"""The background of a card: a rounded surface under other widgets."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of

RADIUS = 12


@guarded
class Surface(QWidget):
    """Paints the palette's surface colour; the owner adds the content."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette_of(self).surface))
        painter.drawRoundedRect(self.rect(), RADIUS, RADIUS)
        painter.end()

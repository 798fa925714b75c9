"""The background of a card: a rounded surface under other widgets."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.guard import guarded

RADIUS = 12


@guarded
class Surface(QWidget):
    """Paints the palette's surface colour; the owner adds the content."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT

    def set_palette(self, palette: Palette) -> None:
        """Use a theme's colours."""
        self._palette = palette
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._palette.surface))
        painter.drawRoundedRect(self.rect(), RADIUS, RADIUS)
        painter.end()

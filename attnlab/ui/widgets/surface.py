"""A card's ground: a rounded surface that other widgets lie on."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.guard import guarded

RADIUS = 12


@guarded
class Surface(QWidget):
    """Paints its ground in the palette's surface; what lies on it is its owner's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._palette.surface))
        painter.drawRoundedRect(self.rect(), RADIUS, RADIUS)
        painter.end()

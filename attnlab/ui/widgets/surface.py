"""The background of a card: a rounded surface under other widgets."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of

RADIUS = 12


def draw_surface(painter: QPainter, rect: QRectF, palette: Palette) -> None:
    """Draw the background of a card; where surface and ground have one colour, as in high contrast, with an outline."""
    outlined = palette.surface == palette.ground
    painter.setPen(QColor(palette.hairline) if outlined else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.surface))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5) if outlined else rect, RADIUS, RADIUS)


@guarded
class Surface(QWidget):
    """Paints the palette's surface colour; the owner adds the content."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_surface(painter, QRectF(self.rect()), palette_of(self))
        painter.end()

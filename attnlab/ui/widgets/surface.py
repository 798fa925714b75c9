"""The background of a card: a rounded surface under other widgets."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of

RADIUS = 12


def draw_card(painter: QPainter, rect: QRectF, palette: Palette) -> None:
    """Draw the background of a card, with an edge where it has the colour of the ground."""
    painter.setBrush(QColor(palette.surface))
    painter.setPen(QColor(palette.card_edge) if palette.card_edge else Qt.PenStyle.NoPen)
    half = 0.5 if palette.card_edge else 0.0  # a line of one pixel inside the card
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), RADIUS, RADIUS)


@guarded
class Surface(QWidget):
    """Paints the palette's surface colour; the owner adds the content. A surface on another one paints nothing."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if isinstance(self.parentWidget(), Surface):
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_card(painter, QRectF(self.rect()), palette_of(self))
        painter.end()

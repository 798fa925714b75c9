"""Draws a tick: what is right, or done."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

POINTS = ((0.27, 0.53), (0.43, 0.68), (0.73, 0.35))
THICK = 0.11


def draw_tick(painter: QPainter, place: QRectF, colour: str) -> None:
    """Draw a tick into a square."""
    pen = QPen(QColor(colour), THICK * place.height())
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    points = [QPointF(place.x() + x * place.width(), place.y() + y * place.height()) for x, y in POINTS]
    painter.drawPolyline(QPolygonF(points))

"""The soft shadow around a card: drawn once for a small card; its corners and edges are reused for every size."""

from functools import lru_cache

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

RADIUS, MARGIN = 12, 4
CORNER = RADIUS + 2 * MARGIN
"""Side of a corner of the picture; one pixel lies between two corners, and is stretched along each edge."""
LAYERS = ((3, 8), (2, 12), (1, 16))
"""The extent of each layer and its opacity, of 255."""


def draw_shadow(painter: QPainter, card: QRect) -> None:
    """Draw the shadow of a card around it; the area under the card is untouched, except for its round corners."""
    ratio = painter.device().devicePixelRatioF()
    picture, whole = _picture(ratio), card.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
    end = min(CORNER, whole.height() // 2)  # the ends of a low card are cut where they meet
    below = whole.y() + whole.height() - end
    for y, top, cut in ((whole.y(), 0, 0), (below, CORNER + 1, CORNER - end)):
        part = QRectF(0, cut * ratio, whole.width() * ratio, end * ratio)
        painter.drawPixmap(QRectF(whole.x(), y, whole.width(), end), _strip(whole.width(), top, ratio), part)
    high = below - whole.y() - end
    for x, left in ((whole.x(), 0), (whole.x() + whole.width() - MARGIN, 2 * CORNER + 1 - MARGIN)):
        part = QRectF(left * ratio, CORNER * ratio, MARGIN * ratio, ratio)
        painter.drawPixmap(QRectF(x, whole.y() + end, MARGIN, high), picture, part)


@lru_cache(maxsize=64)
def _strip(width: int, top: int, ratio: float) -> QPixmap:
    """Return the upper or the lower end of a shadow, which cards of the same width share."""
    strip = QPixmap(QSize(width, CORNER) * ratio)
    strip.setDevicePixelRatio(ratio)
    strip.fill(Qt.GlobalColor.transparent)
    painter = QPainter(strip)
    between = max(width - 2 * CORNER, 0)
    for x, wide, left, from_ in (
        (0, CORNER, 0, CORNER),
        (CORNER, between, CORNER, 1),
        (CORNER + between, CORNER, CORNER + 1, CORNER),
    ):
        part = QRectF(left * ratio, top * ratio, from_ * ratio, CORNER * ratio)
        painter.drawPixmap(QRectF(x, 0, wide, CORNER), _picture(ratio), part)
    painter.end()
    return strip


@lru_cache(maxsize=8)
def _picture(ratio: float) -> QPixmap:
    side = 2 * CORNER + 1
    picture = QPixmap(QSize(side, side) * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    card = QRectF(MARGIN, MARGIN, side - 2 * MARGIN, side - 2 * MARGIN)
    for spread, alpha in LAYERS:
        painter.setBrush(QColor(0, 0, 0, alpha))
        painter.drawRoundedRect(card.adjusted(-spread + 1, 0, spread - 1, spread), RADIUS + spread, RADIUS + spread)
    painter.end()
    return picture

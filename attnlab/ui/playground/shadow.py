"""The soft shadow around a card: drawn once for a small one, whose corners and edges then serve for every size."""

from functools import lru_cache

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

RADIUS, MARGIN = 12, 4
CORNER = RADIUS + 2 * MARGIN
"""Side of a corner of the picture; between two corners lies one pixel, which is drawn as long as an edge is."""
LAYERS = ((3, 8), (2, 12), (1, 16))
"""How far each layer reaches and how dark it is, of 255."""


def draw_shadow(painter: QPainter, card: QRect) -> None:
    """Draw the shadow of a card around it; what the card covers is left as it is, but for its round corners."""
    ratio = painter.device().devicePixelRatioF()
    picture, whole = _picture(ratio), card.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
    across = _thirds(whole.x(), whole.width())
    for x, width, left, wide in across:
        for y, height, top, high in _thirds(whole.y(), whole.height()):
            if wide == high == 1:
                continue
            part = QRectF(left * ratio, top * ratio, wide * ratio, high * ratio)
            painter.drawPixmap(QRectF(x, y, width, height), picture, part)


def _thirds(start: int, length: int) -> tuple[tuple[int, int, int, int], ...]:
    """Return of corner, edge and corner where each begins and how long it is, on the canvas and in the picture."""
    between = max(length - 2 * CORNER, 0)
    return (
        (start, CORNER, 0, CORNER),
        (start + CORNER, between, CORNER, 1),
        (start + CORNER + between, CORNER, CORNER + 1, CORNER),
    )


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

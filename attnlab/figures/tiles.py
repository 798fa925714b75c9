"""Cached pictures of cell frames and hatching, which are tiled over a map."""

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPixmap

from attnlab.figures.palette import Palette

RADIUS = 3.0
_WIDE_PX = 256
"""The least width of a tile: Qt copies tiles one by one, and narrow ones take six times as long."""


@lru_cache(maxsize=256)
def draw_frame(width: float, height: float, ratio: float, colour: str) -> QPixmap:
    """Return the frames of some cells side by side: the surface with rounded holes, and gaps of 1 px between them."""
    frame = _draw_one_frame(width, height, ratio, colour)
    count = -(-_WIDE_PX // frame.width())
    tile = QPixmap(frame.width() * count, frame.height())
    tile.setDevicePixelRatio(ratio)
    tile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(tile)
    painter.drawTiledPixmap(QRectF(QPointF(), tile.deviceIndependentSize()), frame)
    painter.end()
    return tile


def _draw_one_frame(width: float, height: float, ratio: float, colour: str) -> QPixmap:
    tile = QPixmap(round(width * ratio), round(height * ratio))
    tile.setDevicePixelRatio(ratio)
    tile.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.OddEvenFill)
    path.addRect(QRectF(-1, -1, width + 2, height + 2))
    radius = RADIUS if min(width, height) >= 12 else 1.5
    gap = 1.0 if min(width, height) >= 8 else 0.5
    path.addRoundedRect(QRectF(gap / 2, gap / 2, width - gap, height - gap), radius, radius)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillPath(path, QColor(colour))
    painter.end()
    return tile


@lru_cache(maxsize=8)
def make_hatching(palette: Palette, *, clear: bool = False) -> QBrush:
    """Return the fine diagonal lines of masked cells; if ``clear``, lines for cells that keep their colour."""
    tile = QPixmap(6, 6)
    tile.fill(Qt.GlobalColor.transparent if clear else QColor(palette.control))
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.muted), 0.6) if clear else QPen(QColor(palette.hatch), 1))
    for shift in (-6, 0, 6):
        painter.drawLine(QPointF(shift - 1, 7), QPointF(shift + 7, -1))
    painter.end()
    return QBrush(tile)


@lru_cache(maxsize=64)
def draw_hollow(width: float, height: float, ratio: float, colour: str) -> QPixmap:
    """Return an empty cell: a hairline with rounded corners."""
    tile = QPixmap(round(width * ratio), round(height * ratio))
    tile.setDevicePixelRatio(ratio)
    tile.fill(Qt.GlobalColor.transparent)
    radius = RADIUS if min(width, height) >= 12 else 1.5
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(colour), 1))
    painter.drawRoundedRect(QRectF(1, 1, width - 2, height - 2), radius, radius)
    painter.end()
    return tile

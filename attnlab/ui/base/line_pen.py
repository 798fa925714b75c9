"""Measures and draws texts of one line in one font; made for numbers that change with every edit."""

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from attnlab.ui.base.theme import font

_MOST = 4096
_DIGITS = str.maketrans("123456789", "0" * 9)


class LinePen:
    """Writes in one font, whose digits have one width: a number is as wide as any other of its form."""

    def __init__(self, face: QFont) -> None:
        self.face = face
        self._metrics = QFontMetricsF(face)
        self.height = self._metrics.height()
        self._widths: dict[str, float] = {}
        self._elided: dict[tuple[str, float], str] = {}

    def measure(self, text: str) -> float:
        """Return the width of a text in pixels."""
        form = text.translate(_DIGITS)
        width = self._widths.get(form)
        if width is None:
            if len(self._widths) >= _MOST:
                self._widths.clear()
            width = self._widths[form] = self._metrics.horizontalAdvance(form)
        return width

    def elide(self, text: str, width: float) -> str:
        """Return a text shortened in the middle to a width in pixels."""
        if self.measure(text) <= width:
            return text
        shown = self._elided.get((text, width))
        if shown is None:
            if len(self._elided) >= _MOST:
                self._elided.clear()
            shown = self._metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width)
            self._elided[text, width] = shown
        return shown

    def draw(self, painter: QPainter, room: QRectF, text: str, *, right: bool = False) -> None:
        """Draw a text in the painter's colour, at the left or the right end of a room and in its middle."""
        x = room.right() - self.measure(text) if right else room.x()
        base = room.y() + (room.height() - self.height) / 2 + self._metrics.ascent()
        painter.setFont(self.face)
        painter.drawText(QPointF(x, round(base)), text)


def find_pen(role: str) -> LinePen:
    """Return the pen of a role's font at the present size of type."""
    return _make_pen(font(role).toString())


@lru_cache(maxsize=64)
def _make_pen(key: str) -> LinePen:
    (face := QFont()).fromString(key)
    return LinePen(face)

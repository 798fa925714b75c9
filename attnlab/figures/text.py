"""Draws short texts whose layouts are cached, and shortens texts to fit."""

from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QStaticText

NARROW_EM = 3.0
"""Within fewer em than this a text is cut off without an ellipsis."""
_MARKS = {"\n": "↵", "\t": "⇥"}


class Face(QFont):
    """A font that never changes and caches its key."""

    def __init__(self, font: QFont) -> None:
        super().__init__(font)
        self.called = font.toString()


def find_key(font: QFont) -> str:
    """Return the key of a font (``QFont.toString``), which a :class:`Face` has cached."""
    return font.called if isinstance(font, Face) else font.toString()


@lru_cache(maxsize=32768)
def _lay_out(text: str, key: str) -> tuple[QStaticText, float, float]:
    font = QFont()
    font.fromString(key)
    static = QStaticText(text)
    static.setTextFormat(Qt.TextFormat.PlainText)
    static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    static.prepare(font=font)
    size = static.size()
    return static, size.width(), size.height()


def mark_blank(text: str) -> str:
    """Return a text on one line; of white space alone a mark for each character, ␣ ↵ ⇥, and ∅ for an empty text."""
    return " ".join(text.split()) or "".join(_MARKS.get(each, "␣") for each in text) or "∅"


@lru_cache(maxsize=32768)
def elide_text(text: str, key: str, width: float, *, middle: bool = False) -> str:
    """Return a text shortened to a width in the font with this key, on one line, with marks for blank texts.

    It is shortened at its end, or with ``middle`` in its middle.
    """
    font = QFont()
    font.fromString(key)
    shown, metrics = mark_blank(text), QFontMetricsF(font)
    dots = metrics.horizontalAdvance("…")
    if width >= NARROW_EM * font.pixelSize():
        mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        return metrics.elidedText(shown[:400], mode, width)
    if metrics.horizontalAdvance(shown) <= width:
        return shown
    longer = shown[:400] + "………"  # forces shortening, whose result fits without the dots
    return metrics.elidedText(longer, Qt.TextElideMode.ElideRight, width + dots).rstrip("…")


def measure_text(text: str, key: str) -> float:
    """Return the width of a text in pixels in the font with this key (``QFont.toString``)."""
    return _lay_out(text, key)[1]


class Pen:
    """Draws short texts in one font on one painter; layouts are shared by all pens of the same font."""

    def __init__(self, painter: QPainter, font: QFont) -> None:
        self._painter = painter
        self._key = find_key(font)
        painter.setFont(font)

    def width(self, text: str) -> float:
        """Return the width of a text in pixels."""
        return measure_text(text, self._key)

    def elide(self, text: str, width: float, *, middle: bool = False) -> str:
        """Return the text shortened to a width, at its end or in its middle, on one line, with marks for blank texts.

        A text that is as wide as :meth:`width` says stays whole.
        """
        return elide_text(text, self._key, width, middle=middle)

    def draw(self, x: float, y: float, text: str, across: float = 0.0, down: float = 0.5) -> None:
        """Draw a text; ``across`` and ``down`` are the anchor at x, y: 0 for left and top, 1 for right and bottom."""
        static, width, height = _lay_out(text, self._key)
        self._painter.drawStaticText(QPointF(x - across * width, y - down * height), static)

    def draw_upwards(self, x: float, y: float, text: str) -> None:
        """Draw a text vertically, reading upwards from x, y and centred on x."""
        static, _, height = _lay_out(text, self._key)
        self._painter.save()
        self._painter.translate(x, y)
        self._painter.rotate(-90)
        self._painter.drawStaticText(QPointF(0, -height / 2), static)
        self._painter.restore()

"""Lines of arithmetic drawn on one line in the colours of their roles, with raised and lowered parts."""

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from attnlab.attention.stages.arithmetic import Line, Span
from attnlab.figures.palette import Palette
from attnlab.ui.base.theme import scale
from attnlab.ui.widgets.subscripts import spans

_SMALLER = 0.78
_MOST_WIDTHS = 2048
_SHIFT = {"sup": -0.34, "sub": 0.2, "": 0.0}
"""How far a part is lowered, in heights of the letters."""


class Pen:
    """Measures and draws lines in one size of type; ``unit`` is the length of a pixel at 100 %."""

    def __init__(self, font: QFont, strong: QFont) -> None:
        self.unit = scale()
        self._widths: dict[tuple[str, str], float] = {}
        small = QFont(font)
        small.setPixelSize(max(1, round(font.pixelSize() * _SMALLER)))
        self._fonts = {"": font, "strong": strong, "small": small}
        self._metrics = {name: QFontMetricsF(each) for name, each in self._fonts.items()}

    def measure_text(self, text: str, strong: bool = False) -> float:
        """Return the width of a plain text."""
        return self._advance("strong" if strong else "", text)

    def _advance(self, kind: str, text: str) -> float:
        """Return the width of a text, which is known while it stays on screen."""
        width = self._widths.get((kind, text))
        if width is None:
            if len(self._widths) >= _MOST_WIDTHS:
                self._widths.clear()
            width = self._widths[kind, text] = self._metrics[kind].horizontalAdvance(text)
        return width

    def measure(self, line: Line) -> float:
        """Return the width of a line."""
        return sum(self._advance(kind, text) for _, text, kind, _ in _pieces(line))

    def elide(self, text: str, width: float, strong: bool = False) -> str:
        """Return a text cut in the middle to a width."""
        if self.measure_text(text, strong) <= width + 0.5:
            return text
        return self._metrics["strong" if strong else ""].elidedText(text, Qt.TextElideMode.ElideMiddle, width)

    def draw_text(self, painter: QPainter, at: QPointF, text: str, colour: str, strong: bool = False) -> None:
        """Draw a plain text from a point on its baseline."""
        painter.setFont(self._fonts["strong" if strong else ""])
        painter.setPen(QColor(colour))
        painter.drawText(at, text)

    def draw(self, painter: QPainter, at: QPointF, line: Line, palette: Palette, colour: str) -> None:
        """Draw a line from a point on its baseline; ``colour`` is that of the parts without a role."""
        x, high = at.x(), self._metrics[""].height()
        for span, text, kind, shift in _pieces(line):
            painter.setFont(self._fonts[kind])
            ink = palette.muted if span.style == "muted" else palette.role_ink(span.role) if span.role else colour
            painter.setPen(QColor(ink))
            painter.drawText(QPointF(x, at.y() + shift * high), text)
            x += self._advance(kind, text)


def _pieces(line: Line) -> list[tuple[Span, str, str, float]]:
    """Return a line in pieces of one font: the span, its text, the font and how far it is lowered."""
    pieces: list[tuple[Span, str, str, float]] = []
    for span in line:
        if span.style in ("sup", "sub"):
            pieces.append((span, span.text, "small", _SHIFT[span.style]))
        elif "_" in span.text:
            pieces += [
                (span, text, "small" if low else "", _SHIFT["sub" if low else ""]) for text, low in spans(span.text)
            ]
        else:
            pieces.append((span, span.text, "strong" if span.style == "strong" else "", 0.0))
    return pieces

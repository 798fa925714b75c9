"""Lines of arithmetic drawn on one line in the colours of their roles, with raised and lowered parts."""

import re
from dataclasses import replace

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.attention.stages.arithmetic import Line, Span
from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import spans
from attnlab.ui.base.line_pen import LinePen
from attnlab.ui.base.theme import scale

_SMALLER = 0.78
_OPERATOR = re.compile(r"(?= [×·÷+−=] )")
"""Where an operator begins, which has a space on both sides; a sign has none."""
_SHIFT = {"sup": -0.34, "sub": 0.2, "": 0.0}
"""How far a part is lowered, in heights of the letters."""


class Pen:
    """Measures and draws lines in one size of type; ``unit`` is the length of a pixel at 100 %."""

    def __init__(self, font: QFont, strong: QFont) -> None:
        self.unit = scale()
        small = QFont(font)
        small.setPixelSize(max(1, round(font.pixelSize() * _SMALLER)))
        self._pens = {"": LinePen(font), "strong": LinePen(strong), "small": LinePen(small)}

    def measure_text(self, text: str, strong: bool = False) -> float:
        """Return the width of a plain text."""
        return self._pens["strong" if strong else ""].measure(text)

    def measure(self, line: Line) -> float:
        """Return the width of a line."""
        return sum(self._pens[kind].measure(text) for _, text, kind, _ in _pieces(line))

    def wrap(self, line: Line, width: float) -> list[Line]:
        """Return a line in lines of at most a width, broken before its operators; a longer number stays whole."""
        if self.measure(line) <= width:
            return [line]
        lines: list[Line] = [()]
        for span in line:
            for text in filter(None, _OPERATOR.split(span.text)):
                part = replace(span, text=text)
                if text.startswith(" ") and lines[-1]:  # an operator, with what follows it
                    lines.append((replace(part, text=text.lstrip()),))
                else:
                    lines[-1] = (*lines[-1], part)
        return self._join(lines, width)

    def _join(self, parts: list[Line], width: float) -> list[Line]:
        """Return parts of a line joined to as few lines as have room."""
        lines = parts[:1]
        for part in parts[1:]:
            longer = (*lines[-1], Span(" "), *part)
            if self.measure(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(part)
        return lines

    def elide(self, text: str, width: float, strong: bool = False) -> str:
        """Return a text cut in the middle to a width."""
        return self._pens["strong" if strong else ""].elide(text, width + 0.5)

    def draw_text(self, painter: QPainter, at: QPointF, text: str, colour: str, strong: bool = False) -> None:
        """Draw a plain text from a point on its baseline."""
        painter.setFont(self._pens["strong" if strong else ""].face)
        painter.setPen(QColor(colour))
        painter.drawText(at, text)

    def draw(self, painter: QPainter, at: QPointF, line: Line, palette: Palette, colour: str) -> None:
        """Draw a line from a point on its baseline; ``colour`` is that of the parts without a role."""
        x, high = at.x(), self._pens[""].height
        for span, text, kind, shift in _pieces(line):
            painter.setFont(self._pens[kind].face)
            ink = palette.muted if span.style == "muted" else palette.role_ink(span.role) if span.role else colour
            painter.setPen(QColor(ink))
            painter.drawText(QPointF(x, at.y() + shift * high), text)
            x += self._pens[kind].measure(text)


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

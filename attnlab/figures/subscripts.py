"""Text in which ``d_k`` and ``W_q`` have a real subscript, drawn in one line on any painter."""

import re
from functools import lru_cache

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

_SUBSCRIPT = re.compile(r"(?<![A-Za-z_])(d?[A-Za-zβγ])_((?:[A-Za-z]+|\d+)(?:,(?:[A-Za-z]+|\d+))*)(?![A-Za-z0-9_])")
_SMALLER, _LOWER = 0.78, 0.22


def spans(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the text in pieces, each with whether it is a subscript; a subscript follows _ after a single letter.

    The letter may have a d before it, as in the gradient ``dW_q``.
    """
    pieces: list[tuple[str, bool]] = []
    at = 0
    for found in _SUBSCRIPT.finditer(text):
        pieces += [(text[at : found.end(1)], False), (found[2], True)]
        at = found.end()
    return tuple(piece for piece in (*pieces, (text[at:], False)) if piece[0])


def text_width(text: str, font: QFont) -> float:
    """Return the width in pixels of a text drawn by ``draw_text``."""
    return _measure_text(text, font.toString())


@lru_cache(maxsize=512)
def _measure_text(text: str, key: str) -> float:
    """Return the width of a text in the font of a key; layouts ask for the same ones many times."""
    (face := QFont()).fromString(key)
    return sum(QFontMetricsF(_font(face, low)).horizontalAdvance(piece) for piece, low in spans(text))


def draw_text(painter: QPainter, x: float, middle: float, text: str, font: QFont) -> float:
    """Draw a text in the painter's pen, its capitals centred vertically on ``middle``; return its right end."""
    metrics = QFontMetricsF(font)
    baseline = middle + metrics.capHeight() / 2
    for piece, low in spans(text):
        made = _font(font, low)
        painter.setFont(made)
        painter.drawText(QPointF(x, baseline + (metrics.height() * _LOWER if low else 0)), piece)
        x += QFontMetricsF(made).horizontalAdvance(piece)
    return x


def _font(font: QFont, low: bool) -> QFont:
    if not low:
        return font
    made = QFont(font)
    made.setPixelSize(max(1, round(font.pixelSize() * _SMALLER)))
    return made

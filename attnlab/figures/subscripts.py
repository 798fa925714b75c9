"""Text in which ``d_k`` and ``W_q`` have a real subscript, drawn in one line on any painter."""

import re
from functools import lru_cache
from html import escape

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

_SUBSCRIPT = re.compile(
    r"(?<![A-Za-z_])(?<!\w\.)(d?[A-Za-zβγ])_((?:[A-Za-z]+|\d+)(?:,(?:[A-Za-z]+|\d+))*)(?![A-Za-z0-9_])(?!\.\w)"
)
_SMALLER, _LOWER = 0.78, 0.22


def spans(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the text in pieces, each with whether it is a subscript; a subscript follows _ after a single letter.

    The letter may have a d before it, as in the gradient ``dW_q``. A dotted name, such as ``layer.q_proj.weight`` of an
    array in a file, is left as it is.
    """
    return tuple((text[start:end], low) for start, end, low in places(text))


def places(text: str) -> tuple[tuple[int, int, bool], ...]:
    """Return where the pieces of ``spans`` begin and end in a text; the underscores lie between them."""
    found: list[tuple[int, int, bool]] = []
    at = 0
    for match in _SUBSCRIPT.finditer(text):
        found += [(at, match.end(1), False), (*match.span(2), True)]
        at = match.end()
    return tuple(place for place in (*found, (at, len(text), False)) if place[0] < place[1])


def text_width(text: str, font: QFont) -> float:
    """Return the width in pixels of a text drawn by ``draw_text``."""
    return _measure_text(text, font.toString())


@lru_cache(maxsize=512)
def _measure_text(text: str, key: str) -> float:
    """Return the width of a text in the font of a key; layouts ask for the same ones many times."""
    (face := QFont()).fromString(key)
    return sum(QFontMetricsF(_font(face, low)).horizontalAdvance(piece) for piece, low in spans(text))


def write_html(text: str) -> str:
    """Return a plain text as rich text with its subscripts."""
    return "".join(f"<sub>{escape(piece)}</sub>" if low else escape(piece) for piece, low in spans(text))


def keep_products(formula: str) -> str:
    """Return a formula that may be broken before +, − and = outside brackets only: never within a product."""
    depth, kept = 0, ""
    for at, sign in enumerate(formula):
        depth += (sign in "([") - (sign in ")]")
        ends = sign == " " and not depth and formula[at + 1 : at + 3] in ("+ ", "− ", "= ")
        kept += " " if ends else sign.replace(" ", "\u00a0")
    return kept


def cut_text(text: str, font: QFont, width: float, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> str:
    """Return a text that is wider than ``width`` pixels, as ``draw_text`` draws it, cut with …; others as they are."""
    if text_width(text, font) <= width:
        return text
    return QFontMetricsF(font).elidedText(text, mode, width)


def draw_text(painter: QPainter, x: float, middle: float, text: str, font: QFont) -> float:
    """Draw a text in the painter's pen, its capitals centred vertically on ``middle``; return its right end."""
    for piece, low in spans(text):
        x = draw_piece(painter, x, middle, piece, font, low=low)
    return x


def draw_piece(painter: QPainter, x: float, middle: float, piece: str, font: QFont, *, low: bool) -> float:
    """Draw a piece of a text as ``draw_text`` does, a subscript if it is ``low``; return its right end."""
    metrics, made = QFontMetricsF(font), _font(font, low)
    painter.setFont(made)
    baseline = middle + metrics.capHeight() / 2
    painter.drawText(QPointF(x, baseline + (metrics.height() * _LOWER if low else 0)), piece)
    return x + QFontMetricsF(made).horizontalAdvance(piece)


def _font(font: QFont, low: bool) -> QFont:
    if not low:
        return font
    made = QFont(font)
    made.setPixelSize(max(1, round(font.pixelSize() * _SMALLER)))
    return made

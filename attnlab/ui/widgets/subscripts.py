"""Text in which ``d_k`` and ``W_q`` are shown with a real subscript: drawn in one line, or as a label."""

import re
from functools import lru_cache
from html import escape

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font as font_of
from attnlab.ui.base.themed import FollowsTheme

_SUBSCRIPT = re.compile(r"(?<![A-Za-z_])([A-Za-zβγ])_((?:[A-Za-z]+|\d+)(?:,(?:[A-Za-z]+|\d+))*)(?![A-Za-z0-9_])")
_SMALLER, _LOWER = 0.78, 0.22


def spans(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the text in pieces, each with whether it is a subscript; a subscript follows _ after a single letter."""
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


@guarded
class FormulaLabel(FollowsTheme, QLabel):
    """Sentences with subscripts, wrapped and selectable; a screen reader hears the plain text."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        self._heights: dict[tuple[int, int], int] = {}
        super().__init__(parent)
        self._text = text
        self.setProperty("role", role)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleName(text)

    @property
    def formula(self) -> str:
        """The plain text, its subscripts after an underscore."""
        return self._text

    def show_formula(self, text: str) -> None:
        """Show a plain text, its subscripts lowered."""
        if text != self._text:  # writing rich text again has it laid out and painted again
            self._text = text
            self.setAccessibleName(text)
            self.restyle()

    def restyle(self) -> None:
        """Use the present size of type for the subscripts."""
        size_px = round(font_of("caption").pixelSize() * 3 / 2)  # Qt draws subscripts at two thirds of their size
        lowered = f'<span style="vertical-align:sub; font-size:{size_px}px">'
        pieces = ((escape(piece).replace("\n", "<br>"), low) for piece, low in spans(self._text))
        self.setText("".join(f"{lowered}{piece}</span>" if low else piece for piece, low in pieces))
        self._heights.clear()

    def heightForWidth(self, width: int) -> int:
        """Return the height, which is cached: Qt lays out and paints rich text again to measure it."""
        margins = self.contentsMargins()
        key = width, margins.top() + margins.bottom()
        if key not in self._heights:
            self._heights[key] = super().heightForWidth(width)
        return self._heights[key]

    def changeEvent(self, event: QEvent) -> None:
        self._heights.clear()
        super().changeEvent(event)


def _font(font: QFont, low: bool) -> QFont:
    if not low:
        return font
    made = QFont(font)
    made.setPixelSize(max(1, round(font.pixelSize() * _SMALLER)))
    return made

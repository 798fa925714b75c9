"""A label with sentences in which ``d_k`` and ``W_q`` have real subscripts."""

import re
from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.base.printable import shorten
from attnlab.figures.subscripts import spans, write_html
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font as font_of
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.base.themed import FollowsTheme

_EQUATION = re.compile(r"(?<=\w) = (?=[−\d])")
"""Between the name and the number of "d_k = 8", which stay on one line."""
_LONG, _LONGEST, BREAK = re.compile(r"[^\W_]{24,}"), 72, "\N{ZERO WIDTH SPACE}"


def break_words(text: str) -> str:
    """Return a text whose long words can be broken anywhere; very long ones are shortened in the middle."""
    return _LONG.sub(lambda word: BREAK.join(shorten(word[0], _LONGEST)), text)


@guarded
class FormulaLabel(FollowsTheme, QLabel):
    """Sentences with subscripts, wrapped and selectable; a screen reader hears its plain text."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        self._heights: dict[tuple[int, int], int] = {}
        self._line = 0
        super().__init__(parent)
        self._text = ""
        self.setProperty("role", role)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setText(text)

    def text(self) -> str:
        """Return the plain text, its subscripts after an underscore."""
        return self._text

    def setText(self, text: str) -> None:
        """Show a plain text, its subscripts lowered; the label is called so unless it has a name of its own."""
        if text != self._text:  # writing rich text again has it laid out and painted again
            named, self._text = self.accessibleName() in ("", self._text), text
            if named:
                self.setAccessibleName(text)
            self.restyle()

    @property
    def markup(self) -> str:
        """The text as Qt draws it."""
        return super().text()

    def restyle(self) -> None:
        """Use the present size of type for the subscripts."""
        text = break_words(_EQUATION.sub("\u00a0=\u00a0", self._text))
        pieces = spans(text)
        is_rich = any(low for _, low in pieces)
        self.setTextFormat(Qt.TextFormat.RichText if is_rich else Qt.TextFormat.PlainText)
        self._line = self.fontMetrics().lineSpacing()
        super().setText(_write_markup(pieces, self._line) if is_rich else text)
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
        if event.type() == QEvent.Type.FontChange and self.fontMetrics().lineSpacing() != self._line:
            self.restyle()


def write_tip(text: str) -> str:
    """Return a plain text for a tool tip, its subscripts lowered."""
    has_subscripts = any(low for _, low in spans(text))
    return "<qt>" + write_html(text).replace("\n", "<br>") + "</qt>" if has_subscripts else plain_tip(text)


def _write_markup(pieces: tuple[tuple[str, bool], ...], line: int) -> str:
    """Return HTML with lines of a height in pixels; Qt would make a line with a subscript higher than the others."""
    size_px = round(font_of("caption").pixelSize() * 3 / 2)  # Qt draws subscripts at two thirds of their size
    lowered = f'<span style="vertical-align:sub; font-size:{size_px}px">'
    escaped = ((escape(piece).replace("\n", "<br>"), low) for piece, low in pieces)
    text = "".join(f"{lowered}{piece}</span>" if low else piece for piece, low in escaped)
    return f'<p style="margin:0; line-height:{line}px; -qt-line-height-type:fixed">{text}</p>'

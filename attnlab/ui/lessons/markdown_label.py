"""A label for a lesson's Markdown: paragraphs, lists, bold, italics and code; links are text with their address."""

import re

from PySide6.QtCore import QRegularExpression, Qt
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.base.text_marks import ASIDE, COVER, COVERED, END, END_ASIDE, SHOWN, split_marks
from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_markdown import read_document
from attnlab.ui.base.lowered_text import lower_indices
from attnlab.ui.base.theme import font
from attnlab.ui.base.themed import FollowsTheme, palette_of

ABOUT_ASIDES = "Grey sentences are about the lesson’s own numbers. Undo restores them."
_NUMBER = QRegularExpression(f"[{SHOWN}{COVERED}][^{END}]*{END}")
_ASIDE = QRegularExpression(f"{ASIDE}[^{END_ASIDE}]*{END_ASIDE}")
_SPACE = "\u2007"
_COVERED = re.compile(f"{_SPACE}+{re.escape(COVER)}{_SPACE}+")


class MarkdownLabel(FollowsTheme, QLabel):
    """Shows Markdown; HTML in it is shown as plain text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markdown: str | None = None
        self._words = ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    @property
    def markdown(self) -> str:
        """The original text."""
        return self._markdown or ""

    @property
    def words(self) -> str:
        """The text for a screen reader; a covered number is "covered"."""
        return self._words

    def show_markdown(self, markdown: str) -> None:
        """Show a text; the same one again costs nothing."""
        if markdown != self._markdown:
            self._markdown = markdown
            self.setText(self._make_html(markdown))

    def restyle(self) -> None:
        """Set the font, and the text in it."""
        self.setFont(font("text"))
        self.setText(self._make_html(self.markdown))

    def _make_html(self, markdown: str) -> str:
        document = read_document(markdown, self.font(), has_addresses=True)
        show_marks(document, palette_of(self))
        if ASIDE in markdown:
            _explain_asides(document, palette_of(self))
        self._words = _COVERED.sub("covered", document.toPlainText())
        lower_indices(document)
        return document.toHtml()  # Qt has escaped all plain text in it


def _explain_asides(document: QTextDocument, palette: Palette) -> None:
    """Say below a text why some of its sentences are grey."""
    cursor, style = QTextCursor(document), QTextCharFormat()
    style.setForeground(QColor(palette.muted))
    style.setFontItalic(True)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    below = QTextBlockFormat()
    below.setTopMargin(6)
    cursor.insertBlock(below)
    cursor.insertText(ABOUT_ASIDES, style)


def show_marks(document: QTextDocument, palette: Palette) -> None:
    """Format marked text: cover numbers that are asked for, and mute sentences about other numbers."""
    cursor = document.find(_NUMBER)
    while not cursor.isNull():
        (piece, *_), _ = split_marks(cursor.selectedText())
        style = cursor.charFormat()
        style.setFontWeight(QFont.Weight.DemiBold)
        style.setForeground(QColor(palette.role_ink(piece.role) if piece.role else palette.ink))
        text = piece.text
        if text == COVER:
            style.setForeground(QColor(palette.on_cover))
            style.setBackground(QColor(palette.cover))
            air = _SPACE * max((len(piece.held) - 1) // 2, 1)
            text = f"{air}{COVER}{air}"
        cursor.insertText(text, style)
        cursor = document.find(_NUMBER, cursor)
    cursor = document.find(_ASIDE)
    while not cursor.isNull():
        muted = QTextCharFormat()
        muted.setForeground(QColor(palette.aside))
        cursor.mergeCharFormat(muted)
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        for place in (end - 1, start):
            cursor.setPosition(place)
            cursor.deleteChar()
        cursor = document.find(_ASIDE, start)

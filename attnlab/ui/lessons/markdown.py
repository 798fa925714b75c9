"""A label for a lesson's Markdown: paragraphs, lists, bold, italics and code, and nothing that reaches elsewhere."""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.theme import font

_IMAGE = re.compile(r"!(?=\[)")
"""What begins an image: a lesson's text has none, and a label would look for the file."""


class MarkdownLabel(QLabel):
    """Shows Markdown; HTML in it is text like any other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._markdown: str | None = None
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    @property
    def markdown(self) -> str:
        """The text as it was given."""
        return self._markdown or ""

    def show_markdown(self, markdown: str) -> None:
        """Show a text; the same one again costs nothing."""
        if markdown != self._markdown:
            self._markdown = markdown
            self.setText(self._html(markdown))

    def set_palette(self, palette: Palette) -> None:
        """Write in other colours, and the present size of type, from now on."""
        self._palette = palette
        self.setFont(font("text"))
        self.setText(self._html(self.markdown))

    def _html(self, markdown: str) -> str:
        document = QTextDocument()
        document.setDefaultFont(self.font())
        features = QTextDocument.MarkdownFeature.MarkdownNoHTML
        document.setMarkdown(_IMAGE.sub("", markdown), features)
        return document.toHtml()

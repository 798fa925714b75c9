"""A label for a lesson's Markdown: paragraphs, lists, bold, italics and code, and nothing that reaches elsewhere."""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.theme import font

_IMAGE = re.compile(r"<img [^>]*>")
"""An image, which a label would look for, in a file or elsewhere: a lesson's text has none."""
_LINK = re.compile(r"<a [^>]*><span [^>]*>(.*?)</span></a>", re.DOTALL)
"""A link, which leads away from the lecture: only what it is called is shown."""


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
        document.setMarkdown(markdown, features)
        return _LINK.sub(r"\1", _IMAGE.sub("", document.toHtml()))  # where Qt has escaped what is text

"""A label for a lesson's Markdown: paragraphs, lists, bold, italics and code, without links and images."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.figures.slides.slide_markdown import read_document
from attnlab.ui.base.theme import font


class MarkdownLabel(QLabel):
    """Shows Markdown; HTML in it is shown as plain text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._markdown: str | None = None
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    @property
    def markdown(self) -> str:
        """The original text."""
        return self._markdown or ""

    def show_markdown(self, markdown: str) -> None:
        """Show a text; the same one again costs nothing."""
        if markdown != self._markdown:
            self._markdown = markdown
            self.setText(self._make_html(markdown))

    def set_palette(self, palette: Palette) -> None:
        """Apply a theme's colours and the current font size."""
        self._palette = palette
        self.setFont(font("text"))
        self.setText(self._make_html(self.markdown))

    def _make_html(self, markdown: str) -> str:
        return read_document(markdown, self.font()).toHtml()  # Qt has escaped all plain text in it

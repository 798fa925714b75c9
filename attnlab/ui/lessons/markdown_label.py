"""A label for a lesson's Markdown: paragraphs, lists, bold, italics and code, without links and images."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.figures.slides.slide_markdown import read_document
from attnlab.ui.base.theme import font
from attnlab.ui.base.themed import FollowsTheme


class MarkdownLabel(FollowsTheme, QLabel):
    """Shows Markdown; HTML in it is shown as plain text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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

    def restyle(self) -> None:
        """Set the font, and the text in it."""
        self.setFont(font("text"))
        self.setText(self._make_html(self.markdown))

    def _make_html(self, markdown: str) -> str:
        return read_document(markdown, self.font()).toHtml()  # Qt has escaped all plain text in it

"""A heading that shows and hides the text below it."""

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.lessons.markdown_label import MarkdownLabel


class Fold(QWidget):
    """Shows a text when its heading is clicked; without a text there is no heading."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self.heading = QToolButton()
        self.heading.setText(title)
        self.heading.setCheckable(True)
        self.heading.setAccessibleName(f"Show: {title}")
        self.heading.setToolTip(f"Show or hide: {title.lower()}")
        self.heading.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.heading.toggled.connect(self._on_toggled)
        self.text = MarkdownLabel()
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.text.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.heading, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.text)
        self._content: QWidget = self.text
        self.hide()

    def show_widget(self, widget: QWidget) -> None:
        """Show a widget below the heading, in place of a text."""
        self._content = widget
        widget.setVisible(self.heading.isChecked())
        column = self.layout()
        assert column is not None
        column.addWidget(widget)

    def show_text(self, markdown: str) -> None:
        """Show a text below the heading; "" removes both."""
        self.text.show_markdown(markdown)
        self.setVisible(bool(markdown))

    def fold(self) -> None:
        """Hide the text."""
        self.heading.setChecked(False)

    def set_palette(self, palette: Palette) -> None:
        """Apply a theme's colours."""
        self._palette = palette
        self.heading.setFont(font("caption_strong"))
        self.text.set_palette(palette)
        self._show_arrow()

    def _show_arrow(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-right"
        self.heading.setIcon(icon(name, self._palette, px(12)))
        self.heading.setIconSize(QSize(px(12), px(12)))

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        self._content.setVisible(on)
        self._show_arrow()

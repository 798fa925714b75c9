"""A heading that shows and hides the text below it."""

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.lessons.markdown_label import MarkdownLabel


class Fold(FollowsTheme, QWidget):
    """Shows a text when its heading is clicked; without a text there is no heading.

    A heading ``apart`` is placed by the owner: folded, the text then takes no room, and open it has a title of its own.
    """

    def __init__(self, title: str, parent: QWidget | None = None, *, apart: bool = False) -> None:
        super().__init__(parent)
        self._apart = apart
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
        column.addWidget(_make_title(title) if apart else self.heading, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.text)
        self._content: QWidget = self.text
        self.hide()

    def show_widget(self, widget: QWidget) -> None:
        """Show a widget below the heading, in place of a text or of another one."""
        if widget is self._content:
            return
        self._content.hide()
        self._content = widget
        column = self.layout()
        assert column is not None
        column.addWidget(widget)
        widget.setVisible(self.heading.isChecked())  # after it has its parent, or it would be a window

    def show_text(self, markdown: str) -> None:
        """Show a text below the heading; "" removes both."""
        self.text.show_markdown(markdown)
        self.heading.setVisible(bool(markdown))
        self.setVisible(bool(markdown) and (self.heading.isChecked() or not self._apart))

    def fold(self) -> None:
        """Hide the text."""
        self.heading.setChecked(False)

    def restyle(self) -> None:
        """Set the font and the arrow of the heading."""
        self.heading.setFont(font("caption_strong"))
        self._show_arrow()

    def _show_arrow(self) -> None:
        name = "chevron-down" if self.heading.isChecked() else "chevron-right"
        self.heading.setIcon(icon(name, palette_of(self), px(12)))
        self.heading.setIconSize(QSize(px(12), px(12)))

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        self._content.setVisible(on)
        if self._apart:
            self.setVisible(on)
        self._show_arrow()


def _make_title(title: str) -> QLabel:
    label = QLabel(title)
    label.setProperty("role", "section")
    return label

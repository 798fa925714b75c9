"""The line for messages below the lessons; it takes no room while there is none."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, set_role
from attnlab.ui.widgets.elided_label import ElidedLabel


@guarded
class LessonsFooter(FollowsTheme, QWidget):
    """Shows one message below the list and the page."""

    def __init__(self) -> None:
        super().__init__()
        self._line = QFrame()  # the window shows and hides the footer itself
        self._line.setProperty("ground", "bottom")
        self._message = ElidedLabel()
        self._message.setObjectName("message")
        self._message.setAccessibleName("Message")
        inside = QHBoxLayout(self._line)
        inside.setContentsMargins(16, 6, 16, 6)
        inside.addWidget(self._message, 1)
        around = QHBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._line)
        self._line.hide()

    @property
    def message(self) -> str:
        """The message, "" for none."""
        return self._message.text()

    def say(self, sentence: str, role: str = "muted") -> None:
        """Show a sentence in a role of the theme; "" clears it."""
        self._line.setVisible(bool(sentence))
        set_role(self._message, role)
        show_text(self._message, sentence)

    def restyle(self) -> None:
        """Set the height."""
        self._line.setMinimumHeight(px(38))

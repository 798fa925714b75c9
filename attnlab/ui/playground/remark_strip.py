"""The strip below the switches that says what is odd about the open experiment; hidden if nothing is."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import pixmap
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of


@guarded
class RemarkStrip(FollowsTheme, QFrame):
    """Shows sentences one below the other, beside a sign."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("remarks")
        self._sign = QLabel()
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setProperty("ground", "remark")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 5, 16, 5)
        row.setSpacing(8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        self.hide()

    def show_sentences(self, sentences: Sequence[str]) -> None:
        """Show other sentences; none hides the strip."""
        text = "\n".join(sentences)
        if text != self.text.text():
            self.text.setText(text)
            self.text.setAccessibleName(f"Odd about this layer: {text}")
        self.setVisible(bool(text))

    def restyle(self) -> None:
        """Draw the sign."""
        self._sign.setPixmap(pixmap("warning", palette_of(self).bad, px(16), self.devicePixelRatioF()))
        self._sign.setFixedSize(QSize(px(16), px(18)))

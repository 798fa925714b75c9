"""The strip below the switches that says what is odd about the open experiment; hidden if nothing is."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon, pixmap
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel

LOW = 460
"""In a window lower than this, in pixels at 100 %, the strip has one line until it is unfolded."""
MARGIN = 16


@guarded
class RemarkStrip(FollowsTheme, QFrame):
    """Shows sentences one below the other, beside a sign; in a low window one line, with a button for the rest."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("remarks")
        self.setProperty("ground", "remark")
        self._is_low = self._unfolded = False
        self._sign = QLabel()
        self.text = FormulaLabel()
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.line = ElidedLabel()
        self.line.lowers_indices = True
        self.fold_button = QToolButton()
        self.fold_button.clicked.connect(self._on_fold_clicked)
        self._row = row = QHBoxLayout(self)
        row.setSpacing(8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        row.addWidget(self.line, 1)
        row.addWidget(self.fold_button, 0, Qt.AlignmentFlag.AlignTop)
        self._fold()
        self.hide()

    def show_sentences(self, sentences: Sequence[str]) -> None:
        """Show other sentences; none hides the strip."""
        text = "\n".join(sentences)
        if text != self.text.text():
            self.text.setText(text)
            self.line.setText(" ".join(sentences))
            for label in (self.text, self.line):
                label.setAccessibleName(f"Unusual here: {text}")
            announce(text and f"Unusual here: {text}", self)
        self.setVisible(bool(text))

    def arrange(self, rail: int, window_height: int) -> None:
        """Begin beside the rail, which covers so many pixels, and fit the strip to the height of the window."""
        self._row.setContentsMargins(rail + MARGIN, 5, MARGIN, 5)
        is_low = window_height < px(LOW)
        if is_low != self._is_low:
            self._is_low, self._unfolded = is_low, False
            self._fold()

    def _fold(self) -> None:
        whole = self._unfolded or not self._is_low
        self.text.setVisible(whole)
        self.line.setVisible(not whole)
        self.fold_button.setVisible(self._is_low)
        told = "Show one line" if whole else "Show whole sentences"
        self.fold_button.setToolTip(told)
        self.fold_button.setAccessibleName(told)
        self.restyle()

    def restyle(self) -> None:
        """Draw the sign and the icon of the button."""
        palette, side = palette_of(self), px(16)
        self._sign.setPixmap(pixmap("warning", palette.bad, side, self.devicePixelRatioF()))
        self._sign.setFixedSize(QSize(side, px(18)))
        self.fold_button.setIcon(icon("chevron-up" if self._unfolded else "chevron-down", palette, px(12)))
        self.fold_button.setIconSize(QSize(px(12), px(12)))
        self.fold_button.setFixedSize(px(20), px(20))

    @Slot()
    def _on_fold_clicked(self) -> None:
        self._unfolded = not self._unfolded
        self._fold()

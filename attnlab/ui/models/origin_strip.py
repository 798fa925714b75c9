"""The strip above the canvas that says whether the open layer is true to the model it came from, and goes back."""

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from attnlab.figures.palette import mix
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of, set_role
from attnlab.ui.widgets.elided_label import ElidedLabel

Truth = Literal["true", "changed", "edited", "invented"]
SAID: dict[Truth, tuple[str, str]] = {
    "true": ("✓ true to the model", "good"),
    "changed": ("✓ as in the model with your changes", "good"),
    "edited": ("edited: no longer the model’s own", "strong"),
    "invented": ("new random words: not the model’s; Enter lets it read them", "error"),
}
"""What each state is called, and its role in the style sheet."""
ROOMY = 680
"""The width in pixels at 100 % from which the name of the layer fits too."""


@guarded
class OriginStrip(FollowsTheme, QFrame):
    """Asks to run the model with the edited layer, to run it on the present words, or to go back to the model."""

    send_requested = Signal()
    run_requested = Signal()
    leave_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("model-strip")
        self.setAccessibleName("From a model")
        self.title, self.truth = QLabel(), ElidedLabel()
        self.truth.setAccessibleName("True to the model")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.send = QPushButton("Run the model with it")
        self.run = QPushButton("Run the model on these words")
        self.leave = QPushButton("To the model")
        for button in (self.send, self.run):
            button.setProperty("primary", "true")
        self.send.setToolTip("The model computes this layer as it is here; only the layers behind it run again")
        self.run.setToolTip("The model reads these words, and its true hidden states come here; your weights stay")
        self.leave.setToolTip("Return to the model without changing it")
        self.send.clicked.connect(self.send_requested)
        self.run.clicked.connect(self.run_requested)
        self.leave.clicked.connect(self.leave_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(self.truth, 1)
        for button in (self.leave, self.run, self.send):
            row.addWidget(button)
        self.hide()

    def restyle(self) -> None:
        """Set the colours of the ground and the line below."""
        palette = palette_of(self)
        ground = mix(palette.surface, palette.attention, 0.08)
        set_sheet(self, f"#model-strip {{ background: {ground}; border-bottom: 1px solid {palette.hairline}; }}")

    def show_origin(self, title: str, truth: Truth | None) -> None:
        """Show where the layer came from, and whether it is still true; None hides the strip."""
        self.setVisible(truth is not None)
        if truth is None:
            return
        said, role = SAID[truth]
        self.title.setText(f"{title}, counted from 0")  # the layers of a stack here count from 1
        set_role(self.truth, role)
        show_text(self.truth, said)
        self.send.setVisible(truth == "edited")
        self.run.setVisible(truth == "invented")
        self._make_room()

    def say(self, sentence: str, role: str = "error") -> None:
        """Show why something could not be done, or what is being done."""
        set_role(self.truth, role)
        show_text(self.truth, sentence)

    def _make_room(self) -> None:
        """Leave out the name where there is little room; the buttons always stay, and the sentence is cut."""
        self.title.setVisible(self.width() >= px(ROOMY))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

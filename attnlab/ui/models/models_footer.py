"""The line below: how many maps there are, the number under the pointer, and what is being computed."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.models.model_values import Overview
from attnlab.ui.widgets.elided_label import ElidedLabel


@guarded
class ModelsFooter(FollowsTheme, QFrame):
    """Shows an overview in numbers; a message replaces the note until the next overview."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "bottom")
        self.count, self.note, self.state = QLabel(), ElidedLabel(), QLabel("")
        self.note.setAccessibleName("Message")
        for label in (self.count, self.note, self.state):
            label.setProperty("role", "muted")
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(18)
        row.addWidget(self.count)
        row.addWidget(self.note, 1)
        row.addWidget(self.state)
        self._hint, self._said = "Layers and heads count from 0, as in transformers", ""
        self.note.setText(self._hint)

    def restyle(self) -> None:
        """Set the height."""
        self.setMinimumHeight(px(38))

    def show_overview(self, found: Overview) -> None:
        """Show how many maps there are, and of which size."""
        n_layers, n_heads = found.maps.shape[:2]
        self.count.setText(f"{n_layers * n_heads} maps, {len(found.queries)} × {len(found.keys)}")
        self.say("")

    def point(self, text: str) -> None:
        """Show the number under the pointer; "" for none."""
        self.note.setText(text or self._said or self._hint)

    def say(self, sentence: str) -> None:
        """Show a sentence, or with "" the hint."""
        self._said = sentence
        show_text(self.note, sentence or self._hint)

    def show_busy(self, busy: bool) -> None:
        """Show whether the model is still running."""
        self.state.setText("running the model…" if busy else "CPU float32")

"""The strip above the canvas that says that the open layer came from a training, and sends it back."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from attnlab.figures.palette import mix
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from attnlab.ui.train.layer_transfer import Origin

ROOMY = 440
"""The width in pixels at 100 % from which the name of the layer and what to do with it both fit."""
ABOUT = (
    "The numbers of this layer’s weights and biases are sent back; tokens, embeddings and a painted mask belong to the "
    "sentence and stay here; sizes and switches such as causal cannot be changed in a trained model"
)


@guarded
class TransferStrip(FollowsTheme, QFrame):
    """Shows the origin of the open layer; asks to send it back, or to return without sending."""

    send_requested = Signal()
    leave_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sent-strip")
        self.setAccessibleName("From the training")
        self.label, self._rest = QLabel(), ElidedLabel()
        self._rest.setProperty("role", "muted")
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.send, self.leave = QPushButton("Send back"), QPushButton("To the training")
        self.send.setProperty("primary", "true")
        self.send.setToolTip(ABOUT)
        self.leave.setToolTip("Return to the training without sending anything")
        self.send.clicked.connect(self.send_requested)
        self.leave.clicked.connect(self.leave_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(8)
        row.addWidget(self.label)
        row.addWidget(self._rest, 1)
        row.addWidget(self.leave)
        row.addWidget(self.send)

    def restyle(self) -> None:
        """Set the colours of the ground and the line below."""
        palette = palette_of(self)
        ground = mix(palette.surface, palette.accent, 0.08)
        set_sheet(self, f"#sent-strip {{ background: {ground}; border-bottom: 1px solid {palette.hairline}; }}")

    def show_origin(self, origin: "Origin | None") -> None:
        """Show the origin of the open layer; nothing if it did not come from a training."""
        self.setVisible(origin is not None)
        if origin is not None:
            self.label.setText(f"{origin.layer} at step {origin.step:,}")
            self._make_room()

    def show_sending(self, sending: bool) -> None:
        """Show that the weights are being sent, which takes a moment the first time; or that they have arrived."""
        self.send.setEnabled(not sending)
        self.send.setText("Sending…" if sending else "Send back")

    def _make_room(self) -> None:
        """Show the name alone where there is little room; the buttons always stay, and the text is cut."""
        roomy = self.width() >= px(ROOMY)
        self.label.setVisible(roomy)
        about = "Edit its weights; the training continues with them"
        self._rest.setText(about if roomy else self.label.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

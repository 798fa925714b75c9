"""The one sentence of the bar below: a refusal until it is over, or the note of a success for a while."""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.base.themed import set_role
from attnlab.ui.widgets.folded_label import FoldedLabel

NOTE_MS = 8000
"""How long the note of a success is shown."""


@guarded
class BarMessage(FoldedLabel):
    """Shows a sentence, and nothing else before that; a screen reader says it."""

    changed = Signal(str)
    """Another sentence is visible, or none: ""."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message")
        self.hide()
        self._is_note = False
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(NOTE_MS)
        self.timer.timeout.connect(self._on_read)

    @property
    def sentence(self) -> str:
        """The visible sentence, "" for none."""
        return self.text() if not self.isHidden() else ""

    @property
    def is_refusal(self) -> bool:
        """Whether a sentence is visible that is no note of a success."""
        return bool(self.sentence) and not self._is_note

    @property
    def whole_width(self) -> int:
        """The width in pixels at which the sentence is not cut."""
        return self.fontMetrics().horizontalAdvance(self.sentence)

    def show_refusal(self, sentence: str) -> None:
        """Show a sentence about a refusal, or with "" none."""
        if sentence == self.sentence == "":
            return
        self.timer.stop()
        self._is_note = False
        set_role(self, "error")
        self.setText(sentence)
        self.setAccessibleName(f"Message: {sentence}" if sentence else "")
        self.setToolTip(plain_tip(sentence))
        self.setVisible(bool(sentence))
        self.changed.emit(sentence)
        announce(sentence, self)

    def show_note(self, sentence: str, *, stays: bool) -> None:
        """Show a success, for a while or until the next sentence."""
        self.show_refusal(sentence)
        self._is_note = True
        if not stays:
            self.timer.start()
        set_role(self, "good")

    @Slot()
    def _on_read(self) -> None:
        self.show_refusal("")

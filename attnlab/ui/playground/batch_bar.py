"""Choose a sequence of the batch, add or remove one, and set how many of its keys are valid."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.fields.undo_fields import NumberBox

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

BUTTONS = (
    ("back", "step-back", "Previous sequence"),
    ("next", "step-next", "Next sequence"),
    ("add", "plus", "Add a sequence: a copy of this one"),
    ("remove", "trash", "Remove this sequence"),
)


@guarded
class BatchBar(FollowsTheme, QWidget):
    """Shows the experiment's position in its batch, and emits signals; empty without a batch and without padding.

    The last sequence is followed by the first.
    """

    item_requested = Signal(int)
    add_requested = Signal()
    remove_requested = Signal()
    length_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._item, self._n_items = 0, 1
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.title = QLabel()
        self.title.setProperty("role", "strong")
        self.title.setAccessibleName("Sequence of the batch")
        self.buttons = {name: self._make_button(name, tip) for name, _, tip in BUTTONS}
        self._items = QWidget()
        row = QHBoxLayout(self._items)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.buttons["back"])
        row.addWidget(self.title)
        row.addWidget(self.buttons["next"])
        row.addStretch(1)
        for name in ("add", "remove"):
            row.addWidget(self.buttons[name])
        column.addWidget(self._items)
        self._valid, self._of = QLabel("valid"), QLabel()
        self.length = self._make_length()
        row = QHBoxLayout()
        row.setSpacing(8)
        for widget in (self._valid, self.length, self._of):
            row.addWidget(widget)
        for label in (self._valid, self._of):
            label.setProperty("role", "muted")
        row.addStretch(1)
        column.addLayout(row)
        self._complaint = QLabel()
        self._complaint.setProperty("role", "error_caption")
        self._complaint.setWordWrap(True)
        self._complaint.setTextFormat(Qt.TextFormat.PlainText)
        self._complaint.setAccessibleName("Message about the valid length")
        self._complaint.hide()
        column.addWidget(self._complaint)

    def _make_button(self, name: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.setProperty("asks", name)
        button.clicked.connect(self._on_clicked)
        return button

    def _make_length(self) -> NumberBox:
        box = NumberBox()
        box.setRange(1, 1)
        box.setKeyboardTracking(False)
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        box.setAccessibleName("Valid length")
        box.setToolTip("How many keys of this sequence are valid; the rest are padding, which every query ignores")
        box.valueChanged.connect(self.length_requested)
        box.refused.connect(self._complain)
        box.lineEdit().textEdited.connect(self._on_edited)
        self._valid.setBuddy(box)
        return box

    def restyle(self) -> None:
        """Set the buttons' icons."""
        palette = palette_of(self)
        for name, picture, _ in BUTTONS:
            self.buttons[name].setIcon(icon(picture, palette))
            self.buttons[name].setIconSize(QSize(px(16), px(16)))

    def show_experiment(self, e: "Experiment") -> None:
        """Show an experiment's position in the batch and its valid length."""
        self._item, self._n_items = e.item, e.n_items
        self._complain("")
        self.setVisible(e.n_items > 1 or "padding" in e.config.masks)
        self._items.setVisible(e.n_items > 1)
        self.title.setText(f"Sequence {e.item + 1} of {e.n_items}")
        self._of.setText(f"of {e.T_k}")
        self.length.blockSignals(True)
        if self.length.maximum() != e.T_k:
            self.length.setMaximum(e.T_k)
        self.length.setValue(e.config.masks.get("padding", e.T_k))
        self.length.blockSignals(False)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        asks = sender.property("asks") if isinstance(sender, QToolButton) else ""
        if asks == "add":
            self.add_requested.emit()
        elif asks == "remove":
            self.remove_requested.emit()
        else:
            self.item_requested.emit((self._item + (1 if asks == "next" else -1)) % self._n_items)

    @Slot()
    def _on_edited(self) -> None:
        self._complain("")

    @Slot(str)
    def _complain(self, sentence: str) -> None:
        """Say below the field what is wrong with a length."""
        show_text(self._complaint, sentence)
        self._complaint.setVisible(bool(sentence))

"""The sizes of the layer: T, d_model, d_k, d_v, those of a second sequence, and the switches of W_o and biases."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from attnlab.attention import edits
from attnlab.attention.registries.registry import free_axes
from attnlab.figures.subscripts import write_html
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

SIZES = (
    ("T", "T", "tokens"),
    ("d_model", "d<sub>model</sub>", "columns of the embeddings"),
    ("d_k", "d<sub>k</sub>", "columns of queries and keys, in one head"),
    ("d_v", "d<sub>v</sub>", "columns of values, in one head"),
)
MEMORY_SIZES = (
    ("T_k", "T<sub>k</sub>", "tokens of the second sequence"),
    ("d_memory", "d<sub>memory</sub>", "columns of the second sequence’s embeddings"),
)
_ABOUT_FREE = {"d_ff": "hidden numbers of the feed-forward"}
LARGEST = 512


class ShapeBar(FollowsTheme, QWidget):
    """Emits sizes and switches; shows those of an experiment."""

    size_requested = Signal(str, int)
    output_toggled = Signal(bool)
    biases_toggled = Signal(bool)
    message_raised = Signal(str)
    """One sentence about an invalid size."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._grid = grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        self.sizes: dict[str, QSpinBox] = {}
        self.memory_sizes: dict[str, QSpinBox] = {}
        self._labels: dict[str, QLabel] = {}
        self.free_sizes: dict[str, QSpinBox] = {}
        groups = [self.sizes] * len(SIZES) + [self.memory_sizes] * len(MEMORY_SIZES)
        free = tuple(
            (axis, write_html(axis), _ABOUT_FREE.get(axis, "a size that only the score’s tables have"))
            for axis in sorted(free_axes(), key=len)  # the long names belong below those of the right column
        )
        for place, (name, title, about) in enumerate(SIZES + MEMORY_SIZES + free):
            box, label = self._make_box(name, about), QLabel(title)
            label.setProperty("role", "muted")
            label.setBuddy(box)
            grid.addWidget(label, place // 2, place % 2 * 2)
            grid.addWidget(box, place // 2, place % 2 * 2 + 1)
            (groups[place] if place < len(groups) else self.free_sizes)[name] = box
            self._labels[name] = label
            for widget in (box, label) if place >= len(SIZES) else ():
                widget.hide()  # until an experiment has such a size
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        column.addLayout(grid)
        row = FlowLayout()
        self.output = Switch("Output W_o")
        self.biases = Switch("Biases")
        self.output.clicked.connect(self.output_toggled)
        self.biases.clicked.connect(self.biases_toggled)
        row.addWidget(self.output)
        row.addWidget(self.biases)
        column.addLayout(row)

    def restyle(self) -> None:
        """Keep the width of every name free, so that a size that appears moves no column."""
        names = list(self._labels.values())
        for side in (0, 1):
            self._grid.setColumnMinimumWidth(2 * side, max(name.sizeHint().width() for name in names[side::2]))

    def _make_box(self, name: str, about: str) -> NumberBox:
        box = NumberBox()
        box.setRange(1, LARGEST)
        box.setKeyboardTracking(False)
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.setAccessibleName(name)
        box.setToolTip(f"{name}: {about}, 1 to {LARGEST}")
        box.setProperty("field", name)  # "size" is a property of every widget
        box.valueChanged.connect(self._on_value_changed)
        box.refused.connect(self._on_refused)
        return box

    def show_experiment(self, e: "Experiment") -> None:
        """Show an experiment's sizes."""
        cross = e.memory_tokens is not None
        self._labels["T"].setText("T<sub>q</sub>" if cross else "T")
        free = edits.free_sizes(e)
        for name, box in (self.memory_sizes | self.free_sizes).items():
            shown = name in free or (cross and name in self.memory_sizes)
            box.blockSignals(True)  # hidden while focused, it would emit the unfinished number
            for widget in (box, self._labels[name]):
                if widget.isHidden() == shown:
                    widget.setVisible(shown)
            box.blockSignals(False)
        values = {"T": e.T_q, "d_model": e.d_model, "d_k": e.d_k, "d_v": e.d_v}
        values |= {"T_k": e.T_k, "d_memory": e.memory.shape[1], **free}
        for name, box in (self.sizes | self.memory_sizes | self.free_sizes).items():
            value = values.get(name, 1)
            box.blockSignals(True)
            if box.maximum() != max(LARGEST, value):  # setting it again would lay out the whole panel
                box.setMaximum(max(LARGEST, value))
            if box.value() != value:
                box.setValue(value)
            box.blockSignals(False)
        self.output.setChecked(e.weights.W_o is not None)
        self.biases.setChecked(edits.has_biases(e))

    @Slot(str)
    def _on_refused(self, sentence: str) -> None:
        sender = self.sender()
        if isinstance(sender, QSpinBox):
            self.message_raised.emit(f"{sender.property('field')}: {sentence}")

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        sender = self.sender()
        if isinstance(sender, QSpinBox):
            self.size_requested.emit(str(sender.property("field")), value)

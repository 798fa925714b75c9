"""One row of the mapping: the array for a weight, the part of it, whether it is transposed, and the resulting shape."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QSizePolicy

from attnlab.files.weights.named_array import NamedArray
from attnlab.files.weights.projection_layouts import Part
from attnlab.files.weights.weights_in import part_for
from attnlab.ui.weights.array_model import ArrayChoice, describe_array
from attnlab.ui.weights.long_choice import LongChoice
from attnlab.ui.widgets.subscripts import FormulaLabel

FIELDS = ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")
_ROLES = {"q": "queries", "k": "keys", "v": "values", "o": "the output"}
_Way = tuple[str, str, bool]
_WAYS: tuple[tuple[str, _Way], ...] = (
    ("all", ("", "", False)),
    ("1st third", ("qkv", "q", False)),
    ("2nd third", ("qkv", "k", False)),
    ("3rd third", ("qkv", "v", False)),
    ("q of each head", ("qkv", "q", True)),
    ("k of each head", ("qkv", "k", True)),
    ("v of each head", ("qkv", "v", True)),
    ("1st half", ("kv", "k", False)),
    ("2nd half", ("kv", "v", False)),
)
"""Parts of an array: what is fused in it, which part is used, and whether it is stored head by head."""


class FieldRow(QObject):
    """The fields of one weight; ``changed`` is emitted after each change by the user."""

    changed = Signal()

    def __init__(self, field: str, parent: QObject) -> None:
        super().__init__(parent)
        self.field = field
        self._arrays: Mapping[str, NamedArray] = {}
        self._choice: ArrayChoice | None = None
        self._heads_first = True
        about = f"{'Weights' if field[0] == 'W' else 'Bias'} of {_ROLES[field[-1]]}"
        self.name, self.gives = FormulaLabel(field), QLabel()
        self.name.setWordWrap(False)
        self.name.setToolTip(about)
        self.array, self.part = LongChoice(), LongChoice(_WAYS)
        self.turned = QCheckBox()
        self.turned.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.gives.setProperty("role", "caption")
        self.gives.setTextFormat(Qt.TextFormat.PlainText)
        for widget, what, tip in (
            (self.array, "array", f"{about}: its array"),
            (self.part, "part", "The whole array, or one of the weights stored in it"),
            (self.turned, "transposed", "The array is [out, in], as in nn.Linear, and is transposed to [in, out]"),
        ):
            widget.setAccessibleName(f"{field} {what}")
            widget.setToolTip(tip)
        self.array.activated.connect(self._on_array)
        self.part.activated.connect(self._on_changed)
        self.turned.clicked.connect(self._on_changed)

    def add_to(self, grid: QGridLayout, line: int) -> None:
        """Put the fields into a row of a grid."""
        for column, widget in enumerate((self.name, self.array, self.part, self.turned, self.gives)):
            if widget is not self.turned or self.field[0] == "W":
                grid.addWidget(widget, line, column)

    def offer(self, arrays: Mapping[str, NamedArray], choice: ArrayChoice) -> None:
        """List other arrays; ``choice`` holds those that can be a weight of this kind."""
        self._arrays, self._choice = arrays, choice
        self.array.setModel(choice)

    def find_part(self) -> Part | None:
        """Return the part of an array for this weight; None if no array is chosen."""
        name = self.array.currentData()
        if name is None:
            return None
        fused, letter, by_head = self.part.currentData()
        part = Part(str(name), fused=fused, letter=letter, by_head=by_head)
        if len(self._arrays[name].shape) == 3:
            return replace(part, heads_first=not self.turned.isChecked())
        return replace(part, transposed=self.turned.isChecked(), heads_first=self._heads_first)

    def show_part(self, part: Part | None) -> None:
        """Show the part of an array for this weight."""
        self.array.setCurrentIndex(0 if part is None or self._choice is None else self._choice.find_row(part.array))
        part = part if part is not None and self.array.currentIndex() > 0 else None
        way = (
            ("", "", False)
            if part is None or not part.fused
            else (part.fused, part.find_letter(self.field), part.by_head)
        )
        self.part.setCurrentIndex(max([value for _, value in _WAYS].index(way), 0))
        self._heads_first = part is None or part.heads_first
        axes = 0 if part is None else len(self._arrays[part.array].shape)
        turned = part is not None and (not part.heads_first if axes == 3 else part.transposed)
        self.turned.setChecked(turned)
        self.turned.setEnabled(self.field[0] == "W" and (axes == 2 or (axes == 3 and self.field != "W_o")))
        self.part.setEnabled(axes in (1, 2))
        self._tell(part, axes)

    def take(self, array: NamedArray) -> None:
        """Use an array for this weight, interpreted by its name."""
        self.show_part(part_for(self.field, array))
        self.changed.emit()

    def show_shape(self, shape: tuple[int, int] | None, kept: str) -> None:
        """Show the shape that the array gives; if there is none, ``kept``."""
        part = self.array.currentData()
        if part is None:
            self.gives.setText(kept)
        elif shape is None:
            self.gives.setText("?")
        else:
            self.gives.setText(" × ".join(map(str, shape if self.field[0] == "W" else shape[1:])))

    def _tell(self, part: Part | None, axes: int) -> None:
        array = None if part is None else self._arrays[part.array]
        self.array.setToolTip("The array of this weight" if array is None else describe_array(array))
        three = "The array is [in, heads, d], as in Flax; otherwise [heads, in, d], as in TransformerLens"
        two = "The array is [out, in], as in nn.Linear, and is transposed to [in, out]"
        self.turned.setToolTip(three if axes == 3 else two)

    @Slot()
    def _on_array(self) -> None:
        name = self.array.currentData()
        self.show_part(None if name is None else part_for(self.field, self._arrays[name]))
        self.changed.emit()

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit()

"""The mapping as a form: layer, heads, the array of each weight, the source of the embeddings, and the reasons."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from attnlab.base.counted import divisors
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.weight_names import list_embeddings
from attnlab.files.weights.weights_apply import Embeddings
from attnlab.files.weights.weights_in import NO_NAMES, Proposal, describe_order, fitting_heads, shapes
from attnlab.ui.base.theme import px
from attnlab.ui.weights.array_model import ArrayChoice
from attnlab.ui.weights.long_choice import LongChoice
from attnlab.ui.weights.mapping_rows import FIELDS, FieldRow
from attnlab.ui.weights.trial import Wish
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

KEEP, DRAWN = "keep", "drawn"


class MappingForm(QWidget):
    """The fields; ``wish`` returns what is chosen. ``changed`` is emitted after each change."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._arrays: Mapping[str, NamedArray] = {}
        self._proposals: tuple[Proposal, ...] = ()
        self._guess = Proposal("", {})
        self._experiment: Experiment | None = None
        self._draws = False
        self._choices: dict[str, ArrayChoice] = {}
        self.layer, self.n_heads, self.n_kv_heads, self.embeddings = (LongChoice() for _ in range(4))
        self.rows = {field: FieldRow(field, self) for field in FIELDS}
        self.summary, self.notes = FormulaLabel(), FormulaLabel()
        self.why = QPushButton("Why?")
        self._lay_out()
        self._connect()

    def show_source(
        self,
        arrays: Mapping[str, NamedArray],
        proposals: tuple[Proposal, ...],
        e: "Experiment",
        *,
        draws: bool = False,
    ) -> None:
        """List the contents of a file, and select the guessed mapping; ``draws`` is whether embeddings that do not fit
        are drawn again unless something else is chosen."""
        self._draws = draws
        self._arrays, self._proposals, self._experiment = arrays, proposals, e
        self.layer.clear()
        for place, proposal in enumerate(proposals):
            self.layer.addItem(shorten_name(proposal.name) or "The only layer", place)
        for widget in (self.layer, self._layer_name):
            widget.setVisible(len(proposals) > 1)
        self._show_guess(proposals[0] if proposals else Proposal("", {}))

    def show_experiment(self, e: "Experiment") -> None:
        """Show what would be kept of another experiment."""
        self._experiment = e
        self._refresh()

    def read_wish(self) -> Wish:
        """Return what is chosen."""
        name = self.embeddings.currentData()
        embeddings: Embeddings = "drawn" if name == DRAWN else "keep"
        if name not in (KEEP, DRAWN, None):
            embeddings = self._arrays[str(name)[1:]]
        return Wish(self._read_proposal(), self.n_heads.currentData(), self.n_kv_heads.currentData(), embeddings)

    @property
    def draws(self) -> bool:
        """Whether new embeddings are drawn if the present ones do not fit."""
        return bool(self.embeddings.currentData() == DRAWN)

    def draw_embeddings(self) -> None:
        """Choose to draw new embeddings."""
        self.embeddings.choose(DRAWN)
        self._on_changed()

    def assign(self, field: str, array: NamedArray) -> None:
        """Use an array for a weight."""
        self.rows[field].take(array)

    def _read_proposal(self) -> Proposal:
        chosen = {field: part for field, row in self.rows.items() if (part := row.find_part()) is not None}
        return replace(self._guess, parts=chosen)

    def _show_guess(self, proposal: Proposal) -> None:
        self._guess = proposal
        usable = [array for array in self._arrays.values() if not array.reason]
        before = self._choices
        self._choices = {
            "W": ArrayChoice([array for array in usable if len(array.shape) > 1], proposal.name, self),
            "b": ArrayChoice([array for array in usable if len(array.shape) < 3], proposal.name, self),
        }
        for field, row in self.rows.items():
            row.offer(self._arrays, self._choices[field[0]])
            row.show_part(proposal.parts.get(field))
        for choice in before.values():
            choice.deleteLater()
        reasons = () if _is_by_order(proposal) else proposal.notes  # the summary says that already
        self.notes.setText("\n".join(reasons))
        self.why.setVisible(bool(reasons))
        self.notes.setVisible(self.why.isChecked() and bool(reasons))
        for box in (self.n_heads, self.n_kv_heads, self.embeddings):
            box.clear()
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        self._refresh()
        self.changed.emit()

    def _refresh(self) -> None:
        """List the heads and embeddings that fit the choices, and show the shape of each weight."""
        if self._experiment is None:
            return
        e, proposal = self._experiment, self._read_proposal()
        self._offer_heads(proposal, e)
        proposal = replace(proposal, heads=self.read_wish().heads)
        sizes = shapes(proposal, self._arrays)
        for field, row in self.rows.items():
            row.show_shape(sizes.get(field), _describe_kept(field, proposal, e))
        self._offer_embeddings(sizes, proposal)
        self.summary.setText(_write_summary(self._guess, proposal))

    def _offer_heads(self, proposal: Proposal, e: "Experiment") -> None:
        """List the numbers of heads that fit; the chosen one, or the one in the file, stays selected while it fits."""
        before, shared = self.n_heads.currentData(), self.n_kv_heads.currentData()
        wanted = before or proposal.heads.n_heads
        inner = {field: part for field, part in proposal.parts.items() if field != "W_o"}  # W_o is checked later
        known = proposal.heads if shared is None else replace(proposal.heads, n_kv_heads=shared)
        fitting = fitting_heads(replace(proposal, parts=inner, heads=known), self._arrays)
        fitting = fitting or ((before,) if before else ())  # keeps the choice while the user corrects something else
        self.n_heads.clear()
        if "W_q" not in proposal.parts:
            self.n_heads.addItem(f"{e.n_heads}, as now", None)
        elif len(fitting) != 1:
            self.n_heads.addItem("Choose…", None)
        for count in fitting:
            self.n_heads.addItem(str(count), count)
        self.n_heads.choose(wanted)
        self.n_heads.setEnabled(self.n_heads.count() > 1)
        self.n_kv_heads.clear()
        self.n_kv_heads.addItem("From the shapes", None)
        for count in divisors(int(self.n_heads.currentData() or 1)):
            self.n_kv_heads.addItem(str(count), count)
        self.n_kv_heads.choose(shared)
        self.n_kv_heads.setEnabled(self.n_heads.currentData() is not None)

    def _offer_embeddings(self, sizes: Mapping[str, tuple[int, int] | None], proposal: Proposal) -> None:
        """List the present embeddings, new ones, and the arrays of the file with as many columns."""
        from attnlab.attention.edits.token_edits import MAX_TOKENS

        assert self._experiment is not None
        rows = next((size[0] for field in ("W_q", "W_k", "W_v") if (size := sizes.get(field))), None)
        used = {part.array for part in proposal.parts.values()}
        chosen = self.embeddings.currentData() or (DRAWN if self._draws else KEEP)
        self.embeddings.clear()
        shape = " × ".join(map(str, self._experiment.embeddings.shape))
        self.embeddings.addItem(f"Keep the present ones, {shape}", KEEP)
        self.embeddings.addItem("Draw new ones if the present ones do not fit", DRAWN)
        for array in list_embeddings(self._arrays, MAX_TOKENS, rows):
            if array.name not in used:
                self.embeddings.addItem(f"{shorten_name(array.name)}  {array.size}", f"={array.name}")
        self.embeddings.choose(chosen)

    def _lay_out(self) -> None:
        head, grid = QGridLayout(), QGridLayout()
        self._layer_name = QLabel("Layer")
        for line, (label, box, about) in enumerate(
            (
                (self._layer_name, self.layer, "The attention layer of the file"),
                (
                    QLabel("Heads"),
                    self.n_heads,
                    "How many heads share the columns; those that fit are listed",
                ),
                (QLabel("Key heads"), self.n_kv_heads, "Heads of keys and values, if query heads share them"),
            )
        ):
            head.addWidget(label, line, 0)
            head.addWidget(box, line, 1)
            box.setAccessibleName(label.text())
            box.setToolTip(about)
        head.setColumnStretch(1, 1)
        for column, title in enumerate(("", "Array", "Part", "Transposed", "Shape")):
            label = QLabel(title)
            label.setProperty("role", "caption")
            grid.addWidget(label, 0, column)
        for line, row in enumerate(self.rows.values(), 1):
            row.add_to(grid, line)
        grid.setColumnStretch(1, 5)
        grid.setColumnStretch(2, 3)
        tail = QGridLayout()
        tail.addWidget(QLabel("Embeddings"), 0, 0)
        tail.addWidget(self.embeddings, 0, 1)
        tail.setColumnStretch(1, 1)
        self.embeddings.setAccessibleName("Embeddings")
        self.embeddings.setToolTip("The source of the rows that are multiplied by the weights")
        for each in (head, grid, tail):
            each.setHorizontalSpacing(px(8))
            each.setVerticalSpacing(px(6))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, px(12), 0)
        whole.setSpacing(px(12))
        whole.addLayout(self._make_guess())
        for each in (head, grid, tail):
            whole.addLayout(each)
        whole.addStretch(1)

    def _make_guess(self) -> QGridLayout:
        for label in (self.summary, self.notes):
            label.setProperty("role", "caption")
        self.summary.setAccessibleName("What was guessed")
        self.notes.setAccessibleName("Reasons for the guess")
        self.why.setCheckable(True)
        self.why.setAutoDefault(False)
        self.why.setToolTip("Explain each guess")
        self.why.toggled.connect(self.notes.setVisible)
        lines = QGridLayout()
        lines.setVerticalSpacing(px(4))
        lines.addWidget(self.summary, 0, 0)
        lines.addWidget(self.why, 0, 1, Qt.AlignmentFlag.AlignTop)
        lines.addWidget(self.notes, 1, 0, 1, 2)
        lines.setColumnStretch(0, 1)
        self.notes.hide()
        return lines

    def _connect(self) -> None:
        self.layer.activated.connect(self._on_layer)
        for box in (self.n_heads, self.n_kv_heads, self.embeddings):
            box.activated.connect(self._on_changed)
        for row in self.rows.values():
            row.changed.connect(self._on_changed)

    @Slot()
    def _on_layer(self) -> None:
        """Show another layer; the chosen numbers of heads probably fit it too."""
        heads, shared, embeddings = (box.currentData() for box in (self.n_heads, self.n_kv_heads, self.embeddings))
        self._show_guess(self._proposals[self.layer.currentData()])
        for box, value in ((self.n_heads, heads), (self.n_kv_heads, shared), (self.embeddings, embeddings)):
            box.setCurrentIndex(max(box.findData(value), 0) if value is not None else box.currentIndex())
        self._on_changed()


def _describe_kept(field: str, proposal: Proposal, e: "Experiment") -> str:
    """Return what is there of a weight that the file does not give."""
    there = getattr(e.weights, field)
    if proposal.whole or there is None:
        return "absent"
    return f"kept, {' × '.join(map(str, there.shape))}"


def _is_by_order(guess: Proposal) -> bool:
    """Return whether the arrays were taken in the order of the file, as their names tell nothing."""
    return bool(guess.notes) and guess.notes[0].startswith(NO_NAMES)


def _write_summary(guess: Proposal, now: Proposal) -> str:
    """Return in one line what of the guess is still chosen."""
    if guess.refused:
        return f"{guess.refused}."
    if not guess.parts:
        return "The names of the arrays are not known. Choose an array for each weight below."
    parts = {
        name: part for name, part in now.parts.items() if name in guess.parts and part.array == guess.parts[name].array
    }
    if not parts:
        return ""
    if _is_by_order(guess):
        return describe_order(parts)
    arrays = len({part.array for part in parts.values()})
    turned = [part.transposed for field, part in parts.items() if field[0] == "W"]
    way = "Transposed, as in nn.Linear" if all(turned) else "Not transposed" if not any(turned) else "Some transposed"
    fused = "; one array holds several weights" if any(part.fused for part in parts.values()) else ""
    found = f"{', '.join(parts)} found by the names of {arrays} arrays" if arrays > 1 else "Found in one array"
    return f"{found}. {way}{fused}."

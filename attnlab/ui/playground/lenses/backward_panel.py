"""The controls of the backward lens: the loss, what may move, the rate, and the steps down."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from attnlab.attention.edits.descent import find_gradient_stage, list_movable
from attnlab.attention.registries.losses import CLASS, LOSSES, MOST_CLASSES, NONE, WEIGHT, find_class, find_pair
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.playground.input_tables import title
from attnlab.ui.playground.lenses.positions_parts import Card, Fields, sentence_label
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.formula_box import FormulaBox
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

RATE = 0.5
FIRST = ("W_q", "W_k", "W_v", "W_o", "W_gate", "W_1", "W_2")
"""What may move at first."""


class BackwardPanel(FollowsTheme, Card):
    """Says what is wanted and how to step; it keeps no loss itself."""

    loss_chosen = Signal(str)
    options_changed = Signal(object)
    held_requested = Signal()
    steps_requested = Signal(int)
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind = Segments("What should come out")
        self.kind.set_choices([Choice(*each) for each in LOSSES])
        self.kind.set_value(NONE)
        self.kind.chosen.connect(lambda kind: self.loss_chosen.emit(str(kind)))
        self.about, self.status = sentence_label(), sentence_label()
        self.wanted, self.rate = NumberEdit(), NumberEdit()
        self.wanted.setAccessibleName("The weight that is wanted")
        self.wanted.taken.connect(lambda value: self.options_changed.emit({"loss_wanted": float(value)}))
        self.rate.setAccessibleName("The learning rate")
        self.rate.setToolTip("Each number moves by minus this times its gradient")
        self._rate = RATE
        self.rate.taken.connect(self._on_rate)
        for edit in (self.wanted, self.rate):
            edit.refused.connect(self.say)
        self.fields = Fields()
        self.token = self.fields.add("Token", "Token", "The token whose output is read out, from 0", (0, 0), 0)
        self.wanted_class = self.fields.add("Wanted class", "class", "The class that is wanted, from 0", (0, 2), 0)
        self.classes = self.fields.add("Classes", "of", "The number of classes", (2, MOST_CLASSES), 3)
        self.fields.changed.connect(self._on_fields)
        self.chips: dict[str, FormulaBox] = {}
        self.hold = _make_button("Want the held weight", "Hold a weight on its card by a click; the loss is then on it")
        self.step = _make_button("One step down", "Each number moves a little so that the loss falls, as one edit")
        self.step.setProperty("primary", "true")
        self.ten = _make_button("Ten steps", "Ten steps as one edit, and the loss as a curve")
        self.stop = _make_button("Stop", "End the steps; nothing is changed")
        self.hold.clicked.connect(self.held_requested)
        self.step.clicked.connect(lambda: self.steps_requested.emit(1))
        self.ten.clicked.connect(lambda: self.steps_requested.emit(10))
        self.stop.clicked.connect(self.stop_requested)
        self._lay_out()
        self.status.hide()
        self.show_running(False)

    def _lay_out(self) -> None:
        loss, self._row = FlowLayout(gap=12), FlowLayout(gap=12)
        self._wanted = _name_field("wanted", self.wanted)
        what, self._may = QLabel("What should come out"), QLabel("may move:")
        for label in (what, self._may):
            label.setProperty("role", "muted")
        for widget in (what, self.kind, self._wanted, self.fields, self.hold):
            loss.addWidget(widget)
        self._steps = (_name_field("rate", self.rate), self.step, self.ten)
        for widget in (self._may, *self._steps, self.stop):
            self._row.addWidget(widget)
        self.column.addLayout(loss)
        self.column.addWidget(self.about)
        self.column.addSpacing(px(2))
        self.column.addLayout(self._row)
        self.column.addWidget(self.status)

    def restyle(self) -> None:
        """Set the least width of the fields."""
        for edit in (self.wanted, self.rate):
            edit.setMinimumWidth(px(80))

    @property
    def learning_rate(self) -> float:
        """The learning rate."""
        return self._rate

    @property
    def may_move(self) -> tuple[str, ...]:
        """The names of the tables that may move."""
        return tuple(name for name, chip in self.chips.items() if chip.isChecked() and chip.isEnabled())

    def fit(self, trace: "Trace", about: str) -> None:
        """Show the loss of a layer, and what may move."""
        e = trace.experiment
        option, kind = e.config.option, e.config.option("loss")
        self.kind.set_value(kind)
        self._wanted.setVisible(kind == WEIGHT)
        self.hold.setVisible(kind == WEIGHT)
        self.fields.setVisible(kind == CLASS)
        least, most = (None, None) if NORMALIZERS[e.config.normalizer].kind == "signed" else (0.0, 1.0)
        wanted = Field("wanted", "wanted", "The wanted weight", "number", 1.0, 1.0, least=least, most=most)
        self.wanted.show_number(wanted, option("loss_wanted"))
        self.rate.show_number(
            Field("rate", "rate", "The rate", "number", RATE, RATE, least=0.0, open_least=True), self._rate
        )
        classes = option("loss_classes")
        shown = ((self.token, e.T_q - 1, find_pair(e)[1]), (self.wanted_class, classes - 1, find_class(e)))
        for box, most, value in (*shown, (self.classes, MOST_CLASSES, classes)):
            box.blockSignals(True)
            box.setMaximum(most)
            box.setValue(value)
            box.blockSignals(False)
        self._fit_chips(trace)
        for widget in (self._may, *self._steps):
            widget.setVisible(kind != NONE)
        self.about.setText(about)
        self.about.setVisible(bool(about))

    def _fit_chips(self, trace: "Trace") -> None:
        names = list_movable(trace.experiment)
        for name in [name for name in self.chips if name not in names]:
            self.chips.pop(name).deleteLater()
        for name in names:
            if name not in self.chips:
                chip = self.chips[name] = FormulaBox(title(name))
                chip.setAccessibleName(f"{title(name)} may move")
                chip.setChecked(name in FIRST)
                self._row.addWidget(chip)
                for widget in (*self._steps, self.stop):  # which stay at the end
                    self._row.removeWidget(widget)
                    self._row.addWidget(widget)
            self.chips[name].setVisible(find_gradient_stage(name) in trace)
            self.chips[name].setEnabled(find_gradient_stage(name) in trace)

    def show_running(self, running: bool) -> None:
        """Offer to stop while steps are computed."""
        self.stop.setVisible(running)
        for button in (self.step, self.ten):
            button.setEnabled(not running)

    @Slot(str)
    def say(self, sentence: str) -> None:
        """Show one sentence on the steps."""
        show_text(self.status, sentence)
        self.status.setVisible(bool(sentence))

    @Slot(object)
    def _on_rate(self, rate: object) -> None:
        self._rate = float(str(rate))
        self.say("")

    @Slot()
    def _on_fields(self) -> None:
        values = {"loss_query": self.token, "loss_class": self.wanted_class, "loss_classes": self.classes}
        self.options_changed.emit({name: box.value() for name, box in values.items()})


def _make_button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    return button


def _name_field(name: str, field: QWidget) -> QWidget:
    """Return a field with its name before it."""
    group, label = QWidget(), QLabel(name)
    label.setProperty("role", "muted")
    label.setBuddy(field)
    line = QHBoxLayout(group)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(6)
    line.addWidget(label)
    line.addWidget(field)
    return group

"""The controls of the goal lens: the wanted weight, what may change, whether other rows are held, and the buttons."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.playground.lenses.goal_found import list_choices
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label
from attnlab.ui.widgets.fields.formula_box import FormulaBox
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.option_field import Field
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

FIRST = ("W_q", "W_k")
"""What may change at first."""


class GoalPanel(FollowsTheme, Card):
    """Says what is wanted; it keeps no goals itself."""

    wanted_taken = Signal(float)
    choice_changed = Signal()
    reach_requested = Signal()
    stop_requested = Signal()
    add_requested = Signal()
    clear_requested = Signal()
    ways_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self.status = sentence_label(role="strong"), sentence_label()
        self.goals = sentence_label(role="muted")
        self.wanted = NumberEdit()
        self.wanted.setAccessibleName("The weight that is wanted")
        self.wanted.taken.connect(lambda value: self.wanted_taken.emit(float(value)))
        self.wanted.confirmed.connect(lambda value: self.wanted_taken.emit(float(value)))  # the current weight, to hold
        self.wanted.refused.connect(self.say)
        self.chips: dict[str, FormulaBox] = {}
        self.numbers = QLineEdit()
        self.numbers.setPlaceholderText("numbers, such as W_q[0, 1]")
        self.numbers.setToolTip('Further numbers that may change: W_q[0, 1], a row W_k[2, :], a token X["cat", :]')
        self.numbers.setAccessibleName("Further numbers that may change")
        self.numbers.textChanged.connect(self.choice_changed)
        self.numbers.returnPressed.connect(self.reach_requested)
        self.hold = Switch("Hold all other rows")
        self.hold.setToolTip("The weights of other rows move as little as they can; the change is then a bit larger")
        self.hold.toggled.connect(self.choice_changed)
        self.reach = self._make_button("Reach it", "Find the smallest change, as one edit that can be undone")
        self.reach.setProperty("primary", "true")
        self.stop = self._make_button("Stop", "End the search; nothing is changed")
        self.add = self._make_button("Keep this goal", "Keep this goal while you set one for another weight")
        self.clear = self._make_button("Drop the other goals", "Only the held weight has a goal then")
        self.ways = self._make_button("Other ways there", "What each table or token alone would need")
        for button, signal in (
            (self.reach, self.reach_requested),
            (self.stop, self.stop_requested),
            (self.add, self.add_requested),
            (self.clear, self.clear_requested),
            (self.ways, self.ways_requested),
        ):
            button.clicked.connect(signal)
        self._lay_out()
        self.show_searching(False)

    def _make_button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        return button

    def _lay_out(self) -> None:
        wanted, label = QWidget(), QLabel("wanted")
        label.setBuddy(self.wanted)
        line = QHBoxLayout(wanted)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(label)
        line.addWidget(self.wanted)
        goal, self._may, self._buttons = FlowLayout(gap=12), FlowLayout(gap=12), FlowLayout(gap=8)
        goal.addWidget(wanted)
        goal.addWidget(self.hold)
        may = QLabel("may change:")
        may.setProperty("role", "muted")
        self._may.addWidget(may)
        for button in (self.reach, self.stop, self.add, self.clear, self.ways):
            self._buttons.addWidget(button)
        self.column.addWidget(self.name)
        self.column.addLayout(goal)
        self.column.addLayout(self._may)
        self.column.addWidget(self.goals)
        self.column.addSpacing(px(4))
        self.column.addLayout(self._buttons)
        self.column.addWidget(self.status)

    def restyle(self) -> None:
        """Set the least widths of the fields."""
        self.wanted.setMinimumWidth(px(90))
        self.numbers.setMinimumWidth(px(220))

    @property
    def may_change(self) -> tuple[str, ...]:
        """What may change, by name."""
        return tuple(name for name, chip in self.chips.items() if chip.isChecked())

    def fit(self, e: "Experiment") -> None:
        """Show what may change in a layer."""
        choices = dict(list_choices(e))
        for name in [name for name in self.chips if name not in choices]:
            self.chips.pop(name).deleteLater()
        for name, text in choices.items():
            if name not in self.chips:
                chip = FormulaBox(text)
                chip.setAccessibleName(f"{text} may change")
                chip.setChecked(name in FIRST)
                chip.toggled.connect(self.choice_changed)
                self._may.addWidget(chip)
                if self.chips:
                    QWidget.setTabOrder(list(self.chips.values())[-1], chip)
                self.chips[name] = chip
        self._may.removeWidget(self.numbers)
        self._may.addWidget(self.numbers)  # after all chips

    def show_goal(self, name: str, now: str, wanted: float, *, signed: bool) -> None:
        """Show the held weight and its goal."""
        self.name.setText(f"The weight {name} is {now}.")
        bounds = (None, None) if signed else (0.0, 1.0)
        field = Field(
            "wanted", "wanted", "The wanted weight", "number", wanted, wanted, least=bounds[0], most=bounds[1]
        )
        self.wanted.show_number(field, round(wanted, 4))

    def show_searching(self, searching: bool) -> None:
        """Offer to stop while a search runs."""
        self.stop.setVisible(searching)
        for button in (self.reach, self.ways):
            button.setEnabled(not searching)

    @property
    def is_searching(self) -> bool:
        """Whether a search is shown to run."""
        return not self.stop.isHidden()

    @Slot(str)
    def say(self, sentence: str) -> None:
        """Show one sentence on the search."""
        show_text(self.status, sentence)
        self.status.setVisible(bool(sentence))

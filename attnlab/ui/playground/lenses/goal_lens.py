"""The goal lens: a weight is dragged or typed to what it should be, and the smallest change that does it is found."""

from collections.abc import Callable, Hashable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QScrollArea, QWidget

from attnlab.attention.measures.goal_seek import CLOSE, Goal
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.table import kind_of
from attnlab.base.errors import ExperimentError
from attnlab.ui.playground.lenses.arrows_content import Held, find_held
from attnlab.ui.playground.lenses.goal_found import Ask, Found, describe_result, find_goal, find_refusal, find_ways
from attnlab.ui.playground.lenses.goal_panel import GoalPanel
from attnlab.ui.playground.lenses.goal_results import ChangesCard, WaysCard, WeightsCards, make_map
from attnlab.ui.playground.lenses.goal_scores import ScoresCard
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.sensitivity_found import name_weight

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.measures.sensitivity import Floats
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Place = tuple[int, int, int]
"""A head, a query and a key."""


class GoalLens(Lens):
    """Asks for a search, applies what it found as one edit, and shows what changed."""

    name = "goal"
    title = "Goal"
    about = "Say what a weight should be, and find the smallest change of the numbers that makes it so"
    tab_order = 29
    _progressed = Signal(float)

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._of: tuple[Trace, View] | None = None
        self._held: Held | None = None
        self._wanted: float | None = None
        self._kept: dict[Place, float] = {}
        self._stopped = Event()
        self._reached: Found | None = None
        self._before: tuple[Experiment, Floats] | None = None
        self.panel, self.weights = GoalPanel(), WeightsCards()
        self.changes, self.scores, self.ways = ChangesCard(), ScoresCard(), WaysCard()
        column = scrolling_column(self)
        for widget in (self.panel, self.weights, self.changes, self.scores, self.ways):
            column.addWidget(widget)
        column.addStretch(1)
        for card in (self.changes, self.scores, self.ways):
            card.hide()
        self._connect()

    def _connect(self) -> None:
        panel = self.panel
        panel.wanted_taken.connect(self._on_wanted)
        panel.choice_changed.connect(self._forget_ways)
        panel.reach_requested.connect(self.reach)
        panel.stop_requested.connect(self._on_stop)
        panel.add_requested.connect(self._on_kept)
        panel.clear_requested.connect(self._on_cleared)
        panel.ways_requested.connect(self._on_ways)
        self.weights.now.cell_chosen.connect(self._on_cell_chosen)
        self.weights.now.cell_dragged.connect(self._on_dragged)
        self.weights.now.cell_dropped.connect(self.reach)
        self._progressed.connect(self._on_progressed, Qt.ConnectionType.QueuedConnection)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        before = self._of[0].experiment if self._of is not None else None
        self._of = trace, view
        if trace.experiment is not before:
            self._stopped.set()
            self._forget_ways()
            self._drop_lost_goals(trace.experiment)
            if self._before is None or trace.experiment is not self._before[0]:
                self._forget_result()
        self.panel.fit(trace.experiment)
        self._refresh()

    def show_view(self, view: "View") -> None:
        if self._of is not None:
            self._of = self._of[0], view
            self._refresh()

    def _forget_result(self) -> None:
        """Stop showing the result of the last search, and what was said of it, as the numbers are others now."""
        self._before = self._reached = None
        self.changes.hide()
        self.scores.hide()
        if not self.panel.is_searching:
            self.panel.say("")

    def _drop_lost_goals(self, e: "Experiment") -> None:
        sizes = e.n_heads, e.T_q, e.T_k
        self._kept = {
            place: wanted
            for place, wanted in self._kept.items()
            if all(at < size for at, size in zip(place, sizes, strict=True))
        }

    def _refresh(self) -> None:
        assert self._of is not None
        trace, view = self._of
        held, e = find_held(trace, view), trace.experiment
        if held != self._held:
            self._held = held
            self._wanted, self._reached = self._kept.get(_place(held)), None
            self.panel.say("")
            self._forget_ways()
        weights = trace.array("weights")[held.head]
        now = float(weights[held.query, held.key])
        signed = NORMALIZERS[e.config.normalizer].kind == "signed"
        self.panel.show_goal(
            name_weight(e, held), number(now), now if self._wanted is None else self._wanted, signed=signed
        )
        self._show_kept(e)
        data = make_map(e, weights, kind_of(trace.stage("weights"), e), trace.find_shown_mask("weights"))
        before = self._before[1][held.head][None] if self._before is not None else None
        marks = [(held.query, held.key), *((query, key) for head, query, key in self._kept if head == held.head)]
        self.weights.show_weights(e, data, before, marks)

    def _show_kept(self, e: "Experiment") -> None:
        texts = [
            f"“{e.tokens[q] or '∅'}” → “{e.key_tokens[k] or '∅'}” {round(w, 4):g}"
            for (_, q, k), w in self._kept.items()
        ]
        self.panel.goals.setText(f"Kept goals: {', '.join(texts)}." if texts else "")
        self.panel.goals.setVisible(bool(texts))
        self.panel.clear.setVisible(bool(texts))

    def _make_ask(self) -> Ask:
        """Return the search that the controls ask for."""
        assert self._of is not None
        assert self._held is not None
        place = _place(self._held)
        now = float(self._of[0].array("weights")[place])
        first = Goal(*place, now if self._wanted is None else self._wanted)
        kept = [Goal(*at, wanted) for at, wanted in self._kept.items() if at != place]
        only_kept = self._wanted is None and bool(kept)
        goals = tuple(kept) if only_kept else (first, *kept)
        return Ask(goals, self.panel.may_change, self.panel.hold.isChecked(), self.panel.numbers.text().strip())

    @Slot()
    def reach(self) -> None:
        """Search for the goals; what is found becomes one edit."""
        if self._of is None or not self.panel.wanted.finish_typing():
            return
        e, ask = self._of[0].experiment, self._make_ask()
        refusal = find_refusal(e, ask)
        if refusal or (self._wanted is None and not self._kept):
            self.panel.say(refusal or "Type what the weight should be, or drag it in the map; then press Reach it.")
            return
        weights = self._of[0].array("weights")
        if all(abs(goal.wanted - weights[goal.head, goal.query, goal.key]) < CLOSE for goal in ask.goals):
            self.panel.say("The weight is this already. Keep this goal, then set one for another weight.")
            return
        self.ask(("goal", e), partial(find_goal, e, ask, self._begin()), latest="goal")

    def _begin(self) -> Callable[[float], bool]:
        """Show that a search runs; return its function that takes note of how far it is, called by its thread."""
        self._stopped.set()  # an earlier search
        self._stopped = stopped = Event()
        self.panel.show_searching(True)
        self.panel.say("Searching…")

        def note(missed: float) -> bool:
            self._progressed.emit(missed)
            return not stopped.is_set()

        return note

    @Slot()
    def _on_stop(self) -> None:
        self._stopped.set()

    @Slot(float)
    def _on_progressed(self, missed: float) -> None:
        if self.panel.is_searching:
            self.panel.status.setText(f"Searching: {number(missed)} from the goal.")

    def on_result(self, key: Hashable, result: Any) -> None:
        self.panel.show_searching(False)
        if isinstance(result, str):
            self.panel.say(result)
        elif isinstance(result, list):
            self.panel.say("")
            self.ways.show()
            self.ways.show_ways(result, before=isinstance(key, tuple) and key[0] == "earlier ways")
            QTimer.singleShot(0, self, self._scroll_to_ways)  # once the card has its place
        elif isinstance(result, Found):
            self._apply(result)

    @Slot()
    def _scroll_to_ways(self) -> None:
        self.findChildren(QScrollArea)[0].ensureWidgetVisible(self.ways)

    def _apply(self, found: Found) -> None:
        sentence = describe_result(found)
        if self._stopped.is_set() and not found.reached.is_reached:
            self.panel.say("Stopped; nothing was changed.")
            return
        if not found.reached.is_reached:
            self.panel.say(sentence)
            return
        applied: list[Experiment] = []

        def replace(e: "Experiment") -> "Experiment":
            if e is not found.given:
                raise ExperimentError("The numbers changed during the search; press Reach it again.")
            applied.append(e)
            return found.reached.experiment

        self._before = found.reached.experiment, found.reached.before
        self.edit_requested.emit(f"Goal {found.ask.goals[0].wanted:g}", replace)
        if not applied:
            self._before = None
            self.panel.say("")
            return
        self._wanted, self._kept, self._reached = None, {}, found
        self.changes.show_found(found, sentence)
        self.changes.show()
        self.scores.show_found(found)
        self.panel.say(sentence.split(" by ", 1)[0] + ".")

    def _forget_ways(self) -> None:
        self.ways.hide()

    @Slot()
    def _on_ways(self) -> None:
        if self._of is None or not self.panel.wanted.finish_typing():
            return
        kind, e, ask = "ways", self._of[0].experiment, self._make_ask()
        if self._wanted is None and not self._kept:
            if self._reached is None:
                self.panel.say("“wanted” is the weight as it is now: type another number first, or drag it in the map.")
                return
            kind, e, ask = "earlier ways", self._reached.given, self._reached.ask
        refusal = find_refusal(e, Ask(ask.goals, ("W_q",), hold_others=False))
        if refusal:
            self.panel.say(refusal)
            return
        self.ask((kind, e), partial(find_ways, e, ask, self._begin()), latest="goal")

    @Slot(float)
    def _on_wanted(self, wanted: float) -> None:
        """Set the goal of the held weight; the weight that is shown means that it has to stay as it is."""
        assert self._of is not None
        assert self._held is not None
        now = float(self._of[0].array("weights")[_place(self._held)])
        holds = wanted == round(now, 4)
        self._wanted = now if holds else wanted
        self.panel.say(f"Goal: this weight stays {number(now)}." if holds else "")
        self._forget_ways()

    @Slot()
    def _on_kept(self) -> None:
        if self._held is None or not self.panel.wanted.finish_typing():
            return
        if self._wanted is None:
            self.panel.say("Type what this weight should be first; then keep the goal.")
            return
        self._kept[_place(self._held)] = self._wanted
        self._refresh()

    @Slot()
    def _on_cleared(self) -> None:
        self._kept = {}
        self._refresh()

    @Slot(object)
    def _on_cell_chosen(self, cell: object) -> None:
        if isinstance(cell, tuple) and self._of is not None and self._held is not None:
            wanted, view = Cell("weights", cell[1], cell[2], self._held.head), self._of[1]
            if not (view.pinned and view.cell == wanted):  # another click would let it go
                self.cell_clicked.emit(wanted)

    @Slot(object, float)
    def _on_dragged(self, cell: object, wanted: float) -> None:
        """Set the goal of the held weight, which the press has chosen."""
        self._wanted = wanted
        self._refresh()

    def seek(self, cell: Cell, wanted: float) -> None:
        """Search for the change that gives the weight of a cell the wanted value; the cell is held already."""
        if self._held is None or _place(self._held) != (cell.head, cell.row, cell.column):
            self.panel.say("The numbers were still being computed. Drag the weight again.")
            return
        self._on_wanted(wanted)
        self._refresh()
        self.reach()


def _place(held: Held) -> Place:
    return held.head, held.query, held.key

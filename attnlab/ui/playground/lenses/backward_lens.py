"""The backward lens: a loss is chosen, its gradients stand on cards like the stages, and steps down are taken."""

from collections.abc import Hashable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRect, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from attnlab.attention.edits.descent import choose_loss
from attnlab.attention.registries.losses import CLASS, LOSSES, NONE, WEIGHT, is_on
from attnlab.attention.stages import walk
from attnlab.attention.stages.presence import is_gradient
from attnlab.base.errors import ExperimentError
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.playground.backward_canvas import BackwardCanvas
from attnlab.ui.playground.lenses.arrows_content import find_held
from attnlab.ui.playground.lenses.backward_found import (
    Stepped,
    Tried,
    describe_loss,
    describe_steps,
    find_steps_down,
    find_trial,
)
from attnlab.ui.playground.lenses.backward_panel import BackwardPanel
from attnlab.ui.playground.lenses.backward_results import CurveCard, TrialCard
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.positions_parts import sentence_label
from attnlab.ui.widgets.layouts.side_by_side import SideBySide

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

WELCOME = (
    "Choose what should come out. The gradients then appear here, one card for each step from the loss back to W_q, "
    "W_k, W_v and X: how much the loss would rise if a number rose. Point at a number, and Explain writes it out."
)
LEAST_CANVAS = 260
"""The least height in pixels of a canvas that scrolls; in a lower lens it is as high as its cards, and all scrolls."""
TITLES = {name: title for name, title, _ in LOSSES}


@guarded
class BackwardLens(Lens):
    """Asks for edits of the loss and for steps down; shows the stages of the backward pass on a canvas of its own."""

    name = "backward"
    title = "Backward"
    about = "Choose a loss: the backward pass in steps, each gradient as arithmetic, and steps down the gradient"
    tab_order = 27
    has_cards = True

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._of: tuple[Trace, View] | None = None
        self._stopped = Event()
        self._after: Experiment | None = None
        self._asked: tuple[Experiment, object] | None = None
        self.panel, self.trial, self.curve = BackwardPanel(), TrialCard(), CurveCard()
        self.welcome = sentence_label(WELCOME, "muted")
        self.canvas = BackwardCanvas()
        self.foot = SideBySide(self.trial, self.curve)
        self._column = column = scrolling_column(self)
        column.setContentsMargins(16, 8, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.panel)
        column.addWidget(self.welcome)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.foot)
        column.addStretch(0)
        self.canvas.setMinimumHeight(LEAST_CANVAS)
        self.curve.hide()
        self._connect()

    def _connect(self) -> None:
        panel, canvas = self.panel, self.canvas
        panel.loss_chosen.connect(self._on_loss_chosen)
        panel.options_changed.connect(self._on_options_changed)
        panel.held_requested.connect(self._on_held_requested)
        panel.steps_requested.connect(self.step_down)
        panel.stop_requested.connect(lambda: self._stopped.set())
        canvas.cell_clicked.connect(self.cell_clicked)
        canvas.cell_hovered.connect(self.cell_hovered)
        canvas.cell_moved.connect(self.cell_moved)
        canvas.alone_requested.connect(self.alone_requested)
        canvas.colours_asked.connect(self.colours_asked)
        canvas.card_menu_wanted.connect(self.card_menu_wanted)
        canvas.place_wanted.connect(self._on_place_wanted)
        canvas.width_changed.connect(self._fit_canvas)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        before = self._of[0].experiment if self._of is not None else None
        self._of = trace, view
        if trace.experiment is not before:
            self._stopped.set()
        if trace.experiment is not self._after:
            self.curve.hide()
            self._after = None
        has_loss = is_on(trace.experiment.config)
        self.panel.fit(trace, describe_loss(trace) if has_loss else "")
        self.welcome.setVisible(not has_loss)
        self.canvas.setVisible(has_loss)
        self.foot.setVisible(has_loss)
        if has_loss:
            self.canvas.show_trace(trace, view)
        self._fit_canvas()
        self._ask_trial()

    @Slot()
    def _fit_canvas(self) -> None:
        """Let the canvas fill the room below the panel and scroll there, or let the whole page scroll."""
        others = self._column.heightForWidth(self.width()) - self.canvas.minimumHeight()
        self.canvas.is_whole = self.height() - others < LEAST_CANVAS
        least = max(LEAST_CANVAS, self.canvas.measure_height()) if self.canvas.is_whole else LEAST_CANVAS
        self.canvas.setMinimumHeight(least)

    @Slot(QRect)
    def _on_place_wanted(self, place: QRect) -> None:
        """Scroll the page to a card, and to its upper edge if it is too high."""
        area = self.findChild(QScrollArea)
        if area is None or (body := area.widget()) is None:
            return
        top = self.canvas.mapTo(body, place.topLeft()).y()
        for y in (top + place.height(), top):
            area.ensureVisible(0, y, 0, px(8))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_canvas()

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare every card with another trace, or with none."""
        self.canvas.show_pinned(pinned)

    def show_view(self, view: "View") -> None:
        if self._of is None:
            return
        self._of = self._of[0], view
        if is_on(self._of[0].experiment.config):
            self.canvas.show_view(view)
        self._ask_trial()

    def _ask_trial(self) -> None:
        """Ask for the held number by trying."""
        assert self._of is not None
        trace, view = self._of
        cell = view.cell if view.pinned else None
        if cell is None or not is_gradient(cell.stage) or cell.stage not in trace:
            self._asked = None
            self.trial.show_trial(None, None)
            return
        if not _is_known(trace.experiment, view, cell):
            self._asked = None
            self.trial.show_trial(None, None)
            self.trial.say("The held number is not computed yet.")
            return
        asked = trace.experiment, cell
        if asked != self._asked:
            self._asked = asked
            self.ask(asked, partial(find_trial, trace.experiment, cell), latest="trial")

    @Slot(str)
    def _on_loss_chosen(self, kind: str) -> None:
        if self._of is None:
            return
        options: dict[str, Any] = {}
        if kind in (WEIGHT, CLASS):
            held = find_held(*self._of)
            options["loss_query"] = held.query
            if kind == WEIGHT:
                options |= {"loss_head": held.head, "loss_key": held.key}
        self._edit(f"Loss: {TITLES[kind]}" if kind != NONE else "Loss off", kind, options)

    @Slot(object)
    def _on_options_changed(self, options: object) -> None:
        if self._of is not None and isinstance(options, dict):
            self._edit("Change the loss", self._of[0].experiment.config.option("loss"), options)

    @Slot()
    def _on_held_requested(self) -> None:
        if self._of is None:
            return
        view = self._of[1]
        cell = view.cell
        if cell is None or cell.stage != "weights" or not view.pinned:
            self.panel.say("Hold a weight on its card by a click first.")
            return
        place = {"loss_head": cell.head or 0, "loss_query": cell.row, "loss_key": cell.column}
        self._edit("Want another weight", WEIGHT, place)

    def _edit(self, label: str, kind: str, options: dict[str, Any]) -> None:
        """Request an edit of the loss, or say why it is refused."""
        assert self._of is not None
        try:
            choose_loss(self._of[0].experiment, kind, **options)
        except ExperimentError as error:
            self.panel.fit(self._of[0], self.panel.about.text())
            self.panel.say(str(error))
            return
        self.panel.say("")
        self.edit_requested.emit(label, lambda e: choose_loss(e, kind, **options))

    @Slot(int)
    def step_down(self, steps: int) -> None:
        """Compute steps down the gradient; what is found becomes one edit."""
        if self._of is None:
            return
        if not (self.panel.rate.finish_typing() and self.panel.wanted.finish_typing()):
            return
        e, names = self._of[0].experiment, self.panel.may_move
        self._stopped.set()
        self._stopped = stopped = Event()
        self.panel.show_running(True)
        self.panel.say("Stepping down…")

        def goes_on(_loss: float) -> bool:
            return not stopped.is_set()

        job = partial(find_steps_down, e, self.panel.learning_rate, names, steps, goes_on)
        self.ask(("steps", e), job, latest="steps")

    def on_result(self, key: Hashable, result: Any) -> None:
        if isinstance(result, Tried):
            if key == self._asked and self._of is not None:
                self.trial.show_trial(result, self._of[0].experiment)
            return
        if isinstance(result, Stepped):
            self.panel.show_running(False)
            self._apply(result)

    def on_failed(self, key: Hashable, sentence: str) -> None:
        if key == self._asked:
            self.trial.say(sentence)
            return
        self.panel.show_running(False)
        self.panel.say(sentence)

    def _apply(self, found: Stepped) -> None:
        if self._stopped.is_set():
            self.panel.say("Stopped; nothing was changed.")
            return
        applied: list[Experiment] = []

        def replace(e: "Experiment") -> "Experiment":
            if e is not found.given:
                raise ExperimentError("The numbers changed in the meantime; press the button again.")
            applied.append(e)
            return found.descent.experiment

        count = len(found.descent.losses) - 1
        self._after = found.descent.experiment
        self.edit_requested.emit("One step down" if count == 1 else f"{count} steps down", replace)
        if not applied:
            self.panel.say("")
            return
        assert self._of is not None
        self.panel.say(describe_steps(found))
        if count > 1:
            self.curve.show_steps(found)
        self.curve.setVisible(count > 1)


def _is_known(e: "Experiment", view: "View", cell: "Cell") -> bool:
    """Return whether the walk has reached a cell, and no question asks for it."""
    unknown = walk.unknown_cells(e, walk.fit_place(e, view.at), cell.stage)
    return unknown is None or not unknown[cell.row, cell.column]

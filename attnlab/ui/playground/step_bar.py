"""The bar below: walks through the computation, describes the current step, and summarises the last computation."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from attnlab.attention.stages import walk
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import find_shown_value
from attnlab.attention.stages.table import BY_NAME, about
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.bar_message import BarMessage
from attnlab.ui.playground.bar_room import BarRoom
from attnlab.ui.playground.computation_figures import ComputationFigures
from attnlab.ui.playground.progress import Progress, Steps
from attnlab.ui.playground.stage_thumbnails import draw_thumbnails
from attnlab.ui.widgets.fields.pill import Choice, Field, Pill
from attnlab.ui.widgets.fields.undo_fields import TextField
from attnlab.ui.widgets.folded_label import FoldedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.compute.service import Reply
    from attnlab.document.document import View

BUTTONS = (
    ("first", "First step (Home)"),
    ("back", "Step back (←)"),
    ("play", "Play the steps (P)"),
    ("next", "Step forward (→)"),
    ("last", "Show all steps (End)"),
)
DEPTHS = (
    Choice("stage", "stage", "Each step computes a stage"),
    Choice("row", "row", "Each step computes a row of a stage"),
    Choice("cell", "cell", "Each step computes one cell"),
    Choice("term", "term", "Each step adds one term to the sum of a cell"),
)
USUAL_MS = 1000
SPEEDS = (Choice(2000, "slow"), Choice(USUAL_MS, "usual"), Choice(400, "fast"))
"""How long each step is shown while playing, in milliseconds."""


@guarded
class StepBar(FollowsTheme, QFrame):
    """Shows the progress of a walk and the outcome of a reply; emits the requested place (None: all)."""

    place_requested = Signal(object)
    depth_requested = Signal(object)
    told = Signal(str)
    """Another message is visible, or none: ""."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "bottom")
        self._trace: Trace | None = None
        self._at: walk.Place | None = None
        self._depth = walk.DEPTHS[0]
        self.guided = False
        """Whether an open lesson counts the steps."""
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(8)
        self.buttons: dict[str, QToolButton] = {}
        for name, tip in BUTTONS:
            button = QToolButton()
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.setAutoRaise(True)
            button.setObjectName(f"step-{name}")
            button.clicked.connect(getattr(self, f"step_{name}"))
            row.addWidget(button)
            self.buttons[name] = button
        self.play_timer = QTimer(self)
        self.play_timer.setInterval(USUAL_MS)
        self.play_timer.timeout.connect(self._on_time_for_next)
        row.addWidget(self._make_depths())
        row.addSpacing(8)
        self.progress = Progress()
        self.progress.place_clicked.connect(self._on_progress_clicked)
        row.addWidget(self.progress)
        row.addSpacing(8)
        self._goal = TextField()
        self._goal.setAccessibleName("Go to step")
        self._goal.setToolTip("Type the number of a step and press Enter")
        self._goal.setFixedWidth(px(88))
        self._goal.hide()
        self._goal.returnPressed.connect(self._on_goal_typed)
        self._goal.cancelled.connect(self._goal.hide)
        self._goal.editingFinished.connect(self._goal.hide)
        row.addWidget(self._goal)
        self._title = FormulaLabel()
        self._title.setWordWrap(False)
        self._about = FoldedLabel()
        self._about.lowers_indices = True
        self._message = BarMessage()
        self._message.changed.connect(self._on_message_changed)
        self.note_timer = self._message.timer
        row.addWidget(self._title)
        row.addWidget(self._about, 1)
        row.addWidget(self._message, 2)
        self.figures = ComputationFigures()
        row.addWidget(self.figures)
        self._title.setProperty("role", "title")
        self._about.setProperty("role", "muted")
        self._room = BarRoom(row, self.progress, self._title, self._message, self.figures)

    def _make_depths(self) -> Pill:
        self.depths = Pill("By", name="Depth of a step")
        self.depths.setToolTip("How much one step computes (D: less, Shift+D: more)")
        self.depths.set_choices(DEPTHS)
        self.depths.set_value(self._depth)
        self.depths.chosen.connect(self.depth_requested)
        self.depths.field_changed.connect(self._on_speed_chosen)
        self._show_speed()
        return self.depths

    def _show_speed(self) -> None:
        told = "The speed of playing the steps"
        self.depths.set_fields(
            [Field("speed", "Playing", told, "choice", self.play_timer.interval(), USUAL_MS, choices=SPEEDS)]
        )

    def restyle(self) -> None:
        """Set the buttons' icons."""
        palette = palette_of(self)
        for name, button in self.buttons.items():
            button.setIcon(icon(f"step-{name}" if name != "play" else self._play_icon(), palette, px(18)))
            button.setIconSize(QSize(px(18), px(18)))

    def set_guided(self, guided: bool) -> None:
        """Leave the counting of steps to an open lesson, or count again."""
        if guided != self.guided:
            self.guided = guided
            self.progress.setVisible(not guided)

    def show_reply(self, reply: "Reply", view: "View") -> None:
        """Show shape, time and row sums of the last computation."""
        trace = reply.trace
        if trace is None:
            return
        self._trace = trace
        self.figures.show_reply(reply, trace)
        self.show_view(view)

    def show_view(self, view: "View") -> None:
        """Show the progress of another view."""
        if (view.at, view.depth) != (self._at, self._depth):  # the step's text takes the place of the message
            self.show_message("")
        self._at, self._depth = view.at, view.depth
        self.depths.set_value(view.depth)
        if view.at is None:
            self._play(False)
        self._about.whole = view.at is None
        for name in ("next", "last"):
            self.buttons[name].setEnabled(view.at is not None)
        if self._trace is not None:
            self._show_step(self._trace, view)
        self._make_room()

    def _show_step(self, trace: "Trace", view: "View") -> None:
        if view.at is None:
            self._show_progress(trace, view, "all steps")
            self._title.setText("All steps")
            self._about.setText("◀ walks back")  # a key would be a table's while that has the focus
            going_back = True
        else:
            going_back = self._show_place(trace, view, view.at)
        for name in ("first", "back"):
            self.buttons[name].setEnabled(going_back)

    @property
    def step_text(self) -> str:
        """The step in words."""
        return self._title.text() if self._at is None else f"{self._title.text()}. {self._about.text()}"

    def _make_room(self) -> None:
        self._room.share(self.width(), walking=self._at is not None, covered=self._covers_weights)

    @property
    def _covers_weights(self) -> bool:
        """Whether a weight is asked for or not computed yet, so that the sums of rows would be a hint."""
        if self._at is None or self._trace is None:
            return False
        return bool(self._at.asked) or walk.unknown_cells(self._trace.experiment, self._at, "weights") is not None

    def _show_progress(self, trace: "Trace", view: "View", told: str) -> None:
        titles, at = tuple(BY_NAME[name].title for name in trace.all_stages), view.at
        if at is None:
            steps = Steps(titles, len(titles), None, told)
        else:
            e = trace.experiment
            current = walk.span(e, "stage", at.stage)[0]
            steps = Steps(titles, walk.count_stages_done(e, at), current, told)
        self.progress.show_steps(steps, lambda palette: draw_thumbnails(trace, view, palette))

    def _show_place(self, trace: "Trace", view: "View", at: walk.Place) -> bool:
        """Describe the step that a place belongs to; return whether a step precedes it."""
        e, depth = trace.experiment, view.depth
        last = walk.step_of_place(e, depth, at)
        exact = last >= 0 and walk.step_of_place(e, "term", walk.place_of_step(e, depth, last)) == walk.step_of_place(
            e, "term", at
        )
        step, steps = last + 1 + (not exact), walk.count_steps(e, depth)
        self._show_progress(trace, view, f"step {step} of {steps}")
        title = BY_NAME[at.stage].title
        self._title.setText(title if self.guided else f"{step} of {steps}: {title}")
        self._about.setText(_describe_step(trace, view, at))
        return step > 1

    @Slot(str)
    def show_message(self, sentence: str) -> None:
        """Show one sentence about a refusal, until the next edit, step or dialog."""
        self._message.show_refusal(sentence)

    def show_note(self, sentence: str, *, stays: bool = False) -> None:
        """Show a success, for a while or until the next message; one that ``stays`` is there until an edit."""
        self._message.show_note(sentence, stays=stays)

    @Slot(str)
    def _on_message_changed(self, sentence: str) -> None:
        self._about.setVisible(not sentence)
        self._make_room()
        self.told.emit(sentence)

    @property
    def is_refusal(self) -> bool:
        """Whether a message is visible that is no note of a success."""
        return self._message.is_refusal

    @property
    def message(self) -> str:
        """The visible sentence, "" for none."""
        return self._message.sentence

    @Slot()
    def step_first(self) -> None:
        """Go to the first step."""
        self._go(0)

    @Slot()
    def step_last(self) -> None:
        """Show everything."""
        self._play(False)
        self.place_requested.emit(None)

    @Slot()
    def step_back(self) -> None:
        """Go one step back; from all steps, to the last but one."""
        if self._trace is not None:
            self._play(False)
            self.place_requested.emit(walk.step_back(self._trace.experiment, self._depth, self._at))

    @Slot()
    def step_next(self) -> None:
        """Go one step forward; after the last, show everything."""
        self._play(False)
        self._forward()

    def _forward(self) -> None:
        if self._trace is not None and self._at is not None:
            self.place_requested.emit(walk.step_forward(self._trace.experiment, self._depth, self._at))

    def _go(self, index: int) -> None:
        """Go to a step of the current depth, counted from 0."""
        self._play(False)
        if self._trace is not None:
            self.place_requested.emit(walk.place_of_step(self._trace.experiment, self._depth, index))

    @property
    def playing(self) -> bool:
        """Whether the steps are playing."""
        return self.play_timer.isActive()

    @Slot()
    def step_play(self) -> None:
        """Start playing the steps, from the first if all are shown; or pause."""
        if self.playing:
            self._play(False)
            return
        if self._at is None:
            self._go(0)
        self._play(True)

    def _play(self, on: bool) -> None:
        if on == self.playing:
            return
        self.play_timer.start() if on else self.play_timer.stop()
        told = "Pause (P)" if on else dict(BUTTONS)["play"]
        self.buttons["play"].setToolTip(told)
        self.buttons["play"].setAccessibleName(told)
        self.buttons["play"].setIcon(icon(self._play_icon(), palette_of(self), px(18)))

    def _play_icon(self) -> str:
        return "pause" if self.playing else "play"

    @Slot()
    def _on_time_for_next(self) -> None:
        self._forward()

    @Slot(str, object)
    def _on_speed_chosen(self, _name: str, interval_ms: object) -> None:
        assert isinstance(interval_ms, int)
        self.play_timer.setInterval(interval_ms)
        self._show_speed()

    def deepen(self, by: int) -> None:
        """Make each step compute less, or with −1 more; after the smallest comes the largest."""
        at = walk.DEPTHS.index(self._depth) + by
        self.depth_requested.emit(walk.DEPTHS[at % len(walk.DEPTHS)])

    @Slot(int, float)
    def _on_progress_clicked(self, stage: int, share: float) -> None:
        if self._trace is not None:
            e = self._trace.experiment
            first, steps = walk.span(e, self._depth, walk.stages_of(e)[stage].name)
            self._go(first + int(share * steps))

    def ask_step(self) -> None:
        """Open the field for the number of a step."""
        self._goal.clear()
        self._goal.show()
        self._goal.setFocus()

    @Slot()
    def _on_goal_typed(self) -> None:
        typed = self._goal.text().strip()
        self._goal.hide()
        if self._trace is None or not typed:
            return
        steps = walk.count_steps(self._trace.experiment, self._depth)
        if typed.isdecimal() and 1 <= int(typed) <= steps:
            self._go(int(typed) - 1)
        else:
            self.show_message(f"There is no step “{typed[:20]}”: type a whole number from 1 to {steps}.")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def hideEvent(self, event: QHideEvent) -> None:
        if not event.spontaneous():
            self.note_timer.stop()
            self._play(False)
        super().hideEvent(event)


def _describe_step(trace: "Trace", view: "View", at: walk.Place) -> str:
    """Return the text of a step: its position in the stage, and its result or the stage's purpose."""
    e, stage, cell = trace.experiment, BY_NAME[at.stage], view.subject
    where = walk.describe_place(e, at)
    several = stage.has_heads and view.head == "all" and e.n_heads > 1
    row, column = (at.row, at.column) if at.depth == "cell" else (None, None)
    if row is None or column is None or column < 0 or cell is None or cell.stage != at.stage or several:
        return f"{where} · {walk.place_labels(e, at)}: {about(stage, e)}" if where else about(stage, e)
    reached = replace(cell, row=row, column=column)  # the lesson or the pointer may be at another one
    return f"{where} · {walk.place_labels(e, at)} = {number(find_shown_value(trace, reached))}"

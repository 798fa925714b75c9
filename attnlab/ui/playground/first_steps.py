"""The first steps of a newcomer: three things to try, each ticked when it is done, and a lesson to start with."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from attnlab.attention.stages.explain import Cell
    from attnlab.ui.playground.canvas import Canvas
    from attnlab.ui.playground.inputs_panel import InputsPanel
    from attnlab.ui.playground.step_bar import StepBar
    from attnlab.ui.widgets.matrix.matrix_table import BlockEdit

LINGER_MS = 3000
"""How long the card stays after the last step is done."""
_BY_HAND = ("drag", "wheel", "step", "type")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to try; ``text`` is rich text, and ``spoken`` says how to do it with the keyboard."""

    name: str
    text: str
    spoken: str


STEPS = (
    Step(
        "weight",
        "Point at a weight: <i>Explain</i> writes it out",
        "Go to a weight on its card with the arrow keys: Explain writes it out.",
    ),
    Step(
        "number",
        "Drag a number in W<sub>q</sub> and watch",
        "Change a number in W_q with the up and down keys: the weight is said again.",
    ),
    Step("walk", "Walk the steps with ◀ ▶ below", "Walk the steps with Page Down and Page Up."),
)


class FirstSteps(QObject):
    """Watches the playground and ticks the steps; the card is shown until all are done or it is closed."""

    changed = Signal()
    """A step was done, or the card was closed or brought back: there is something to save."""
    refreshed = Signal()
    """The card is to be shown anew."""
    lesson_requested = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._done: set[str] = set()
        self._open = self.offers_lesson = False
        self._lingering = QTimer(self)
        self._lingering.setSingleShot(True)
        self._lingering.setInterval(LINGER_MS)
        self._lingering.timeout.connect(self.refreshed)

    def watch(self, canvas: "Canvas", inputs: "InputsPanel", step_bar: "StepBar") -> None:
        """Tick the steps as they are done here."""
        for pointed in (canvas.cell_hovered, canvas.cell_clicked, canvas.cell_moved):
            pointed.connect(self._on_pointed)
        inputs.table.edited.connect(self._on_edited)
        step_bar.place_requested.connect(self._on_place_requested)

    @property
    def done(self) -> tuple[str, ...]:
        """The names of the steps that are done, in order."""
        return tuple(step.name for step in STEPS if step.name in self._done)

    @property
    def is_open(self) -> bool:
        """Whether steps are left, and the card was not closed."""
        return self._open and len(self.done) < len(STEPS)

    @property
    def is_shown(self) -> bool:
        """Whether the card is to be shown: it is open, or its last step was just done."""
        return self.is_open or self._lingering.isActive()

    def restore(self, done: Collection[str], is_open: bool, offers_lesson: bool) -> None:
        """Show the state that was saved."""
        self._done, self._open, self.offers_lesson = set(done), is_open, offers_lesson
        self.refreshed.emit()

    def restart(self) -> None:
        """Show the card again with no step done, and offer the lesson."""
        self._lingering.stop()
        self.restore((), True, True)
        self.changed.emit()

    @Slot()
    def close(self) -> None:
        """Close the card."""
        self._open = False
        self._lingering.stop()
        self.refreshed.emit()
        self.changed.emit()

    def stop(self) -> None:
        """Stop the timer; may be called twice."""
        self._lingering.stop()

    def _tick(self, name: str) -> None:
        if not self.is_open or name in self._done:
            return
        self._done.add(name)
        if len(self.done) == len(STEPS):
            self._lingering.start()
        self.refreshed.emit()
        self.changed.emit()

    @Slot(object)
    def _on_pointed(self, cell: "Cell | None") -> None:
        if cell is not None and cell.stage == "weights":
            self._tick("weight")

    @Slot(object)
    def _on_edited(self, edit: "BlockEdit") -> None:
        if edit.verb in _BY_HAND:
            self._tick("number")

    @Slot(object)
    def _on_place_requested(self, place: object) -> None:
        if place is not None:
            self._tick("walk")

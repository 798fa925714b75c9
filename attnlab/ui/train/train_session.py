"""A training controlled by the window: commands go to the process, and its messages extend the run."""

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.base.fault_log import CRASHES, append, report_remote
from attnlab.training.marks import Mark
from attnlab.training.messages import (
    Arrays,
    Checkpoint,
    Ended,
    Failed,
    Interval,
    Message,
    Pause,
    Progress,
    Put,
    Refused,
    Resume,
    Step,
)
from attnlab.training.outcome import describe_outcome
from attnlab.training.recorder import LIMIT
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.inspection import Inspection
from attnlab.ui.train.inspector import Checked
from attnlab.ui.train.process_client import find_last_message
from attnlab.ui.train.training_state import TrainingState

EXAMPLES_EVERY, MARKS_EVERY = 8, 90
"""Frames between two updates of examples, and between two searches for marks."""
KEPT = 5
"""The number of runs kept to compare with."""


class TrainSession(TrainingState):
    """Owns the process, the growing run and its inspection. Only ``close`` and ``reset`` ever block."""

    checked = Signal(object)
    started = Signal()
    progressed = Signal()
    marked = Signal()
    ended = Signal(str)
    failed = Signal(str)
    told = Signal(str)

    def __init__(self, spec: RunSpec, parent: QObject | None = None, limit: int = LIMIT) -> None:
        super().__init__(spec, parent)
        self._limit, self._frames, self.watched = limit, 0, True
        self.trainee.heard.connect(self._on_heard)
        self.trainee.left.connect(self._on_left)
        self.inspection = Inspection(self)
        self.inspection.checked.connect(self._on_checked)
        self.inspection.looked.connect(self._on_looked)
        self.inspection.probe_refused.connect(self._on_probe_refused)
        self.inspection.suggested.connect(self._on_suggested)
        self.set_spec(spec)

    # Commands

    def set_spec(self, spec: RunSpec) -> None:
        """Set the settings of the next run; their check arrives as ``checked``."""
        same = spec == self.spec  # a field repeats its value when it loses focus
        if same and self.valid is not None and not self.valid.problem:  # else a file may have been mended
            self.checked.emit(self.valid)
            return
        if spec.task != self.spec.task or dict(spec.options) != dict(self.spec.options):
            self.inspection.own_probe = False
        self.spec, self.valid = spec, None
        self.inspection.check(spec)

    def start(self, *, single: bool = False) -> None:
        """Train: continue a paused run, resume a stopped one from its checkpoint, or begin a new one.

        A process that is started for it takes only one step with ``single``.
        """
        run = self.run
        if self.alive:
            self.trainee.send(Resume())
        elif self.can_go_on and run is not None and run.checkpoint is not None:
            run.rewind(run.checkpoint.step)
            run.spec = self.spec
            self._begin(run, run.checkpoint, single=single)
        elif self.can_start:
            self._keep_run()
            self.run = Run(self.spec, f"{self.spec.task}, seed {self.spec.train.seed}", self._limit)
            self.inspection.follow(self.run)
            self._begin(self.run, None, single=single)

    def set_limit(self, limit: int) -> None:
        """Keep the moments of runs within ``limit`` bytes from now on."""
        self._limit = limit
        if self.run is not None:
            self.run.recorder.set_limit(limit)
            self.trainee.send(Interval(self.run.recorder.interval))
            self.progressed.emit()

    @property
    def limit(self) -> int:
        """The most bytes of the moments of a run."""
        return self._limit

    def pause(self) -> None:
        """Pause after the current step."""
        self.trainee.send(Pause())

    def step(self) -> None:
        """Take one step and wait; without a run, begin one."""
        if self.alive:
            self.trainee.send(Step())
        else:
            self.start(single=True)  # a command could arrive after many steps

    def stop(self) -> None:
        """End the run; the trained weights are kept."""
        self.trainee.stop()

    def reset(self) -> None:
        """Return to the first weights of the seed; the run is kept to compare with."""
        self._end_process()
        self._keep_run()
        self.run, self.viewed_step, self.reason = None, None, ""
        self.inspection.follow(None)
        self.progressed.emit()
        if self.valid is not None:  # or it is shown once that is known
            self._on_checked(self.valid)

    def open_run(self, run: Run) -> None:
        """Show a saved run instead of this one, which is kept to compare with."""
        self._end_process()
        if run is not self.run:
            self._keep_run()
        self.kept = tuple(other for other in self.kept if other is not run)
        if (run.spec.task, dict(run.spec.options)) != (self.spec.task, dict(self.spec.options)):
            self.inspection.leave_task()
        self.run, self.viewed_step, self.reason = run, None, ""
        self.inspection.follow(run)
        self.set_spec(run.spec)
        self.look()
        self.progressed.emit()
        if run.refused:
            self.told.emit(run.refused)

    def put(self, weights: Arrays) -> None:
        """Replace the process's weights; its optimiser state is kept."""
        self.trainee.send(Put(weights))

    def go_on_from(self, run: Run, checkpoint: Checkpoint) -> None:
        """Continue a run from an earlier moment, with what was edited; later moments are discarded.

        The held-out examples are measured at once, so that the curve shows what the edit did.
        """
        self.open_run(run)
        run.rewind(checkpoint.step)
        run.checkpoint = checkpoint
        self._begin(run, checkpoint, measure=True)

    def close(self) -> None:
        """Stop process and worker at once; may be called twice."""
        self._end_process()
        self.inspection.stop()

    def watch(self, watched: bool) -> None:
        """Start or stop sending weights to the view."""
        self.watched = watched
        self.trainee.watch(watched)
        if watched:
            self.look()
            self.progressed.emit()

    def look_at(self, step: int | None) -> None:
        """Show the recorded moment nearest to a step; None follows the training."""
        self.viewed_step = step
        self.look()

    def look(self) -> None:
        """Compute all views again."""
        if self.watched:
            self.inspection.look(self.find_moment())
            self.inspection.request_examples(self.find_moment())
            self.inspection.measure_heads(self.find_moment())
            self._want()

    def measure_heads(self) -> None:
        """Measure what each head is worth again while the model learns, if that is shown and the last time is over."""
        inspection = self.inspection
        if self.watched and self.alive and inspection.worth and not inspection.worker.has_job("heads"):
            inspection.measure_heads(self.find_moment())

    def show_moment(self, step: int, probe: str) -> None:
        """Show the recorded moment nearest to a step, for a text that the task can read."""
        self.inspection.own_probe = True
        self.inspection.probe = probe
        self.look_at(step)

    def set_probe(self, text: str) -> None:
        """Show the maps of another sentence; one that the task cannot read changes nothing but shows a message."""
        self.inspection.own_probe = True
        self.inspection.look(self.find_moment(), text)

    def toggle_mark(self, step: int) -> None:
        """Mark or unmark the moment of a step."""
        if self.run is not None:
            self.run.toggle_mark(step)
            self.marked.emit()

    def _keep_run(self) -> None:
        if self.run is not None and len(self.run.steps) > 1:
            self.kept = (*self.kept, self.run)[-KEPT:]

    def _begin(self, run: Run, checkpoint: Checkpoint | None, *, measure: bool = False, single: bool = False) -> None:
        self.viewed_step, self.reason = None, ""
        self.trainee.begin(run, checkpoint, measure=measure, single=single)
        self._want()
        self.started.emit()

    def _want(self) -> None:
        """Request the newest weights, if the view follows them."""
        if self.watched and self.viewed_step is None:
            self.trainee.want()

    def _end_process(self) -> None:
        for message in self.trainee.end():
            self._take(message)

    # Messages of the process

    @Slot(object)
    def _on_heard(self, messages: tuple[Message, ...]) -> None:
        for message in messages:
            self._take(message)
        news = any(isinstance(message, Progress) and message.weights is not None for message in messages)
        if news and self.viewed_step is None and self.watched:
            keeps_up = not self.inspection.worker.has_job("look")
            self.inspection.look(self.find_moment())
            if keeps_up:  # request the next weights while these are shown; else afterwards
                self._want()
        if find_last_message(messages) is None:
            self._look_beside()
            self.progressed.emit()

    def _look_beside(self) -> None:
        """Update examples and search for marks from time to time, while the view is visible."""
        self._frames += 1
        if self._frames % EXAMPLES_EVERY == 0 and self.watched:
            self.inspection.request_examples(self.find_moment())
        self.measure_heads()
        if self._frames % MARKS_EVERY == 0 and self.watched:
            self.inspection.suggest(live=True)

    def _take(self, message: Message) -> None:
        assert self.run is not None
        too_large = self.run.recorder.refused
        if self.run.take(message):
            self.trainee.send(Interval(self.run.recorder.interval))
        if isinstance(message, Refused):
            self.told.emit(message.sentence)
        elif self.run.recorder.refused and not too_large:
            self.told.emit(self.run.recorder.refused)

    @Slot(object)
    def _on_left(self, message: Ended | Failed | None) -> None:
        self._end_process()
        self.look()
        self.inspection.suggest()
        self.inspection.course.fill()
        if isinstance(message, Failed):
            if message.unexpected:
                report_remote(message.details, "training")
            elif message.details:
                append(CRASHES, f"{message.sentence}\n{message.details}\n")
            self.progressed.emit()
            self.failed.emit(message.sentence)
        elif message is not None:
            self.reason = message.reason
            self.progressed.emit()
            self.ended.emit(message.sentence if self.run is None else describe_outcome(message, self.run))

    # Results of the inspection

    @Slot(object)
    def _on_checked(self, found: Checked) -> None:
        if found.spec != self.spec:
            return
        self.valid = found
        if not found.problem and (self.run is None or not self.inspection.probe):
            if not (self.inspection.own_probe and self.inspection.probe):
                self.inspection.probe = found.probe
            self.look()
        self.checked.emit(found)

    @Slot(object)
    def _on_looked(self, _seen: object) -> None:
        self._want()
        if not self.alive:
            self.inspection.course.fill()

    @Slot(str)
    def _on_probe_refused(self, _sentence: str) -> None:
        self._want()

    @Slot(object, object)
    def _on_suggested(self, run: Run, marks: tuple[Mark, ...]) -> None:
        run.suggest(marks)
        self.marked.emit()

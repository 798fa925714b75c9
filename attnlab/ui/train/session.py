"""A training as the window holds it: settings, the process, the run that grows, and where in it one looks."""

import sys
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.training.marks import Mark
from attnlab.training.messages import (
    Arrays,
    Checkpoint,
    Command,
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
    Want,
)  # fmt: skip
from attnlab.training.recorder import LIMIT
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.eyes import Checked
from attnlab.ui.train.looking import At, Looking

if TYPE_CHECKING:
    from attnlab.training.process import TrainingProcess

FRAME_MS, HIDDEN_MS = 16, 200
"""How often the process is listened to: while one looks, twice as often as it tells anything, so that no two pictures
come at once; and while the workspace is hidden."""
SPEED_OVER = 60
"""Frames over which the speed is measured."""
EXAMPLES_EVERY, MARKS_EVERY = 8, 90
"""Frames between two looks at examples, and between two searches for marks."""
KEPT = 5
"""Runs that are kept to compare with."""


class TrainSession(QObject):
    """Owns the process, a run, the display timer and who looks. Nothing here ever waits but ``close`` and ``reset``."""

    checked = Signal(object)
    started = Signal()
    progressed = Signal()
    marked = Signal()
    ended = Signal(str)
    failed = Signal(str)
    told = Signal(str)

    def __init__(self, spec: RunSpec, parent: QObject | None = None, limit: int = LIMIT) -> None:
        super().__init__(parent)
        self.spec, self._limit = spec, limit
        self.valid: Checked | None = None
        self.run: Run | None = None
        self.kept: tuple[Run, ...] = ()
        self.process: TrainingProcess | None = None
        self.shown: int | None = None
        self.watched = True
        self._wanting = False
        self.reason = ""
        self._frames = 0
        self._speeds: deque[tuple[float, int]] = deque(maxlen=SPEED_OVER)
        self.looking = Looking(self)
        self.looking.checked.connect(self._on_checked)
        self.looking.looked.connect(self._on_looked)
        self.looking.probe_refused.connect(self._on_probe_refused)
        self.looking.suggested.connect(self._on_suggested)
        self.timer = QTimer(self)
        self.timer.setInterval(FRAME_MS)
        self.timer.timeout.connect(self._on_time_to_listen)
        self.set_spec(spec)

    # What there is

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self.process is not None

    @property
    def state(self) -> str:
        """Where the run is: "new", "running", "paused", "ended" or "failed"."""
        if self.run is None or self.run.status == "new":
            return "running" if self.alive else "new"
        return self.run.status

    @property
    def can_start(self) -> bool:
        """Whether the settings are known to be fit for training."""
        return self.valid is not None and not self.valid.problem

    @property
    def can_go_on(self) -> bool:
        """Whether a run that was stopped, or whose process died, can go on from what was kept of it; and one that was
        at its end, when it is given more steps."""
        run = self.run
        if run is None or run.checkpoint is None or self.alive or self.reason == "nan" or not self._goes_with(run):
            return False
        return run.status in ("ended", "failed", "interrupted") and run.step < self.spec.train.steps

    @property
    def begins_anew(self) -> bool:
        """Whether a start would train once more what was trained to its end."""
        return self.run is not None and not self.alive and not self.can_go_on and self._goes_with(self.run)

    @property
    def speed(self) -> float:
        """Steps a second of late; 0 while that is not known."""
        if len(self._speeds) < 2:
            return 0.0
        (start, first), (end, last) = self._speeds[0], self._speeds[-1]
        return (last - first) / (end - start) if end > start else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds until the last step at the speed of late; None while that is not known."""
        run = self.run
        return (run.spec.train.steps - run.step) / self.speed if run is not None and self.speed > 0 else None

    def at(self) -> At:
        """Return settings, step and weights of the moment that is looked at."""
        run = self.run
        if run is None:
            return self.spec, 0, None
        if self.shown is not None and (moment := run.recorder.nearest(self.shown)) is not None:
            return run.spec, moment.step, moment.weights
        return run.spec, run.weights_step, run.weights

    # What is done

    def set_spec(self, spec: RunSpec) -> None:
        """Take settings for the next run; what they come to arrives as ``checked``."""
        if spec == self.spec and self.valid is not None:  # a field that is left tells again what was typed
            self.checked.emit(self.valid)
            return
        if spec.task != self.spec.task or dict(spec.options) != dict(self.spec.options):
            self.looking.own_probe = False
        self.spec, self.valid = spec, None
        self.looking.check(spec)

    def start(self) -> None:
        """Train: go on where it is paused, from what was kept of a run that was stopped, or from the beginning."""
        run = self.run
        if self.alive:
            self._send(Resume())
        elif self.can_go_on and run is not None and run.checkpoint is not None:
            run.rewind(run.checkpoint.step)
            run.spec = self.spec
            self._begin(run, run.checkpoint)
        elif self.can_start:
            self._keep_run()
            self.run = Run(self.spec, f"{self.spec.task}, seed {self.spec.train.seed}", self._limit)
            self.looking.follow(self.run)
            self._begin(self.run, None)

    def pause(self) -> None:
        """Stop after the step that is taken, and wait."""
        self._send(Pause())

    def step(self) -> None:
        """Take one step and wait; a run that is not there begins with it."""
        if not self.alive:
            self.start()
        self._send(Step())

    def stop(self) -> None:
        """End the run; what it learned stays."""
        if self.process is not None:
            self.process.end()

    def reset(self) -> None:
        """Go back to the first weights, those of the seed; the run is kept to compare with."""
        self._end_process()
        self._keep_run()
        self.run, self.shown, self.reason = None, None, ""
        self.looking.follow(None)
        self.progressed.emit()
        if self.valid is not None:  # or it will be seen when that is known
            self._on_checked(self.valid)

    def open_run(self, run: Run) -> None:
        """Show a run that was kept in the place of this one, which is kept to compare with."""
        self._end_process()
        if run is not self.run:
            self._keep_run()
        self.kept = tuple(other for other in self.kept if other is not run)
        if (run.spec.task, dict(run.spec.options)) != (self.spec.task, dict(self.spec.options)):
            self.looking.probe = ""
        self.run, self.shown, self.reason = run, None, ""
        self.looking.follow(run)
        self.set_spec(run.spec)
        self.look()
        self.progressed.emit()
        if run.refused:
            self.told.emit(run.refused)

    def put(self, weights: Arrays) -> None:
        """Have the process go on with other weights; what its optimiser knows stays."""
        self._send(Put(weights))

    def go_on_from(self, run: Run, checkpoint: Checkpoint) -> None:
        """Train a run on from an earlier moment of it; what came later is forgotten."""
        self.open_run(run)
        run.rewind(checkpoint.step)
        run.checkpoint = checkpoint
        self._begin(run, checkpoint)

    def close(self) -> None:
        """End process and worker at once; may be called twice."""
        self._end_process()
        self.looking.stop()

    def watch(self, watched: bool) -> None:
        """Have somebody look, or go on without."""
        self.watched = watched
        self.timer.setInterval(FRAME_MS if watched else HIDDEN_MS)
        if watched:
            self.look()
            self.progressed.emit()

    def look_at(self, step: int | None) -> None:
        """Look at the recorded moment nearest to a step; None follows the training."""
        self.shown = step
        self.look()

    def look(self) -> None:
        """Look again, at all there is to see."""
        if self.watched:
            self.looking.look(self.at())
            self.looking.examples(self.at())
            self._want()

    def set_probe(self, text: str) -> None:
        """Look at the maps of another sentence; one that the task cannot read changes nothing but is said."""
        self.looking.own_probe = True
        self.looking.look(self.at(), text)

    def toggle_mark(self, step: int) -> None:
        """Mark the moment of a step, or no longer."""
        if self.run is None:
            return
        if step in {mark.step for mark in self.run.marks}:
            self.run.unmark(step)
        else:
            self.run.mark(Mark(step, f"Your mark at step {step:,}"))
        self.marked.emit()

    def _goes_with(self, run: Run) -> bool:
        """Whether the settings are those of a run but for when it stops."""
        return replace(run.spec, train=replace(run.spec.train, steps=self.spec.train.steps)) == self.spec

    def _keep_run(self) -> None:
        if self.run is not None and len(self.run.steps) > 1:
            self.kept = (*self.kept, self.run)[-KEPT:]

    def _begin(self, run: Run, checkpoint: Checkpoint | None) -> None:
        from attnlab.training.process import TrainingProcess

        self.shown, self.reason, self._wanting = None, "", False
        self._speeds.clear()
        self.process = TrainingProcess(
            run.spec,
            checkpoint,
            interval=run.recorder.interval,
            digest=run.digest if checkpoint else "",
        )
        self.process.start()
        self._want()
        self.timer.start()
        self.started.emit()

    def _send(self, command: Command) -> None:
        if self.process is not None:
            self.process.send(command)

    def _want(self) -> None:
        """Ask for the newest weights, if somebody follows them and none are on their way."""
        if self.alive and self.watched and self.shown is None and not self._wanting:
            self._wanting = True
            self._send(Want())

    def _end_process(self) -> None:
        self.timer.stop()
        process, self.process = self.process, None
        if process is not None:
            process.stop()
            for message in process.poll():
                self._take(message)

    # What the process says

    @Slot()
    def _on_time_to_listen(self) -> None:
        process = self.process
        if process is None:
            return
        alive = process.alive  # asked before, or its last words might be missed
        messages = process.poll()
        news = [self._take(message) for message in messages]
        if any(news) and self.shown is None and self.watched:
            keeps_up = not self.looking.worker.waits("look")
            self.looking.look(self.at())
            if keeps_up:  # the next weights may be on their way while one looks at these; else when that is done
                self._want()
        over = [message for message in messages if isinstance(message, Ended | Failed)]
        if over or not alive:
            self._over(over[-1] if over else None)
        elif messages:
            self._frames += 1
            if self._frames % EXAMPLES_EVERY == 0 and self.watched:
                self.looking.examples(self.at())
            if self._frames % MARKS_EVERY == 0 and self.watched:
                self.looking.suggest(live=True)
            self.progressed.emit()

    def _take(self, message: Message) -> bool:
        """Take in a message; return whether it brought weights."""
        assert self.run is not None
        too_large = self.run.recorder.refused
        if self.run.take(message):
            self._send(Interval(self.run.recorder.interval))
        if isinstance(message, Refused):
            self.told.emit(message.sentence)
        elif self.run.recorder.refused and not too_large:
            self.told.emit(self.run.recorder.refused)
        if not isinstance(message, Progress):
            return False
        self._speeds.append((message.seconds, message.step))
        if message.weights is not None:
            self._wanting = False
        return message.weights is not None

    def _over(self, message: Ended | Failed | None) -> None:
        self._end_process()
        self.look()
        self.looking.suggest()
        self.looking.fill_course()
        if isinstance(message, Failed):
            if message.details:
                print(message.details, file=sys.stderr)
            self.progressed.emit()
            self.failed.emit(message.sentence)
        elif message is not None:
            self.reason = message.reason
            self.progressed.emit()
            self.ended.emit(message.sentence)

    # What was found

    @Slot(object)
    def _on_checked(self, found: Checked) -> None:
        if found.spec != self.spec:
            return
        self.valid = found
        if not found.problem and (self.run is None or not self.looking.probe):
            if not (self.looking.own_probe and self.looking.probe):
                self.looking.probe = found.probe
            self.look()
        self.checked.emit(found)

    @Slot(object)
    def _on_looked(self, _seen: object) -> None:
        self._want()
        if not self.alive:
            self.looking.fill_course()

    @Slot(str)
    def _on_probe_refused(self, _sentence: str) -> None:
        self._want()

    @Slot(object, object)
    def _on_suggested(self, run: Run, marks: tuple[Mark, ...]) -> None:
        for mark in [mark for mark in run.marks if mark.suggested]:
            run.unmark(mark.step)
        own = {mark.step for mark in run.marks}
        for mark in marks:
            if mark.step not in own:
                run.mark(mark)
        self.marked.emit()

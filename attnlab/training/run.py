"""One training run, built from its messages: curves, moments, marks, progress and how it ended."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attnlab.training.marks import Mark
from attnlab.training.messages import (
    Arrays,
    Checkpoint,
    Ended,
    Failed,
    Message,
    Metric,
    Point,
    Progress,
    Refused,
    Started,
)
from attnlab.training.recorder import LIMIT, Moment, Recorder
from attnlab.training.specs import HeadsBefore, RunSpec, find_spec_at

STATUSES = ("new", "running", "paused", "ended", "failed", "interrupted")
"""The states of a run; a run that was saved while it ran is loaded as "interrupted"."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The curve of a run: ``steps`` [n], the ``losses`` of their batches [n] and their learning ``rates`` [n]."""

    steps: NDArray[np.int64]
    losses: NDArray[np.float64]
    rates: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunState:
    """A snapshot of a run as a value, which a worker can save while the run continues, and which loading returns."""

    spec: RunSpec
    name: str
    status: str
    sentence: str
    step: int
    seconds: float
    parameters: int
    trainable: int
    device: str
    interval: int
    curve: Curve
    metrics: tuple[Metric, ...]
    moments: tuple[Moment, ...]
    marks: tuple[Mark, ...]
    checkpoint: Checkpoint | None
    digest: str = ""
    heads_before: HeadsBefore = ()


class Run:
    """A run that grows with its messages. ``weights`` are the newest ones, those after ``weights_step`` steps.

    ``sentence`` says how it ended or failed, "" before; ``refused`` why the last command was refused, "" if it was not.
    ``digest`` is that of the text it learns from, as in :class:`Started`. ``heads_before`` are the heads that were off
    before those of ``spec``.
    """

    def __init__(self, spec: RunSpec, name: str, limit: int = LIMIT) -> None:
        self.spec, self.name = spec, name
        self.status, self.sentence, self.refused = "new", "", ""
        self.step, self.seconds = 0, 0.0
        self.parameters = self.trainable = 0
        self.device, self.digest = spec.train.device, ""
        self.recorder = Recorder(limit)
        self.checkpoint: Checkpoint | None = None
        self.weights: Arrays | None = None
        self.weights_step = 0
        self.heads_before: HeadsBefore = ()
        self._metrics: list[Metric] = []
        self._marks: dict[int, Mark] = {}
        self._curve = np.empty((0, 3))
        self._points = 0

    @classmethod
    def of(cls, state: RunState, limit: int = LIMIT) -> "Run":
        """Return a run that continues from a snapshot."""
        run = cls(state.spec, state.name, limit)
        run.status, run.sentence, run.device = state.status, state.sentence, state.device
        run.step, run.seconds = state.step, state.seconds
        run.parameters, run.trainable, run.digest = state.parameters, state.trainable, state.digest
        run.recorder.interval, run.checkpoint = state.interval, state.checkpoint
        run.heads_before = state.heads_before
        run._metrics = list(state.metrics)
        run._curve = np.column_stack([state.curve.steps, state.curve.losses, state.curve.rates]).astype(np.float64)
        run._points = len(run._curve)
        for moment in state.moments:
            run.recorder.add(moment)
        for mark in state.marks:
            run.mark(mark)
        if moments := run.recorder.moments:
            run.weights, run.weights_step = moments[-1].weights, moments[-1].step
        elif state.checkpoint is not None:  # a model too large to record: its checkpoint can still be viewed
            run.weights, run.weights_step = _weights(state.checkpoint), state.checkpoint.step
        return run

    def state(self) -> RunState:
        """Return a snapshot of the run, quickly."""
        return RunState(
            spec=self.spec,
            name=self.name,
            status=self.status,
            sentence=self.sentence,
            step=self.step,
            seconds=self.seconds,
            parameters=self.parameters,
            trainable=self.trainable,
            device=self.device,
            interval=self.recorder.interval,
            curve=Curve(self.steps, self.losses.copy(), self.rates.copy()),
            metrics=self.metrics,
            moments=self.recorder.moments,
            marks=self.marks,
            checkpoint=self.checkpoint,
            digest=self.digest,
            heads_before=self.heads_before,
        )

    def find_spec_at(self, step: int) -> RunSpec:
        """Return the settings at a step: with the heads off that were off then."""
        return find_spec_at(self.spec, self.heads_before, step)

    def go_on_with(self, spec: RunSpec) -> None:
        """Have other settings from this step on; earlier moments keep the heads that were off in them."""
        if spec.train.heads_off != self.spec.train.heads_off:
            self.heads_before += ((self.step, self.spec.train.heads_off),)
        self.spec = spec

    @property
    def steps(self) -> NDArray[np.int64]:
        """The step of each point of the curve [n]."""
        return self._curve[: self._points, 0].astype(np.int64)

    @property
    def losses(self) -> NDArray[np.float64]:
        """The loss of each step's batch [n]."""
        return self._curve[: self._points, 1]

    @property
    def rates(self) -> NDArray[np.float64]:
        """The learning rate of each step [n]."""
        return self._curve[: self._points, 2]

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The evaluations of the held-out examples, in order of steps."""
        return tuple(self._metrics)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks, in order of steps."""
        return tuple(self._marks[step] for step in sorted(self._marks))

    def mark(self, mark: Mark) -> Mark | None:
        """Mark the recorded moment nearest to the mark's step, so that it stays; return it, None without moments."""
        moment = self.recorder.mark(mark.step)
        if moment is None:
            return None
        self._marks[moment.step] = replace(mark, step=moment.step)
        return self._marks[moment.step]

    def unmark(self, step: int) -> None:
        """Remove the mark of a step."""
        self._marks.pop(step, None)
        self.recorder.unmark(step)

    def toggle_mark(self, step: int) -> None:
        """Set or remove the user's mark on the moment of a step."""
        if step in self._marks:
            self.unmark(step)
        else:
            self.mark(Mark(step, f"Your mark at step {step:,}"))

    def suggest(self, marks: Iterable[Mark]) -> None:
        """Replace the suggested marks by these; the user's own marks stay."""
        for mark in [mark for mark in self.marks if mark.suggested]:
            self.unmark(mark.step)
        own = set(self._marks)
        for mark in marks:
            moment = self.recorder.find_nearest(mark.step)
            if moment is not None and moment.step not in own:
                self.mark(mark)

    def goes_with(self, spec: RunSpec) -> bool:
        """Return whether settings equal those of this run except for the number of steps."""
        return replace(self.spec, train=replace(self.spec.train, steps=spec.train.steps)) == spec

    def take(self, message: Message) -> bool:
        """Apply a message of the process; return whether the interval of moments changed, so that it must be told."""
        before = self.recorder.interval
        match message:
            case Started():
                self.status, self.sentence, self.refused = "running", "", ""
                self.parameters, self.trainable, self.device = message.parameters, message.trainable, message.device
                self.digest = message.digest
            case Progress():
                self._progress(message)
            case Checkpoint():
                self.checkpoint = message
            case Refused():
                self.refused = message.sentence
            case Ended():
                self.status, self.sentence, self.step = "ended", message.sentence, message.step
            case Failed():
                self.status, self.sentence = "failed", message.sentence
        return self.recorder.interval != before

    def branch(self, step: int) -> "Run":
        """Return a new run that shares everything up to a step and can continue differently; this one is unchanged."""
        branch = Run.of(replace(self.state(), name=f"{self.name}, from step {step:,}"), self.recorder.limit)
        branch.rewind(step)
        return branch

    def rewind(self, step: int) -> None:
        """Forget everything after a step, all of it for step −1, so that the run continues from there."""
        self.step = max(0, min(self.step, step))
        self.status, self.sentence = "new", ""
        self._points = int(np.searchsorted(self._curve[: self._points, 0], step))  # point n: the step from n to n + 1
        self._metrics = [metric for metric in self._metrics if metric.step <= step]
        self._marks = {at: mark for at, mark in self._marks.items() if at <= step}
        earlier = [0, *(until for until, _ in self.heads_before)]
        self.heads_before = tuple(
            (min(until, step), off)
            for begins, (until, off) in zip(earlier, self.heads_before, strict=False)
            if begins < step
        )
        self.recorder.forget_after(step)

    def _progress(self, message: Progress) -> None:
        self.step, self.seconds = message.step, message.seconds
        self.status = "paused" if message.paused else "running"
        while message.metrics and self._metrics and self._metrics[-1].step >= message.metrics[0].step:
            self._metrics.pop()  # sent again by a process that continued from an earlier step
        self._metrics += message.metrics
        self._add(message.points)
        if message.weights is None or not all(np.isfinite(array).all() for array in message.weights.values()):
            return  # the next step will find what is not finite, and restore the last good weights
        self.weights, self.weights_step = message.weights, message.step
        if message.moment:
            metric = self._metrics[-1] if self._metrics and self._metrics[-1].step == message.step else None
            curve = self._curve[: self._points, 0]
            before = np.searchsorted(curve, message.step) - 1  # the very last step may have been undone
            loss = float(self.losses[before]) if before >= 0 else math.nan
            self.recorder.add(Moment(message.step, message.weights, loss, metric))
            self._marks = {step: mark for step, mark in self._marks.items() if step in self.recorder.marked}

    def _add(self, points: tuple[Point, ...]) -> None:
        """Append to the curve, whose array doubles when it is full, so that every step costs the same.

        Points of steps that the curve already has replace them: a process continued from an earlier step.
        """
        if not points:
            return
        self._points = int(np.searchsorted(self._curve[: self._points, 0], points[0].step))
        end = self._points + len(points)
        if end > len(self._curve):
            longer = np.empty((max(1024, 2 * end), 3))
            longer[: self._points] = self._curve[: self._points]
            self._curve = longer
        self._curve[self._points : end] = [(point.step, point.loss, point.rate) for point in points]
        self._points = end


def _weights(checkpoint: Checkpoint) -> Arrays | None:
    """Return the weights of a checkpoint by name, None where it has none."""
    from attnlab.training.run_state import MODEL, remove_prefix  # it imports torch, which the window loads later

    return remove_prefix(MODEL, checkpoint.state) or None

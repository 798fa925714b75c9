"""Computes the views of a run in one worker: maps for a probe, examples, text, the course of the heads, marks."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from attnlab.training.marks import Mark
from attnlab.training.messages import Arrays
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.inspector import Inspector, Seen, choose_evenly
from attnlab.ui.train.model_worker import ModelWorker

if TYPE_CHECKING:
    from attnlab.training.head_effects import HeadEffects

EXAMPLES, MOST_COURSE, AT_ONCE = 4, 240, 8
"""Held-out examples shown, the most moments in the course of the heads, and how many are computed per request."""
KINDS = {
    "look": "computing the maps",
    "check": "checking the settings",
    "text": "writing text",
    "examples": "computing the examples",
    "heads": "measuring the heads",
    "marks": "looking for marks",
    "course": "following the heads",
}
"""The kinds of computation, the most urgent first, with their descriptions for the user."""
PATIENT = tuple(KINDS)[2:]
"""The kinds that wait while the maps follow a training or a drag on the time line."""
FIRST = tuple(KINDS)[:4]
"""The kinds that are shown at once; the others are computed little by little."""

At = tuple[RunSpec, int, Arrays | None]
"""Settings, step and weights of a moment; without weights, the first ones."""


class Inspection(QObject):
    """Owns the worker. The newest request of each kind is answered; an unreadable probe changes nothing."""

    checked = Signal(object)
    looked = Signal(object)
    probe_refused = Signal(str)
    wrote = Signal(object)
    texted = Signal(str)
    heads_measured = Signal(object, object)
    """What each head is worth, a HeadEffects, and the settings of its run."""
    course_grown = Signal()
    suggested = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.probe = ""
        self.own_probe = False
        self.gradients = False
        self.inside = False
        """Whether the diagram of the model is shown, so that looks include what it needs."""
        self.stream = False
        """Whether the page "Inside" is shown, so that looks include the residual stream."""
        self.worth = False
        """Whether a head is pointed at or enlarged, so that what it is worth is shown while the model learns."""
        self.seen: Seen | None = None
        self.course: dict[int, NDArray[np.float64]] = {}
        self._run: Run | None = None
        self._task: object = None
        self.inspector = Inspector()
        self.worker = ModelWorker(KINDS, self.inspector.prepare, self, PATIENT)

    @property
    def busy(self) -> bool:
        """Whether a result to be shown at once is still being computed."""
        return any(map(self.worker.has_job, FIRST))

    def follow(self, run: Run | None) -> None:
        """Set the run; its course is computed again, or for the same run kept as far as the weights match."""
        same = run is not None and run is self._run
        self.course = {step: row for step, row in self.course.items() if same and run and step < run.weights_step}
        self._run = run

    def replace_probe(self, probe: str) -> None:
        """Use another text that the task can read from the next look on."""
        if probe != self.probe:
            self.probe, self.course = probe, {}

    def leave_task(self) -> None:
        """Forget the probe, which another task could not read, and any look that is still computed for it."""
        self.probe, self._task = "", None

    def check(self, spec: RunSpec) -> None:
        """Request the check of settings."""
        self.worker.ask("check", partial(self.inspector.check, spec), self.checked.emit, self.probe_refused.emit)

    def look(self, at: At, probe: str = "") -> None:
        """Request the maps of a moment, for the current probe or for a new one."""
        if probe or self.probe:
            self._task = _find_task(at[0])
            job = partial(self.inspector.look, *at, probe or self.probe, self.gradients, self.inside, self.stream)
            self.worker.ask("look", job, self._take_look, self.probe_refused.emit)

    def request_examples(self, at: At) -> None:
        """Request the model's predictions for some held-out examples."""
        spec, _, weights = at
        job = partial(self.inspector.predict_examples, spec, weights, EXAMPLES)
        self.worker.ask("examples", job, self.wrote.emit, _ignore_failure)

    def measure_heads(self, at: At, begun: "HeadEffects | None" = None) -> None:
        """Request what each head is worth at a moment, head by head, so that maps do not wait for all of them."""
        job = partial(self.inspector.measure_next_head, *at, begun)
        self.worker.ask("heads", job, partial(self._take_heads, at), _ignore_failure)

    def _take_heads(self, at: At, found: "HeadEffects") -> None:
        if found.missing:
            if not self.worker.has_job("heads"):  # else a newer moment was requested meanwhile
                self.measure_heads(at, found)
        else:
            self.heads_measured.emit(found, at[0])

    def request_text(self, at: At, prompt: str, n: int, heat: tuple[float, int, int]) -> None:
        """Request the model's continuation of a prompt; ``heat`` is temperature, top-k and seed."""
        spec, _, weights = at
        job = partial(self.inspector.generate_text, spec, weights, prompt, n, heat)
        self.worker.ask("text", job, self.texted.emit, self.texted.emit)

    def fill_course(self) -> None:
        """Request the missing measures of the heads' course, a few at a time."""
        run = self._run
        if run is None or not self.probe or self.worker.has_job("course"):
            return
        missing = [m for m in choose_evenly(run.recorder.moments, MOST_COURSE) if m.step not in self.course][:AT_ONCE]
        if missing:
            job = partial(self._compute_course, run, missing, self.probe)
            self.worker.ask("course", job, partial(self._take_course, (run, self.probe)), _ignore_failure)

    def _compute_course(self, run: Run, moments: Sequence[Moment], probe: str) -> "dict[Moment, NDArray[np.float64]]":
        found = self.inspector.compute_course(run.spec, moments, probe)
        return {moment: found[moment.step] for moment in moments if moment.step in found}  # incomplete once stopped

    def suggest(self, live: bool = False) -> None:
        """Request suggestions for marks; ``live`` leaves out those that would delay the maps."""
        run = self._run
        if run is not None and self.probe and len(run.recorder.moments) > 2 and not self.worker.has_job("marks"):
            curve = run.steps.copy(), run.losses.copy()
            moments = () if live else run.recorder.moments
            job = partial(self.inspector.suggest_marks, run.spec, moments, self.probe, curve)
            self.worker.ask("marks", job, partial(self._take_marks, (run, self.probe)), _ignore_failure)

    def stop(self) -> None:
        """Stop the worker after its current moment; may be called twice."""
        self.inspector.leave()
        self.worker.stop()

    def _take_look(self, seen: Seen) -> None:
        if _find_task(seen.spec) != self._task:
            return
        self.replace_probe(seen.probe)
        self.seen = seen
        if self._run is not None and seen.spec is self._run.spec and not self.inspector.off:
            self.course[seen.look.step] = seen.measures
        self.looked.emit(seen)

    def _take_marks(self, key: "tuple[Run, str]", marks: tuple[Mark, ...]) -> None:
        if key == (self._run, self.probe):
            self.suggested.emit(self._run, marks)

    def _take_course(self, key: "tuple[Run, str]", found: "dict[Moment, NDArray[np.float64]]") -> None:
        if self._run is None or key != (self._run, self.probe):
            return
        there = self._run.recorder.moments  # the run may have resumed from before some of them
        self.course |= {moment.step: found[moment] for moment in there if moment in found}
        self.course_grown.emit()
        self.fill_course()

    def make_course_lines(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return steps [n] and the measures of each head there [n, measures, heads], for moments with equally many."""
        steps: Sequence[int] = sorted(self.course)
        rows = [self.course[step] for step in steps]
        shape = rows[-1].shape if rows else (1, 0)
        kept = [(step, row) for step, row in zip(steps, rows, strict=True) if row.shape == shape]
        return np.array([float(step) for step, _ in kept]), np.array([row for _, row in kept]).reshape(
            len(kept), *shape
        )


def _find_task(spec: RunSpec) -> object:
    """Return the settings that decide which probes can be read."""
    return spec.task, dict(spec.options)


def _ignore_failure(_: str) -> None:
    """Ignore a failure: the maps are useful without this result, and faults are reported anyway."""

"""Computes the views of a run in one worker: maps for a probe, examples, text, the course of the heads, marks."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from attnlab.training.marks import Mark
from attnlab.training.messages import Arrays
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.head_course import COURSE, HeadCourse
from attnlab.ui.train.inspector import Inspector, Seen
from attnlab.ui.train.model_worker import ModelWorker

if TYPE_CHECKING:
    from attnlab.training.head_effects import HeadEffects

EXAMPLES = 4
"""Held-out examples shown."""
KINDS = {
    "look": "computing the maps",
    "check": "checking the settings",
    "text": "writing text",
    "examples": "computing the examples",
    "heads": "measuring the heads",
    "marks": "looking for marks",
    COURSE: "following the heads",
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
    suggested = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.own_probe = False
        self.gradients = False
        self.inside = False
        """Whether the diagram of the model is shown, so that looks include what it needs."""
        self.stream = False
        """Whether the page "Inside" is shown, so that looks include the residual stream."""
        self.worth = False
        """Whether a head is pointed at or enlarged, so that what it is worth is shown while the model learns."""
        self.seen: Seen | None = None
        self._run: Run | None = None
        self._task: object = None
        self.inspector = Inspector()
        self.worker = ModelWorker(KINDS, self.inspector.prepare, self, PATIENT)
        self.course = HeadCourse(self.inspector, self.worker, self)

    @property
    def busy(self) -> bool:
        """Whether a result to be shown at once is still being computed."""
        return any(map(self.worker.has_job, FIRST))

    def follow(self, run: Run | None) -> None:
        """Set the run; its course is computed again, or for the same run kept as far as the weights match."""
        self._run = run
        self.course.follow(run)

    @property
    def probe(self) -> str:
        """The text whose maps are shown, "" while there is none."""
        return self.course.probe

    @probe.setter
    def probe(self, probe: str) -> None:
        self.course.use_probe(probe)

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

    def suggest(self, live: bool = False) -> None:
        """Request suggestions for marks; ``live`` leaves out those that would delay the maps."""
        run = self._run
        if run is not None and self.probe and len(run.recorder.moments) > 2 and not self.worker.has_job("marks"):
            curve = run.steps.copy(), run.losses.copy()
            moments = () if live else run.recorder.moments
            job = partial(self.inspector.suggest_marks, run.spec, moments, self.probe, curve, run.heads_before)
            self.worker.ask("marks", job, partial(self._take_marks, (run, self.probe)), _ignore_failure)

    def stop(self) -> None:
        """Stop the worker after its current moment; may be called twice."""
        self.inspector.leave()
        self.worker.stop()

    def _take_look(self, seen: Seen) -> None:
        if _find_task(seen.spec) != self._task:
            return
        self.probe = seen.probe
        self.seen = seen
        if not self.inspector.off:
            self.course.add(seen)
        self.looked.emit(seen)

    def _take_marks(self, key: "tuple[Run, str]", marks: tuple[Mark, ...]) -> None:
        if key == (self._run, self.probe):
            self.suggested.emit(self._run, marks)


def _find_task(spec: RunSpec) -> object:
    """Return the settings that decide which probes can be read."""
    return spec.task, dict(spec.options)


def _ignore_failure(_: str) -> None:
    """Ignore a failure: the maps are useful without this result, and faults are reported anyway."""

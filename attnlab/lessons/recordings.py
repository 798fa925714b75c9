"""Recorded runs of training, beside a lesson's file: the model at a moment as an experiment, and the run's numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from attnlab.base import assets
from attnlab.base.counted import format_whole
from attnlab.base.errors import AttnlabError, FileError
from attnlab.lessons.library import FOLDER
from attnlab.training import store, tasks
from attnlab.training.look import Viewer
from attnlab.training.recorder import Moment
from attnlab.training.specs import find_spec_at
from attnlab.training.store_manifest import MANIFEST
from attnlab.training.task_patterns import list_patterns, measure_patterns

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.lessons.lesson import Lesson
    from attnlab.training.run import RunState

LOSS, RIGHT = "loss", "right"
"""The curves of every run; the others are the pattern scores of its task."""
NUMBERS = ("step", "loss", "held_out", "right", "exact", "score", "baseline")
"""The numbers of a moment: ``run.loss`` is that of its batch, ``run.score["induction"]`` that of the best head."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A run read from disk, with what has been computed of its moments; any thread may use it."""

    state: "RunState"
    viewer: Viewer
    _lock: Lock = field(default_factory=Lock)
    _experiments: "dict[tuple[int, str, str], Experiment]" = field(default_factory=dict)
    _scores: dict[tuple[int, str], Mapping[str, float]] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of training at which the weights were recorded."""
        return tuple(moment.step for moment in self.state.moments)

    def find_moment(self, step: int) -> Moment:
        """Return the moment of a step; AttnlabError if it was not recorded."""
        for moment in self.state.moments:
            if moment.step == step:
                return moment
        known = ", ".join(map(format_whole, self.steps))
        raise AttnlabError(f"The run has no moment {format_whole(step)}; it has {known}.")

    def make_experiment(self, step: int, layer: str, probe: str) -> "Experiment":
        """Return a layer at a moment, applied to a text: always the same object for the same moment.

        Raises:
            AttnlabError: the moment or the layer does not exist, or the task cannot read the text.
        """
        moment, key = self.find_moment(step), (step, layer, probe)
        with self._lock:
            if key not in self._experiments:
                self._experiments[key] = self._find_viewer(step).make_experiment(moment.weights, probe, layer)
            return self._experiments[key]

    def _find_viewer(self, step: int) -> Viewer:
        """Return a viewer with the heads off that were off at a step."""
        spec = find_spec_at(self.state.spec, self.state.heads_before, step)
        return self.viewer if spec == self.state.spec else Viewer(spec, self.viewer.data)

    def measure_scores(self, step: int, probe: str) -> Mapping[str, float]:
        """Return the score of the best head for each pattern of the task on a text; errors as above."""
        moment, key = self.find_moment(step), (step, probe)
        with self._lock:
            if key not in self._scores:
                look, task = self._find_viewer(step).look(step, moment.weights, probe), self.state.spec.task
                names = [pattern.name for pattern in list_patterns(task, look)]
                found = measure_patterns(task, look)
                self._scores[key] = {
                    name: float(np.nanmax(row))
                    for name, row in zip(names, found, strict=True)
                    if np.isfinite(row).any()
                }
            return self._scores[key]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a step of a lesson shows of a run: one layer at one step of training, on one text."""

    folder: Path
    recording: Recording
    step: int
    layer: str
    probe: str

    def make_experiment(self) -> "Experiment":
        """Return the layer as an experiment; AttnlabError as in :class:`Recording`."""
        return self.recording.make_experiment(self.step, self.layer, self.probe)

    def read_number(self, name: str, index: str | None = None) -> int | float:
        """Return a number of this moment, by its name in :data:`NUMBERS`; ``index`` names a pattern or a baseline.

        Raises:
            AttnlabError: there is no such number.
        """
        if name not in NUMBERS:
            raise AttnlabError(f"a run has no {name!r}; it has {', '.join(f'run.{each}' for each in NUMBERS)}.")
        if (index is not None) != (name in ("score", "baseline")):
            raise AttnlabError(f'run.{name} {"needs a name" if index is None else "has no index"}: run.score["NAME"].')
        if index is not None:
            scored = name == "score"
            data = self.recording.viewer.data
            found = self.recording.measure_scores(self.step, self.probe) if scored else data.baselines
            if index not in found:
                raise AttnlabError(f"there is no {name} {index!r}; there are {', '.join(found) or 'none'}.")
            return found[index]
        if name == "step":
            return self.step
        if name == "loss":
            return self._check_number(name, self.recording.find_moment(self.step).loss)
        metric = next((metric for metric in self.recording.state.metrics if metric.step == self.step), None)
        value = math.nan if metric is None else metric.loss if name == "held_out" else getattr(metric, name)
        return self._check_number(name, float(value))

    def _check_number(self, name: str, value: float) -> float:
        if math.isnan(value):
            raise AttnlabError(f"run.{name} was not measured at step {self.step}.")
        return value


def find_recording(lesson: "Lesson", name: str) -> Path:
    """Return the folder of the run called ``name`` that a step of the lesson shows.

    Raises:
        AttnlabError: it is not beside the lesson's file, or, for a lesson without a file, among those that ship.
    """
    if lesson.path is not None:
        return lesson.path.parent / name
    try:
        return assets.path(f"{FOLDER}/{name}/{MANIFEST}").parent
    except FileError:
        raise AttnlabError(f"The run {name} must be in the lesson’s folder; save the lesson first.") from None


def open_recording(folder: Path) -> Recording:
    """Return the run in a folder, read again only if it has changed.

    Raises:
        AttnlabError: it is not a run, it has no moments, or it would read a file of this computer.
    """
    try:
        known = (folder / MANIFEST).stat()
    except OSError:
        raise AttnlabError(f"There is no run {folder.name} beside the lesson.") from None
    return _open(folder, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=8)
def _open(folder: Path, _changed_ns: int, _size: int) -> Recording:
    state = store.load(folder)
    if tasks.find_own_text(state.spec):
        raise AttnlabError(
            f"The run {folder.name} learns from a file; a lesson can show runs of the included tasks only."
        )
    problem = tasks.check(state.spec)
    if problem:
        raise AttnlabError(f"The run {folder.name} cannot be shown: {problem}")
    if not state.moments:
        raise AttnlabError(f"The run {folder.name} has no moments to show.")
    return Recording(state, Viewer(state.spec))


def make_recorded(
    folder: Path, step: int | None, layer: str | None, probe: str | None, before: Recorded | None
) -> Recorded:
    """Return what a step shows of a run; what is None is that of ``before``, or the last moment and layer.

    Raises:
        AttnlabError: there is no such run, moment or layer, or the task cannot read the text.
    """
    recording = open_recording(folder)
    same = before if before is not None and before.recording is recording else None
    if step is None:
        step = same.step if same is not None else recording.steps[-1]
    layers = recording.viewer.layers
    if not layers:
        raise AttnlabError(f"The run {folder.name} has no attention to show.")
    if layer is None:
        layer = same.layer if same is not None else layers[-1]
    if probe is None:
        probe = same.probe if same is not None else recording.viewer.data.probe_text
    if layer not in layers:
        raise AttnlabError(f"There is no layer {layer!r}; the run has {', '.join(layers)}.")
    made = Recorded(folder, recording, step, layer, probe)
    made.make_experiment()
    return made


def check_curves(recorded: Recorded, curves: tuple[str, ...]) -> str:
    """Return one sentence if a step asks for a curve that its run does not have, else ""."""
    known = (LOSS, RIGHT, *recorded.recording.measure_scores(recorded.step, recorded.probe))
    strange = next((name for name in curves if name not in known), None)
    return "" if strange is None else f"There is no curve {strange!r}; there are {', '.join(known)}."

"""The measures of each head over a training, computed in a worker, a few moments at a time."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.ui.train.inspector import Inspector, Seen, choose_evenly
from attnlab.ui.train.model_worker import ModelWorker

MOST, AT_ONCE = 240, 8
"""The most moments in the course of the heads, and how many are computed per request."""
COURSE = "course"
"""The kind of computation, which the worker must know."""


class HeadCourse(QObject):
    """Collects the measures of each head at moments of a run, for one probe; ``grown`` is emitted for each few."""

    grown = Signal()

    def __init__(self, inspector: Inspector, worker: ModelWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inspector, self._worker = inspector, worker
        self._run: Run | None = None
        self.probe = ""
        self.rows: dict[int, NDArray[np.float64]] = {}
        """The measures [1 + patterns, heads] at each step."""

    def follow(self, run: Run | None) -> None:
        """Set the run; all is computed again, or for the same run kept as far as the weights match."""
        same = run is not None and run is self._run
        self.rows = {step: row for step, row in self.rows.items() if same and run and step < run.weights_step}
        self._run = run

    def use_probe(self, probe: str) -> None:
        """Measure with a probe from now on; with another one, all is computed again."""
        if probe != self.probe:
            self.probe, self.rows = probe, {}

    def add(self, seen: Seen) -> None:
        """Take the measures of a moment that was computed to be shown."""
        if self._run is not None and seen.spec == self._run.find_spec_at(seen.look.step):
            self.rows[seen.look.step] = seen.measures

    def fill(self) -> None:
        """Request the missing measures, a few at a time."""
        run = self._run
        if run is None or not self.probe or self._worker.has_job(COURSE):
            return
        missing = [m for m in choose_evenly(run.recorder.moments, MOST) if m.step not in self.rows][:AT_ONCE]
        if missing:
            job = partial(self._compute, run, missing, self.probe)
            self._worker.ask(COURSE, job, partial(self._take, (run, self.probe)), _ignore_failure)

    def make_lines(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return steps [n] and the measures of each head there [n, measures, heads], for moments with equally many."""
        steps: Sequence[int] = sorted(self.rows)
        rows = [self.rows[step] for step in steps]
        shape = rows[-1].shape if rows else (1, 0)
        kept = [(step, row) for step, row in zip(steps, rows, strict=True) if row.shape == shape]
        measures = np.array([row for _, row in kept]).reshape(len(kept), *shape)
        return np.array([float(step) for step, _ in kept]), measures

    def _compute(self, run: Run, moments: Sequence[Moment], probe: str) -> "dict[Moment, NDArray[np.float64]]":
        found = self._inspector.compute_course(run.spec, moments, probe, run.heads_before)
        return {moment: found[moment.step] for moment in moments if moment.step in found}  # incomplete once stopped

    def _take(self, key: "tuple[Run, str]", found: "dict[Moment, NDArray[np.float64]]") -> None:
        if self._run is not None and key == (self._run, self.probe):
            there = self._run.recorder.moments  # the run may have resumed from before some of them
            self.rows |= {moment.step: found[moment] for moment in there if moment in found}
            self.grown.emit()
        self.fill()  # also of another run or probe, whose request would have waited for this one


def _ignore_failure(_: str) -> None:
    """Ignore a failure: the maps are useful without the course, and faults are reported anyway."""

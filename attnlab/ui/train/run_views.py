"""Shows a run in the panels: moments and marks on the time line, curves, the course of each head."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Slot

from attnlab.base.counted import format_count
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.curves_panel import CurvesPanel, RunCurves
from attnlab.ui.train.maps_panel import MapsPanel
from attnlab.ui.train.run_words import EDITED, Named, describe_start, name_beside, tell_apart
from attnlab.ui.train.time_bar import TimeBar
from attnlab.ui.train.train_session import TrainSession
from attnlab.ui.widgets.charts.chart_scale import round_up
from attnlab.ui.widgets.charts.timeline import TimeMark

MIB = 1 << 20
SHORTEST_AXIS = 100
"""The least number of steps that the axis of curves shows, before a run too, unless the run is to have fewer."""
MOST_LETTERS = 32
"""The most letters of a run’s name in a legend; of a longer one, the middle is left out."""


class RunViews(QObject):
    """Updates the time line, the curves and the course of the heads from a session, on request."""

    def __init__(
        self,
        session: TrainSession,
        footer: TimeBar,
        curves: CurvesPanel,
        maps: MapsPanel,
        find_folder: Callable[[Run], Path | None],
    ) -> None:
        """``find_folder`` returns the folder of a run, None while it has none."""
        super().__init__(session)
        self._session, self._footer, self._curves, self._maps = session, footer, curves, maps
        self._find_folder = find_folder

    def show(self) -> None:
        """Show everything about the run."""
        self.show_moments()
        self.show_curves()
        self.show_course()

    def show_moments(self) -> None:
        """Show the moments, their marks, and the current one."""
        run = self._session.run
        moments = run.recorder.moments if run is not None else ()
        self._footer.show_moments([m.step for m in moments], [m.loss for m in moments], _describe_memory(run))
        self.show_marks()
        self.show_current()

    def show_current(self) -> None:
        """Move to the current moment."""
        steps, viewed = self._footer.line.steps, self._session.viewed_step
        if len(steps):
            index = len(steps) - 1 if viewed is None else int(np.argmin(np.abs(steps - viewed)))
            self._footer.show_current(index)

    @Slot()
    def show_marks(self) -> None:
        """Show the marks on the time line, and in the curves the steps with edited weights."""
        run = self._session.run
        marks = run.marks if run is not None else ()
        self._footer.show_marks([TimeMark(mark.step, mark.title, own=not mark.suggested) for mark in marks])
        self._curves.show_edits([mark.step for mark in marks if mark.title.startswith(EDITED)])

    @Slot()
    def show_course(self) -> None:
        """Show the course of each head."""
        self._maps.show_course(*self._session.inspection.course.make_lines(), self._find_axis_end())

    def show_cursor(self, step: int) -> None:
        """Move to a step in all curves, unless the training is followed."""
        at = float(step) if self._session.viewed_step is not None else None
        self._curves.show_cursor(at)
        self._maps.chart.chart.show_cursor(at)

    def list_overlaid(self) -> tuple[Run, ...]:
        """Return the overlaid runs: others of the same task."""
        session, run = self._session, self._session.run
        task = (run.spec if run is not None else session.spec).task
        return tuple(other for other in session.kept if other.spec.task == task)

    def show_curves(self) -> None:
        """Show the curves, with the overlaid ones."""
        session, run = self._session, self._session.run
        spec = run.spec if run is not None else session.spec
        overlaid = self.list_overlaid()
        named = [(each.name, each.spec) for each in (run, *overlaid) if each is not None]
        starts = [describe_start(self._find_folder(each)) for each in overlaid]
        names = tell_apart([name_curves(spec, each, named) for each in overlaid], starts)
        others = [make_curves(each, name) for each, name in zip(overlaid, names, strict=True)]
        baselines, numbers = ({}, False) if (valid := session.valid) is None else (valid.baselines, valid.numbers)
        mine = make_curves(run, "this run") if run is not None else RunCurves("this run")
        self._curves.show_curves(mine, others, end=self._find_axis_end(), baselines=baselines, numbers=numbers)

    def _find_axis_end(self) -> float:
        session, run = self._session, self._session.run
        spec, step = (session.spec, 0) if run is None else (run.spec, run.step)
        return find_axis_end(step, spec.train.steps)


def _describe_memory(run: Run | None) -> str:
    """Return the number of recorded moments, their memory and its limit."""
    if run is None:
        return ""
    n, size, limit = len(run.recorder.moments), run.recorder.bytes / MIB, run.recorder.limit / MIB
    return f"{format_count(n, 'moment')} · {size:.0f} of {limit:.0f} MiB"


def find_axis_end(step: int, steps: int) -> float:
    """Return the end of the axis of a run that has taken a number of ``steps``: round, so that it seldom moves."""
    return min(round_up(max(step, SHORTEST_AXIS)), float(steps))


def name_curves(spec: RunSpec, run: Run, others: Iterable[Named]) -> str:
    """Return the name of a run's curves beside those of a run with settings ``spec``, short enough for a legend."""
    name = name_beside(spec, run.name, run.spec, run.step, others)
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS // 2]}…{name[-MOST_LETTERS // 2 + 1 :]}"


def make_curves(run: Run, name: str) -> RunCurves:
    """Return the curves of a run under a name."""
    metrics = run.metrics
    steps, losses, right = (np.array([getattr(m, key) for m in metrics]) for key in ("step", "loss", "right"))
    lengths = tuple(metric.by_length for metric in metrics)
    gradients = [dict(metric.gradients) for metric in metrics]
    layers = dict.fromkeys(layer for norms in gradients for layer in norms)
    norms = {layer: np.array([each.get(layer, np.nan) for each in gradients]) for layer in layers}
    return RunCurves(name, run.steps.astype(np.float64), run.losses.copy(), steps, losses, right, lengths, norms)

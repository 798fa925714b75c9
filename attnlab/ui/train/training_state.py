"""The state of a training session: the run's progress and the possible commands."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.inspection import At
from attnlab.ui.train.inspector import Checked
from attnlab.ui.train.process_client import ProcessClient

if TYPE_CHECKING:
    from attnlab.training.process import TrainingProcess


class TrainingState(QObject):
    """Settings with their check, the run if there is one, its process, and the step in view.

    ``kept`` are runs to compare with, ``viewed_step`` the step in view, None to follow the training, ``reason`` why the
    process ended by itself.
    """

    def __init__(self, spec: RunSpec, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.valid: Checked | None = None
        self.run: Run | None = None
        self.kept: tuple[Run, ...] = ()
        self.viewed_step: int | None = None
        self.reason = ""
        self.trainee = ProcessClient(self)

    @property
    def process(self) -> "TrainingProcess | None":
        """The process that trains, if there is one."""
        return self.trainee.process

    @property
    def alive(self) -> bool:
        """Whether the process exists."""
        return self.trainee.alive

    @property
    def state(self) -> str:
        """The state of the run: "new", "running", "paused", "ended" or "failed"."""
        if self.run is None or self.run.status == "new":
            return "running" if self.alive else "new"
        return self.run.status

    @property
    def can_start(self) -> bool:
        """Whether the settings are known to be trainable."""
        return self.valid is not None and not self.valid.problem

    @property
    def can_go_on(self) -> bool:
        """Whether a stopped run, or one whose process died, can resume from its checkpoint; or a finished one, with
        more steps."""
        run = self.run
        if run is None or run.checkpoint is None or self.alive or self.reason == "nan" or not run.goes_with(self.spec):
            return False
        return run.status in ("ended", "failed", "interrupted") and run.step < self.spec.train.steps

    @property
    def begins_anew(self) -> bool:
        """Whether a start would repeat a finished training from the beginning."""
        return self.run is not None and not self.alive and not self.can_go_on and self.run.goes_with(self.spec)

    @property
    def speed(self) -> float:
        """Recent steps per second; 0 while unknown."""
        return self.trainee.speed

    @property
    def left_s(self) -> float | None:
        """Seconds until the last step at the recent speed; None while unknown."""
        run = self.run
        return (run.spec.train.steps - run.step) / self.speed if run is not None and self.speed > 0 else None

    def find_moment(self) -> At:
        """Return settings, step and weights of the moment in view."""
        run = self.run
        if run is None:
            return self.spec, 0, None
        if self.viewed_step is not None and (moment := run.recorder.find_nearest(self.viewed_step)) is not None:
            return run.find_spec_at(moment.step), moment.step, moment.weights
        return run.find_spec_at(run.weights_step), run.weights_step, run.weights

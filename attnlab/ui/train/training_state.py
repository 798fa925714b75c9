"""What a training session holds, and what follows from it: where the run stands, what can be done with it."""

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
    """Settings with what they come to, the run if there is one, who trains it, and the step that is looked at.

    ``kept`` are runs to compare with, ``shown`` the step looked at, None to follow the training, ``reason`` why the
    process ended by itself.
    """

    def __init__(self, spec: RunSpec, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.valid: Checked | None = None
        self.run: Run | None = None
        self.kept: tuple[Run, ...] = ()
        self.shown: int | None = None
        self.reason = ""
        self.trainee = ProcessClient(self)

    @property
    def process(self) -> "TrainingProcess | None":
        """The process that trains, if there is one."""
        return self.trainee.process

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self.trainee.alive

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
        if run is None or run.checkpoint is None or self.alive or self.reason == "nan" or not run.goes_with(self.spec):
            return False
        return run.status in ("ended", "failed", "interrupted") and run.step < self.spec.train.steps

    @property
    def begins_anew(self) -> bool:
        """Whether a start would train once more what was trained to its end."""
        return self.run is not None and not self.alive and not self.can_go_on and self.run.goes_with(self.spec)

    @property
    def speed(self) -> float:
        """Steps a second of late; 0 while that is not known."""
        return self.trainee.speed

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

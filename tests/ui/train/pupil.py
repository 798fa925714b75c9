"""The pupil, who switches between the training workspace and the playground, with a tiny model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from attnlab.training.run import Run
from attnlab.training.specs import RunSpec, TrainSpec
from attnlab.training.tasks import make_spec
from attnlab.ui.train.train_tools import TrainTools
from attnlab.ui.train.train_workspace import TrainWorkspace
from tests.ui.conftest import Person


def tiny(task: str = "reverse", steps: int = 100_000, kind: str | None = None) -> RunSpec:
    """Return a run of a model of 16 numbers that continues until stopped."""
    spec = make_spec(task, kind)
    model = replace(spec.model, layers=1, heads=2, d_model=16, d_ff=16)
    return replace(spec, model=model, train=TrainSpec(batch=4, steps=steps, evaluate_every=20))


class Pupil(Person):
    """A person at the training workspace."""

    @property
    def trainer(self) -> TrainWorkspace:
        assert self.window.trainer is not None
        return self.window.trainer

    @property
    def tools(self) -> TrainTools:
        assert isinstance(self.trainer.tools, TrainTools)
        return self.trainer.tools

    @property
    def run(self) -> Run:
        assert self.trainer.session.run is not None
        return self.trainer.session.run

    @property
    def shown_step(self) -> int:
        seen = self.trainer.session.inspection.seen
        return seen.look.step if seen is not None else -1

    def begin(self, spec: RunSpec) -> None:
        self.window.show_workspace("train")
        self.trainer.settings.show_spec(spec)
        with self.qtbot.waitSignal(self.trainer.session.checked):
            self.trainer.settings.spec_changed.emit(spec)
        self.wait_for(lambda: self.trainer.session.inspection.seen is not None)

    def wait_for_step(self, step: int) -> None:
        self.qtbot.waitUntil(lambda: self.run.step >= step)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)

    def wait_for_playground(self) -> None:
        self.wait_for(lambda: self.window.current == "playground")
        self.settle()

    def train_to_the_end(self) -> None:
        with self.qtbot.waitSignal(self.trainer.session.ended):
            self.trainer.start()


def trained(pupil: Pupil, seed: int) -> Path:
    """Train a run to its end and return its folder."""
    spec = tiny(steps=30)
    pupil.begin(replace(spec, train=replace(spec.train, seed=seed)))
    pupil.train_to_the_end()
    keeper = pupil.tools.keeper
    pupil.wait_for(lambda: any(each.folder == keeper.find_folder(pupil.run) for each in pupil.tools.runs.found))
    folder = keeper.find_folder(pupil.run)
    assert folder is not None
    return folder

"""Going on with a run under other settings: the run stays as it is, and a branch continues from its last step."""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from attnlab.training.heads_off import describe_heads
from attnlab.training.marks import Mark
from attnlab.training.specs import RunSpec, TrainSpec
from attnlab.ui.train.layer_transfer import extend_run
from attnlab.ui.train.run_words import name_setting, write_setting

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

HEADS_OFF = "heads_off"
_STEPPING = ("rate", "schedule", "warmup", "batch", "weight_decay", "clip", "device", HEADS_OFF)
_ENDING = ("steps", "stop_right", "stop_loss", "evaluate_every")
KEPT_WEIGHTS = frozenset(_STEPPING + _ENDING)
"""The settings with which the weights, the optimiser and the examples of a run can go on."""


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that differs: its ``name``, its ``title``, and its value ``before`` and ``after``."""

    name: str
    title: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.name == HEADS_OFF:
            return f"{describe_heads(self.before)} → {describe_heads(self.after)}"
        return f"{self.title} {write_setting(self.before)} → {write_setting(self.after)}"

    @property
    def outcome(self) -> str:
        """The setting with its new value, such as "rate 0.001"."""
        if self.name == HEADS_OFF:
            return describe_heads(self.after)
        return f"{self.title} {write_setting(self.after)}"


class RunBranch(QObject):
    """Goes on with the run of a workspace under other settings; one that is training stops first, so that its last step
    is exact."""

    def __init__(self, workspace: "TrainWorkspace") -> None:
        super().__init__(workspace)
        self._workspace, self._session = workspace, workspace.session
        self._waiting: dict[str, Any] = {}
        self._session.ended.connect(self._on_over)
        self._session.failed.connect(self._on_over)

    def go_on(self, **changes: Any) -> None:
        """Go on with some settings of the training changed, by their names; without a checkpoint do nothing."""
        self._waiting = changes
        if self._session.alive:
            self._session.stop()
        else:
            self._on_over()

    @Slot()
    def _on_over(self) -> None:
        changes, self._waiting = self._waiting, {}
        run = self._session.run
        if changes and run is not None and run.checkpoint is not None:
            told = go_on_with(self._workspace, replace(run.spec.train, **changes))
            self._workspace.footer.show_message(told, wrong=False)


def list_changes(before: RunSpec, after: RunSpec) -> tuple[Change, ...]:
    """Return the settings of a task that differ: of its options, its model and its training."""

    def change(name: str, old: Any, new: Any) -> Change:
        return Change(name, name_setting(after.task, name), old, new)

    names = [*before.options, *(name for name in after.options if name not in before.options)]
    found = [change(name, before.options.get(name, ""), after.options.get(name, "")) for name in names]
    for old, new in ((before.model, after.model), (before.train, after.train)):
        found += [change(each.name, getattr(old, each.name), getattr(new, each.name)) for each in fields(old)]
    return tuple(change for change in found if change.before != change.after)


def go_on_with(workspace: "TrainWorkspace", train: TrainSpec) -> str:
    """Continue the run from its last step with other settings, as a run of its own; return what happened.

    The run must be stopped, and have a checkpoint.
    """
    run = workspace.session.run
    assert run is not None
    checkpoint = run.checkpoint
    assert checkpoint is not None
    spec = replace(run.spec, train=train)
    changes = list_changes(run.spec, spec)
    branch = run.branch(checkpoint.step)
    branch.go_on_with(extend_run(spec, checkpoint.step))
    told = [change.outcome for change in changes]
    branch.name = ", ".join([branch.name, *told])
    branch.mark(Mark(checkpoint.step, ", ".join(map(str, changes))))
    workspace.session.go_on_from(branch, checkpoint)
    workspace.settings.show_spec(branch.spec)
    kept = f"The run before is kept as “{workspace.make_title(run)}”."
    return f"Continued from step {checkpoint.step:,} with {', '.join(told)}. {kept}"

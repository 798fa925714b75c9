"""Training without a head: a branch of the run goes on without it, or with it again; the run before stays as it is."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.training.heads_off import read_heads, write_heads
from attnlab.ui.train.run_branch import RunBranch

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace


class HeadTraining(QObject):
    """Switches heads off, or on again, in the run that goes on, or in the settings of the next one."""

    def __init__(self, workspace: "TrainWorkspace", branch: RunBranch) -> None:
        super().__init__(workspace)
        self._workspace, self._session, self._branch = workspace, workspace.session, branch
        workspace.maps.heads.training_changed.connect(self.switch)

    @Slot(str, int, bool)
    def switch(self, layer: str, head: int, off: bool) -> None:
        """Train without a head from now on, or with it again; in an earlier moment it may be on that is off now."""
        run = self._session.run
        goes_on = run is not None and (self._session.alive or run.checkpoint is not None)
        spec = run.spec if run is not None and goes_on else self._session.spec
        before = read_heads(spec.train.heads_off)
        heads = write_heads(before | {(layer, head)} if off else before - {(layer, head)})
        if goes_on and heads == spec.train.heads_off:
            told = f"The run trains {'without' if off else 'with'} {layer}.{head} already."
            self._workspace.footer.show_message(told, wrong=False)
            return
        if goes_on:
            self._branch.go_on(heads_off=heads)
            return
        settings, changed = self._workspace.settings, replace(spec, train=replace(spec.train, heads_off=heads))
        settings.show_spec(changed)
        settings.spec_changed.emit(changed)
        told = f"The next run trains without {heads}." if heads else "The next run trains with all heads."
        self._workspace.footer.show_message(told, wrong=False)

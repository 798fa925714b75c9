"""The workspace of the training."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action
from attnlab.ui.base.ahead import import_each
from attnlab.ui.base.workspace import Host, WorkspaceKind, on
from attnlab.ui.train.train_actions import train_actions
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.ui.train.train_workspace import TrainWorkspace

FIRST = "reverse"
"""The task at the start: its pattern appears after the fewest steps."""


def _make(host: Host) -> "TrainWorkspace":
    from attnlab.training.tasks import make_spec
    from attnlab.ui.train.train_tools import TrainTools
    from attnlab.ui.train.train_workspace import TrainWorkspace

    playground = host.workspace(PLAYGROUND)
    assert playground is not None
    workspace = TrainWorkspace(make_spec(FIRST), host, host.page)
    workspace.session.set_limit(host.settings.moments_mib << 20)
    workspace.title_changed.connect(host.show_title)
    workspace.tools = TrainTools(workspace, host, playground)
    return workspace


def _actions(host: Host) -> list[Action[Any]]:
    return train_actions(on(host, TRAIN))


def _ahead() -> Iterator[None]:
    return import_each(
        "attnlab.training.tasks",
        "attnlab.training.run",
        "attnlab.figures.diagram.diagram_layout",
        "attnlab.training.head_effects",
        "attnlab.ui.train.run_queue",
        "attnlab.ui.train.curves_panel",
        "attnlab.ui.train.maps_panel",
        "attnlab.ui.train.run_views",
        "attnlab.ui.train.train_tools",
        "attnlab.ui.train.train_workspace",
    )


TRAIN: "WorkspaceKind[TrainWorkspace]" = WorkspaceKind(
    "train", "Train", "train", _make, _actions, order=30, ahead=_ahead
)

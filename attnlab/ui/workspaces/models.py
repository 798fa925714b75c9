"""The workspace of real models."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action
from attnlab.ui.base.ahead import import_each
from attnlab.ui.base.workspace import Host, WorkspaceKind, on
from attnlab.ui.models.models_actions import models_actions
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.ui.models.models_workspace import ModelsWorkspace


def _make(host: Host) -> "ModelsWorkspace":
    from attnlab.ui.models.models_tools import ModelsTools
    from attnlab.ui.models.models_workspace import ModelsWorkspace

    playground = host.workspace(PLAYGROUND)
    assert playground is not None
    workspace = ModelsWorkspace(host)
    workspace.title_changed.connect(host.show_title)
    workspace.tools = ModelsTools(workspace, host, playground)
    return workspace


def _actions(host: Host) -> list[Action[Any]]:
    return models_actions(on(host, MODELS))


def _ahead() -> Iterator[None]:
    return import_each(
        "attnlab.pretrained.find_model",
        "attnlab.pretrained.shipped",
        "attnlab.ui.models.head_maps",
        "attnlab.ui.models.models_cards",
        "attnlab.ui.models.models_tools",
        "attnlab.ui.models.models_workspace",
    )


MODELS: "WorkspaceKind[ModelsWorkspace]" = WorkspaceKind(
    "models", "Models", "cube", _make, _actions, order=40, ahead=_ahead
)

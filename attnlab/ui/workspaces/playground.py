"""The workspace of the playground."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action
from attnlab.ui.base.workspace import Host, WorkspaceKind, on
from attnlab.ui.playground.play_actions import play_actions

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground


def _make(host: Host) -> "Playground":
    raise AssertionError(f"{host} makes the playground itself, with the first experiment to open")


def _actions(host: Host) -> list[Action[Any]]:
    return play_actions(on(host, PLAYGROUND))


PLAYGROUND: "WorkspaceKind[Playground]" = WorkspaceKind("playground", "Play", "play-grid", _make, _actions, order=10)

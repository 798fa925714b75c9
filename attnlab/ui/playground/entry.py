"""The playground's entry in the list of workspaces."""

from typing import TYPE_CHECKING

from attnlab.ui.base.workspace import Host, WorkspaceKind

if TYPE_CHECKING:
    from attnlab.ui.playground.workspace import Playground


def _make(host: Host) -> "Playground":
    raise AssertionError(f"{host} makes the playground itself, with what it opens first")


PLAYGROUND: "WorkspaceKind[Playground]" = WorkspaceKind("playground", "Play", "play-grid", _make)

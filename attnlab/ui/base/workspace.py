"""Workspaces and the window that hosts them, as each sees the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.actions import Action, ActionList, Context
from attnlab.ui.base.themed_window import ThemedWindow


class Workspace(Protocol):
    """What the window needs of a workspace. It is made when it is first needed, and then kept."""

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the bar above, the body, and the bar below; called when the workspace is first shown."""

    def shown(self) -> None:
        """Called after the pages became visible."""

    def hidden(self) -> None:
        """Called after the pages were hidden."""

    def arrange(self, width: int) -> None:
        """Lay the pages out for a width in pixels."""

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours, at the current size of type."""

    def say(self, sentence: str) -> None:
        """Show a sentence in the line for messages; "" clears it."""

    def take_key(self, key: Qt.Key) -> bool:
        """Handle a key that no field took, whichever workspace is shown; return whether it was handled."""

    def escape(self) -> None:
        """Leave the innermost thing that is open; called for Escape while the workspace is shown."""

    def stop(self) -> None:
        """End threads, processes and timers; may be called twice."""


W = TypeVar("W", bound=Workspace)


class Host(ThemedWindow):
    """The window as its workspaces see it."""

    ready = Signal()
    """The playground exists and its first numbers are shown."""

    actions_list: ActionList

    @property
    def loaded(self) -> bool:
        """Whether torch is loaded and the playground exists; before that there are no workspaces."""
        raise NotImplementedError

    @property
    def current(self) -> str:
        """The name of the workspace that is shown."""
        raise NotImplementedError

    def show_workspace(self, name: str) -> None:
        """Show a workspace; the first one as long as the window is loading."""
        raise NotImplementedError

    def workspace(self, kind: "WorkspaceKind[W]", *, make: bool = True) -> W | None:
        """Return a workspace; None while the window is loading, or if it is not made yet and ``make`` is false."""
        raise NotImplementedError

    def open_paths(self, paths: Sequence[Path]) -> None:
        """Open files by their endings."""
        raise NotImplementedError

    def refresh_actions(self) -> None:
        """Update titles, check marks and states of all actions."""
        self.actions_list.refresh()


H = TypeVar("H", bound=Host)


@dataclass(frozen=True, slots=True)
class WorkspaceKind(Generic[W]):
    """An entry of the list of workspaces, which the rail, the keys Ctrl+1, … and the command palette read.

    ``make`` is called once torch is loaded and may take time; the module of an entry must be quick to import.
    ``actions`` returns the actions that the workspace adds to the window, most of them in the context :func:`on`.
    """

    name: str
    title: str
    icon: str
    make: Callable[[Host], W]
    actions: Callable[[Host], list[Action[Any]]] = lambda _: []


def once_loaded(host: H) -> Context[H]:
    """Return the context of actions on the window that need its workspaces."""
    return Context(lambda: host, lambda: host, lambda: host.loaded)


def on(host: Host, kind: WorkspaceKind[W], *, show: bool = True) -> Context[W]:
    """Return the context of actions on a workspace; with ``show`` an action shows the workspace before it runs."""

    def enter() -> W | None:
        if show and host.current != kind.name:
            host.show_workspace(kind.name)
        return host.workspace(kind)

    return Context(lambda: host.workspace(kind, make=False), enter, lambda: host.loaded)

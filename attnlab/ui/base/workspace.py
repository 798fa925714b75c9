"""The interfaces between workspaces and the window that hosts them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from attnlab.ui.base.actions import Action, ActionList, Context
from attnlab.ui.base.themed_window import ThemedWindow


class Workspace(Protocol):
    """A workspace as the window sees it; created when first needed, and then kept."""

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the bar above, the body, and the bar below; called when the workspace is first shown.

        The bar is at least as high as :func:`attnlab.ui.base.theme.bar_height`; the rail covers what is below that at
        its left.
        """

    def enter(self) -> None:
        """React to the pages becoming visible."""

    def leave(self) -> None:
        """React to the pages being hidden."""

    def arrange(self, width: int) -> None:
        """Lay out the pages for a width in pixels."""

    def say(self, sentence: str) -> None:
        """Show a sentence in the line for messages; "" clears it."""

    def take_key(self, key: Qt.Key) -> bool:
        """Handle a key that no field took, in any workspace; return whether it was handled."""

    def escape(self) -> None:
        """Close the innermost open thing; called for Escape while the workspace is shown."""

    def stop(self) -> None:
        """End threads, processes and timers; may be called twice."""


W = TypeVar("W", bound=Workspace)


@runtime_checkable
class Titled(Protocol):
    """A workspace that names its document in the title of the window; the others leave that to the playground."""

    def title(self) -> str:
        """Return the name of the open document."""


@runtime_checkable
class Presenting(Protocol):
    """A workspace with a picture of its own to present; in the others F5 presents the open experiment."""

    def present(self) -> bool:
        """Show it on the whole screen, now or once it is drawn; return whether there is something to show."""


class Host(ThemedWindow):
    """The window as its workspaces see it."""

    ready = Signal()
    """Emitted when the playground exists and its first numbers are shown."""

    actions_list: ActionList

    @property
    def page(self) -> QWidget:
        """The parent of the pages of workspaces: created inside it, each part is styled once, and not when moved."""
        raise NotImplementedError

    @property
    def loaded(self) -> bool:
        """Whether torch is loaded and the playground exists; before that there are no workspaces."""
        raise NotImplementedError

    @property
    def current(self) -> str:
        """The name of the workspace that is shown."""
        raise NotImplementedError

    @property
    def shown(self) -> "Workspace | None":
        """The workspace that is shown; None while the window is loading."""
        raise NotImplementedError

    def show_workspace(self, name: str) -> None:
        """Show a workspace; while the window is loading, the first one."""
        raise NotImplementedError

    def show_existing(self, workspace: Workspace) -> None:
        """Show a workspace that was made; called by the workspace itself, which need not know its name."""
        raise NotImplementedError

    def workspace(self, kind: "WorkspaceKind[W]", *, make: bool = True) -> W | None:
        """Return a workspace; None while the window is loading, or if it is not made yet and ``make`` is false."""
        raise NotImplementedError

    def open_paths(self, paths: Sequence[Path]) -> None:
        """Open files by their endings."""
        raise NotImplementedError

    def show_title(self) -> None:
        """Show the title of the document in the current workspace."""
        raise NotImplementedError

    def refresh_actions(self) -> None:
        """Update titles, check marks and states of all actions."""
        self.actions_list.refresh()


H = TypeVar("H", bound=Host)


@dataclass(frozen=True, slots=True)
class WorkspaceKind(Generic[W]):
    """Describes a workspace to the rail, the keys Ctrl+1, … and the command palette.

    ``order`` is its place: the smallest is the first. ``make`` is called once torch is loaded and may take time.
    ``actions`` returns the actions that the workspace adds to the window, most of them in the context :func:`on`.
    ``ahead`` does, in steps while the window rests, what the first visit would otherwise wait for.
    """

    name: str
    title: str
    icon: str
    make: Callable[[Host], W]
    actions: Callable[[Host], list[Action[Any]]] = lambda _: []
    order: int = field(kw_only=True)
    ahead: Callable[[], Iterable[None]] = field(default=tuple, kw_only=True)


def once_loaded(host: H) -> Context[H]:
    """Return the context of actions on the window that need its workspaces."""
    return Context(lambda: host, lambda: host, lambda: host.loaded)


def on(host: Host, kind: WorkspaceKind[W], *, show: bool = True) -> Context[W]:
    """Return the context of actions on a workspace; with ``show`` an action shows the workspace before it runs."""

    def enter() -> W | None:
        if show and host.current != kind.name:
            host.show_workspace(kind.name)
        return host.workspace(kind)

    return Context(
        lambda: host.workspace(kind, make=False),
        enter,
        lambda: host.loaded,
        lambda: show and host.current != kind.name,
    )

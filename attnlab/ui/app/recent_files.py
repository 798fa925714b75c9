"""The actions of the Recent section: one for each recently opened or saved file, the newest first."""

from functools import partial
from pathlib import Path
from typing import Any

from attnlab.document.settings import RECENT_LIMIT
from attnlab.files.atomic import format_name
from attnlab.ui.app.open_file import open_path
from attnlab.ui.base.actions import Action, Context
from attnlab.ui.base.workspace import Host, once_loaded

SECTION = "Recent"
_LONGEST = 48
"""The number of letters shown of a folder, from its end."""


def make_recent_actions(w: Host) -> list[Action[Any]]:
    """Return an action for each entry of the list; an empty entry has no title and is not shown."""

    none = Action(
        "recent-none",
        "",
        SECTION,
        Context.of(w),
        lambda _: None,
        enabled=lambda _: False,
        in_palette=False,
        title_now=lambda w: "" if w.settings.recent else "No recent files",
    )
    return [none, *(_action(w, index) for index in range(RECENT_LIMIT))]


def _action(w: Host, index: int) -> Action[Any]:
    def title(window: Host) -> str:
        return write_title(Path(window.settings.recent[index])) if index < len(window.settings.recent) else ""

    return Action(f"recent-{index + 1}", "", SECTION, once_loaded(w), partial(_open, index), title_now=title)


def write_title(path: Path) -> str:
    """Return a file's title in the list: its name and its folder, which distinguishes files of one name."""
    home, folder = Path.home(), path.parent
    where = str(Path("~", folder.relative_to(home)) if folder.is_relative_to(home) else folder)
    return f"{format_name(path.name)} — {format_name(where if len(where) <= _LONGEST else f'…{where[-_LONGEST:]}')}"


def _open(index: int, w: Host) -> None:
    """Open a file of the list; a file that no longer exists is removed from the list."""
    if index >= len(w.settings.recent):
        return
    name = w.settings.recent[index]
    if Path(name).exists():
        open_path(w, Path(name))
        return
    w.change_settings(recent=tuple(other for other in w.settings.recent if other != name))
    w.say(f"{format_name(name)} no longer exists; it was removed from the list of recent files.")

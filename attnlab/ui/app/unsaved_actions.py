"""The actions of the section Unsaved work: one for each unsaved session, the newest first."""

from functools import partial
from typing import TYPE_CHECKING

from attnlab.ui.base.actions import Action

if TYPE_CHECKING:
    from attnlab.files.sessions.unsaved import Unsaved
    from attnlab.ui.app.main_window import MainWindow

SECTION = "Unsaved work"
PLACES = 10


def unsaved_work(w: "MainWindow") -> "tuple[Unsaved, ...]":
    """Return the unsaved work that a window can bring back, the newest first."""
    return w.recovery.kept() if w.recovery is not None else ()


def unsaved_actions(w: "MainWindow") -> list[Action]:
    """Return an action for each entry of the list; an empty entry has no title and is not shown."""

    def nothing() -> str:
        return "" if unsaved_work(w) else "No unsaved work"

    none = Action("unsaved-none", nothing, SECTION, lambda: None, enabled=lambda: False, in_palette=False)
    return [none, *(_action(w, index) for index in range(PLACES))]


def _action(w: "MainWindow", index: int) -> Action:
    def title() -> str:
        kept = unsaved_work(w)
        return f"Bring back {kept[index].described()}" if index < len(kept) else ""

    return Action(f"unsaved-{index + 1}", title, SECTION, partial(_bring_back, w, index))


def _bring_back(w: "MainWindow", index: int) -> None:
    kept = unsaved_work(w)
    if index < len(kept):
        w.bring_back(kept[index].path)

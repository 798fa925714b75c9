"""The actions of the section Unsaved work: one for each unsaved session, the newest first."""

from functools import partial
from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action, Context

if TYPE_CHECKING:
    from attnlab.files.sessions.unsaved import Unsaved
    from attnlab.ui.app.main_window import MainWindow

SECTION = "Unsaved work"
PLACES = 10


def unsaved_work(w: "MainWindow") -> "tuple[Unsaved, ...]":
    """Return the unsaved work that a window can bring back, the newest first."""
    return w.recovery.kept() if w.recovery is not None else ()


def unsaved_actions(w: "MainWindow") -> list[Action[Any]]:
    """Return an action for each entry of the list; an empty entry has no title and is not shown."""

    none = Action(
        "unsaved-none", "", SECTION, Context.of(w), lambda _: None, enabled=lambda _: False, in_palette=False,
        title_now=lambda w: "" if unsaved_work(w) else "No unsaved work",
    )  # fmt: skip
    return [none, *(_action(w, index) for index in range(PLACES))]


def _action(w: "MainWindow", index: int) -> Action[Any]:
    def title(window: "MainWindow") -> str:
        kept = unsaved_work(window)
        return f"Bring back {kept[index].described()}" if index < len(kept) else ""

    return Action(f"unsaved-{index + 1}", "", SECTION, Context.of(w), partial(_bring_back, index), title_now=title)


def _bring_back(index: int, w: "MainWindow") -> None:
    kept = unsaved_work(w)
    if index < len(kept):
        w.bring_back(kept[index].path)

"""The actions on unsaved work of earlier windows: one for the newest, and the section Unsaved work with one each."""

from functools import partial
from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action, Context

if TYPE_CHECKING:
    from attnlab.ui.playground.recovery import Recovery

SECTION = "Unsaved work"
PLACES = 10


def make_unsaved_actions(recovery: "Context[Recovery]") -> list[Action[Any]]:
    """Return an action for each entry of the list; an empty entry has no title and is not shown."""
    none = Action(
        "unsaved-none",
        "No unsaved work",
        SECTION,
        recovery,
        lambda _: None,
        enabled=lambda _: False,
        in_palette=False,
        title_now=lambda r: "" if r.list_all() else "No unsaved work",
    )
    return [none, *(_action(recovery, index) for index in range(PLACES))]


def make_restore_action(recovery: "Context[Recovery]") -> Action[Any]:
    """Return the action that opens the newest unsaved work."""
    return Action(
        "restore",
        "Restore the last unsaved work",
        "File",
        recovery,
        lambda r: r.restore(),
        enabled=lambda r: bool(r.list_all()),
    )


def _action(recovery: "Context[Recovery]", index: int) -> Action[Any]:
    def title(found: "Recovery") -> str:
        kept = found.list_all()
        return f"Restore {kept[index].write_title()}" if index < len(kept) else ""

    return Action(f"unsaved-{index + 1}", "", SECTION, recovery, partial(_open, index), title_now=title)


def _open(index: int, recovery: "Recovery") -> None:
    kept = recovery.list_all()
    if index < len(kept):
        recovery.restore(kept[index].path)

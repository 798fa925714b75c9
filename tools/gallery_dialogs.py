"""Lists the dialogs and windows of the menus for the gallery: exports, the help, an exercise, an array."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.workspaces.lessons import LESSONS
from tools.gallery_window import View, settle, wait_until

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground


def run_action(name: str, playground: "Playground", window: MainWindow) -> None:
    """Run an action of the menus."""
    window.refresh_actions()
    window.actions_list[name].trigger()


def _open_help(topic: str, playground: "Playground", window: MainWindow) -> None:
    from attnlab.ui.app.help_window import open_help

    open_help(window, window.actions_list, topic)


def _open_exercise(playground: "Playground", window: MainWindow) -> None:
    """Make an exercise, and wait for its preview."""
    if (lessons := window.workspace(LESSONS)) is None:
        return
    lessons.make_exercise()
    dialog = lessons.exercise
    assert dialog is not None
    previewed: list[None] = []
    dialog.previewed.connect(lambda: previewed.append(None))
    wait_until(lambda: bool(previewed))
    settle(window)


def list_views() -> Iterator[View]:
    """Yield the views that are drawn in every size."""
    yield View("dialog-export", "multi-head-8", open=partial(run_action, "export"))
    yield View("dialog-sweep", open=partial(run_action, "film"))
    yield View("dialog-exercise", open=_open_exercise)
    for name in ("Keys", "Report a problem", "About"):
        yield View(f"help-{name.split()[0].lower()}", open=partial(_open_help, name))
    yield View("help", open=partial(_open_help, ""))

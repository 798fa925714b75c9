"""Opens what is handed to the window, by its ending: sessions, lessons, weights, runs; drops and system wishes."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attnlab.base import formats
from attnlab.files.atomic import shown
from attnlab.files.source import run_folder
from attnlab.ui.base.workspace import Host
from attnlab.ui.lessons.entry import LESSONS
from attnlab.ui.playground.entry import PLAYGROUND
from attnlab.ui.train.entry import TRAIN


def open_path(window: Host, path: Path) -> None:
    """Open one file."""
    open_paths(window, [path])


def open_paths(window: Host, paths: Sequence[Path]) -> None:
    """Open files that came together: one session or lesson, the first, and all weights; once the window has loaded."""
    playground = window.workspace(PLAYGROUND)
    if playground is None:
        window.ready.connect(partial(open_paths, window, list(paths)))  # which is announced once
        return
    weights = [path for path in paths if path.suffix.lower() in formats.WEIGHTS]
    others = [path for path in paths if path not in weights]
    files = playground.files

    def then(opened: bool) -> None:
        if opened and len(others) > 1:
            only = f"of {len(others)} only {shown(others[0].name)} was opened"
            files.say_last(f"A window shows one file at a time: {only}.")
        if weights:  # which may be for what was opened with them
            _open_weights(window, weights)

    if others:
        _open_one(window, others[0], then)
    else:
        then(False)


def _open_one(window: Host, path: Path, then: Callable[[bool], None]) -> None:
    """Open a lesson, a run, or a session: what is none of them is refused in its own words. ``then`` is told whether
    it was opened, which for a session is known later."""
    if path.suffix.lower() in formats.LESSONS:
        desk = window.workspace(LESSONS)
        then(desk is not None and desk.open(path))
    elif (folder := run_folder(path)) is not None:
        then(_open_run(window, folder))
    elif (playground := window.workspace(PLAYGROUND)) is not None:
        window.show_workspace(PLAYGROUND.name)
        playground.files.open(path, then)


def _open_run(window: Host, folder: Path) -> bool:
    """Show a run of a training where it was trained."""
    window.show_workspace(TRAIN.name)
    from attnlab.ui.train.train_tools import tools_of

    trainer = window.workspace(TRAIN)
    tools = tools_of(trainer) if trainer is not None else None
    if tools is None:
        return False
    tools.open_run(folder)
    return True


def _open_weights(window: Host, paths: Sequence[Path]) -> None:
    """Ask how arrays of files map onto the weights."""
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    playground = window.workspace(PLAYGROUND)
    if playground is not None:
        open_weights_dialog(playground, window, list(paths))

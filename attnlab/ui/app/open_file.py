"""Opens files by their endings, and folders: sessions, lessons, weights, runs, models; also dropped ones."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attnlab.base import formats
from attnlab.files.atomic import format_name
from attnlab.files.source import is_weights, model_folder, run_folder
from attnlab.files.weights.several_files import list_weights
from attnlab.ui.base.workspace import Host
from attnlab.ui.workspaces.lessons import LESSONS
from attnlab.ui.workspaces.models import MODELS
from attnlab.ui.workspaces.playground import PLAYGROUND
from attnlab.ui.workspaces.train import TRAIN

DATA = (".tsv", ".txt")
"""The endings of files to train on; elsewhere they may hold weights."""


def open_path(window: Host, path: Path) -> None:
    """Open one file."""
    open_paths(window, [path])


def open_paths(window: Host, paths: Sequence[Path]) -> None:
    """Open several files: the first session or lesson, and all weights; waits until the window has loaded."""
    playground = window.workspace(PLAYGROUND)
    if playground is None:
        window.ready.connect(partial(open_paths, window, list(paths)))  # ready is emitted only once
        return
    weights = [path for path in paths if _holds_weights(path) and not _is_model(path) and not _is_data(window, path)]
    others = [path for path in paths if path not in weights]
    files = playground.files

    def then(opened: bool) -> None:
        if opened and len(others) > 1:
            only = f"of {len(others)} only {format_name(others[0].name)} was opened"
            files.say_last(f"A window shows one file at a time; {only}.")
        if weights:  # after the others: the weights may belong to the session opened with them
            _open_weights(window, weights)

    if others:
        _open_one(window, others[0], then)
    else:
        then(False)


def _is_model(path: Path) -> bool:
    """Return whether a path is the folder of a whole model, with its settings, or the file of a capture."""
    if path.is_dir():
        return model_folder(path) is not None
    from attnlab.pretrained.capture_file import is_capture  # loads torch, which is not there before the first paint

    return is_capture(path)


def _open_model(window: Host, folder: Path) -> bool:
    """Show a model in the workspace of models, which says so if it cannot."""
    window.show_workspace(MODELS.name)
    models = window.workspace(MODELS)
    if models is None:
        return False
    models.open_model(str(folder))
    return True


def _holds_weights(path: Path) -> bool:
    """Return whether a path is a file of weights, the index of one in parts, or a folder with such files."""
    return run_folder(path) is None and (is_weights(path) or bool(list_weights(path)))


def _open_one(window: Host, path: Path, then: Callable[[bool], None]) -> None:
    """Open a lesson, a run, a model, or a session; anything else is refused with a sentence.

    ``then`` is called with whether it was opened, for a session later.
    """
    if _is_data(window, path):
        then(_open_data(window, path))
    elif path.suffix.lower() in formats.LESSONS:
        lessons = window.workspace(LESSONS)
        then(lessons is not None and lessons.open(path))
    elif _is_model(path):
        then(_open_model(window, path))
    elif (folder := run_folder(path)) is not None:
        then(_open_run(window, folder))
    elif (playground := window.workspace(PLAYGROUND)) is not None:
        window.show_workspace(PLAYGROUND.name)
        playground.files.open(path, then)


def _is_data(window: Host, path: Path) -> bool:
    """Return whether a file is to be trained on: pairs or a text, opened while the training is shown."""
    return path.suffix.lower() in DATA and window.current == TRAIN.name and run_folder(path) is None


def _open_data(window: Host, path: Path) -> bool:
    """Train on a file of the user's: choose it as the data of a task."""
    trainer = window.workspace(TRAIN)
    if trainer is None:
        return False
    if trainer.session.alive:
        trainer.say(f"Stop the training before you open {format_name(path.name)}.")
        return False
    trainer.settings.open_data(str(path))
    return True


def _open_run(window: Host, folder: Path) -> bool:
    """Show a training run in the training workspace."""
    window.show_workspace(TRAIN.name)
    from attnlab.ui.train.train_tools import find_tools

    trainer = window.workspace(TRAIN)
    tools = find_tools(trainer) if trainer is not None else None
    if tools is None:
        return False
    tools.open_run(folder)
    return True


def _open_weights(window: Host, paths: Sequence[Path]) -> None:
    """Ask which arrays of the files are which weights."""
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    playground = window.workspace(PLAYGROUND)
    if playground is not None:
        open_weights_dialog(playground, window, list(paths))

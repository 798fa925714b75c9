"""Opens what is handed to the window, by its ending: sessions, lessons, weights. Drops and the system's wishes too."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.ui.main_window import MainWindow

LESSONS = (".md", ".markdown")
WEIGHTS = (".csv", ".tsv", ".txt", ".npy", ".npz", ".safetensors", ".pt", ".pth", ".bin")


def open_path(window: "MainWindow", path: Path) -> None:
    """Open one file."""
    open_paths(window, [path])


def open_paths(window: "MainWindow", paths: Sequence[Path]) -> None:
    """Open files that came together: one session or lesson, the first, and all weights; once the window has loaded."""
    if window.playground is None:
        window.ready.connect(partial(open_paths, window, list(paths)))  # which is announced once
        return
    weights = [path for path in paths if path.suffix.lower() in WEIGHTS]
    others = [path for path in paths if path not in weights]
    if others:
        _open_one(window, others[0])
    if len(others) > 1:
        window.say(f"A window shows one file at a time: of {len(others)} only {others[0].name} was opened.")
    if weights:
        _open_weights(window, weights)


def _open_one(window: "MainWindow", path: Path) -> None:
    """Open a lesson, or a session: what is neither is refused in its own words."""
    assert window.playground is not None
    if path.suffix.lower() in LESSONS:
        window.teach("open", path)()
    else:
        window.show_workspace(0)
        window.playground.files.open(path)


def _open_weights(window: "MainWindow", paths: Sequence[Path]) -> None:
    """Ask how arrays of files map onto the weights."""
    from attnlab.ui.weights.dialog import open_weights_dialog

    open_weights_dialog(window, list(paths))

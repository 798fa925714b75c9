"""Draws the train workspace for the gallery: before and after a run, at an earlier step, one map, small windows."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from attnlab.ui.app.main_window import MainWindow

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.train.train_workspace import TrainWorkspace

Prepare = Callable[["Playground", MainWindow], QWidget | None]
PATIENCE_S = 120.0
STEPS = 400
"""The training steps of the reverse task, enough for clear maps."""


def list_states(small: tuple[int, int], usual: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int], Prepare]]:
    """Yield the name, the size and the preparation of every picture."""
    yield "train-new", usual, _show_new
    yield "train", usual, _show_trained
    yield "train-1280", (1280, 800), _show_trained
    yield "train-small", small, _show_trained
    yield "train-large-type", (1280, 800), _enlarge_type
    yield "train-back", usual, _go_back
    yield "train-one-map", usual, _show_one_map
    yield "train-gradients", usual, _show_gradients


def _show_new(playground: "Playground", window: MainWindow) -> None:
    _open(window)


def _show_trained(playground: "Playground", window: MainWindow) -> None:
    _train(_open(window))


def _enlarge_type(playground: "Playground", window: MainWindow) -> None:
    window.change_settings(type_size=150)
    _train(_open(window))


def _go_back(playground: "Playground", window: MainWindow) -> None:
    workspace = _open(window)
    _train(workspace)
    moments = workspace.footer.line.steps
    workspace.footer.moment_chosen.emit(len(moments) // 2)
    workspace.footer.show_current(len(moments) // 2)
    _wait(
        lambda: (
            workspace.session.inspection.seen is not None
            and workspace.session.inspection.seen.look.step == workspace.session.shown
        )
    )


def _show_one_map(playground: "Playground", window: MainWindow) -> None:
    workspace = _open(window)
    _train(workspace)
    workspace.maps.open_map(len(workspace.maps.view.data) - 1)


def _show_gradients(playground: "Playground", window: MainWindow) -> None:
    workspace = _open(window)
    _train(workspace)
    workspace.maps.gradients.click()
    _wait(lambda: workspace.maps.view.data[0].kind == "signed")


def _open(window: MainWindow) -> "TrainWorkspace":
    """Show the workspace and wait for its first maps."""
    window.show_workspace("train")
    workspace = window.trainer
    assert workspace is not None
    _wait(lambda: workspace.session.can_start and bool(workspace.maps.view.data))
    return workspace


def _train(workspace: "TrainWorkspace") -> None:
    """Train to the end and wait for the maps and texts of the last step."""
    spec = workspace.session.spec
    spec = replace(spec, train=replace(spec.train, steps=STEPS))
    workspace.session.set_spec(spec)
    workspace.settings.show_spec(spec)
    _wait(lambda: workspace.session.can_start)
    workspace.start()
    _wait(lambda: not workspace.session.alive)
    _wait(lambda: workspace.maps.step.text() == f"step {STEPS:,}" and len(workspace.written.rows) > 0)


def _wait(condition: Callable[[], bool]) -> None:
    """Process the window's events until a condition holds, for a limited time."""
    late = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < late:
        loop = QEventLoop()
        QTimer.singleShot(50, loop.quit)
        loop.exec()

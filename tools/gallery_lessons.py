"""Draws the lessons for the gallery: library, steps, recorder, and presentations in every theme."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QSize
from PySide6.QtWidgets import QWidget

from attnlab.document.settings import Settings
from attnlab.figures.palette import PALETTES
from attnlab.files.source import Source
from attnlab.lessons.library import find, list_shipped
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.present import PresentWindow

Prepare = Callable[["Playground", MainWindow], QWidget | None]
HALL = QSize(1440, 900)


def _find_controller(window: MainWindow) -> "LessonController":
    desk = window.workspace(LESSONS)
    assert desk is not None
    return desk


def _open_presentation(desk: "LessonController") -> "PresentWindow":
    """Return the presentation window in the size of a picture."""
    if desk.presentation is None:
        desk.present()
    hall = desk.presentation
    assert hall is not None
    hall.showNormal()
    hall.resize(HALL)
    return hall


def _show_shelf(playground: "Playground", window: MainWindow) -> None:
    window.show_workspace("lessons")


def _open_page(playground: "Playground", window: MainWindow) -> None:
    _find_controller(window).open("causal-masks", 2)
    window.show_workspace("lessons")


def _walk(playground: "Playground", window: MainWindow) -> None:
    desk = _find_controller(window)
    desk.open("causal-masks", 2)
    for _ in range(3):
        desk.player.go_next()


def _record(playground: "Playground", window: MainWindow) -> None:
    """Record three steps; the text of the last has one valid and one invalid placeholder."""
    from attnlab.attention.stages.explain import Cell

    desk = _find_controller(window)
    desk.add_step()
    playground.toggle_causal()
    desk.add_step()
    playground.document.select(Cell("weights", 2, 1, 0), pin=True)
    desk.add_step()
    desk.show_draft()
    if desk.draft is not None:
        desk.draft.edit_step("Text", text="It gives **{{weights[2, 1]:.2f}}**, and not {{weights[2, 9]}}.")


def _open_exercise(playground: "Playground", window: MainWindow) -> QWidget | None:
    desk = _find_controller(window)
    desk.make_exercise()
    assert desk.exercise is not None
    shown = QEventLoop()
    desk.exercise.previewed.connect(shown.quit)
    shown.exec()
    return desk.exercise


def _present(theme: str, playground: "Playground", window: MainWindow) -> QWidget | None:
    """Present a step half way through its rows, as an audience sees it."""
    desk = _find_controller(window)
    desk.open("causal-masks", 2)
    for _ in range(3):
        desk.player.go_next()
    hall = _open_presentation(desk)
    hall.set_theme(PALETTES[theme])
    return hall


def list_states(small: tuple[int, int], usual: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int], Prepare]]:
    """Yield name, size and preparation of each picture of lessons."""
    sized = {"shelf": _show_shelf, "page": _open_page, "walk": _walk, "recorder": _record}
    for name, prepare in sized.items():
        yield f"lessons-{name}", usual, prepare
        yield f"lessons-{name}-small", small, prepare
    yield "lessons-exercise", usual, _open_exercise
    for theme in PALETTES:
        yield f"present-{theme}", usual, partial(_present, theme)


def list_step_names() -> Iterator[tuple[str, str, int]]:
    """Yield the picture's name, the lesson and the step number, from 0, of every step of every shipped lesson."""
    for name in list_shipped():
        for step in range(len(find(name).steps)):
            yield f"lesson-{name}-{step + 1:02}", name, step


def draw_steps(
    theme: str,
    names: Collection[str],
    folder: Path,
    open_window: Callable[[MainWindow], None],
    settle: Callable[["Playground"], None],
) -> Iterator[Path]:
    """Draw steps as an audience sees them, fully revealed, all in one window."""
    settings = replace(Settings(), theme=theme, reduced_motion=True)
    window = MainWindow(settings, Source(preset="journey"), remember=False)
    open_window(window)
    assert window.playground is not None
    desk = _find_controller(window)
    for picture, name, step in list_step_names():
        if picture not in names:
            continue
        lesson = desk.player.lesson
        if lesson is None or lesson.name != name:
            desk.player.open(find(name), step)
        desk.player.go(step)
        while desk.player.frame_index < len(desk.player.frames) - 1:
            desk.player.go_next()
        hall = _open_presentation(desk)
        settle(window.playground)
        path = folder / f"{picture}-{theme}.png"
        hall.grab().save(str(path))
        yield path
    window.close()
    window.deleteLater()

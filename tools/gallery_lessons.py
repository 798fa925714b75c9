"""Draws the lessons for the gallery: library, steps, recorder, and presentations in every theme."""

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import PALETTES
from attnlab.lessons.library import find, list_shipped
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.workspaces.lessons import LESSONS
from tools.gallery_window import Variant, View, close, open_view, settle

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.present import PresentWindow


def _find_controller(window: MainWindow) -> "LessonController":
    controller = window.workspace(LESSONS)
    assert controller is not None
    return controller


def _open_presentation(controller: "LessonController", size: QSize) -> "PresentWindow":
    """Return the presentation window, in a size."""
    if controller.presentation is None:
        controller.present()
    presentation = controller.presentation
    assert presentation is not None
    presentation.showNormal()
    presentation.resize(size)
    return presentation


def _show_shelf(playground: "Playground", window: MainWindow) -> None:
    window.show_workspace("lessons")


def _open_page(playground: "Playground", window: MainWindow) -> None:
    _find_controller(window).open("causal-masks", 2)
    window.show_workspace("lessons")


def _walk(playground: "Playground", window: MainWindow) -> None:
    controller = _find_controller(window)
    controller.open("causal-masks", 2)
    for _ in range(3):
        controller.player.go_next()


def _walk_run(playground: "Playground", window: MainWindow) -> None:
    """Walk a lesson on a recorded run, with its curves beside the text."""
    _find_controller(window).open("watch-induction-form", 6)


def _record(playground: "Playground", window: MainWindow) -> None:
    """Record three steps; the text of the last has one valid and one invalid placeholder."""
    from attnlab.attention.stages.explain import Cell

    controller = _find_controller(window)
    controller.drafts.add_step()
    playground.toggle_causal()
    controller.drafts.add_step()
    playground.document.select(Cell("weights", 2, 1, 0), pin=True)
    controller.drafts.add_step()
    controller.drafts.show()
    if controller.drafts.draft is not None:
        controller.drafts.draft.edit_step("Text", text="It gives **{{weights[2, 1]:.2f}}**, and not {{weights[2, 9]}}.")


def _ask(playground: "Playground", window: MainWindow) -> None:
    """Open the first step with a question."""
    steps = ((name, index) for name in list_shipped() for index, step in enumerate(find(name).steps) if step.question)
    _find_controller(window).open(*next(steps))


def _ask_with_choices(playground: "Playground", window: MainWindow) -> None:
    """Open the first question with answers to choose from."""
    steps = (
        (name, index)
        for name in list_shipped()
        for index, step in enumerate(find(name).steps)
        if step.question is not None and step.question.choices
    )
    _find_controller(window).open(*next(steps))


def _present(theme: str, playground: "Playground", window: MainWindow) -> QWidget:
    """Present a step half way through its rows, as an audience sees it."""
    presentation = _open_presentation(_find_controller(window), window.size())
    presentation.set_theme(PALETTES[theme])
    return presentation


def _vote(playground: "Playground", window: MainWindow) -> QWidget:
    """Present a question with votes of the class."""
    presentation = _open_presentation(_find_controller(window), window.size())
    for key in (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_2, Qt.Key.Key_2):
        QTest.keyClick(presentation, key)
    return presentation


def _open_speaker(playground: "Playground", window: MainWindow) -> QWidget:
    """Present, and open the window with the notes."""
    presentation = _open_presentation(_find_controller(window), window.size())
    presentation.toggle_speaker()
    assert presentation.speaker is not None
    presentation.speaker.resize(window.size())
    return presentation.speaker


def list_views() -> Iterator[View]:
    """Yield the views that are drawn in every size."""
    yield View("lessons-list", prepare=_show_shelf)
    yield View("lessons-page", prepare=_open_page)
    yield View("lessons-walk", prepare=_walk)
    yield View("lessons-run", prepare=_walk_run)
    yield View("lessons-question", prepare=_ask)
    yield View("lessons-editor", prepare=_record)
    for theme in PALETTES:
        yield View(f"present-{theme}", prepare=_walk, open=partial(_present, theme))
    yield View("speaker", prepare=_walk, open=_open_speaker)
    yield View("present-votes", prepare=_ask_with_choices, open=_vote)


def list_step_names() -> Iterator[tuple[str, str, int]]:
    """Yield the picture's name, the lesson and the step number, from 0, of every step of every shipped lesson."""
    for name in list_shipped():
        for step in range(len(find(name).steps)):
            yield f"lesson-{name}-{step + 1:02}", name, step


def draw_steps(variant: Variant, names: Collection[str], folder: Path) -> Iterator[Path]:
    """Draw steps as an audience sees them, fully revealed, all in one window."""
    window = open_view(View("steps"), variant)
    controller = _find_controller(window)
    for picture, name, step in list_step_names():
        if picture not in names:
            continue
        lesson = controller.player.lesson
        if lesson is None or lesson.name != name:
            controller.player.open(find(name), step)
        controller.player.go(step)
        presentation = _open_presentation(controller, QSize(*variant.size))
        controller.player.finish()
        settle(window)
        path = folder / f"{picture}-{variant.name}.png"
        presentation.grab().save(str(path))
        yield path
    close(window)

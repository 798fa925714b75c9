"""A lesson on a recorded run in the window: the curves beside the text end where the step may tell."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from attnlab.lessons.parse import read
from attnlab.lessons.slides import check
from attnlab.ui.lessons.draft import Draft
from attnlab.ui.lessons.picture_label import PictureLabel
from attnlab.ui.lessons.run_button import RunButton
from attnlab.ui.present.pdf import compute_pages
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from tests.ui.conftest import Person


def open_step(person: "Person", title: str) -> "LessonController":
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.open("watch-induction-form")
    titles = [slide.step.title for slide in controller.player.slides]
    controller.player.go(titles.index(title))
    person.settle()
    found: LessonController = controller
    return found


def read_curves(controller: "LessonController") -> str:
    assert controller.panel is not None
    picture = controller.panel.findChild(PictureLabel)
    return picture.accessibleName() if picture.isVisible() else ""


def test_the_curves_end_at_the_step_before_until_the_answer_is_revealed(person: "Person") -> None:
    controller = open_step(person, "Eighty steps later: where does “d” look?")
    person.wait_for(lambda: read_curves(controller).startswith("Loss up to step 320: "))
    assert controller.player.slide is not None
    assert controller.player.slide.experiment is person.playground.document.experiment
    before = person.window.grab().toImage()
    person.qtbot.keyClick(person.window, Qt.Key.Key_PageDown)
    person.wait_for(lambda: read_curves(controller) == "Loss up to step 400: training 0.55, held-out 0.45")
    person.settle()
    assert person.window.grab().toImage() != before
    person.qtbot.keyClick(person.window, Qt.Key.Key_PageUp)
    person.wait_for(lambda: read_curves(controller).startswith("Loss up to step 320: "))


def test_a_step_shows_the_layer_of_the_model_at_that_moment(person: "Person") -> None:
    controller = open_step(person, "One head takes it over")
    e = person.playground.document.experiment
    assert e.tokens == tuple("cadbfecad")
    assert (e.n_heads, e.d_model) == (2, 32)
    person.wait_for(lambda: "previous token 0.53" in read_curves(controller))
    controller.player.reveal()
    person.wait_for(lambda: "previous token 0.89, induction 0.25" in read_curves(controller))


def test_the_handout_has_the_curves_as_far_as_a_question_may_tell(person: "Person") -> None:
    controller = open_step(person, "Before the first step")
    assert controller.player.lesson is not None
    pages = compute_pages(controller.player.lesson)
    asked = pages[[slide.step.title for slide in controller.player.slides].index("After 200 steps")]
    assert [picture.alt for picture in asked.pictures] == ["Loss up to step 0: held-out 2.96"]
    assert any(picture.alt.startswith("Loss up to step 1,000: ") for page in pages for picture in page.pictures)
    assert all(picture.chart is not None for page in pages for picture in page.pictures)


def test_a_copy_saved_elsewhere_takes_the_run_along(person: "Person", tmp_path: Path) -> None:
    controller = open_step(person, "And then?")
    assert controller.player.lesson is not None
    draft = Draft(controller.player.lesson)
    draft.save(tmp_path / "mine.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["induction-forms", "mine.md"]
    copied = read(tmp_path / "mine.md")
    assert check(copied) == ()
    assert copied.steps == controller.player.lesson.steps


@pytest.mark.slow
def test_the_run_of_a_step_opens_in_train_at_its_moment_and_stays_as_it_is(
    sit_down: Callable[..., "Person"],
) -> None:
    person = sit_down(remember=True)
    controller = open_step(person, "One head takes it over")
    slide = controller.player.slide
    assert slide is not None
    assert slide.recorded is not None
    folder = slide.recorded.folder
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    person.press("Open this run in Train")
    trainer = person.window.trainer
    assert trainer is not None
    assert person.window.current == "train"
    person.wait_for(lambda: trainer.maps.head.step.text() == f"step {slide.recorded.step:,}")
    session = trainer.session
    assert session.run is not None
    assert session.run.step == 1000
    assert trainer.maps.head.probe.text() == "c a d b f e c a d"
    assert person.window.windowTitle().startswith("Induction, seed 0 — ")
    session.toggle_mark(slide.recorded.step)  # what would be saved
    person.window.show_workspace("playground")
    controller.player.go_back()
    person.settle()
    controller.open_run()  # it is open already
    run = session.run
    assert controller.player.slide is not None
    assert controller.player.slide.recorded is not None
    step = controller.player.slide.recorded.step
    person.wait_for(lambda: trainer.maps.head.step.text() == f"step {step:,}")
    assert session.run is run
    assert session.kept == ()
    trainer.stop()
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_step_without_a_run_has_no_such_button(person: "Person") -> None:
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.open("six-words")
    person.settle()
    assert not [each for each in person.window.findChildren(RunButton) if each.isVisible()]

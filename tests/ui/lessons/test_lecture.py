"""A whole lecture: present a shipped lesson, change it live, record one, hand out, grade."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from attnlab.attention import edits
from attnlab.lessons.exercise import compute_answers, make_variant
from attnlab.lessons.library import find, find_user_folder
from attnlab.lessons.slides import check
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from attnlab.ui.present import PresentWindow
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL, SHIFT = Mod.ControlModifier, Mod.ShiftModifier


def find_controller(person: "Person") -> "LessonController":
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    return controller


def step_of(person: "Person") -> int:
    slide = find_controller(person).player.slide
    assert slide is not None
    return slide.index


def present_causal_masks(person: "Person") -> tuple["LessonController", "PresentWindow"]:
    controller = find_controller(person)
    controller.open("causal-masks")
    person.key(Key.Key_F5)
    assert controller.presentation is not None
    return controller, controller.presentation


def test_a_lecturer_presents_a_lesson_changes_a_number_and_returns(person: "Person") -> None:
    controller, presentation = present_causal_masks(person)
    while not controller.player.at_end:
        person.key(Key.Key_PageDown, widget=presentation)
        person.settle()
    assert step_of(person) == 11
    while not controller.player.at_start:
        person.key(Key.Key_PageUp, widget=presentation)
    for digit in (Key.Key_5, Key.Key_Return):
        person.key(digit, widget=presentation)
    assert step_of(person) == 4
    person.key(Key.Key_B, widget=presentation)
    assert presentation.view.cover == "black"
    person.key(Key.Key_B, widget=presentation)
    assert presentation.view.cover == ""
    own = person.experiment
    person.drag_number(0, 0, 60)
    person.settle()
    assert person.experiment is not own
    person.key(Key.Key_PageDown, widget=presentation)
    while step_of(person) == 4:
        person.key(Key.Key_PageDown, widget=presentation)
    while step_of(person) > 4:
        person.key(Key.Key_PageUp, widget=presentation)
    assert person.experiment is own
    person.key(Key.Key_Escape, widget=presentation)
    assert controller.presentation is None
    assert person.playground.body.isVisible()
    person.settle()
    person.document.show(at=None)
    person.check_every_number()


def test_a_lecturer_records_saves_reopens_hands_out_and_grades(person: "Person", tmp_path: Path) -> None:
    controller = find_controller(person)
    person.key(Key.Key_A, CTRL | SHIFT)
    for switch in ("Causal", "Biases", "Causal", "Biases"):
        person.press(switch)
        person.settle()
        person.key(Key.Key_A, CTRL | SHIFT)
    person.key(Key.Key_2, CTRL)
    controller.drafts.show()
    person.key(Key.Key_S, CTRL)
    lesson = find(str(find_user_folder() / "my-lesson.md"))
    assert (len(lesson.steps), check(lesson)) == (5, ())
    controller.open("my-lesson", 4)
    person.settle()
    assert step_of(person) == 4
    person.click_cell("weights", 2, 1)
    person.window.actions_list.run("exercise")
    dialog = controller.exercise
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.previewed):
        QTest.keyClicks(dialog.form.students, "Ada")
    with person.qtbot.waitSignal(dialog.saved):
        dialog.write_pdf(tmp_path / "handout.pdf", False)
    assert (tmp_path / "handout.pdf").read_bytes().startswith(b"%PDF")
    exercise = dialog.read_exercise()
    lines = [f"Ada,{a.label},{a.value:.3f}" for a in compute_answers(exercise, make_variant(exercise, "Ada"))]
    (tmp_path / "answers.csv").write_text("\n".join(["student,cell,value", *lines]), encoding="utf-8")
    with person.qtbot.waitSignal(dialog.slices.finished):
        dialog.grade_file(tmp_path / "answers.csv")
    assert dialog.grades.summary.text().startswith("1 student, 1 of 1 answer")
    dialog.grades.close()
    dialog.close()
    assert controller.exercise is None


def test_no_lesson_tells_the_answers_of_an_exercise_that_is_tried(person: "Person") -> None:
    controller = find_controller(person)
    controller.open("six-words", 3)
    person.settle()
    controller.player.finish()  # its text has the score that the exercise asks for
    person.window.actions_list.run("exercise")
    dialog = controller.exercise
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.previewed):
        dialog.form.which.setCurrentText("This cell")
    person.settle()
    dialog.try_button.click()
    person.settle()
    assert controller.panel is not None
    assert not controller.panel.isVisible()
    assert dialog.answer_sheet.hidden_cells
    assert person.document.view.at is not None, "the answers are covered"
    dialog.close()


def test_the_worked_solution_goes_to_the_clipboard(person: "Person") -> None:
    person.window.actions_list.run("solution-latex")
    person.wait_for(lambda: "documentclass" in QApplication.clipboard().text())
    person.window.actions_list.run("solution-markdown")
    person.wait_for(lambda: QApplication.clipboard().text().startswith("#"))


def test_a_step_without_a_lens_opens_the_canvas_and_one_with_a_lens_that(person: "Person") -> None:
    lenses, controller = person.playground.lenses, find_controller(person)
    person.playground.lenses.open_lens("statistics")
    controller.open("six-words")
    assert lenses.current == "canvas"
    lenses.open_lens("cost")
    controller.player.go(1)
    assert lenses.current == "canvas"
    steps = find("scaling").steps
    with_lens = next(index for index, step in enumerate(steps) if step.lens)
    controller.open("scaling", with_lens)
    assert lenses.current == "saturation"
    controller.player.go(with_lens - 1)
    assert lenses.current == "canvas"
    controller.close()
    lenses.open_lens("statistics")
    controller.present()
    assert lenses.current == "statistics", "what is presented is the open experiment"


def test_a_presentation_goes_over_to_the_lesson_that_is_presented_next(person: "Person") -> None:
    controller = find_controller(person)
    person.key(Key.Key_F5)  # a tour, as no lesson is open
    presentation = controller.presentation
    assert presentation is not None
    controller.show_lesson(find("padding"))
    person.press("Present")
    assert controller.presentation is presentation
    slide = presentation.presenter.slide
    assert slide is not None
    assert (slide.lesson.title, slide.index) == ("Padding", 0)
    person.key(Key.Key_Escape, widget=presentation)
    assert controller.presentation is None
    assert step_of(person) == 0


def test_a_presentation_undoes_only_what_was_changed_in_it(person: "Person") -> None:
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[0.9]]))
    person.settle()
    prepared = person.experiment
    controller = find_controller(person)
    person.key(Key.Key_F5)
    presentation = controller.presentation
    assert presentation is not None
    person.wait_for(presentation.isActiveWindow)
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[0.5]]))
    for _ in range(3):
        person.key(Key.Key_Z, CTRL, presentation)
    assert person.experiment is prepared
    assert "nothing to undo" in next(label.text() for label in presentation.findChildren(QLabel) if label.isVisible())
    person.key(Key.Key_Escape, widget=presentation)
    person.undo()
    assert person.experiment is not prepared


def test_undo_in_a_presentation_keeps_the_state_of_the_slide(person: "Person") -> None:
    controller, presentation = present_causal_masks(person)
    person.wait_for(presentation.isActiveWindow)
    for digit in (Key.Key_5, Key.Key_Return):
        person.key(digit, widget=presentation)
    own = person.experiment
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[0.5]]))
    for _ in range(3):
        person.key(Key.Key_Z, CTRL, presentation)
    assert person.experiment is own
    assert not controller.player.elsewhere


def test_the_view_has_the_focus_from_the_start_of_a_lesson_on(person: "Person") -> None:
    """The canvas or the lens that the step shows: there PageDown walks the lesson, and arrows walk the stages."""
    controller, views = find_controller(person), person.playground.lenses.stack
    person.playground.inputs.sentence.setFocus()
    for name, step in (("why-attention", 0), ("attention-is-geometry", 0), ("positions", 3)):
        controller.open(name, step)
        person.settle()
        assert person.window.focusWidget() is views.currentWidget()
    shown = set()
    while step_of(person) < 7:  # the canvas, the lens, and the canvas again
        person.key(Key.Key_PageDown)
        person.settle()
        assert person.window.focusWidget() is views.currentWidget()
        shown.add(views.currentWidget())
    assert len(shown) == 2
    person.key(Key.Key_Left)
    assert person.document.view.at is not None
    person.key(Key.Key_2, CTRL)
    assert controller.workspace is not None
    person.key(Key.Key_Return, widget=controller.workspace.shelf)
    assert person.window.current == "playground"
    assert person.window.focusWidget() is views.currentWidget()

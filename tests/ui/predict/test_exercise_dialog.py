"""The exercise dialog: preview, printing, trying, saving, grading."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit
from pytestqt.qtbot import QtBot

from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.walk import Place
from attnlab.figures.palette import DARK
from attnlab.lessons.exercise import compute_answers, make_variant
from attnlab.ui.base.themed import dress
from attnlab.ui.predict.exercise_dialog import ExerciseDialog
from attnlab.ui.predict.solution_actions import ask_save, copy_latex, copy_markdown, save_to

if TYPE_CHECKING:
    from tests.ui.conftest import Person


@pytest.fixture
def person(sit_down: "Callable[..., Person]") -> "Person":
    return sit_down("journey")


@pytest.fixture
def dialog(person: "Person", qtbot: QtBot) -> Iterator[ExerciseDialog]:
    playground, window = person.playground, person.window
    playground.document.select(Cell("weights", 2, 1, 0), pin=True)
    made = ExerciseDialog(playground, window)
    with qtbot.waitSignal(made.previewed):
        made.show()
    yield made
    made.close()
    made.deleteLater()


def fill(dialog: ExerciseDialog, qtbot: QtBot, students: str) -> None:
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.students.setFocus()
        for i, line in enumerate(students.splitlines()):
            if i:
                QTest.keyClick(dialog.form.students, Qt.Key.Key_Return)
            qtbot.keyClicks(dialog.form.students, line)


def choose(dialog: ExerciseDialog, qtbot: QtBot, title: str) -> None:
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.which.setCurrentText(title)


def pages(path: Path) -> int:
    return path.read_bytes().count(b"/MediaBox")


def test_the_first_page_and_the_blank_cells_are_shown(dialog: ExerciseDialog, qtbot: QtBot) -> None:
    assert not dialog.preview.pixmap().isNull()
    assert dialog.form.where.text() == "Weights: starts → journey"
    choose(dialog, qtbot, "This row")
    assert dialog.form.where.text() == "Weights: starts → Your and 5 more"
    choose(dialog, qtbot, "Random cells")
    assert dialog.form.where.text().endswith("and 2 more")
    assert dialog.form.count.isVisible()
    dialog.form.show_where("dW_q: row 0, column 1")
    assert "q</span>" in dialog.form.where.markup


def test_cells_can_be_chosen_by_name_and_by_click(dialog: ExerciseDialog, person: "Person", qtbot: QtBot) -> None:
    choose(dialog, qtbot, "These cells")
    form = dialog.form
    assert form.cells.isVisible()
    assert form.cells.text() == "weights[0, 2, 1]"
    with qtbot.waitSignal(dialog.previewed):
        QTest.keyClicks(form.cells, ", context[0, :]")
    person.click_cell("scores", 0, 3)
    with qtbot.waitSignal(dialog.previewed):
        qtbot.mouseClick(form.add, Qt.MouseButton.LeftButton)
    row = tuple(Cell("context", 0, column, 0) for column in range(2))
    assert dialog.read_exercise().blanks == (Cell("weights", 2, 1, 0), *row, Cell("scores", 0, 3, 0))
    assert form.where.text() == "Weights: starts → journey and 3 more"
    with qtbot.waitSignal(dialog.previewed):
        QTest.keyClicks(form.cells, ", weights[9, 9]")
    assert "needs a number from 0 to 5" in dialog.message.text()
    assert not dialog.handout_button.isEnabled()


def test_another_cell_in_the_window_changes_the_exercise(
    dialog: ExerciseDialog, person: "Person", qtbot: QtBot
) -> None:
    with qtbot.waitSignal(dialog.previewed):
        person.click_cell("scores", 0, 3)
    assert dialog.form.where.text() == "Scores: Your → with"


def test_without_a_held_cell_the_example_in_explain_is_asked_for(person: "Person", qtbot: QtBot) -> None:
    playground, window = person.playground, person.window
    person.settle()
    dialog = ExerciseDialog(playground, window)
    with qtbot.waitSignal(dialog.previewed):
        dialog.show()
    assert dialog.form.where.text() == "Weights: starts → journey"
    person.document.show(alone="scores")
    qtbot.waitUntil(lambda: dialog.form.where.text() == "Scores: Your → Your")
    dialog.close()
    dialog.deleteLater()


def test_the_held_cell_is_asked_for_while_another_stage_fills_the_canvas(
    dialog: ExerciseDialog, person: "Person", qtbot: QtBot
) -> None:
    with qtbot.waitSignal(dialog.previewed):
        person.document.show(alone="scores")
    assert dialog.form.where.text() == "Weights: starts → journey"


def test_an_impossible_exercise_is_reported_and_cannot_be_printed(dialog: ExerciseDialog, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.tolerance.setText("a bit")
    assert "Tolerance: “a bit” is not a number" in dialog.message.text()
    assert dialog.preview.pixmap().isNull()
    assert not dialog.handout_button.isEnabled()
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.tolerance.setText("1/50")
    assert dialog.read_exercise().tolerance == 0.02
    assert dialog.handout_button.isEnabled()


def test_sheets_are_printed_for_every_student(dialog: ExerciseDialog, qtbot: QtBot, tmp_path: Path) -> None:
    fill(dialog, qtbot, "Ada\nBob\nEve")
    for solved, name in ((False, "handout.pdf"), (True, "answers.pdf")):
        with qtbot.waitSignal(dialog.saved):
            dialog.write_pdf(tmp_path / name, solved)
        assert pages(tmp_path / name) == 3
        assert dialog.message.text() == f"Saved {tmp_path / name}"
    assert not dialog.progress.isVisible()


def test_cancelled_printing_leaves_no_file(dialog: ExerciseDialog, qtbot: QtBot, tmp_path: Path) -> None:
    fill(dialog, qtbot, "500")
    path = tmp_path / "handout.pdf"
    with qtbot.waitSignal(dialog.slices.progressed):
        dialog.write_pdf(path, False)
    assert dialog.progress.isVisible()
    assert dialog.progress.maximum() == 500
    with qtbot.waitSignal(dialog.slices.stopped):
        qtbot.mouseClick(dialog.cancel_button, Qt.MouseButton.LeftButton)
    assert "Cancelled" in dialog.message.text()
    assert not path.exists()
    assert dialog.handout_button.isEnabled()


def test_a_failed_save_is_reported(dialog: ExerciseDialog, qtbot: QtBot, tmp_path: Path) -> None:
    with qtbot.waitSignal(dialog.slices.finished):
        dialog.write_pdf(tmp_path / "none" / "x.pdf", False)
    assert "cannot be written" in dialog.message.text()


def test_buttons_ask_for_files(dialog: ExerciseDialog, qtbot: QtBot) -> None:
    for button in (
        dialog.handout_button,
        dialog.answers_button,
        dialog.grade_button,
        dialog.open_button,
        dialog.save_button,
    ):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        (asked,) = [child for child in dialog.findChildren(QFileDialog) if child.isVisible()]
        asked.close()


def test_trying_hides_the_stage_and_asks_and_shows_it_again(
    dialog: ExerciseDialog, person: "Person", qtbot: QtBot
) -> None:
    fill(dialog, qtbot, "Ada")
    exercise = dialog.read_exercise()
    mine = make_variant(exercise, "Ada")
    qtbot.mouseClick(dialog.try_button, Qt.MouseButton.LeftButton)
    person.settle()
    document = person.document
    assert person.history()[-1] == "Exercise Exercise"
    assert document.experiment.embeddings.tolist() == mine.embeddings.tolist()
    assert document.view.at == Place("weights", -1)
    right = compute_answers(exercise, mine)[0].value
    qtbot.keyClicks(dialog.answer_sheet.focusProxy(), f"{right:.3f}")
    with qtbot.waitSignal(dialog.answer_sheet.answered):
        QTest.keyClick(dialog.answer_sheet.focusProxy(), Qt.Key.Key_Return)
    assert dialog.answer_sheet.hidden_cells == ()
    assert document.view.at is None
    with qtbot.waitSignal(dialog.previewed):
        qtbot.mouseClick(dialog.back_button, Qt.MouseButton.LeftButton)
    assert dialog.preview.isVisible()
    document.undo()
    person.settle()
    assert document.experiment is exercise.experiment


def test_closing_while_trying_shows_everything_again(dialog: ExerciseDialog, person: "Person", qtbot: QtBot) -> None:
    qtbot.mouseClick(dialog.try_button, Qt.MouseButton.LeftButton)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert person.document.view.at is None
    person.settle()


def test_answers_are_graded_and_the_table_can_be_copied(dialog: ExerciseDialog, qtbot: QtBot, tmp_path: Path) -> None:
    fill(dialog, qtbot, "Ada\nBob")
    choose(dialog, qtbot, "This row")
    exercise = dialog.read_exercise()
    lines = [
        f"{s},{a.label},{a.value:.3f}"
        for s in exercise.students
        for a in compute_answers(exercise, make_variant(exercise, s))
    ]
    lines[1] = "Ada,b,oops"
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["student,cell,value", *lines, "Eve,a,1", "nonsense"]), encoding="utf-8")
    dress(dialog, DARK)
    with qtbot.waitSignal(dialog.slices.finished):
        dialog.grade_file(path)
    table = dialog.grades
    assert table.summary.text() == "2 students, 11 of 12 answers are right"
    qtbot.mouseClick(table.copy_button, Qt.MouseButton.LeftButton)
    copied = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert copied[0] == ["Student", "Right", "Of", *"abcdef"]
    assert [row[:3] for row in copied[1:]] == [["Ada", "5", "6"], ["Bob", "6", "6"]]
    assert copied[1][4] == "oops ✗"
    assert "is not a number" in table.table.item(0, 3).toolTip()
    unread = table.findChild(QPlainTextEdit).toPlainText()
    assert "Line 14: “Eve” is not on the list of students." in unread
    assert "Line 15: The line has 1 field" in unread
    table.close()


def test_files_that_cannot_be_graded_or_opened_are_reported(dialog: ExerciseDialog, tmp_path: Path) -> None:
    dialog.grade_file(tmp_path / "none.csv")
    assert "There is no file" in dialog.message.text()
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    dialog.grade_file(tmp_path / "empty.csv")
    assert "has no readable answers" in dialog.message.text()
    dialog.open_from(tmp_path / "empty.csv")
    assert "is damaged or not an exercise" in dialog.message.text()


def test_an_exercise_can_be_saved_and_opened_again(
    dialog: ExerciseDialog, person: "Person", qtbot: QtBot, tmp_path: Path
) -> None:
    choose(dialog, qtbot, "This row")
    fill(dialog, qtbot, "Ada\nBob")
    before = dialog.read_exercise()
    dialog.save_to(tmp_path / "e.json")
    with qtbot.waitSignal(dialog.previewed):
        person.click_cell("scores", 0, 3)
    with qtbot.waitSignal(dialog.previewed):
        dialog.open_from(tmp_path / "e.json")
    after = dialog.read_exercise()
    assert dialog.form.which.currentText() == "As in e.json"
    assert (after.blanks, after.students, after.seed) == (before.blanks, before.students, before.seed)
    for student in after.students:
        mine = [
            [answer.value for answer in compute_answers(each, make_variant(each, student))] for each in (before, after)
        ]
        assert mine[0] == mine[1]


def test_the_worked_solution_goes_to_the_clipboard_and_to_files(person: "Person", qtbot: QtBot, tmp_path: Path) -> None:
    playground = person.playground
    for copy, begins in ((copy_markdown, "# Worked solution"), (copy_latex, "\\documentclass")):
        QGuiApplication.clipboard().setText("")
        copy(playground)
        qtbot.waitUntil(lambda begins=begins: QGuiApplication.clipboard().text().startswith(begins))
    for name, begins in (("a.md", "# Worked solution"), ("a.tex", "\\documentclass")):
        save_to(playground, tmp_path / name)
        qtbot.waitUntil(lambda: not playground.lane.busy)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
    save_to(playground, tmp_path / "a.txt")
    assert "does not end in .md or .tex" in person.message()
    asked = ask_save(playground, person.window)
    assert asked.isVisible()
    asked.close()


def test_a_layer_too_large_to_write_out_is_reported(sit_down: Callable[..., object], qtbot: QtBot) -> None:
    person = sit_down("saturated")
    copy_markdown(person.playground)
    qtbot.waitUntil(lambda: "fewer columns or tokens" in person.message())


def test_the_dialog_leaves_the_card_that_is_asked_about_free(
    dialog: ExerciseDialog, person: "Person", qtbot: QtBot
) -> None:
    window = person.window
    card = person.playground.canvas.cards["weights"]
    before = dialog.size()
    dialog.move(card.mapToGlobal(card.rect().topLeft()))
    qtbot.mouseClick(dialog.try_button, Qt.MouseButton.LeftButton)
    person.settle()
    asked = card.rect().translated(card.mapToGlobal(card.rect().topLeft()))
    assert dialog.width() < before.width()
    free = window.screen().availableGeometry().width() - asked.width()
    if free >= 2 * dialog.width():  # otherwise there is no such place
        assert not dialog.frameGeometry().intersects(asked)
    with qtbot.waitSignal(dialog.previewed):
        qtbot.mouseClick(dialog.back_button, Qt.MouseButton.LeftButton)
    assert dialog.size() == before

"""The editor of lessons: typing, undo, previews, questions, and the steps in their order."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent, QTextCursor
from PySide6.QtTest import QTest

from attnlab.lessons.library import find
from attnlab.lessons.parse import parse
from attnlab.ui.lessons.step_preview import preview_step
from tests.ui.lessons.test_lesson_recording import draft_of, editor_of, find_controller, record

if TYPE_CHECKING:
    from attnlab.ui.lessons.editor import Editor
    from attnlab.ui.lessons.lesson_pages import LessonPages
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL, SHIFT, ALT = Mod.ControlModifier, Mod.ShiftModifier, Mod.AltModifier


def test_undo_in_the_editor_goes_word_by_word_and_keeps_the_playground(person: "Person") -> None:
    record(person)
    begun = person.document.scene
    editor = editor_of(person)
    editor.text.setFocus()
    person.type("One two three")
    assert draft_of(person).step is not None
    person.key(Key.Key_Z, CTRL)
    assert editor.text.toPlainText() == "One two "
    person.key(Key.Key_Z, CTRL)
    person.key(Key.Key_Z, CTRL)
    assert editor.text.toPlainText() == ""
    person.key(Key.Key_Z, CTRL | SHIFT)
    assert editor.text.toPlainText() == "One "
    assert person.document.scene is begun


def test_after_an_undo_typing_goes_on_where_the_text_changed(person: "Person") -> None:
    record(person)
    editor = editor_of(person)
    editor.text.setFocus()
    person.type("One two three")
    editor.text.moveCursor(QTextCursor.MoveOperation.Start)
    person.type("So ")
    assert editor.text.toPlainText() == "So One two three"
    person.key(Key.Key_Z, CTRL)  # the last word begun
    assert editor.text.toPlainText() == "SoOne two three"
    person.type("!")
    assert editor.text.toPlainText() == "So!One two three"
    editor.step_title.setFocus()
    person.key(Key.Key_End)
    person.type("?")
    person.key(Key.Key_Z, CTRL)
    assert editor.step_title.cursorPosition() == len(editor.step_title.text()) > 0


def test_steps_are_moved_copied_and_deleted_by_keys_and_buttons(person: "Person", lesson_file: Path) -> None:
    find_controller(person).drafts.edit(find(str(lesson_file)))
    editor = editor_of(person)
    titles = [row.title for row in editor.steps.rows]
    editor.steps.setFocus()
    person.key(Key.Key_Down, ALT, widget=editor.steps)
    assert [row.title for row in editor.steps.rows] == [titles[1], titles[0], *titles[2:]]
    assert editor.steps.currentRow() == 1
    person.press("Move the step up")
    assert [row.title for row in editor.steps.rows] == titles
    person.press("Duplicate the step")
    assert [row.title for row in editor.steps.rows] == [titles[0], titles[0], *titles[1:]]
    person.key(Key.Key_Delete, widget=editor.steps)
    assert [row.title for row in editor.steps.rows] == titles
    for _ in titles:
        person.press("Delete the step")
    assert editor.steps.rows == ()
    assert not editor.text.isVisible()
    for _ in range(20):
        draft_of(person).undo()
    assert [row.title for row in editor.steps.rows] == titles
    assert not draft_of(person).modified


def test_an_error_in_a_text_is_shown_below_it(person: "Person") -> None:
    record(person)
    editor = editor_of(person)
    editor.text.setFocus()
    person.type("It is {{weights[9, 9]}}.")
    person.wait_for(lambda: "It is ?." in editor.preview.text.text())
    assert "weights[9, 9]" in editor.preview.wrong.text()
    assert editor.preview.wrong.isVisible()
    editor.text.selectAll()
    person.type("It is {{weights[1, 1]}}.")
    person.wait_for(lambda: editor.preview.wrong.text() == "")


def test_a_step_without_a_text_has_no_preview_of_it(person: "Person") -> None:
    record(person)
    editor = editor_of(person)
    person.wait_for(lambda: editor.preview.picture.content is not None)  # the preview has been computed
    assert not editor.preview.isVisible()
    editor.text.setFocus()
    person.type("Look")
    person.wait_for(editor.preview.isVisible)
    assert editor.preview.text.isVisible()
    person.press("Delete the step")
    assert not editor.preview.isVisible()
    draft_of(person).undo()
    assert editor.preview.isVisible()
    editor.text.setFocus()
    editor.text.moveCursor(QTextCursor.MoveOperation.End)
    for _ in "Look":
        person.key(Key.Key_Backspace)
    person.wait_for(lambda: not editor.preview.isVisible())


def test_texts_that_are_too_long_for_the_last_row_are_named() -> None:
    words = " ".join(["word"] * 60)
    lesson = parse(f"## Long\n\n```state\npreset: journey\n```\n\n{words}\n\n```answer\n{words}\n```\n", "long")
    assert preview_step(lesson, 0).wrong == ()
    (long,) = preview_step(replace(lesson, steps=(replace(lesson.steps[0], answer=f"{words} more"),)), 0).wrong
    assert long.startswith("The text after the reveal has 61 words")


def test_a_text_after_the_reveal_is_typed_saved_and_read_back(person: "Person") -> None:
    record(person)
    editor = editor_of(person)
    editor.answer.setFocus()
    person.type("So it is.")
    assert draft_of(person).lesson.steps[0].answer == "So it is."
    person.key(Key.Key_S, CTRL)
    assert find("my-lesson").steps[0].answer == "So it is."


def test_a_question_survives_writing_and_reading(person: "Person") -> None:
    record(person)
    editor = editor_of(person)
    fields = editor.question.fields
    fields["ask"].setFocus()
    person.type("How much?")
    assert editor.question.message == "A question needs blank cells, such as weights[2, 1], or choices."
    fields["blank"].setFocus()
    person.type("weights[2, 1")
    assert "weights[2, 1]" in editor.question.message
    person.type("]")
    assert editor.question.message == ""
    fields["tolerance"].setFocus()
    fields["tolerance"].selectAll()
    person.type("-1")
    assert editor.question.message == "The tolerance is '-1'; type a number of 0 or more, such as 0.01."
    fields["tolerance"].selectAll()
    person.type("0,05")
    assert editor.question.message == ""
    person.key(Key.Key_S, CTRL)
    question = find("my-lesson").steps[0].question
    assert question is not None
    assert (question.ask, question.tolerance, len(question.blanks)) == ("How much?", 0.05, 1)


def test_the_way_back_to_the_editor_is_offered_only_outside_it(person: "Person") -> None:
    record(person)
    editor_of(person)
    workspace = find_controller(person).workspace
    assert workspace is not None
    assert not workspace.header.draft.isVisible()
    person.press("Done")
    assert workspace.header.draft.isVisible()
    assert workspace.header.draft.text() == "Continue “My lesson” •"
    person.click(workspace.header.draft)
    assert not workspace.header.draft.isVisible()


def test_a_lesson_has_its_pictures_when_its_editor_is_left(person: "Person") -> None:
    record(person)
    editor_of(person)
    person.key(Key.Key_S, CTRL)
    person.press("Done")
    workspace = find_controller(person).workspace
    assert workspace is not None
    person.wait_for(lambda: all(row.thumbnail is not None for row in workspace.page.steps.rows))
    person.wait_for(lambda: any(row.title == "My lesson" and row.thumbnail for row in workspace.shelf.rows))


def test_the_selected_number_is_inserted_into_the_text(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    record(person)
    editor = editor_of(person)
    person.press("Insert the number")
    assert editor.text.toPlainText() == "{{weights[2, 1]}}"  # the cell that the step holds, in the step's head


def test_a_step_without_a_cell_takes_the_number_from_the_playground(person: "Person") -> None:
    record(person)
    person.click_cell("weights", 3, 1)
    editor = editor_of(person)
    assert draft_of(person).lesson.steps[0].cell is None
    person.press("Insert the number")
    assert editor.text.toPlainText() == "{{weights[0, 3, 1]}}"


def refuse_to_insert(person: "Person") -> "tuple[Editor, LessonPages]":
    """Ask for the number of a step without a cell, and return what is in view."""
    record(person)
    editor, workspace = editor_of(person), find_controller(person).workspace
    assert workspace is not None
    person.press("Insert the number")
    assert workspace.message.startswith("The step holds no cell")
    return editor, workspace


def test_a_refusal_goes_with_what_answers_it(person: "Person") -> None:
    editor, workspace = refuse_to_insert(person)
    person.window.show_workspace("playground")
    assert "holds no cell" not in person.message()
    person.click_cell("weights", 2, 1)
    assert editor_of(person) is editor
    assert workspace.message == ""
    person.press("Insert the number")
    assert editor.text.toPlainText() == "{{weights[0, 2, 1]}}"


def test_a_refusal_of_the_editor_lasts_until_the_next_edit(person: "Person") -> None:
    editor, workspace = refuse_to_insert(person)
    editor.text.setFocus()
    person.type("a")
    assert workspace.message == ""


def test_the_editor_shows_the_slide_of_the_step(person: "Person") -> None:
    person.click_cell("weights", 2, 1)
    record(person)
    editor = editor_of(person)
    picture = editor.preview.picture
    person.wait_for(lambda: picture.isVisible() and picture.content is not None)
    assert picture.content is not None
    assert picture.content.main is not None
    assert picture.content.main.title == "Weights"
    assert editor.step_title.cursorPosition() == 0, "a title that is too long is cut at its end"
    editor.step_title.setFocus()
    editor.step_title.selectAll()
    person.type("Look here")
    person.wait_for(lambda: picture.content is not None and picture.content.title == "Look here")
    assert picture.drawn.left_out == ()


def test_a_step_can_be_dragged_to_another_place(person: "Person", lesson_file: Path) -> None:
    find_controller(person).drafts.edit(find(str(lesson_file)))
    editor = editor_of(person)
    titles = [row.title for row in editor.steps.rows]
    editor.steps.setCurrentRow(0)
    at = QPointF(editor.steps.visualItemRect(editor.steps.item(2)).center())
    drop = QDropEvent(at, Qt.DropAction.MoveAction, QMimeData(), Qt.MouseButton.LeftButton, Mod.NoModifier)
    editor.steps.dropEvent(drop)  # Qt itself delivers drops of a drag that runs alone
    assert [row.title for row in editor.steps.rows] == [titles[1], titles[2], titles[0], titles[3]]
    QTest.keyClick(editor.steps, Key.Key_Z, CTRL)
    assert [row.title for row in editor.steps.rows] == titles

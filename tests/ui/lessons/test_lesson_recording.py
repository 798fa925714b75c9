"""The recorder: from the visible playground to a lesson file with the same numbers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from attnlab.attention import edits
from attnlab.attention.edits.token_edits import set_tokens
from attnlab.attention.examples.presets import PRESETS, preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.walk import Place
from attnlab.lessons.library import find, find_user_folder
from attnlab.lessons.parse import parse, read
from attnlab.lessons.slides import check, make_slides
from attnlab.lessons.write import write
from attnlab.ui.lessons.differences import is_same
from attnlab.ui.lessons.recording import StepContent, add_step, keep, make_empty_lesson, reorder_steps
from attnlab.ui.workspaces.lessons import LESSONS
from tests.ui.lessons.conftest import MASKS

if TYPE_CHECKING:
    from attnlab.ui.lessons.draft import Draft
    from attnlab.ui.lessons.editor import Editor
    from attnlab.ui.lessons.lesson_controller import LessonController
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL, SHIFT, ALT = Mod.ControlModifier, Mod.ShiftModifier, Mod.AltModifier


def find_controller(person: "Person") -> "LessonController":
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    return controller


def draft_of(person: "Person") -> "Draft":
    draft = find_controller(person).drafts.draft
    assert draft is not None
    return draft


def editor_of(person: "Person") -> "Editor":
    find_controller(person).drafts.show()
    workspace = find_controller(person).workspace
    assert workspace is not None
    return workspace.editor


def record(person: "Person") -> None:
    person.key(Key.Key_A, CTRL | SHIFT)


def shown(e: Experiment, name: str = "") -> StepContent:
    return StepContent(e, name, "weights", 0 if e.n_heads == 1 else "all")


# What is written down


def changed(name: str) -> Experiment:
    """Return a preset after a few edits of every kind."""
    e = edits.configure(preset(name), causal=True, temperature=0.5)
    return edits.set_block(e, "W_q", 0, 0, [[0.1]])


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_recorded_by_its_name_and_gives_the_same_numbers(name: str) -> None:
    lesson = add_step(make_empty_lesson(), shown(preset(name), name))
    assert lesson.steps[0].preset == name
    assert lesson.steps[0].edits == ()
    again = make_slides(parse(write(lesson), "again"))[0].experiment
    assert again is not None
    assert is_same(again, preset(name))


def test_recorded_edits_reproduce_the_numbers_bit_for_bit() -> None:
    e = changed("journey")
    lesson = add_step(make_empty_lesson(), shown(e, "journey"))
    step = lesson.steps[0]
    assert (step.preset, step.file) == ("journey", None)
    assert {edit.key: edit.value for edit in step.edits} == {"causal": True, "temperature": 0.5, "W_q[0, 0]": 0.1}
    again = make_slides(parse(write(lesson), "again"))[0].experiment
    assert again is not None
    assert is_same(again, e)


def test_a_step_records_only_changes_since_the_previous_one() -> None:
    lesson = add_step(
        add_step(make_empty_lesson(), shown(preset("journey"), "journey")), shown(changed("journey"), "journey")
    )
    assert lesson.steps[1].preset is None
    assert [edit.key for edit in lesson.steps[1].edits] == ["causal", "temperature", "W_q[0, 0]"]
    lesson = add_step(lesson, shown(changed("journey"), "journey"))
    assert (lesson.steps[2].preset, lesson.steps[2].edits) == (None, ())


def test_changed_words_are_recorded_as_an_edit() -> None:
    e = set_tokens(preset("journey"), ("My", "journey", "ends"))
    lesson = add_step(make_empty_lesson(), shown(e, "journey"))
    assert [edit.key for edit in lesson.steps[0].edits] == ["tokens"]
    again = make_slides(lesson)[0].experiment
    assert again is not None
    assert is_same(again, e)


def test_a_lesson_with_an_invalid_title_can_be_saved(tmp_path: Path) -> None:
    from attnlab.ui.lessons.draft import Draft

    lesson = replace(add_step(make_empty_lesson(), shown(preset("journey"), "journey")), title="half \ud83d")
    Draft(lesson).save(tmp_path / "a.md")
    assert read(tmp_path / "a.md").title == "half ?"
    lesson = replace(lesson, steps=(replace(lesson.steps[0], title="half \ud83d", text="a \ud83d pair"),))
    draft = Draft(lesson)
    draft.save(tmp_path / "b.md")
    assert read(tmp_path / "b.md").steps[0].text == "a ? pair"
    assert not draft.modified
    assert read(keep(lesson)).steps[0].title == "half ?"


def test_a_state_that_cannot_be_written_is_saved_as_a_session_beside_the_lesson() -> None:
    e = edits.fill(preset("causal-5x8"), "embeddings", "normal", 7)
    e = edits.paint_mask(e, 0, 1, False)
    lesson = add_step(make_empty_lesson(), shown(e, "causal-5x8"))
    step = lesson.steps[0]
    assert step.preset is None
    assert step.file is not None
    assert (find_user_folder() / step.file).is_file()
    again = make_slides(lesson)[0].experiment
    assert again is not None
    assert is_same(again, e)


def test_reordered_steps_keep_their_content() -> None:
    lesson = parse(MASKS, "masks")
    before = [slide.experiment for slide in make_slides(lesson)]
    moved = reorder_steps(lesson, [2, 0, 3, 1])
    for old, slide in zip((2, 0, 3, 1), make_slides(moved), strict=True):
        e = before[old]
        assert e is not None
        assert slide.experiment is not None
        assert is_same(slide.experiment, e), slide.step.title
    assert moved.steps[0].title == "One number is different"
    assert check(moved) == ()


# In the program


def test_the_first_visit_to_the_lessons_shows_the_recorded_step(person: "Person") -> None:
    record(person)
    person.window.show_workspace("lessons")
    draft = find_controller(person).drafts.editing
    assert draft is not None
    assert [step.title for step in draft.lesson.steps] == ["Weights"]


def test_a_step_that_is_added_in_the_editor_names_no_key_that_leads_there(person: "Person") -> None:
    record(person)
    assert person.message() == "Step 1 added: Ctrl+2 edits “My lesson”."
    person.window.show_workspace("lessons")
    record(person)
    assert person.message() == "Step 2 added to “My lesson”."


@pytest.mark.slow
def test_a_lecturer_records_saves_and_reopens_a_lesson_of_five_steps(person: "Person") -> None:
    record(person)
    assert person.message() == "Step 1 added: Ctrl+2 edits “My lesson”."
    person.press("Causal")
    person.settle()
    record(person)
    person.click_cell("weights", 2, 1)
    record(person)
    person.drag_number(0, 0, 25)
    person.settle()
    record(person)
    person.choose("Heads", "2")
    person.settle()
    record(person)
    wanted = person.experiment
    editor = editor_of(person)
    assert [row.title for row in editor.steps.rows][:3] == [
        "Weights",
        "Weights",
        "How much does “starts” look at “journey”?",
    ]
    assert editor.steps.currentRow() == 4
    assert editor._save.text() == "Save •"
    editor.title.setFocus()
    editor.title.selectAll()
    person.type("Masks and heads")
    editor.text.setFocus()
    person.type("Two heads: {{n_heads}}.")
    person.wait_for(lambda: "Two heads: 2." in editor.preview.text.text())
    person.key(Key.Key_S, CTRL)
    path = find_user_folder() / "masks-and-heads.md"
    assert path.is_file()
    assert editor._save.text() == "Save"
    lesson = find("masks-and-heads")
    assert (lesson.title, len(lesson.steps), lesson.problems) == ("Masks and heads", 5, ())
    assert check(lesson) == ()
    last = make_slides(lesson)[-1].experiment
    assert last is not None
    assert is_same(last, wanted)
    person.press("Try it")
    person.settle()
    slide = find_controller(person).player.slide
    assert slide is not None
    assert slide.index == 4
    person.check_every_number()


def test_recording_a_step_keeps_the_keyboard_focus(person: "Person") -> None:
    editor_of(person)
    find_controller(person).drafts.start()
    person.key(Key.Key_1, CTRL)
    person.playground.canvas.setFocus()
    record(person)
    person.key(Key.Key_D)
    person.key(Key.Key_Left)
    record(person)
    assert person.playground.document.view.depth == "row"
    assert person.playground.document.view.at is not None
    assert [step.text for step in draft_of(person).lesson.steps] == ["", ""]
    person.key(Key.Key_2, CTRL)
    person.type("now")
    assert draft_of(person).lesson.steps[-1].text == "now"


def test_a_step_recorded_during_a_walk_shows_its_place(person: "Person") -> None:
    person.playground.canvas.setFocus()
    person.playground.document.show(depth="cell", at=Place("scores", 2, 1))
    record(person)
    person.playground.document.show(depth="row", at=Place("context", 1))
    record(person)
    person.playground.document.show(at=None)
    record(person)
    steps = draft_of(person).lesson.steps
    assert [(step.stage, step.cell, step.depth) for step in steps] == [
        ("scores", (2, 1), "cell"),
        ("context", None, "row"),
        ("weights", None, None),
    ]


def test_the_note_about_a_recorded_step_goes_when_it_is_read_in_the_editor(
    person: "Person", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.ui.lessons.lesson_pages.NOTE_MS", 50)
    editor_of(person)  # makes the workspace, in which the note will wait
    person.window.show_workspace("playground")
    record(person)
    workspace = find_controller(person).workspace
    assert workspace is not None
    assert workspace.message.startswith("Step 1 added")
    person.window.show_workspace("lessons")
    person.wait_for(lambda: workspace.message == "")


def test_recording_a_step_again_keeps_later_steps(person: "Person") -> None:
    record(person)
    person.press("Causal")
    person.settle()
    record(person)
    causal = person.experiment
    person.drag_number(0, 0, 40)
    person.settle()
    draft_of(person).choose(0)
    editor_of(person)
    person.press("Record again")
    first, second = (slide.experiment for slide in make_slides(draft_of(person).lesson))
    assert first is not None
    assert second is not None
    assert is_same(first, person.experiment)
    assert is_same(second, causal)


@pytest.mark.slow
def test_a_shipped_lesson_is_edited_as_a_copy(person: "Person") -> None:
    person.key(Key.Key_2, CTRL)
    workspace = find_controller(person).workspace
    assert workspace is not None
    workspace.page.choose(2)
    person.press("Edit a copy")
    draft = draft_of(person)
    assert draft.chosen == workspace.editor.steps.currentRow() == 2
    assert draft.path is None
    assert not draft.modified
    editor = editor_of(person)
    editor.step_title.setFocus()
    person.type("!")
    person.key(Key.Key_S, CTRL)
    assert draft.path is not None
    assert draft.path.parent == find_user_folder()
    assert check(find(str(draft.path))) == ()
    person.press("Done")
    assert "Your lessons" in [row.title for row in workspace.shelf.rows]


def test_a_copy_of_a_shipped_lesson_takes_its_sessions_along() -> None:
    from attnlab.ui.lessons.draft import Draft

    shipped = find("trained-heads")
    named = {step.file for step in shipped.steps if step.file is not None}
    folder = find_user_folder()
    folder.mkdir(parents=True)
    Draft(shipped).save(folder / "mine.md")
    assert check(find("mine")) == ()
    assert {path.name for path in folder.glob("*.attnlab")} == named


def test_unsaved_changes_of_a_copy_are_kept_with_its_sessions() -> None:
    shipped = find("switch-a-head-off")
    path = keep(replace(shipped, title="Mine"))
    assert check(find(str(path))) == ()
    assert all((path.parent / step.file).is_file() for step in shipped.steps if step.file is not None)


def test_a_state_recorded_into_an_unsaved_copy_is_found_again() -> None:
    e = edits.paint_mask(edits.fill(preset("causal-5x8"), "embeddings", "normal", 7), 0, 1, False)
    lesson = add_step(find("trained-heads"), shown(e, "causal-5x8"))
    assert lesson.steps[-1].file is not None
    again = make_slides(lesson)[-1].experiment
    assert again is not None
    assert is_same(again, e)
    gone = replace(lesson, steps=(replace(lesson.steps[-1], file="gone.attnlab"),))
    assert [problem.reason for problem in check(gone)] == [
        "The session gone.attnlab must be in the lesson’s folder; save the lesson first."
    ]


def test_saving_a_lesson_elsewhere_copies_its_sessions(person: "Person", tmp_path: Path) -> None:
    person.document.edit("Normal", lambda e: edits.paint_mask(e, 0, 1, False))
    record(person)
    name = draft_of(person).lesson.steps[0].file
    assert name is not None
    editor_of(person)
    person.press("Save as…")
    dialog = next(d for d in person.window.findChildren(QFileDialog) if d.isVisible())
    there = tmp_path / "there"
    there.mkdir()
    dialog.fileSelected.emit(str(there / "mine.md"))
    dialog.reject()
    assert (there / name).is_file()
    assert check(find(str(there / "mine.md"))) == ()


def test_a_file_with_mistakes_is_never_overwritten(person: "Person", lesson_file: Path) -> None:
    text = lesson_file.read_text(encoding="utf-8").replace("depth: row", "depth: rows")
    lesson_file.write_text(text, encoding="utf-8")
    find_controller(person).drafts.edit(find(str(lesson_file)))
    editor = editor_of(person)
    editor.step_title.setFocus()
    person.type("!")
    person.key(Key.Key_S, CTRL)
    assert lesson_file.read_text(encoding="utf-8") == text
    assert draft_of(person).path == find_user_folder() / "masks-in-four-steps.md"


def test_unsaved_lessons_are_restored_after_closing_the_window(person: "Person") -> None:
    record(person)
    assert person.window.close()
    kept = find("my-lesson-unsaved")
    assert (kept.title, len(kept.steps)) == ("My lesson (unsaved)", 1)

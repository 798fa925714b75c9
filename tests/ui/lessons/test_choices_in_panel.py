"""A student beside the playground picks one of the answers of a question and is told whether it is right."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from attnlab.lessons.lesson import Blank, Question
from attnlab.ui.lessons.markdown_label import ABOUT_ASIDES, MarkdownLabel
from attnlab.ui.lessons.question_fields import QuestionFields
from attnlab.ui.workspaces.lessons import LESSONS
from tests.ui.lessons.test_lessons_workspace import find_controller, panel_of, read, walk

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from attnlab.ui.predict.choice_sheet import ChoiceSheet
    from tests.ui.conftest import Person

Key = Qt.Key
LESSON = """---
title: A vote
---

## How much?

```state
preset: journey
stage: weights
```

“starts” gives {{weights[2, 1]:.4f}} to “journey”.

```question
ask: How much is it?
choices:
  - about 0.1
  - about 0.2
  - about 0.9
right: 2
blank: weights[2, 1]
hint: There are six words.
```

```answer
So it is.
```

## Why?

```state
depth: stage
```

```question
choices:
  - by chance
  - by softmax
right: 2
```

```answer
By softmax.
```
"""


@pytest.fixture
def sheet(person: "Person", tmp_path: Path) -> "ChoiceSheet":
    path = tmp_path / "vote.md"
    path.write_text(LESSON, encoding="utf-8")
    walk(person, path)
    person.wait_for(lambda: "How much is it?" in read(person))
    return sheet_of(person)


def sheet_of(person: "Person") -> Any:
    sheet = panel_of(person)._choices
    assert sheet is not None
    return sheet


def click(row: Any) -> None:
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=row.rect().center())


def test_the_right_answer_reveals_the_numbers_and_the_text(person: "Person", sheet: "ChoiceSheet") -> None:
    assert "gives ? to" in " ".join(read(person).split())
    assert "So it is." not in read(person)
    click(sheet.rows[1])
    assert sheet.verdict == "Right: about 0.2."
    person.wait_for(lambda: "So it is." in read(person))
    assert "gives 0.2" in read(person)
    assert [row.mark for row in sheet.rows[:3]] == ["faded", "right", "faded"]


def test_the_verdict_is_scrolled_into_view_in_a_small_window(person: "Person", sheet: "ChoiceSheet") -> None:
    person.window.resize(1024, 640)
    person.settle()
    QTest.mouseClick(sheet.rows[0].key, Qt.MouseButton.LeftButton)
    area = panel_of(person)._area
    verdict = sheet.verdict_label
    person.wait_for(lambda: verdict.isVisible() and not verdict.visibleRegion().isEmpty())
    place = verdict.rect().translated(verdict.mapTo(area.viewport(), verdict.rect().topLeft()))
    person.wait_for(lambda: area.viewport().rect().bottom() >= place.bottom() - 1)


def test_a_key_goes_to_the_question(person: "Person", sheet: "ChoiceSheet") -> None:
    person.window.setFocus()
    person.key(Key.Key_Q, Qt.KeyboardModifier.AltModifier)
    assert sheet.isAncestorOf(person.window.focusWidget())
    controller = find_controller(person)
    assert controller.open("six-words", 0)
    person.key(Key.Key_Q, Qt.KeyboardModifier.AltModifier)
    assert not isinstance(person.window.focusWidget(), QLineEdit)  # this step asks nothing
    controller.player.go(14)
    person.settle()
    person.window.show_workspace(LESSONS.name)
    person.key(Key.Key_Q, Qt.KeyboardModifier.AltModifier)
    focused = person.window.focusWidget()
    assert isinstance(focused, QLineEdit)
    assert focused.isVisible()
    person.type("0.12")
    assert focused.text() == "0.12"


def test_another_answer_may_be_tried_and_then_the_right_one_is_shown(person: "Person", sheet: "ChoiceSheet") -> None:
    QTest.mouseClick(sheet.rows[0].key, Qt.MouseButton.LeftButton)
    assert sheet.verdict == "Not that one. Try another."
    assert "Hint: There are six words." in read(person)
    assert "gives ? to" in " ".join(read(person).split())
    QTest.mouseClick(sheet.rows[2].key, Qt.MouseButton.LeftButton)
    assert sheet.verdict == "Not that one. It is: about 0.2."
    person.wait_for(lambda: "So it is." in read(person))
    person.press("Back")  # covers again, and asks again
    person.wait_for(lambda: "So it is." not in read(person))
    assert sheet.verdict == ""
    assert [row.mark for row in sheet.rows[:3]] == ["", "", ""]


def test_the_answer_is_shown_on_request_and_the_next_question_begins_anew(
    person: "Person", sheet: "ChoiceSheet"
) -> None:
    person.press("Reveal")
    person.wait_for(lambda: "So it is." in read(person))
    assert [row.mark for row in sheet.rows[:3]] == ["faded", "right", "faded"]
    person.press("Next")
    person.wait_for(lambda: "by softmax" in read(person))
    assert sheet.verdict == ""
    assert [row.isVisible() for row in sheet.rows] == [True, True, False]
    click(sheet.rows[1])
    person.wait_for(lambda: "By softmax." in read(person))
    assert find_controller(person).player.answered


def test_no_answer_is_called_right_after_the_numbers_were_changed(person: "Person", sheet: "ChoiceSheet") -> None:
    person.press("Causal")
    person.settle()
    person.wait_for(lambda: "The numbers were changed" in sheet.verdict)
    click(sheet.rows[1])
    assert not find_controller(person).player.answered
    person.key(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    person.settle()
    person.wait_for(lambda: sheet.verdict == "")
    click(sheet.rows[1])
    assert sheet.verdict == "Right: about 0.2."


def test_a_grey_sentence_is_explained_in_the_panel_until_undo(person: "Person", tmp_path: Path) -> None:
    path = tmp_path / "grey.md"
    path.write_text(LESSON.replace("to “journey”.", "to “journey”. {= That is most of it. =}"), encoding="utf-8")
    walk(person, path)
    assert "That is most of it." in read(person)
    assert ABOUT_ASIDES not in read(person)
    person.press("Causal")
    person.wait_for(lambda: ABOUT_ASIDES in read(person))
    assert ABOUT_ASIDES in " ".join(label.words for label in panel_of(person).findChildren(MarkdownLabel))
    person.key(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    person.wait_for(lambda: ABOUT_ASIDES not in read(person))
    assert "That is most of it." in read(person)


def test_choices_are_typed_in_the_editor(qtbot: "QtBot") -> None:
    fields = QuestionFields()
    qtbot.addWidget(fields)
    found: list[Question] = []
    fields.changed.connect(found.append)
    QTest.keyClicks(fields.fields["choices"], "about 0.1 | about 0.2 *")
    assert found[-1].choices == ("about 0.1", "about 0.2")
    assert found[-1].right == 2
    assert found[-1].blanks == ()
    fields.fields["choices"].clear()
    QTest.keyClicks(fields.fields["choices"], "a | b")
    assert fields.message == "Mark the right choice, and only that, with a star: a *."
    question = Question((Blank("weights", 2, 1),), "How much?", choices=("x", "y", "z"), right=1)
    fields.show_question(question)
    assert fields.fields["choices"].text() == "x * | y | z"
    assert fields.fields["choices"].cursorPosition() == 0, "a long text is shown from its beginning"
    fields.fields["ask"].end(False)
    QTest.keyClicks(fields.fields["ask"], "!")
    assert found[-1] == Question((Blank("weights", 2, 1),), "How much?!", choices=("x", "y", "z"), right=1)


def test_escape_releases_the_held_cell_and_keeps_covered_what_is_asked(person: "Person") -> None:
    find_controller(person).open("why-attention", 12)
    person.window.show_workspace("playground")
    person.settle()
    view = person.document.view
    assert view.pinned
    assert view.at is not None
    for _ in range(3):
        person.key(Key.Key_Escape, widget=person.playground.canvas)
        person.settle()
    assert person.document.view.cell is None
    assert person.document.view.at == view.at
    data = person.card("weights").data
    assert data is not None
    assert data.unknown is not None
    assert data.unknown[..., 0, 3].all()
    panel_of(person).close_requested.emit()
    person.settle()
    assert person.document.view.at is None


def test_escape_ends_the_steps_of_another_experiment_that_is_open_beside_a_lesson(person: "Person") -> None:
    find_controller(person).open("why-attention", 12)
    person.settle()
    bar = person.playground.step_bar
    assert not bar.progress.isVisibleTo(bar)
    person.playground.open_preset("the-cat-sat")
    person.settle()
    assert bar.progress.isVisibleTo(bar)
    bar.step_back()
    person.settle()
    assert person.document.view.at is not None
    person.key(Key.Key_Escape, widget=person.playground.canvas)
    person.key(Key.Key_Escape, widget=person.playground.canvas)
    assert person.document.view.at is None
    person.document.undo()
    person.settle()
    asked = person.document.view.at
    assert asked is not None
    assert not bar.progress.isVisibleTo(bar)
    for _ in range(3):
        person.key(Key.Key_Escape, widget=person.playground.canvas)
    assert person.document.view.at == asked

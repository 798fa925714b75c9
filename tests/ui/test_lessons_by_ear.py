"""A lesson by ear: opened, walked, asked and answered with the keyboard alone, and everything is said."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit

from attnlab.ui.lessons.row_list import RowList
from attnlab.ui.predict.answer_sheet import AnswerSheet
from attnlab.ui.workspaces.lessons import LESSONS
from tests.ears import NAME, Ears, element, names

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController
    from tests.ui.conftest import Person

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier

LESSON = """---
title: Two steps
---

## All tokens

```state
preset: journey
stage: weights
depth: row
```

A row sums to {{sum(weights[0, :]):.2f}}.

## What does journey give?

```state
cell: [1, 0]
```

Find the weight.

```question
ask: How much does “journey” give to “Your”?
blank: weights[1, 0]
tolerance: 0.01
hint: Divide by the sum.
```

```answer
It gives {{weights[1, 0]}}.
```
"""


CHOICE = """---
title: A vote
---

## A vote

```state
preset: journey
stage: weights
```

Choose.

```question
ask: Rows are what?
choices:
  - queries
  - keys
right: 1
```
"""


@pytest.fixture
def lessons(person: "Person", tmp_path: Path) -> "LessonController":
    path = tmp_path / "lesson.md"
    path.write_text(LESSON, encoding="utf-8")
    lessons = person.window.workspace(LESSONS)
    assert lessons is not None
    assert lessons.open(path)
    person.settle()
    lessons.close()
    person.lesson = path  # type: ignore[attr-defined]
    return lessons


def open_lesson(person: "Person", lessons: "LessonController") -> None:
    assert lessons.open(person.lesson)  # type: ignore[attr-defined]
    person.settle()


def weight(person: "Person") -> str:
    reply = person.playground.reply
    assert reply is not None
    assert reply.trace is not None
    return f"{float(reply.trace.array('weights')[0, 1, 0]):.4f}"


def test_a_step_is_said_with_its_title_and_text(person: "Person", lessons: "LessonController", ears: Ears) -> None:
    open_lesson(person, lessons)
    assert ears.said == ["Step 1 of 2: All tokens. A row sums to 1.00."]


def test_each_frame_and_the_next_step_are_said_once(person: "Person", lessons: "LessonController", ears: Ears) -> None:
    open_lesson(person, lessons)
    ears.forget()
    person.key(Key.Key_PageDown)
    person.settle()
    (said,) = ears.said
    assert said.startswith("Weights. ")
    assert "Your" in said
    ears.forget()
    lessons.player.go_last()
    person.settle()
    ask = "Question: How much does “journey” give to “Your”?"
    assert ears.said == [f"Step 2 of 2: What does journey give? Find the weight. {ask}"]
    ears.forget()
    lessons.player.go_back()
    person.settle()
    assert ears.said[0].startswith("Step 1 of 2: All tokens.")


def test_a_question_is_answered_by_ear(person: "Person", lessons: "LessonController", ears: Ears) -> None:
    open_lesson(person, lessons)
    lessons.player.go_last()
    person.settle()
    card = person.card("weights")
    assert names(card)[6] == "weights, journey to Your, covered until the answer is shown"
    bars = [name for name in names(person.playground.explain.bars) if "Your" in name]
    assert bars[0].endswith("Your, not shown yet")
    panel = lessons.panel
    assert panel is not None
    sheet = panel.findChild(AnswerSheet)
    assert sheet is not None
    field = next(field for field in sheet.findChildren(QLineEdit) if field.isVisible())
    field.setFocus()
    assert ears.read[-1] == "Your answer for journey to Your"
    ears.forget()
    person.type("0.9")
    person.key(Key.Key_Return)
    assert ears.said[0].startswith("Not yet.")
    ears.forget()
    field.clear()
    person.type(weight(person))
    person.key(Key.Key_Return)
    person.settle()
    assert ears.said[0].startswith("Right.")
    assert f"It gives {weight(person)}." in ears.said
    assert names(card)[6] == f"weights, journey to Your, {weight(person)}"
    verdict = [name for label in sheet.findChildren(QLabel) if (name := element(label).text(NAME))]
    assert any(name.startswith("Right.") for name in verdict)


def test_a_choice_is_answered_by_ear(person: "Person", lessons: "LessonController", ears: Ears, tmp_path: Path) -> None:
    path = tmp_path / "choice.md"
    path.write_text(CHOICE, encoding="utf-8")
    assert lessons.open(path)
    person.settle()
    assert ears.said == ["Step 1 of 1: A vote. Choose. Question: Rows are what? 1: queries. 2: keys."]
    ears.forget()
    person.press("Answer 2")
    assert ears.said[0] == "Not that one. Try another."
    person.press("Answer 1")
    assert "Right: queries." in ears.said


def test_every_part_of_the_panel_has_a_name(person: "Person", lessons: "LessonController", listening: None) -> None:
    open_lesson(person, lessons)
    assert lessons.panel is not None
    buttons = [button for button in lessons.panel.findChildren(QAbstractButton) if button.isVisible()]
    assert all(element(button).text(NAME) for button in buttons)


def test_the_lesson_on_the_page_is_the_chosen_one_of_the_list(person: "Person", ears: Ears) -> None:
    person.key(Key.Key_2, CTRL)  # the focus is in the list before the lessons are
    person.settle()
    shelf = next(each for each in person.window.findChildren(RowList) if each.accessibleName() == "Lessons")
    assert shelf.hasFocus()
    assert [index.row() for index in shelf.selectedIndexes()] == [0]
    chosen = element(shelf).child(0)
    assert chosen.state().selected
    assert chosen.text(NAME).startswith("1. Why attention? A sentence squeezed into one vector")


def test_a_presentation_says_each_slide_and_its_cells(
    person: "Person", lessons: "LessonController", ears: Ears
) -> None:
    open_lesson(person, lessons)
    lessons.present()
    presentation = lessons.presentation
    assert presentation is not None
    person.wait_for(lambda: any("A row sums to 1.00" in said for said in ears.said))
    person.key(Key.Key_PageDown, widget=presentation)
    ears.forget()
    person.key(Key.Key_Right, CTRL, widget=presentation)
    person.key(Key.Key_Right, CTRL, widget=presentation)
    values = person.playground.reply.trace.array("weights")[0]  # type: ignore[union-attr]
    assert ears.said[-1] == f"weights, Your to journey, {values[0, 1]:.4f}"
    slide = element(presentation.view)
    assert slide.childCount() >= values.size
    assert slide.child(1).text(NAME) == ears.said[-1]
    assert slide.child(6).text(NAME).endswith("not computed yet")
    ears.forget()
    person.key(Key.Key_H, widget=presentation)
    assert ears.said[-1].startswith("Keys of the presentation. Right Space PageDown click: next. Left PageUp: back. ")
    person.key(Key.Key_H, widget=presentation)
    ears.forget()
    person.key(Key.Key_End, widget=presentation)
    person.settle()
    assert [said for said in ears.said if "What does journey give? Find" in said] == ears.said[:1], (
        "the window repeats it"
    )
    presentation.close()
    ears.forget()
    person.key(Key.Key_Home)
    person.settle()
    assert ears.said, "the window stays silent after the presentation"

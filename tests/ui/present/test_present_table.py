"""Numbers are changed in a table while presenting."""

from itertools import combinations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from attnlab.attention import edits
from attnlab.attention.stages.arithmetic import number
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides.slide_choices import lay_out_cards
from attnlab.figures.slides.slide_maps import AIR, NUMBERS
from attnlab.figures.slides.slide_text import make_face
from attnlab.figures.text import measure_text
from attnlab.lessons.library import find
from attnlab.lessons.parse import parse
from tests.ui.present.test_present_window import Key, Lecture


def test_numbers_can_be_changed_while_presenting_and_are_restored(lecture: Lecture) -> None:
    talk = lecture()
    before, text = talk.person.experiment, talk.text()
    talk.press(Key.Key_E)
    table = talk.presentation.parts.table.table
    assert table.isVisible()
    assert talk.presentation.parts.table.name == "embeddings"
    QTest.keyClicks(table, "2")
    editor = QApplication.focusWidget()
    assert editor is not None
    QTest.keyClick(editor, Key.Key_Return)
    talk.person.settle()
    talk.wait()
    assert float(talk.person.experiment.embeddings[0, 0]) == 2.0
    weight = number(float(talk.person.painted("weights")[0, 2, 1]))
    assert weight in talk.text()
    assert talk.text() != text
    assert talk.content.note.startswith("changed live")
    QTest.keyClick(table, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    talk.person.settle()
    talk.wait()
    assert talk.text() == text
    assert talk.content.note == ""
    QTest.keyClick(table, Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    talk.person.settle()
    talk.press(Key.Key_Escape, widget=table)
    assert not table.isVisible()
    talk.press(Key.Key_R)
    talk.person.settle()
    talk.wait()
    assert talk.person.experiment is before
    assert talk.text() == text


def test_a_clicker_works_while_a_table_has_the_focus(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_E)
    talk.press(Key.Key_PageDown, widget=talk.presentation.parts.table.table)
    assert talk.content.title == "Row by row"
    assert not talk.presentation.parts.table.isVisible()


def test_a_step_that_changes_several_tables_opens_the_table_of_its_stage(lecture: Lecture) -> None:
    talk = lecture(find("attention-is-geometry"))
    assert "press E again: its arrow has moved" in talk.player.slides[0].step.notes
    talk.press(Key.Key_E)
    sheet = talk.presentation.parts.table
    assert sheet.name == "embeddings"
    before = float(talk.person.experiment.embeddings[2, 0])
    sheet.table.select(2, 0)
    for _ in range(3):
        QTest.keyClick(sheet.table, Key.Key_Up)
    talk.person.settle()
    talk.press(Key.Key_E)
    talk.wait()
    arrows = talk.content.picture.arrows.arrows
    (across,) = (arrow.tip[0] for arrow in arrows if arrow.label == "bank")
    assert across > before


def test_the_table_has_large_type(lecture: Lecture) -> None:
    talk = lecture(size=(1920, 1080))
    talk.press(Key.Key_E)
    sheet, body = talk.presentation.parts.table, talk.presentation.view.sheet.body
    assert sheet.table.font().pixelSize() >= 0.8 * body
    shown = [label for label in sheet.findChildren(QLabel) if label.isVisible()]
    assert shown
    assert all(label.font().pixelSize() >= 0.6 * body for label in shown)


@pytest.mark.parametrize(("width", "height"), [(1024, 640), (1366, 768), (1920, 1080)])
@pytest.mark.parametrize(("name", "step"), [("six-words", 1), ("causal-masks", 1), ("attention-is-geometry", 2)])
def test_no_row_of_the_table_is_cut(lecture: Lecture, name: str, step: int, width: int, height: int) -> None:
    talk = lecture(find(name), size=(width, height))
    while talk.player.slide.index < step:
        talk.press(Key.Key_PageDown)
    talk.press(Key.Key_E)
    table, grid = talk.presentation.parts.table.table, talk.presentation.parts.table.table.grid()
    whole, cut = divmod(table.viewport().height() - grid.header_height, grid.cell_height)
    assert whole >= 3
    assert whole >= grid.rows or not cut
    if width > 1024:
        assert whole >= grid.rows, "all rows have room in smaller type"


@pytest.mark.parametrize("name", ["why-attention", "causal-masks", "scaling"])
def test_no_step_cuts_a_row_of_the_table(lecture: Lecture, name: str) -> None:
    lesson = find(name)
    talk, opened = lecture(lesson, size=(1366, 768)), 0
    for step in range(len(lesson.steps)):
        talk.player.go(step)
        talk.wait()
        talk.press(Key.Key_E)
        sheet = talk.presentation.parts.table
        if not sheet.isVisible():  # a step without a picture
            continue
        opened += 1
        grid = sheet.table.grid()
        whole, cut = divmod(sheet.table.viewport().height() - grid.header_height, grid.cell_height)
        assert whole >= grid.rows or not cut, f"step {step + 1}"
        for bar in (sheet.table.horizontalScrollBar(), sheet.table.verticalScrollBar()):
            assert not bar.isVisible() or bar.maximum() > 0, f"step {step + 1}: a bar with nothing to scroll"
        talk.press(Key.Key_E)
    assert opened > 10


def test_letter_keys_control_the_presentation_while_a_table_has_the_focus(lecture: Lecture) -> None:
    talk = lecture()
    own = talk.person.experiment
    talk.press(Key.Key_E)
    table = talk.presentation.parts.table.table
    QTest.keyClick(table, Key.Key_Up)
    talk.person.settle()
    talk.wait()
    assert talk.person.experiment is not own
    QTest.keyClicks(table, "r")
    talk.person.settle()
    talk.wait()
    assert talk.person.experiment is own
    assert not [field for field in table.findChildren(QLineEdit) if field.isVisible()]
    QTest.keyClicks(table, "b")
    assert talk.presentation.view.cover == "black"
    QTest.keyClicks(table, "b")
    assert talk.presentation.view.cover == ""
    QTest.keyClicks(table, "e")
    talk.wait()
    assert not table.isVisible()
    assert talk.presentation.hasFocus()


def test_a_click_beside_the_table_does_not_go_forward(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_E)
    QTest.mouseClick(talk.presentation.view, Qt.MouseButton.LeftButton, pos=QPoint(20, 700))
    talk.wait()
    assert talk.content.title == "All pairs at once"
    assert talk.presentation.parts.table.isVisible()


def test_the_table_that_the_step_changes_opens_beside_the_maps(lecture: Lecture) -> None:
    state = "preset: journey\nedits:\n  - W_v[0, 0]: 2\nstage: context\ncell: [1, 0]"
    talk = lecture(parse(f"## Change\n\n```state\n{state}\n```\n", "change"), size=(1920, 1080))
    maps = [each.title for each in talk.content.sources]
    talk.press(Key.Key_E)
    assert talk.presentation.parts.table.name == "W_v"
    assert [each.title for each in talk.content.sources] == maps
    assert talk.presentation.view.drawn.left_out == ()
    table = talk.presentation.view.drawn.table
    assert talk.presentation.parts.table.geometry().bottom() <= table.bottom + 1


CHANGED = """---
title: A number changes
---

## As it was

```state
preset: causal-5x8
stage: context
```

## The last word changes

```state
edits:
  - embeddings[4, 3]: 5
stage: context
```
"""


def test_the_table_opens_at_the_number_that_the_step_changes(lecture: Lecture) -> None:
    talk = lecture(parse(CHANGED, "changed"), size=(1366, 768))
    talk.press(Key.Key_PageDown)
    while talk.content.title != "The last word changes":
        talk.press(Key.Key_PageDown)
    talk.press(Key.Key_E)
    table = talk.presentation.parts.table.table
    talk.person.wait_for(lambda: table.selection() == (4, 3, 1, 1))
    assert table.viewport().rect().contains(table.grid().cell(4, 3))


def test_a_sink_stays_covered_until_its_row_is_reached(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_PageDown)
    assert talk.content.title == "Row by row"
    for causal in (False, True):
        talk.person.document.edit("Sink", lambda e, causal=causal: edits.configure(e, sink=True, causal=causal))
        talk.person.settle()
        talk.wait()
        data = talk.content.main.data
        assert data.aside == 1
        assert data.unknown is not None
        assert data.unknown.shape[-2:] == data.values.shape[-2:]
        np.testing.assert_array_equal(data.unknown[..., -1], data.unknown[..., :-1].any(-1))
        talk.presentation.view.grab()


@pytest.mark.parametrize("name", ["heads", "scaling", "why-attention"])
def test_a_table_beside_a_square_slide_leaves_the_map_its_numbers(lecture: Lecture, name: str) -> None:
    talk = lecture(find(name), (800, 800))
    while talk.content.row is None or talk.content.choices:
        talk.press(Key.Key_PageDown)
    talk.press(Key.Key_E)
    drawn, unit = talk.presentation.view.drawn, talk.presentation.view.sheet.unit
    assert drawn.left_out == ()
    assert talk.content.main.data.values.shape[1] <= 8
    smallest = make_face(NUMBERS[-1] * unit)
    assert drawn.grid.cell_width >= measure_text("0.00", smallest.toString()) + AIR * smallest.pixelSize()
    table, side = drawn.table, drawn.side
    assert table.right < drawn.grid.x - drawn.grid.label_width
    assert table.bottom <= side.y
    assert side.bottom <= talk.presentation.view.sheet.foot + 1


@pytest.mark.parametrize("size", [(800, 800), (1024, 640)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("name", "step"), [("attention-is-geometry", 3), ("scaling", 4), ("watch-induction-form", 6)])
def test_a_table_beside_four_answers_has_rows_to_change(
    lecture: Lecture, name: str, step: int, size: tuple[int, int]
) -> None:
    talk = lecture(find(name), size)
    talk.presentation.view.reduced_motion = True  # or the arrows may still move in the first picture
    talk.player.go(step - 1)
    talk.wait()
    closed = talk.presentation.view.grab().toImage()
    talk.press(Key.Key_E)
    sheet, drawn = talk.presentation.parts.table, talk.presentation.view.drawn
    assert len(talk.content.choices) == 4
    sheet.grab()  # which lays out what was asked for
    grid = sheet.table.grid()
    rows = (sheet.table.viewport().height() - grid.header_height) / grid.cell_height
    assert rows >= min(3, grid.rows)
    parts = sheet.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    shown = [part for part in parts if part.isVisible()]
    for one, other in combinations(shown, 2):
        assert not one.geometry().intersects(other.geometry()), f"{one.accessibleName()}, {other.accessibleName()}"
    assert all(sheet.rect().contains(part.geometry()) for part in shown)
    cards = lay_out_cards(talk.presentation.view.sheet, talk.content.choices, LIGHT, low=True)
    assert sheet.geometry().bottom() <= cards.places[0].top()
    assert drawn.grid is not None
    assert drawn.grid.x - drawn.grid.label_width >= sheet.geometry().right()
    talk.press(Key.Key_E, widget=sheet.table)
    assert talk.presentation.view.grab().toImage() == closed, "the words and the answers are back"


def test_a_message_replaces_the_hint_even_where_the_hint_has_no_room(lecture: Lecture) -> None:
    talk = lecture(find("watch-induction-form"), (1024, 640))
    talk.player.go(5)
    talk.wait()
    talk.press(Key.Key_E)
    sheet = talk.presentation.parts.table
    (label,) = sheet.findChildren(QLabel)
    assert not label.isVisible()
    QTest.keyClicks(sheet.table, "1")
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    QTest.keyClicks(editor, "..2")
    QTest.keyClick(editor, Key.Key_Return)
    assert label.isVisible()
    assert "1..2" in label.text()
    QTest.keyClick(editor, Key.Key_Escape)
    assert not label.isVisible()

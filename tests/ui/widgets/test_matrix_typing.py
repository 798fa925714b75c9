"""Typing into a matrix: every digit is shown, and an invalid number can be corrected."""

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest

from attnlab.figures.palette import LIGHT
from tests.ui.widgets.matrix_owner import CTRL, NONE, SHIFT, Button, Key, Owner


def test_typing_replaces_the_number_and_enter_goes_down(owner: Owner) -> None:
    owner.click(1, 1)
    owner.type("0,25")
    owner.key(Key.Key_Return)
    assert owner.values[1, 1] == 0.25
    assert owner.edits[0].verb == "type"
    assert owner.table.selection() == (2, 1, 1, 1)
    assert owner.editor is None
    assert owner.table.hasFocus()


def test_tab_commits_and_goes_right_shift_tab_left(owner: Owner) -> None:
    owner.click(1, 1)
    owner.type("1/4")
    owner.key(Key.Key_Tab)
    assert owner.values[1, 1] == 0.25
    assert owner.table.selection() == (1, 2, 1, 1)
    owner.type("7")
    owner.key(Key.Key_Backtab, SHIFT)
    assert owner.values[1, 2] == 7
    assert owner.table.selection() == (1, 1, 1, 1)


@pytest.mark.parametrize("way", ["enter", "f2", "double-click"])
def test_the_editor_opens_with_every_digit(owner: Owner, way: str) -> None:
    owner.values[0, 0] = 0.1234567890123
    owner.show_values()
    owner.click(0, 0)
    if way == "double-click":
        QTest.mouseDClick(owner.table.viewport(), Button.LeftButton, NONE, owner.at(0, 0))
    else:
        owner.key(Key.Key_F2 if way == "f2" else Key.Key_Return)
    assert owner.editor is not None
    assert owner.editor.text() == "0.1234567890123"
    assert owner.editor.selectedText() == owner.editor.text()
    assert owner.editor.isVisible()


def test_committing_an_unchanged_number_edits_nothing(owner: Owner) -> None:
    owner.key(Key.Key_F2)
    owner.key(Key.Key_Return)
    assert owner.edits == []
    assert owner.table.selection() == (1, 0, 1, 1)


def test_escape_cancels_typing(owner: Owner) -> None:
    owner.type("9")
    owner.key(Key.Key_Escape)
    assert owner.edits == []
    assert owner.editor is None
    assert owner.table.hasFocus()


def test_up_and_down_step_the_text_and_left_and_right_move_in_it(owner: Owner) -> None:
    owner.key(Key.Key_F2)
    owner.key(Key.Key_Up)
    owner.key(Key.Key_Up, SHIFT)
    owner.key(Key.Key_Down, CTRL)
    assert owner.editor is not None
    assert owner.editor.text() == "-0.79"
    owner.key(Key.Key_Left)
    assert owner.editor.cursorPosition() == 4
    assert owner.edits == []
    owner.key(Key.Key_Return)
    assert owner.values[0, 0] == -0.79


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("abc", "Row journey, column 1: 'abc' is not a number; type one such as 0.25."),
        ("nan", "Row journey, column 1: 'nan' is not a finite number; type one such as 0.25."),
        ("inf", "Row journey, column 1: 'inf' is not a finite number; type one such as 0.25."),
        ("1e999", "Row journey, column 1: '1e999' is too large; the largest magnitude is 3.4028234e38."),
        ("", "Row journey, column 1: this field is empty; type a number such as 0.25."),
    ],
)
def test_an_invalid_number_is_refused_and_stays_in_the_editor(owner: Owner, text: str, sentence: str) -> None:
    owner.click(1, 1)
    owner.key(Key.Key_F2)
    owner.key(Key.Key_Delete)
    owner.type(text)
    owner.key(Key.Key_Return)
    assert owner.messages == [sentence]
    assert owner.editor is not None
    assert owner.editor.text() == text
    assert owner.editor.palette().color(QPalette.ColorRole.Text).name().upper() == LIGHT.bad
    assert owner.edits == []
    owner.type("4")
    assert owner.messages[-1] == ""
    assert owner.editor.palette().color(QPalette.ColorRole.Text).name().upper() == LIGHT.ink
    owner.key(Key.Key_Escape)
    assert owner.values[1, 1] == 0.5


def test_a_refused_step_in_the_editor_gives_the_reason(owner: Owner) -> None:
    owner.type("x")
    owner.key(Key.Key_Up)
    assert owner.messages == ["Row Your, column 0: 'x' is not a number; type one such as 0.25."]


def test_leaving_with_a_valid_number_keeps_it(owner: Owner) -> None:
    owner.type("3")
    owner.click(2, 2)
    assert owner.values[0, 0] == 3
    assert owner.table.selection() == (2, 2, 1, 1)


def test_leaving_with_an_invalid_number_restores_the_old_one(owner: Owner) -> None:
    owner.type("5")
    owner.key(Key.Key_Return)
    owner.type("abc")
    owner.after.setFocus()
    assert owner.editor is None
    assert owner.values[:2, 0].tolist() == [5, 0.4]
    assert owner.messages == ["Row journey, column 0: 'abc' is not a number; type one such as 0.25."]


def test_an_open_editor_survives_new_values_and_closes_with_its_cell(owner: Owner) -> None:
    owner.click(3, 2)
    owner.type("12")
    owner.values = owner.values * 2
    owner.show_values()
    assert owner.editor is not None
    assert owner.editor.text() == "12"
    owner.key(Key.Key_Escape)
    owner.key(Key.Key_F2)
    owner.values = owner.values * 2
    owner.show_values()
    assert owner.editor.text() == "-1.2"
    owner.values, owner.rows = owner.values[:2], owner.rows[:2]
    owner.show_values()
    assert owner.editor is None
    assert owner.table.selection() == (1, 2, 1, 1)
    assert owner.selections[-1] == (1, 2, 1, 1)


def test_an_open_editor_goes_under_the_headers_when_scrolled_and_comes_back(big: Owner) -> None:
    big.click(2, 2)
    big.type("7")
    assert big.editor is not None
    at = big.editor.geometry()
    bar = big.table.verticalScrollBar()
    bar.setValue(at.top() - big.table.grid().header_height + 5)
    assert big.editor.geometry().translated(big.editor.mask().boundingRect().topLeft()).top() >= (
        big.table.grid().header_height
    )
    bar.setValue(2000)
    assert not big.editor.geometry().intersects(big.table.viewport().rect())
    big.key(Key.Key_8)
    bar.setValue(0)
    assert big.editor.geometry() == at
    assert big.editor.mask().isEmpty()
    big.key(Key.Key_Return)
    assert big.values[2, 2] == 78

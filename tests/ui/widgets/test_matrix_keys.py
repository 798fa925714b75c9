"""Stepping, selecting, clearing, copying and pasting the numbers of a matrix by keyboard."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.matrix.matrix_table import READ_ONLY
from tests.ui.widgets.matrix_owner import ALT, CTRL, NONE, SHIFT, Button, Key, Owner

# Keys


@pytest.mark.parametrize(("modifiers", "step"), [(NONE, 0.1), (SHIFT, 0.01), (CTRL, 1.0)])
def test_up_and_down_change_the_selected_values(owner: Owner, modifiers: Qt.KeyboardModifier, step: float) -> None:
    owner.table.select(0, 0, 1, 2)
    owner.key(Key.Key_Up, modifiers)
    assert owner.values[0].tolist() == [pytest.approx(0.1 + step), pytest.approx(0.2 + step), 0.3]
    owner.key(Key.Key_Down, modifiers)
    assert owner.values[0].tolist() == [0.1, 0.2, 0.3]
    assert owner.edits[0].verb == "step"
    assert owner.edits[0].gesture != owner.edits[1].gesture


def test_a_key_held_down_is_one_gesture(owner: Owner) -> None:
    for repeated in (False, True, True):
        QApplication.sendEvent(owner.table, QKeyEvent(QEvent.Type.KeyPress, Key.Key_Up, NONE, "", repeated))
    assert owner.values[0, 0] == 0.4
    assert len({edit.gesture for edit in owner.edits}) == 1
    assert len(owner.edits) == 3


def test_gesture_numbers_differ_between_tables(owner: Owner, big: Owner) -> None:
    owner.table.setFocus()
    QTest.keyClick(owner.table, Key.Key_Up)
    QTest.keyClick(big.table, Key.Key_Up)
    assert owner.edits[0].gesture != big.edits[0].gesture


@pytest.mark.parametrize(
    ("key", "modifiers", "selection"),
    [
        (Key.Key_Left, NONE, (1, 0, 1, 1)),
        (Key.Key_Right, NONE, (1, 2, 1, 1)),
        (Key.Key_Up, ALT, (0, 1, 1, 1)),
        (Key.Key_Down, ALT, (2, 1, 1, 1)),
        (Key.Key_Left, ALT, (1, 0, 1, 1)),
        (Key.Key_Down, ALT | SHIFT, (1, 1, 2, 1)),
        (Key.Key_Left, ALT | SHIFT, (1, 0, 1, 2)),
        (Key.Key_Home, NONE, (1, 0, 1, 1)),
        (Key.Key_End, NONE, (1, 2, 1, 1)),
        (Key.Key_End, CTRL, (3, 2, 1, 1)),
        (Key.Key_Home, CTRL | SHIFT, (0, 0, 2, 2)),
        (Key.Key_PageDown, NONE, (3, 1, 1, 1)),
        (Key.Key_PageUp, NONE, (0, 1, 1, 1)),
        (Key.Key_Tab, NONE, (1, 2, 1, 1)),
        (Key.Key_Backtab, SHIFT, (1, 0, 1, 1)),
        (Key.Key_A, CTRL, (0, 0, 4, 3)),
    ],
)
def test_keys_move_and_extend(
    owner: Owner, key: Qt.Key, modifiers: Qt.KeyboardModifier, selection: tuple[int, int, int, int]
) -> None:
    owner.click(1, 1)
    owner.key(key, modifiers)
    assert owner.table.selection() == selection
    assert owner.edits == []


def test_tab_leaves_the_table_at_its_end(owner: Owner) -> None:
    owner.click(3, 2)
    owner.key(Key.Key_Tab)
    assert owner.after.hasFocus()
    owner.table.setFocus()
    owner.type("4")
    owner.key(Key.Key_Tab)
    assert owner.values[3, 2] == 4
    assert owner.after.hasFocus()


@pytest.mark.parametrize("key", [Key.Key_Delete, Key.Key_Backspace])
def test_delete_clears_the_block(owner: Owner, key: Qt.Key) -> None:
    owner.table.select(1, 0, 2, 2)
    owner.key(key)
    assert owner.values[1:3, :2].tolist() == [[0, 0], [0, 0]]
    assert owner.edits[0].verb == "clear"
    owner.key(key)
    assert len(owner.edits) == 1


def test_undo_reaches_the_window_unless_text_was_typed(owner: Owner) -> None:
    owner.key(Key.Key_Z, CTRL)
    assert owner.undone == 1
    owner.key(Key.Key_F2)
    owner.key(Key.Key_Z, CTRL)
    assert owner.undone == 2
    owner.type("5")
    owner.key(Key.Key_Z, CTRL)
    assert owner.undone == 2
    assert owner.editor is not None
    assert owner.editor.text() == "0.1"


def test_escape_reaches_the_window_unless_a_drag_is_active(owner: Owner) -> None:
    event = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Escape, NONE)
    QApplication.sendEvent(owner.table, event)
    assert not event.isAccepted()


def test_arrow_keys_of_the_table_take_precedence_over_shortcuts(owner: Owner) -> None:
    stepped: list[bool] = []
    action = QAction("Next step", owner.window)
    action.setShortcut("Right")
    action.triggered.connect(stepped.append)
    owner.window.addAction(action)
    owner.key(Key.Key_Right)
    assert owner.table.selection() == (0, 1, 1, 1)
    owner.after.setFocus()
    owner.key(Key.Key_Right, ALT)
    assert stepped == []


# Clipboard


def test_copy_and_cut_give_every_digit(owner: Owner) -> None:
    owner.values[0, 0] = 1 / 3
    owner.show_values()
    owner.table.select(0, 0, 2, 2)
    owner.key(Key.Key_C, CTRL)
    assert QGuiApplication.clipboard().text() == "0.3333333333333333\t0.2\n0.4\t0.5"
    assert owner.edits == []
    owner.key(Key.Key_X, CTRL)
    assert owner.values[:2, :2].tolist() == [[0, 0], [0, 0]]
    owner.click(2, 1)
    owner.key(Key.Key_V, CTRL)
    assert owner.values[2:, 1:].tolist() == [[1 / 3, 0.2], [0.4, 0.5]]
    assert owner.table.selection() == (2, 1, 2, 2)
    assert [edit.verb for edit in owner.edits] == ["clear", "paste"]


@pytest.mark.parametrize(
    "text", ["1\t2\n3\t4\n", "[[1, 2], [3, 4]]", "1,2,\n3,4,", "1;2\r\n3;4", "\ta\tb\nx\t1\t2\ny\t3\t4"]
)
def test_a_block_is_pasted_from_the_current_cell(owner: Owner, text: str) -> None:
    owner.click(2, 1)
    owner.paste(text)
    assert owner.values[2:, 1:].tolist() == [[1, 2], [3, 4]]


def test_one_number_fills_the_block(owner: Owner) -> None:
    owner.table.select(0, 0, 2, 3)
    owner.paste("0,5")
    assert (owner.values[:2] == 0.5).all()
    assert len(owner.edits) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "1\t2\n3\t4",
            "Row with, column 2: the pasted block is 2 × 2 but there is room for 1 × 1 here;"
            " start at row starts, column 1, or further up or left. Nothing was changed.",
        ),
        (
            "1\t2\t3\t4",
            "Row with, column 2: the pasted block is 1 × 4 but there is room for 1 × 1 here;"
            " this table takes at most 4 × 3. Nothing was changed.",
        ),
        (
            "x",
            "Row 1, column 1 of the pasted block: 'x' is not a number; type one such as 0.25. Nothing was changed.",
        ),
    ],
)
def test_an_invalid_paste_is_refused_and_changes_nothing(owner: Owner, text: str, sentence: str) -> None:
    owner.click(3, 2)
    owner.paste(text)
    assert owner.messages == [sentence]
    assert owner.edits == []
    owner.paste("8")
    assert owner.messages[-1] == ""
    assert owner.values[3, 2] == 8


# Read only


def test_a_read_only_table_selects_and_copies_and_explains_refusals(qtbot: QtBot) -> None:
    owner = Owner(np.eye(3), qtbot, editable=False)
    owner.drag(owner.at(0, 0), (owner.table.grid().cell_width, 0))
    assert owner.table.selection() == (0, 0, 1, 2)
    owner.key(Key.Key_C, CTRL)
    assert QGuiApplication.clipboard().text() == "1.0\t0.0"
    assert owner.messages == []
    for key in (Key.Key_F2, Key.Key_5, Key.Key_Up, Key.Key_Delete):
        owner.key(key)
    owner.key(Key.Key_X, CTRL)
    owner.paste("1")
    owner.turn(owner.at(0, 0), 1)
    QTest.mouseDClick(owner.table.viewport(), Button.LeftButton, NONE, owner.at(0, 0))
    assert owner.messages == [READ_ONLY] * 8
    assert owner.edits == []
    assert owner.editor is None

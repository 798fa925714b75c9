"""Dragging, stepping and selecting the numbers of a matrix by mouse."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from attnlab.base.number_text import FLOAT32_MAX
from tests.ui.widgets.matrix_owner import CTRL, NONE, SHIFT, Button, Key, Owner

# Dragging


@pytest.mark.parametrize(("modifiers", "per_pixel"), [(NONE, 0.01), (SHIFT, 0.001), (CTRL, 0.1)])
def test_a_horizontal_drag_changes_the_number_in_one_gesture(
    owner: Owner, modifiers: Qt.KeyboardModifier, per_pixel: float
) -> None:
    owner.drag(owner.at(1, 1), (2, 0), (10, 3), (30, 60), (20, 0), modifiers=modifiers)
    assert [edit.values.tolist() for edit in owner.edits] == [
        [[pytest.approx(0.5 + n * per_pixel, abs=1e-12)]] for n in (10, 30, 20)
    ]
    assert {edit.verb for edit in owner.edits} == {"drag"}
    assert len({edit.gesture for edit in owner.edits}) == 1
    assert owner.table.selection() == (1, 1, 1, 1)
    owner.drag(owner.at(1, 1), (10, 0))
    assert len({edit.gesture for edit in owner.edits}) == 2


def test_a_modifier_pressed_during_a_drag_causes_no_jump(owner: Owner) -> None:
    start = owner.at(1, 1)
    owner.press(start)
    owner.move(start + QPoint(10, 0))
    owner.move(start + QPoint(20, 0), SHIFT)
    owner.release(start)
    assert owner.values[1, 1] == 0.61


def test_dragging_in_a_block_changes_the_whole_block_equally(owner: Owner) -> None:
    owner.table.select(0, 0, 2, 2)
    owner.drag(owner.at(1, 1), (50, 0))
    assert owner.values[:2, :2].tolist() == [[0.6, 0.7], [0.9, 1.0]]
    assert owner.values[2, 0] == 0.7
    assert owner.table.selection() == (0, 0, 2, 2)


def test_escape_during_a_drag_restores_the_values(owner: Owner) -> None:
    start = owner.at(1, 1)
    owner.press(start)
    owner.move(start + QPoint(40, 0))
    assert owner.values[1, 1] == 0.9
    owner.key(Key.Key_Escape)
    assert owner.values[1, 1] == 0.5
    owner.move(start + QPoint(80, 0))
    owner.release(start + QPoint(80, 0))
    assert owner.values[1, 1] == 0.5
    assert len(owner.edits) == 2
    assert owner.edits[0].gesture == owner.edits[1].gesture


def test_a_drag_beyond_float32_is_clamped(owner: Owner) -> None:
    owner.values[0, :2] = FLOAT32_MAX, -1.0
    owner.show_values()
    owner.table.select(0, 0, 1, 2)
    owner.drag(owner.at(0, 0), (100, 0), modifiers=CTRL)
    assert owner.values[0, :2].tolist() == [FLOAT32_MAX, 9.0]


def test_a_drag_that_starts_downwards_selects_a_block(owner: Owner) -> None:
    across = owner.at(2, 2) - owner.at(1, 1)
    owner.drag(owner.at(1, 1), (1, 6), (across.x(), across.y()))
    assert owner.table.selection() == (1, 1, 2, 2)
    assert owner.selections[-1] == (1, 1, 2, 2)
    assert owner.edits == []
    owner.click(2, 2)
    assert owner.table.selection() == (2, 2, 1, 1)


def test_shift_click_extends_and_extends_again(owner: Owner) -> None:
    owner.click(2, 2)
    owner.click(0, 1, SHIFT)
    assert owner.table.selection() == (0, 1, 3, 2)
    owner.click(3, 0, SHIFT)
    assert owner.table.selection() == (2, 0, 2, 3)


def test_headers_select_rows_columns_and_all(owner: Owner) -> None:
    grid = owner.table.grid()
    row = QPoint(10, owner.at(1, 0).y())
    owner.drag(row, (0, grid.cell_height))
    assert owner.table.selection() == (1, 0, 2, 3)
    column = QPoint(owner.at(0, 1).x(), grid.header_height - 5)
    owner.drag(column, (0, 0))
    assert owner.table.selection() == (0, 1, 4, 1)
    QTest.mouseClick(owner.table.viewport(), Button.LeftButton, SHIFT, column + QPoint(grid.cell_width, 0))
    assert owner.table.selection() == (0, 1, 4, 2)
    QTest.mouseClick(owner.table.viewport(), Button.LeftButton, NONE, QPoint(5, 5))
    assert owner.table.selection() == (0, 0, 4, 3)


def test_a_head_caption_selects_the_columns_of_the_head(big: Owner) -> None:
    big.table.select(0, 64)
    point = QPoint(big.at(0, 64).x(), 4)
    QTest.mouseClick(big.table.viewport(), Button.LeftButton, NONE, point)
    assert big.table.selection() == (0, 64, 512, 64)


# Wheel


@pytest.mark.parametrize(("modifiers", "step"), [(NONE, 0.1), (SHIFT, 0.01), (CTRL, 1.0)])
@pytest.mark.parametrize("sideways", [False, True])
def test_the_wheel_steps_the_current_cell(
    owner: Owner, modifiers: Qt.KeyboardModifier, step: float, sideways: bool
) -> None:
    owner.click(1, 1)
    owner.turn(owner.at(1, 1), 2, modifiers, sideways=sideways)
    assert owner.values[1, 1] == pytest.approx(0.5 + 2 * step, abs=1e-12)
    assert owner.edits[0].verb == "wheel"


def test_wheel_steps_close_in_time_are_one_gesture(owner: Owner) -> None:
    owner.click(1, 1)
    for at_ms in (1000, 1600, 2299, 3100):
        owner.turn(owner.at(1, 1), -1, at_ms=at_ms)
    gestures = [edit.gesture for edit in owner.edits]
    assert gestures[0] == gestures[1] == gestures[2] != gestures[3]
    owner.click(2, 1)
    owner.turn(owner.at(2, 1), 1, at_ms=3101)
    assert owner.edits[-1].gesture not in gestures


def test_small_wheel_deltas_add_up_to_a_step(owner: Owner) -> None:
    owner.click(1, 1)
    for _ in range(3):
        owner.turn(owner.at(1, 1), 0.25)
    assert owner.edits == []
    owner.turn(owner.at(1, 1), 0.25)
    assert owner.values[1, 1] == 0.6


def test_the_wheel_scrolls_elsewhere_and_without_focus(big: Owner) -> None:
    big.click(0, 0)
    big.turn(big.at(2, 1), -1)
    assert big.table.verticalScrollBar().value() > 0
    big.table.verticalScrollBar().setValue(0)
    big.after.setFocus()
    big.turn(big.at(0, 0), -1)
    assert big.table.verticalScrollBar().value() > 0
    assert big.edits == []

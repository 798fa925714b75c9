"""A person edits a matrix: by typing, dragging, turning, stepping and pasting; bad input is refused in a sentence."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPalette,
    QWheelEvent,
)  # fmt: skip
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.number_text import FLOAT32_MAX
from attnlab.ui.widgets.matrix_table import READ_ONLY, BlockEdit, MatrixTable

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
NO_PHASE = Qt.ScrollPhase.NoScrollPhase
NONE, SHIFT, CTRL, ALT = Mod.NoModifier, Mod.ShiftModifier, Mod.ControlModifier, Mod.AltModifier


class Owner:
    """What a person sees and does: a window with a table whose owner accepts every edit."""

    def __init__(self, values: NDArray[np.floating], qtbot: QtBot, group: int = 0, editable: bool = True) -> None:
        self.values = np.array(values, dtype=np.float64)
        self.group, self.editable = group, editable
        self.rows = [("Your", "journey", "starts", "with")[i] if i < 4 else f"t{i}" for i in range(len(values))]
        self.edits: list[BlockEdit] = []
        self.messages: list[str] = []
        self.selections: list[object] = []
        self.hovered: list[object] = []
        self.undone = 0
        self.window = QWidget()
        self.table = MatrixTable(self.window)
        self.table.setGeometry(10, 10, 400, 260)
        self.after = QLineEdit(self.window)
        self.after.setGeometry(10, 280, 400, 30)
        action = QAction("Undo", self.window)
        action.setShortcut("Ctrl+Z")
        action.triggered.connect(self._on_undo)
        self.window.addAction(action)
        self.table.edited.connect(self._on_edited)
        self.table.message_raised.connect(self.messages.append)
        self.table.selection_changed.connect(self.selections.append)
        self.table.cell_hovered.connect(self.hovered.append)
        self.show_values()
        qtbot.addWidget(self.window)
        self.window.resize(420, 320)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)
        self.table.setFocus()

    def show_values(self) -> None:
        columns = [str(i) for i in range(self.values.shape[1])]
        self.table.set_matrix(self.values, self.rows, columns, group=self.group, editable=self.editable)

    def _on_edited(self, edit: BlockEdit) -> None:
        self.edits.append(edit)
        rows, columns = edit.values.shape
        self.values = self.values.copy()
        self.values[edit.row : edit.row + rows, edit.column : edit.column + columns] = edit.values
        self.show_values()

    def _on_undo(self) -> None:
        self.undone += 1

    def at(self, row: int, column: int) -> QPoint:
        return self.table.grid().cell(row, column).center()

    def click(self, row: int, column: int, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseClick(self.table.viewport(), Button.LeftButton, modifiers, self.at(row, column))

    def press(self, point: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mousePress(self.table.viewport(), Button.LeftButton, modifiers, point)

    def move(
        self, point: QPoint, modifiers: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = Button.LeftButton
    ) -> None:
        there = self.table.viewport().mapToGlobal(point)
        QApplication.sendEvent(self.table.viewport(), QMouseEvent(
            QEvent.Type.MouseMove, QPointF(point), QPointF(there), Button.NoButton, button, modifiers,
        ))  # fmt: skip

    def release(self, point: QPoint) -> None:
        QTest.mouseRelease(self.table.viewport(), Button.LeftButton, NONE, point)

    def drag(self, start: QPoint, *offsets: tuple[int, int], modifiers: Qt.KeyboardModifier = NONE) -> None:
        self.press(start, modifiers)
        for x, y in offsets:
            self.move(start + QPoint(x, y), modifiers)
        self.release(start + QPoint(*offsets[-1]))

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(QApplication.focusWidget(), key, modifiers)

    def type(self, text: str) -> None:
        for character in text:
            QTest.keyClicks(QApplication.focusWidget(), character)

    def turn(
        self,
        point: QPoint,
        notches: float,
        modifiers: Qt.KeyboardModifier = NONE,
        at_ms: int = 0,
        sideways: bool = False,
    ) -> None:
        delta = QPoint(int(120 * notches), 0) if sideways else QPoint(0, int(120 * notches))
        there = self.table.viewport().mapToGlobal(point)
        event = QWheelEvent(
            QPointF(point),
            QPointF(there),
            QPoint(),
            delta,
            Button.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        event.setTimestamp(at_ms)
        QApplication.sendEvent(self.table.viewport(), event)

    def paste(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.key(Key.Key_V, CTRL)

    @property
    def editor(self) -> QLineEdit | None:
        found = [child for child in self.table.viewport().findChildren(QLineEdit) if child.isVisible()]
        return found[0] if found else None


@pytest.fixture
def owner(qtbot: QtBot) -> Owner:
    """A 4 × 3 table; rows Your, journey, starts, with."""
    return Owner(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9], [-0.1, -0.2, -0.3]]), qtbot)


@pytest.fixture
def big(qtbot: QtBot) -> Owner:
    """A 512 × 512 table of 8 heads."""
    return Owner(np.random.default_rng(1).normal(size=(512, 512)), qtbot, group=64)


# Typing


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


def test_committing_what_was_not_changed_edits_nothing(owner: Owner) -> None:
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
        ("", "Row journey, column 1: nothing is typed here; type a number such as 0.25."),
    ],
)
def test_what_is_not_a_number_is_refused_and_stays_to_be_mended(owner: Owner, text: str, sentence: str) -> None:
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


def test_a_refused_step_in_the_editor_says_why(owner: Owner) -> None:
    owner.type("x")
    owner.key(Key.Key_Up)
    assert owner.messages == ["Row Your, column 0: 'x' is not a number; type one such as 0.25."]


def test_leaving_with_a_good_number_keeps_it(owner: Owner) -> None:
    owner.type("3")
    owner.click(2, 2)
    assert owner.values[0, 0] == 3
    assert owner.table.selection() == (2, 2, 1, 1)


def test_leaving_with_a_bad_one_keeps_the_old_value_and_every_other_edit(owner: Owner) -> None:
    owner.type("5")
    owner.key(Key.Key_Return)
    owner.type("abc")
    owner.after.setFocus()
    assert owner.editor is None
    assert owner.values[:2, 0].tolist() == [5, 0.4]
    assert owner.messages == ["Row journey, column 0: 'abc' is not a number; type one such as 0.25."]


def test_an_open_editor_stays_over_new_values_and_closes_with_its_cell(owner: Owner) -> None:
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


# Dragging


@pytest.mark.parametrize(("modifiers", "per_pixel"), [(NONE, 0.01), (SHIFT, 0.001), (CTRL, 0.1)])
def test_a_sideways_drag_scrubs_live_in_one_gesture(
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


def test_a_modifier_taken_in_the_middle_of_a_drag_makes_no_jump(owner: Owner) -> None:
    start = owner.at(1, 1)
    owner.press(start)
    owner.move(start + QPoint(10, 0))
    owner.move(start + QPoint(20, 0), SHIFT)
    owner.release(start)
    assert owner.values[1, 1] == 0.61


def test_dragging_in_a_block_moves_the_whole_block_by_the_same(owner: Owner) -> None:
    owner.table.select(0, 0, 2, 2)
    owner.drag(owner.at(1, 1), (50, 0))
    assert owner.values[:2, :2].tolist() == [[0.6, 0.7], [0.9, 1.0]]
    assert owner.values[2, 0] == 0.7
    assert owner.table.selection() == (0, 0, 2, 2)


def test_escape_in_a_drag_puts_the_start_values_back(owner: Owner) -> None:
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


def test_turns_close_in_time_are_one_gesture(owner: Owner) -> None:
    owner.click(1, 1)
    for at_ms in (1000, 1600, 2299, 3100):
        owner.turn(owner.at(1, 1), -1, at_ms=at_ms)
    gestures = [edit.gesture for edit in owner.edits]
    assert gestures[0] == gestures[1] == gestures[2] != gestures[3]
    owner.click(2, 1)
    owner.turn(owner.at(2, 1), 1, at_ms=3101)
    assert owner.edits[-1].gesture not in gestures


def test_small_turns_of_a_touchpad_gather_to_a_notch(owner: Owner) -> None:
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


def test_tab_leaves_at_the_end_with_and_without_editor(owner: Owner) -> None:
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


def test_undo_is_the_windows_unless_text_was_typed(owner: Owner) -> None:
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


def test_escape_is_the_windows_when_nothing_is_being_dragged(owner: Owner) -> None:
    event = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Escape, NONE)
    QApplication.sendEvent(owner.table, event)
    assert not event.isAccepted()


def test_the_tables_arrows_come_before_the_windows_shortcuts(owner: Owner) -> None:
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
            " start no further down or right than row starts, column 1. Nothing was changed.",
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
def test_a_paste_that_cannot_be_changes_nothing_and_says_so(owner: Owner, text: str, sentence: str) -> None:
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


# Looking


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_exact_value_is_one_hover_away(owner: Owner) -> None:
    owner.values[1, 1] = 1 / 3
    owner.show_values()
    point = owner.at(1, 1)
    there = owner.table.viewport().mapToGlobal(point)
    QApplication.sendEvent(owner.table.viewport(), QHelpEvent(QEvent.Type.ToolTip, point, there))
    assert QToolTip.text() == "Row journey, column 1\n0.3333333333333333"
    QToolTip.hideText()


def test_hovering_tells_the_cell_and_shows_that_it_can_be_dragged(owner: Owner) -> None:
    owner.move(owner.at(1, 1), button=Button.NoButton)
    assert owner.table.viewport().cursor().shape() == Qt.CursorShape.SizeHorCursor
    owner.move(owner.at(2, 1), button=Button.NoButton)
    owner.move(QPoint(3, 3), button=Button.NoButton)
    assert owner.table.viewport().cursor().shape() == Qt.CursorShape.ArrowCursor
    owner.move(owner.at(0, 0), button=Button.NoButton)
    QApplication.sendEvent(owner.table.viewport(), QEvent(QEvent.Type.Leave))
    assert owner.hovered == [(1, 1), (2, 1), None, (0, 0), None]


def colour_near_edge(owner: Owner, row: int, column: int) -> str:
    image = owner.table.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    cell = owner.table.grid().cell(row, column)
    return image.pixelColor(cell.left() + 8, cell.center().y()).name().upper()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_cells_are_tinted_around_zero_by_the_largest_magnitude(owner: Owner, theme: Palette) -> None:
    owner.table.set_palette(theme)
    owner.values[0] = [0.9, 0.0, -0.9]
    owner.show_values()
    blue, middle, orange = theme.diverging
    assert [colour_near_edge(owner, 0, column) for column in range(3)] == [orange, middle, blue]


def test_linked_cells_are_outlined_in_their_roles_colour(owner: Owner) -> None:
    def outline() -> str:
        image = owner.table.viewport().grab().toImage()
        row = owner.table.grid().block(2, 0, 1, 3)
        return image.pixelColor(row.center().x(), row.top() + 1).name().upper()

    before = outline()
    owner.table.set_highlight({2}, (), "key")
    assert outline() == LIGHT.key
    owner.table.set_highlight((), (), "key")
    assert outline() == before


def test_the_selected_cell_has_an_accent_ring(owner: Owner) -> None:
    owner.click(1, 1)
    cell = owner.table.grid().cell(1, 1)
    image = owner.table.viewport().grab().toImage()
    for inset in (0, 1):
        assert image.pixelColor(cell.left() + inset, cell.center().y()).name().upper() == LIGHT.accent


def test_what_is_not_finite_is_shown_and_never_pasted_on(qtbot: QtBot) -> None:
    owner = Owner(np.array([[np.nan, np.inf], [-np.inf, 0.5]]), qtbot)
    assert owner.table.tool_tip(owner.at(0, 0)).endswith("nan")
    assert colour_near_edge(owner, 1, 1) == LIGHT.diverging[2]


def test_few_columns_fill_the_width_and_many_scroll_below_fixed_headers(owner: Owner, big: Owner) -> None:
    right = owner.table.grid().cell(0, 2).right()
    assert owner.table.viewport().width() - right <= 4
    assert not owner.table.horizontalScrollBar().isVisible()
    big.click(0, 0)
    big.key(Key.Key_End, CTRL)
    body = big.table.grid().body()
    assert body.contains(big.table.grid().cell(511, 511))
    assert big.table.grid().hit(QPoint(5, body.top() + 5)).region == "row"
    assert big.table.grid().hit(big.at(511, 511)).row == 511


def test_heads_stand_apart(big: Owner) -> None:
    grid = big.table.grid()
    assert grid.column_x(64) - grid.column_x(63) > grid.cell_width
    assert grid.column_x(63) - grid.column_x(62) == grid.cell_width


def test_selection_and_scroll_stay_when_values_change(big: Owner) -> None:
    big.table.select(300, 200, 3, 3)
    at = big.table.verticalScrollBar().value(), big.table.horizontalScrollBar().value()
    big.values = big.values + 1
    big.show_values()
    assert big.table.selection() == (300, 200, 3, 3)
    assert (big.table.verticalScrollBar().value(), big.table.horizontalScrollBar().value()) == at
    assert min(at) > 0


def test_a_table_without_cells_takes_every_key_and_click(qtbot: QtBot) -> None:
    owner = Owner(np.zeros((2, 0)), qtbot)
    for key in (Key.Key_Up, Key.Key_5, Key.Key_Delete, Key.Key_Right, Key.Key_PageDown):
        owner.key(key)
    owner.key(Key.Key_A, CTRL)
    owner.key(Key.Key_C, CTRL)
    owner.paste("1")
    QTest.mouseClick(owner.table.viewport(), Button.LeftButton, NONE, QPoint(50, 50))
    owner.table.grab()
    assert owner.table.selection() == (0, 0, 0, 0)
    assert owner.edits == []


def test_labels_that_do_not_match_the_values_are_refused(qtbot: QtBot) -> None:
    table = MatrixTable()
    qtbot.addWidget(table)
    with pytest.raises(ValueError, match="2, 1"):
        table.set_matrix(np.eye(2), ["a", "b"], ["0"])


def test_any_script_and_length_of_label_is_drawn(qtbot: QtBot) -> None:
    table = MatrixTable()
    qtbot.addWidget(table)
    labels = ["שלום", "مرحبا", "注意力", "🦊", "word" * 5000, "", "two\nlines"]
    table.resize(300, 300)
    table.set_matrix(np.eye(7), labels, [str(i) for i in range(7)])
    table.show()
    assert table.grid().header_width <= 0.3 * 300 + 1
    assert table.tool_tip(QPoint(5, table.grid().cell(4, 0).center().y())) == labels[4]


def test_screen_readers_hear_the_current_cell(owner: Owner) -> None:
    owner.click(1, 2)
    assert owner.table.accessibleDescription() == "Row journey, column 2: 0.6"
    owner.key(Key.Key_Up)
    assert owner.table.accessibleDescription() == "Row journey, column 2: 0.7"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_context_menu_does_what_the_keys_do(owner: Owner, qtbot: QtBot) -> None:
    owner.click(1, 1)

    def choose(name: str) -> None:
        point = owner.at(1, 1)
        there = owner.table.viewport().mapToGlobal(point)
        QApplication.sendEvent(owner.table.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, there))
        menu = owner.table.findChildren(QMenu)[-1]
        action = next(action for action in menu.actions() if action.text().startswith(name))
        QTest.mouseClick(menu, Button.LeftButton, NONE, menu.actionGeometry(action).center())
        qtbot.waitUntil(lambda: not owner.table.findChildren(QMenu))

    choose("Copy")
    assert QGuiApplication.clipboard().text() == "0.5"
    choose("Clear")
    assert owner.values[1, 1] == 0
    choose("Paste")
    assert owner.values[1, 1] == 0.5
    choose("Select all")
    assert owner.table.selection() == (0, 0, 4, 3)
    choose("Edit")
    assert owner.editor is not None

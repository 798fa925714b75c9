"""A painted widget's cells for a screen reader: found by index, place and focus, made on demand, then released."""

import gc
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from attnlab.ui.base.cells import KEPT, HasCells
from tests.ears import NAME, Ears, element

SIDE = 512


class Table(HasCells, QWidget):
    """A map of 512 tokens, each cell one pixel large."""

    def __init__(self) -> None:
        super().__init__()
        self.at: int | None = None
        self.side = SIDE
        self.named = self.located = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Weights")
        self.resize(SIDE, SIDE)

    def count_cells(self) -> int:
        return self.side * self.side

    def name_cell(self, place: int) -> str:
        self.named += 1
        return f"row {place // SIDE}, column {place % SIDE}"

    def locate_cell(self, place: int) -> QRectF:
        self.located += 1
        return QRectF(place % SIDE, place // SIDE, 1, 1)

    def find_cell(self, at: QPointF) -> int | None:
        return int(at.y()) * SIDE + int(at.x()) if at.x() < SIDE else None

    @property
    def current_cell(self) -> int | None:
        return self.at

    def go(self, place: int) -> None:
        self.at = place
        self.tell_cell()


@pytest.fixture
def table(qtbot: QtBot) -> Table:
    widget = Table()
    qtbot.addWidget(widget)
    with qtbot.waitExposed(widget):
        widget.show()
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    return widget


def test_a_widget_with_cells_is_a_table_with_a_child_for_each(table: Table, listening: None) -> None:
    found = element(table)
    assert found.role() == QAccessible.Role.Table
    assert found.text(NAME) == "Weights"
    assert found.childCount() == SIDE * SIDE
    last = found.child(SIDE * SIDE - 1)
    assert last.text(NAME) == "row 511, column 511"
    assert last.role() == QAccessible.Role.Cell
    assert last.parent().text(NAME) == "Weights"
    assert found.indexOfChild(last) == SIDE * SIDE - 1
    assert found.child(SIDE * SIDE) is None
    assert found.child(-1) is None


def test_a_cell_is_found_at_its_place_on_the_screen(table: Table, listening: None) -> None:
    at = table.mapToGlobal(table.rect().topLeft())
    cell = element(table).childAt(at.x() + 12, at.y() + 40)
    assert cell.text(NAME) == "row 40, column 12"
    assert cell.rect().topLeft() - at == table.rect().topLeft() + cell.rect().topLeft() - at
    assert (cell.rect().x() - at.x(), cell.rect().y() - at.y()) == (12, 40)
    table.located = 0
    assert element(table).childAt(at.x() - 1, at.y()) is None
    assert table.located == 0, "each cell was asked for its place"


def test_a_widget_beside_the_cells_is_found_at_its_place(table: Table, listening: None) -> None:
    button = QPushButton("More", table)
    button.setGeometry(SIDE, 0, 80, 30)
    button.show()
    table.resize(SIDE + 80, SIDE)
    there = button.mapToGlobal(button.rect().center())
    table.located = 0
    assert element(table).childAt(there.x(), there.y()).text(NAME) == "More"
    assert element(table).childAt(there.x(), there.y() + 100) is None
    assert table.located == 0, "each cell was asked for its place"


def test_the_current_cell_has_the_focus(table: Table, listening: None) -> None:
    table.setFocus()
    table.at = 7
    state = element(table).focusChild().state()
    assert element(table).focusChild().text(NAME) == "row 0, column 7"
    assert (state.focused, state.selected, state.focusable) == (1, 1, 1)
    assert element(table).child(8).state().focused == 0


def test_moving_to_a_cell_reads_it(table: Table, ears: Ears) -> None:
    table.setFocus()
    QCoreApplication.processEvents()
    ears.forget()
    table.go(SIDE + 3)
    table.go(SIDE + 4)
    assert ears.read == ["row 1, column 3", "row 1, column 4"]
    table.clearFocus()
    ears.forget()
    table.go(5)
    assert ears.read == []


def test_coming_back_by_tab_reads_the_cell_that_was_left(table: Table, ears: Ears) -> None:
    table.at = 9
    table.clearFocus()
    ears.forget()
    table.setFocus(Qt.FocusReason.TabFocusReason)
    QCoreApplication.processEvents()
    assert ears.read == ["Weights", "row 0, column 9"]


def test_only_the_cells_that_were_asked_for_exist_and_not_too_many(table: Table, listening: None) -> None:
    found = element(table)
    assert table.named == 0
    first = weakref.ref(found.child(0))
    for place in range(1, 2 * KEPT):
        found.child(place)
    gc.collect()
    assert first() is None
    alive = [each for each in gc.get_objects() if type(each).__name__ == "_Cell"]
    assert len(alive) <= KEPT


def test_without_a_screen_reader_nothing_is_made(table: Table, qtbot: QtBot) -> None:
    assert not QAccessible.isActive()
    table.setFocus()
    for place in range(100):
        table.go(place)
    QCoreApplication.processEvents()
    assert table.named == 0
    assert not [each for each in gc.get_objects() if type(each).__name__ == "_Cell"]


def test_cells_of_a_widget_that_is_gone_are_gone_too(qtbot: QtBot, listening: None) -> None:
    widget = Table()
    cells = [element(widget).child(place) for place in range(20)]
    numbers = [QAccessible.uniqueId(cell) for cell in cells]
    assert QAccessible.accessibleInterface(numbers[3]) is cells[3]
    kept = weakref.ref(widget)
    Shiboken.delete(widget)
    del widget
    gc.collect()
    assert kept() is None
    assert [QAccessible.accessibleInterface(number) for number in numbers] == [None] * 20
    assert not any(map(Shiboken.isValid, cells))


def test_a_cell_that_a_smaller_map_no_longer_has_is_invalid(table: Table, listening: None) -> None:
    cell = element(table).child(500)
    assert cell.isValid()
    table.side = 2
    assert not cell.isValid()
    assert cell.text(NAME) == ""
    assert cell.rect().isEmpty()
    assert cell.role() == QAccessible.Role.NoRole
    assert cell.state().invalid == 1


def test_widgets_inside_come_after_the_cells(table: Table, listening: None) -> None:
    table.side = 3
    field = QLineEdit(table)
    field.setAccessibleName("Number")
    field.show()
    found = element(table)
    assert found.childCount() == 10
    assert found.child(9).text(NAME) == "Number"
    assert found.indexOfChild(found.child(9)) == 9

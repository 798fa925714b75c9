"""A table of numbers: sorting by header, copying with every digit, and a stable selection."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK
from attnlab.ui.base.themed import dress, palette_of
from attnlab.ui.widgets.numbers.number_model import Column, NumberModel
from attnlab.ui.widgets.numbers.number_table import NumberTable

NUMBERS = np.array([0.1, -2.0, np.nan, 10.0])
WORDS = ("the", "Cat", "a\tb", "sat")


def columns(numbers: np.ndarray = NUMBERS) -> list[Column]:
    return [Column("word", WORDS), Column("number", numbers, lambda value: f"{value:.2f}")]


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[NumberTable]:
    made = NumberTable("Numbers")
    made.resize(400, 300)
    made.set_columns(columns(), "abcd")
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    made.close()


def click_header(table: NumberTable, section: int) -> None:
    header = table.view.horizontalHeader()
    at = QPoint(header.sectionViewportPosition(section) + header.sectionSize(section) // 2, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)


def click_row(table: NumberTable, row: int) -> None:
    at = table.view.visualRect(table.view.model().index(row, 1)).center()
    QTest.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def shown(table: NumberTable, column: int) -> list[str]:
    model = table.view.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_clicks_sort_numerically_reverse_and_restore(table: NumberTable) -> None:
    assert shown(table, 1) == ["0.10", "-2.00", "nan", "10.00"]
    click_header(table, 1)
    assert shown(table, 1) == ["-2.00", "0.10", "10.00", "nan"]
    click_header(table, 1)
    assert shown(table, 1) == ["10.00", "0.10", "-2.00", "nan"]
    click_header(table, 1)
    assert shown(table, 1) == ["0.10", "-2.00", "nan", "10.00"]


def test_texts_are_sorted_ignoring_case(table: NumberTable) -> None:
    click_header(table, 0)
    assert shown(table, 0) == ["a\tb", "Cat", "sat", "the"]


def test_the_header_shows_the_direction_of_sorting(table: NumberTable) -> None:
    click_header(table, 1)
    assert table.view.model().headerData(1, Qt.Orientation.Horizontal) == "number ↑"
    click_header(table, 1)
    assert table.view.model().headerData(1, Qt.Orientation.Horizontal) == "number ↓"


def test_order_and_selection_survive_other_numbers_and_other_rows(table: NumberTable) -> None:
    click_header(table, 1)
    click_row(table, 2)
    assert table.list_selected_rows() == [3]
    table.set_columns(columns(np.array([4.0, 3.0, 2.0, 1.0])), "abcd")
    assert shown(table, 1) == ["1.00", "2.00", "3.00", "4.00"]
    assert table.list_selected_rows() == [3]
    assert table.view.currentIndex().row() == 0
    table.set_columns([Column("word", ("x", *WORDS)), Column("number", np.arange(5.0), str)], "zabcd")
    assert table.list_selected_rows() == [4]


def test_sorting_keeps_the_rows_that_are_selected(table: NumberTable) -> None:
    click_row(table, 1)
    click_header(table, 1)
    assert table.list_selected_rows() == [1]
    assert table.view.selectionModel().isRowSelected(0)


def test_ctrl_c_copies_the_selection_with_every_digit(table: NumberTable) -> None:
    table.set_columns(columns(np.array([1 / 3, 0.0, 0.0, 0.0])), "abcd")
    click_row(table, 0)
    QTest.keyClick(table.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == f"word\tnumber\nthe\t{1 / 3!r}\n"


def test_the_button_copies_everything_without_a_selection(table: NumberTable) -> None:
    click_header(table, 1)
    (button,) = table.findChildren(QPushButton)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines == ["word\tnumber", "Cat\t-2.0", "the\t0.1", "sat\t10.0", "a b\tnan"]
    assert button.text() == "Copied"
    for change in (lambda: click_row(table, 1), lambda: table.set_columns(columns(), "abcd")):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        change()
        assert button.text() == "Copy"


def test_enter_activates_the_selected_row(table: NumberTable, qtbot: QtBot) -> None:
    click_header(table, 1)
    click_row(table, 2)
    with qtbot.waitSignal(table.row_activated) as came:
        QTest.keyClick(table.view, Qt.Key.Key_Return)
    assert came.args == [3]


def test_the_keyboard_walks_the_rows_and_leaves_by_tab(table: NumberTable) -> None:
    table.setFocus()
    QTest.keyClick(table.view, Qt.Key.Key_Down)
    assert table.list_selected_rows() == [1]
    QTest.keyClick(table.view, Qt.Key.Key_Tab)
    assert not table.view.hasFocus()


def test_the_menu_sorts_without_a_mouse(table: NumberTable, qtbot: QtBot) -> None:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), table.view.mapToGlobal(QPoint(5, 5)))
    table.view.contextMenuEvent(event)
    (menu,) = table.view.findChildren(QMenu)
    (action,) = (action for action in menu.actions() if action.text() == "Sort by number")
    action.trigger()
    menu.close()
    assert shown(table, 1) == ["-2.00", "0.10", "10.00", "nan"]


def test_tints_are_painted_in_both_themes(table: NumberTable) -> None:
    def colour() -> str:
        rect = table.view.visualRect(table.view.model().index(1, 1))
        return table.view.viewport().grab().toImage().pixelColor(rect.left() + 2, rect.center().y()).name()

    plain = colour()
    table.set_columns([columns()[0], Column("number", NUMBERS, str, "", np.ones(4))], "abcd")
    light = colour()
    dress(table, DARK)
    assert len({plain, light, colour()}) == 3


def test_columns_that_do_not_fit_wrap_and_return(table: NumberTable, qtbot: QtBot) -> None:
    many = [Column("word", WORDS), *(Column(f"number {i}", NUMBERS * 10.0**i, str) for i in range(5))]
    table.resize(900, 300)
    table.set_columns(many, "abcd")
    click_row(table, 1)
    view, model = table.view, table.view.model()
    assert model.columnCount() == 6
    table.resize(300, 300)
    qtbot.waitUntil(lambda: model.columnCount() == 3)
    qtbot.waitUntil(lambda: view.horizontalScrollBar().maximum() == 0)
    assert [str(model.headerData(c, Qt.Orientation.Horizontal)) for c in range(3)] == [
        "word\nnumber 2",
        "number 0\nnumber 3",
        "number 1\nnumber 4",
    ]
    assert model.index(1, 1).data() == "-2.0\n-2000.0"
    assert table.list_selected_rows() == [1]
    assert table.text().splitlines()[0] == "word\t" + "\t".join(f"number {i}" for i in range(5))
    table.resize(900, 300)
    qtbot.waitUntil(lambda: model.columnCount() == 6)
    assert table.list_selected_rows() == [1]


def test_the_lines_of_a_wrapped_row_have_the_colours_of_their_titles(table: NumberTable, qtbot: QtBot) -> None:
    """So that a number in the second line is read with the title in the second line."""
    table.set_columns([*columns(), Column("least", -NUMBERS, str), Column("more", NUMBERS * 2, str)], "abcd")
    table.resize(200, 300)
    view = table.view
    qtbot.waitUntil(lambda: view.model().columnCount() == 2)
    row = view.visualRect(view.model().index(0, 1))
    palette = palette_of(table)
    for shown, top, end in (
        (view.horizontalHeader().viewport(), 0, view.horizontalHeader().height() - 2),
        (view.viewport(), row.top(), row.bottom()),
    ):
        image = shown.grab().toImage()

        def find_colours(first: int, last: int, image: QImage = image) -> set[str]:
            return {image.pixelColor(x, y).name() for y in range(first, last) for x in range(image.width())}

        middle = (top + end) // 2
        assert QColor(palette.ink).name() in find_colours(top, middle)
        assert QColor(palette.ink).name() not in find_colours(middle, end)
        assert QColor(palette.muted).name() in find_colours(middle, end)


def test_two_wrapped_rows_are_whole_in_the_least_height(table: NumberTable, qtbot: QtBot) -> None:
    many = [Column("word", WORDS), *(Column(f"number {i}", NUMBERS * 10.0**i, str) for i in range(5))]
    table.set_columns(many, "abcd")
    table.resize(300, 10)
    view = table.view
    qtbot.waitUntil(lambda: view.model().columnCount() == 3)
    qtbot.waitUntil(lambda: view.height() == view.minimumHeight())
    assert view.viewport().rect().contains(view.visualRect(view.model().index(1, 0)))


def test_the_scroll_bar_does_not_make_rows_wrap_for_ever(table: NumberTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """The width of the cells depends on their layout, so the layout must not depend on that width."""
    view, model = table.view, table.view.model()

    class Viewport:
        def width(self) -> int:
            return 250 if model.columnCount() == 6 else 900

    many = [Column("word", WORDS), *(Column(f"number {i}", NUMBERS * 10.0**i, str) for i in range(5))]
    table.set_columns(many, "abcd")
    monkeypatch.setattr(view, "viewport", Viewport)
    view._fit()
    view._fit()


def test_one_resize_wraps_the_rows_once(
    table: NumberTable, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    folded: list[int] = []
    fold = NumberModel.fold
    monkeypatch.setattr(NumberModel, "fold", lambda model, lines: (folded.append(lines), fold(model, lines)))
    table.resize(154, 283)
    numbers = [Column("c" * width, np.array([0.0]), "{:.3f}".format) for width in (12, 14, 10, 10, 10, 7, 11)]
    table.set_columns([Column("name", ["row"]), *numbers])
    for size in ((427, 153), (154, 283), (427, 153), (600, 120), (300, 90)):
        folded.clear()
        table.resize(*size)
        qapp.processEvents()
        assert len(folded) <= 1, size


def test_a_click_on_a_title_in_the_second_line_sorts_by_its_column(table: NumberTable, qtbot: QtBot) -> None:
    table.set_columns([*columns(), Column("least", -NUMBERS, str), Column("more", NUMBERS * 2, str)], "abcd")
    table.resize(200, 300)
    qtbot.waitUntil(lambda: table.view.model().columnCount() == 2)
    header = table.view.horizontalHeader()
    for line, title in ((0.25, "word ↑\nleast"), (0.75, "word\nleast ↑")):
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, int(header.height() * line)))
        assert table.view.model().headerData(0, Qt.Orientation.Horizontal) == title
    assert table.list_rows() == [3, 0, 1, 2]
    table.grab()  # painting raises nothing


def test_numbers_are_never_shortened_but_texts_are(table: NumberTable, qtbot: QtBot) -> None:
    long = ("Donaudampfschifffahrtsgesellschaft",) * 4
    table.set_columns([Column("word", long), Column("number", NUMBERS, lambda value: f"{value:.9f}")], "abcd")
    wide = table.view.horizontalHeader().sectionSize(0)
    table.resize(220, 300)
    header = table.view.horizontalHeader()
    qtbot.waitUntil(lambda: header.sectionSize(0) < wide)
    needed = table.view.fontMetrics().horizontalAdvance("10.000000000")
    assert header.sectionSize(1) > needed + 16
    qtbot.waitUntil(lambda: table.view.horizontalScrollBar().maximum() == 0)
    assert table.view.model().columnCount() == 2


def test_whole_texts_are_never_shortened(table: NumberTable, qtbot: QtBot) -> None:
    places = ("W_q[333, 53]", "W_q[333, 63]", "W_q[36, 53]", "W_q[36, 63]")
    numbers = [Column(f"number {i}", NUMBERS, lambda value: f"{value:.6f}") for i in range(3)]
    table.set_columns([Column("place", places, is_whole=True), *numbers], "abcd")
    needed = table.view.fontMetrics().horizontalAdvance(places[0])
    table.resize(330, 300)
    qtbot.waitUntil(lambda: table.view.model().columnCount() == 2)  # two lines, as there is too little room
    assert table.view.horizontalHeader().sectionSize(0) > needed + 16


@given(st.lists(st.floats(width=32) | st.just(float("nan")), min_size=1, max_size=12), st.booleans())
def test_any_numbers_are_in_order_and_nan_is_last(values: list[float], descending: bool) -> None:
    order = Column("x", np.array(values), str).order(descending).tolist()
    assert sorted(order) == list(range(len(values)))
    numbers = [values[i] for i in order if values[i] == values[i]]
    assert numbers == sorted(numbers, reverse=descending)
    assert all(values[i] != values[i] for i in order[len(numbers) :])

"""The appearance of a matrix table: exact values, tints, links, heads, labels, and a menu."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QHelpEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.matrix.matrix_table import MatrixTable
from tests.ui.widgets.matrix_owner import CTRL, NONE, Button, Key, Owner


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_tool_tip_has_the_exact_value(owner: Owner) -> None:
    owner.values[1, 1] = 1 / 3
    owner.show_values()
    point = owner.at(1, 1)
    there = owner.table.viewport().mapToGlobal(point)
    QApplication.sendEvent(owner.table.viewport(), QHelpEvent(QEvent.Type.ToolTip, point, there))
    assert QToolTip.text() == "Row journey, column 1\n0.3333333333333333"
    QToolTip.hideText()


def test_hovering_emits_the_cell_and_shows_the_drag_cursor(owner: Owner) -> None:
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
    dress(owner.table, theme)
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


def test_non_finite_numbers_are_shown_but_not_copied(qtbot: QtBot) -> None:
    owner = Owner(np.array([[np.nan, np.inf], [-np.inf, 0.5]]), qtbot)
    assert owner.table.tool_tip(owner.at(0, 0)).endswith("nan")
    assert colour_near_edge(owner, 1, 1) == LIGHT.diverging[2]


def test_few_columns_fill_the_width_and_many_scroll_under_fixed_headers(owner: Owner, big: Owner) -> None:
    right = owner.table.grid().cell(0, 2).right()
    assert owner.table.viewport().width() - right <= 4
    assert not owner.table.horizontalScrollBar().isVisible()
    big.click(0, 0)
    big.key(Key.Key_End, CTRL)
    body = big.table.grid().body()
    assert body.contains(big.table.grid().cell(511, 511))
    assert big.table.grid().hit(QPoint(5, body.top() + 5)).region == "row"
    assert big.table.grid().hit(big.at(511, 511)).row == 511


def test_no_number_is_clipped_by_the_edge(owner: Owner) -> None:
    owner.group = 4
    for columns in (1, 2, 3, 4, 5, 6, 8, 20, 64):
        owner.values = np.full((4, columns), -0.2013)
        owner.show_values()
        for width in (200, 232, 268, 301, 400):
            owner.table.resize(width, 260)
            grid = owner.table.grid()
            shown = [c for c in range(columns) if grid.cell(0, c).left() + 8 < grid.width]  # or a digit
            assert all(grid.cell(0, column).right() < grid.width for column in shown), (columns, width)
            assert grid.cell_width >= 48  # what three decimals and a sign need
            scrolls = owner.table.horizontalScrollBar().maximum() > 0
            assert grid.columns_right_of_it() == (len(shown) < columns) == scrolls, (columns, width)


def header_end(owner: Owner) -> QImage:
    grid, image = owner.table.grid(), owner.table.viewport().grab().toImage()
    return image.copy(grid.width - 6, grid.caption_height, 6, grid.header_height - grid.caption_height)


def test_a_mark_shows_that_there_are_more_columns(big: Owner) -> None:
    blank = QImage(header_end(big))
    blank.fill(blank.pixel(0, 0))
    assert header_end(big) != blank
    big.key(Key.Key_End)
    assert big.table.horizontalScrollBar().value() == big.table.horizontalScrollBar().maximum()
    assert not big.table.grid().columns_right_of_it()
    assert header_end(big) == blank


def test_heads_are_separated(big: Owner) -> None:
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


def test_an_empty_table_accepts_every_key_and_click(qtbot: QtBot) -> None:
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


def test_minus_signs_are_true_on_screen_and_hyphens_when_copied(owner: Owner) -> None:
    owner.click(3, 1)
    assert owner.table.tool_tip(owner.at(3, 1)) == "Row with, column 1\n−0.2"
    assert owner.table.accessibleDescription() == "Row with, column 1: −0.2"
    owner.table.copy_selected()
    assert QGuiApplication.clipboard().text() == "-0.2"
    for typed in ("−0.7", "-0.7"):
        owner.click(3, 1)
        owner.paste(typed)
        assert owner.values[3, 1] == -0.7
        owner.paste("0")


def test_screen_readers_get_the_current_cell(owner: Owner) -> None:
    owner.click(1, 2)
    assert owner.table.accessibleDescription() == "Row journey, column 2: 0.6"
    owner.key(Key.Key_Up)
    assert owner.table.accessibleDescription() == "Row journey, column 2: 0.7"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_context_menu_has_the_actions_of_the_keys(owner: Owner, qtbot: QtBot) -> None:
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

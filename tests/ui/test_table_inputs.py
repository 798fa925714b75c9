"""Tables of numbers: typing, dragging, pasting, tabs and outlines, and edits while an editor is open."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QTextLayout
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QStyle, QStyleOptionFrame

from attnlab.attention import edits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")


# Numbers


def test_the_last_row_lies_above_the_scroll_bar(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("causal-5x8")
    person.window.resize(1440, 900)
    table = person.table
    person.wait_for(lambda: table.horizontalScrollBar().maximum() > 0 and table.verticalScrollBar().maximum() == 0)
    assert table.viewport().rect().contains(table.grid().cell(7, 0))


def test_the_hint_keeps_its_keys_in_one_line(person: "Person") -> None:
    label = next(one for one in person.playground.inputs.findChildren(QLabel) if one.text().startswith("Drag a number"))
    layout = QTextLayout(label.text(), label.font())
    for width in range(150, 400, 10):
        layout.beginLayout()
        starts = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            starts.append(label.text()[line.textStart() :])
        layout.endLayout()
        assert not any(start.startswith(("↓", "fine", "coarse")) for start in starts), width


def test_a_typed_number_changes_the_output(person: "Person") -> None:
    before = {name: person.painted(name).copy() for name in ("queries", "keys", "scores", "weights", "output")}
    person.type_number(0, 1, "2.5")
    person.settle()
    assert person.in_table()[0, 1] == 2.5
    x, w = person.painted("inputs")[0], person.in_table()
    np.testing.assert_allclose(person.painted("queries")[0], x @ w, rtol=1e-6)
    for name in ("queries", "scores", "weights", "output"):
        assert not np.array_equal(person.painted(name), before[name])
    np.testing.assert_array_equal(person.painted("keys"), before["keys"])
    assert person.history()[-1] == "Type W_q[0, 1] = 2.5"


def test_the_digits_are_whole_while_a_number_is_typed(person: "Person") -> None:
    person.click_number(1, 0)
    person.type("-0.5")
    editor = person.window.findChild(QLineEdit, "cell editor")
    assert editor is not None
    option = QStyleOptionFrame()
    editor.initStyleOption(option)
    room = editor.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, editor)
    assert room.height() >= editor.fontMetrics().boundingRect("0123456789").height()
    assert room.width() >= editor.fontMetrics().horizontalAdvance("-0.5")
    assert editor.width() <= person.table.grid().cell(1, 0).width()


def test_a_drag_updates_live_and_is_one_step(person: "Person") -> None:
    start, before = person.in_table(), person.experiment
    weights = person.painted("weights").copy()
    view, at = person.table.viewport(), person.table.grid().cell(1, 1).center()
    QTest.mousePress(view, Button.LeftButton, Mod.NoModifier, at)
    seen = []
    for x in (10, 60, 150):
        person.move(view, at + QPoint(x, 0), Button.LeftButton)
        person.settle()
        seen.append(person.painted("weights").copy())
        assert person.in_table()[1, 1] == pytest.approx(start[1, 1] + x / 100)
    assert all(not np.array_equal(a, b) for a, b in zip([weights, *seen], seen, strict=False))
    QTest.mouseRelease(view, Button.LeftButton, Mod.NoModifier, at + QPoint(150, 0))
    assert len(person.history()) == 2
    person.undo()
    assert person.experiment is before
    np.testing.assert_array_equal(person.in_table(), start)


@pytest.mark.parametrize(
    ("modifiers", "step"), [(Mod.NoModifier, 0.1), (Mod.ShiftModifier, 0.01), (Mod.ControlModifier, 1.0)]
)
def test_wheel_and_arrows_step_finely_and_coarsely(person: "Person", modifiers: Mod, step: float) -> None:
    start = person.in_table()[2, 0]
    person.click_number(2, 0)
    person.key(Key.Key_Up, modifiers)
    assert person.in_table()[2, 0] == pytest.approx(start + step, abs=1e-6)
    person.key(Key.Key_Down, modifiers)
    person.key(Key.Key_Down, modifiers)
    assert person.in_table()[2, 0] == pytest.approx(start - step, abs=1e-6)
    person.turn(person.table.viewport(), person.table.grid().cell(2, 0).center(), 3, modifiers)
    assert person.in_table()[2, 0] == pytest.approx(start + 2 * step, abs=1e-6)
    steps = len(person.history())
    assert steps == 5  # three keys and one turn of the wheel
    for _ in range(steps - 1):
        person.undo()
    assert person.in_table()[2, 0] == start


def test_blocks_can_be_copied_to_and_pasted_from_a_spreadsheet(person: "Person") -> None:
    person.click_number(0, 0)
    person.click_number(1, 1, Mod.ShiftModifier)
    copied = person.copy()
    block = person.in_table()[:2, :2]
    np.testing.assert_array_equal([[float(n) for n in line.split("\t")] for line in copied.splitlines()], block)
    person.open_table("W_k")
    person.click_number(1, 0)
    person.paste("1\t2\r\n-3,5\t4e-2\r\n")
    np.testing.assert_allclose(person.in_table()[1:], [[1, 2], [-3.5, 0.04]], rtol=1e-6)
    assert person.history()[-1] == "Paste into 2 × 2 of W_k"
    person.settle()
    x = person.painted("inputs")[0]
    np.testing.assert_allclose(person.painted("keys")[0], x @ person.in_table(), rtol=1e-5)
    person.undo()
    assert len(person.document.history.entries) == 2
    assert person.document.history.index == 0


def test_copying_and_pasting_back_changes_no_bit(person: "Person") -> None:
    before = person.experiment.weights.W_q
    person.table.setFocus()
    person.key(Key.Key_A, Mod.ControlModifier)
    person.paste(person.copy())
    assert person.experiment.weights.W_q is not None
    assert before is not None
    assert torch.equal(person.experiment.weights.W_q, before)
    assert len(person.history()) == 1


@pytest.mark.slow
def test_every_table_can_be_opened_and_edited(person: "Person", subtests: pytest.Subtests) -> None:
    person.press("Output W_o")
    person.press("Biases")
    for title in ("X", "W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"):
        with subtests.test(title=title):
            person.open_table(title)
            assert person.table.accessibleName() == f"Numbers of {title}"
            person.settle()
            before = person.painted("output").copy()
            person.type_number(0, 1, "-1.5")
            assert person.in_table()[0, 1] == -1.5
            person.settle()
            if title != "b_k":  # the same for every key, so softmax does not see it
                assert not np.allclose(person.painted("output"), before, atol=1e-6)
            assert person.history()[-1] == f"Type {title}[0, 1] = −1.5"
            person.undo()
            person.settle()
            np.testing.assert_array_equal(person.painted("output"), before)


def test_the_table_is_tinted_by_value(person: "Person") -> None:
    person.type_number(0, 0, "-9")
    person.type_number(0, 1, "9")
    image = person.table.viewport().grab().toImage()

    def colour(row: int, column: int) -> tuple[int, int, int]:
        corner = person.table.grid().cell(row, column).topLeft() + QPoint(6, 6)
        pixel = image.pixelColor(corner)
        return pixel.red(), pixel.green(), pixel.blue()

    (red, _, blue), (red_too, _, blue_too) = colour(0, 0), colour(0, 1)
    assert blue > red + 60  # below zero
    assert red_too > blue_too + 60  # above


def test_the_columns_of_heads_are_separated(sit_down: "Callable[..., Person]") -> None:
    grid = sit_down("uneven-heads").table.grid()
    assert grid.group == 5
    gaps = [grid.column_x(column + 1) - grid.column_x(column) - grid.cell_width for column in range(9)]
    assert [place for place, gap in enumerate(gaps) if gap > 4] == [4]


def test_absent_tables_have_no_tabs(person: "Person") -> None:
    def offered() -> list[str]:
        return [
            b.accessibleName().removeprefix("Table ")
            for b in person.playground.inputs.findChildren(QAbstractButton)
            if b.isVisible() and b.accessibleName().startswith("Table ")
        ]

    assert offered() == ["X", "W_q", "W_k", "W_v"]
    person.press("Output W_o")
    person.press("Biases")
    assert offered() == ["X", "W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"]
    person.open_table("b_o")
    person.press("Biases")
    assert offered() == ["X", "W_q", "W_k", "W_v", "W_o"]
    assert person.table.accessibleName() == "Numbers of W_o"


def test_tables_of_entries_can_be_edited_and_disappear_with_the_entry(person: "Person") -> None:
    person.choose("Score", "additive")
    person.settle()
    for title, size in (("W_d", (2, 2)), ("W_e", (2, 2)), ("v_a", (1, 2))):
        person.open_table(title)
        assert person.table.accessibleName() == f"Numbers of {title}"
        assert person.in_table().shape == size
    before = person.painted("scores").copy()
    person.type_number(0, 1, "-1.5")
    person.settle()
    assert person.history()[-1] == "Type v_a[0, 1] = −1.5"
    assert not np.allclose(person.painted("scores"), before, atol=1e-6)
    person.undo()
    person.undo()
    assert person.table.accessibleName() == "Numbers of W_q"
    tabs = [b for b in person.playground.inputs.findChildren(QAbstractButton) if b.accessibleName() == "Table v_a"]
    assert not any(tab.isVisible() for tab in tabs)


def test_rows_of_learned_positions_are_numbered_and_linked_to_tokens(person: "Person") -> None:
    person.choose("Positions", "learned")
    person.open_table("P")
    person.settle()
    assert person.in_table().shape[1] == 3
    numbers = person.in_table()
    assert person.painted("inputs")[0, 0] == pytest.approx(person.experiment.embeddings[0].numpy() + numbers[0])
    person.document.select(None, pin=True)
    before = row_names(person)
    person.click_cell("weights", 2, 0)
    now = row_names(person)
    assert [row for row in range(len(now)) if now[row] != before[row]] == [0, 2]


def row_names(person: "Person") -> list[QImage]:
    """Return the painted name of each row of the open table, bold if the row is outlined."""
    cells = [person.table.grid().cell(row, 0) for row in range(person.in_table().shape[0])]
    image = person.table.viewport().grab().toImage()
    return [image.copy(0, cell.top() + 4, cell.left() - 4, cell.height() - 8) for cell in cells]


def test_outlines_of_one_table_are_not_shown_in_another(person: "Person") -> None:
    person.open_table("W_k")
    plain = person.table.viewport().grab().toImage()
    person.open_table("W_q")
    person.click_cell("queries", 1, 1)
    person.open_table("W_k")
    assert person.table.viewport().grab().toImage() == plain


# Another table under an open editor


def test_a_typed_number_stays_in_its_table(person: "Person") -> None:
    person.playground.toggle_output()
    person.open_table("W_o")
    person.click_number(0, 0)
    person.type("7")
    person.document.undo()
    assert person.playground.inputs.name == "W_q"
    before = person.experiment
    assert not any(field.isVisible() for field in person.table.findChildren(QLineEdit))
    person.key(Key.Key_Return)
    assert person.experiment is before


def test_a_drag_stays_in_its_table(person: "Person") -> None:
    person.playground.toggle_output()
    person.open_table("W_o")
    viewport, start = person.table.viewport(), person.table.grid().cell(0, 0).center()
    QTest.mousePress(viewport, Button.LeftButton, Mod.NoModifier, start)
    person.move(viewport, start + QPoint(20, 0), Button.LeftButton)
    person.document.jump(0)
    before = person.experiment
    person.move(viewport, start + QPoint(40, 0), Button.LeftButton)
    QTest.mouseRelease(viewport, Button.LeftButton, Mod.NoModifier, start + QPoint(40, 0))
    assert person.experiment is before


def test_the_editor_shows_all_digits_of_a_number(person: "Person") -> None:
    person.playground.open_preset("the-cat-sat")
    person.open_table("W_q")
    assert person.experiment.weights.W_q is not None
    exact = str(person.experiment.weights.W_q[0, 0].numpy())
    person.click_number(0, 0)
    person.key(Key.Key_F2)
    editor = next(field for field in person.table.findChildren(QLineEdit) if field.isVisible())
    assert editor.text() == exact
    assert len(exact) <= 13
    before = len(person.history())
    person.type(exact + "0")
    person.key(Key.Key_Return)
    assert len(person.history()) == before  # the same number in other words


def test_a_late_reply_is_shown_as_far_as_it_matches_the_view(person: "Person") -> None:
    person.settle()
    late = person.playground.reply
    person.playground.open_preset("multi-head-8")
    person.playground.document.show(head=7)
    person.playground.service.computed.emit(late)
    assert person.painted("weights").shape == (1, 6, 6)
    person.check_every_number()


def test_gains_of_a_norm_that_the_block_lacks_are_not_shown(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("block-after")
    person.document.edit("Norms before", lambda e: edits.configure(e, block="before"))
    person.settle()
    panel, spine = person.playground.inputs, person.playground.spine
    person.open_table("γ_2")
    whole = person.experiment
    person.document.edit("No feed-forward", lambda e: edits.configure(e, feed_forward="none"))
    person.settle()
    shown = {name for name, tab in panel.tabs.items() if not tab.isHidden()}
    assert {"gamma_1", "beta_1"} <= shown
    assert not shown & {"gamma_2", "beta_2", "W_1", "W_2"}
    assert shown == {name for name, button in spine.buttons.items() if not button.isHidden()}
    assert panel.tabs["W_q"].isChecked()
    assert "gamma_2" in person.experiment.weights.extra  # kept for the case that the feed-forward comes back
    person.document.undo()
    person.settle()
    assert person.experiment is whole
    assert not panel.tabs["gamma_2"].isHidden()

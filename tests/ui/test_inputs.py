"""Sentence, tokens, tables and sizes: what a person types, drags, turns or pastes, everything downstream follows."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMenu, QPushButton, QSpinBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")


# The sentence


def test_a_typed_sentence_becomes_tokens_tables_and_cards(person: "Person") -> None:
    person.write_sentence("A cat sat")
    person.settle()
    assert person.playground.inputs.tokens.tokens() == ("A", "cat", "sat")
    for stage in ("scores", "scaled", "weights"):
        assert person.labels(stage) == (("A", "cat", "sat"), ("A", "cat", "sat"))
        assert person.painted(stage).shape == (1, 3, 3)
    assert person.labels("queries")[0] == ("A", "cat", "sat")
    assert person.painted("output").shape == (1, 3, 2)
    person.open_table("X")
    assert person.in_table().shape == (3, 3)


def test_kept_words_keep_their_numbers_and_a_new_one_gets_its_own(person: "Person") -> None:
    before = person.painted("inputs")[0]
    person.write_sentence("step Your walk")
    person.settle()
    now = person.painted("inputs")[0]
    np.testing.assert_array_equal(now[0], before[5])
    np.testing.assert_array_equal(now[1], before[0])
    person.write_sentence("step Your stroll")
    person.write_sentence("walk")
    person.settle()
    np.testing.assert_array_equal(person.painted("inputs")[0, 0], now[2])  # the same word, the same numbers


def test_typing_a_sentence_is_one_undoable_step(person: "Person") -> None:
    before = person.experiment
    person.write_sentence("Two words")
    assert person.history() == ["Open Your journey starts…", "Type a sentence"]
    person.key(Key.Key_Return)
    person.window.setFocus()
    person.undo()
    assert person.experiment is before
    assert person.playground.inputs.sentence.text() == "Your journey starts with one step"


def test_an_empty_sentence_is_explained_and_the_last_one_kept(person: "Person") -> None:
    person.write_sentence("")
    assert person.message() == "The sentence is empty; type at least one word."
    assert person.experiment.tokens == JOURNEY
    QTest.keyClicks(person.playground.inputs.sentence, "New")
    assert person.message() == ""
    person.settle()
    assert person.labels("weights")[0] == ("New",)


def test_leaving_an_empty_sentence_restores_the_current_one(person: "Person") -> None:
    person.write_sentence("")
    person.table.setFocus()
    assert person.playground.inputs.sentence.text() == "Your journey starts with one step"
    assert person.message() == ""


# Tokens


def chip(person: "Person", index: int) -> QPoint:
    return person.playground.inputs.tokens.chip_rect(index).center()


def strip_editor(person: "Person") -> QLineEdit:
    return person.find(QLineEdit, "Token", person.playground.inputs.tokens)


def test_a_token_can_be_renamed_in_place_and_keeps_its_numbers(person: "Person") -> None:
    before = person.painted("inputs")
    strip = person.playground.inputs.tokens
    QTest.mouseDClick(strip.viewport(), Button.LeftButton, pos=chip(person, 1))
    QTest.keyClicks(strip_editor(person), "trip")
    QTest.keyClick(strip_editor(person), Key.Key_Return)
    person.settle()
    assert person.labels("weights")[1] == ("Your", "trip", "starts", "with", "one", "step")
    assert person.playground.inputs.sentence.text() == "Your trip starts with one step"
    np.testing.assert_array_equal(person.painted("inputs"), before)
    assert person.history()[-1] == "Rename token 1 to “trip”"


def test_the_plus_button_adds_a_token_and_opens_it_for_typing(person: "Person") -> None:
    strip = person.playground.inputs.tokens
    person.click(strip.viewport(), chip(person, 6))
    QTest.keyClicks(strip_editor(person), "more")
    QTest.keyClick(strip_editor(person), Key.Key_Return)
    person.settle()
    assert person.labels("weights")[0][-2:] == ("step", "more")
    assert person.painted("weights").shape == (1, 7, 7)


def test_a_token_can_be_moved_by_dragging(person: "Person") -> None:
    before = person.painted("weights")[0]
    strip = person.playground.inputs.tokens
    target = strip.chip_rect(2)
    away = target.center() + QPoint(target.width() // 2, 0) - chip(person, 0)
    person.drag(strip.viewport(), chip(person, 0), (12, 0), (away.x(), away.y()))
    person.settle()
    order = [1, 2, 0, 3, 4, 5]
    assert person.experiment.tokens == tuple(JOURNEY[i] for i in order)
    np.testing.assert_allclose(person.painted("weights")[0], before[np.ix_(order, order)], rtol=1e-6)


def test_keys_duplicate_and_remove_a_token(person: "Person") -> None:
    strip = person.playground.inputs.tokens
    person.click(strip.viewport(), chip(person, 2))
    person.key(Key.Key_D, Mod.ControlModifier, strip)
    assert person.experiment.tokens == (*JOURNEY[:3], *JOURNEY[2:])
    person.settle()
    rows = person.painted("weights")[0]
    np.testing.assert_array_equal(rows[2], rows[3])
    person.key(Key.Key_Delete, widget=strip)
    person.key(Key.Key_Delete, widget=strip)
    person.settle()
    assert person.experiment.tokens == ("Your", "journey", "with", "one", "step")
    assert person.history()[-3:] == ["Duplicate “starts”", "Remove “starts”", "Remove “starts”"]


def test_the_last_token_cannot_be_removed_and_the_reason_is_shown(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("the-cat-sat")
    strip = person.playground.inputs.tokens
    strip.setFocus()
    for _ in range(3):
        person.key(Key.Key_Delete, widget=strip)
    assert person.experiment.T_q == 1
    assert person.message() == "This is the only token; a sentence needs at least one."


def test_a_click_on_a_token_selects_its_query(person: "Person") -> None:
    person.click(person.playground.inputs.tokens.viewport(), chip(person, 4))
    cell = person.document.view.cell
    assert cell is not None
    assert (cell.stage, cell.row) == ("queries", 4)


# Numbers


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


@pytest.mark.parametrize("title", ["X", "W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"])
def test_every_table_can_be_opened_and_edited(person: "Person", title: str) -> None:
    person.press("Output W_o")
    person.press("Biases")
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


# Fill and change


def open_menu(person: "Person", button: str) -> QMenu:
    """Open a button's menu at the button, without the event loop in which a click would wait."""
    found = person.find(QPushButton, button)
    menu = found.menu()
    assert isinstance(menu, QMenu)
    menu.popup(found.mapToGlobal(found.rect().bottomLeft()))
    return menu


def choose_from(person: "Person", button: str, title: str) -> None:
    """Open a button's menu and click a line of it."""
    menu = open_menu(person, button)
    line = menu.actionGeometry(action_of(menu, title)).center()
    person.move(menu, line)
    person.click(menu, line)
    assert not menu.isVisible()


def action_of(menu: QMenu, title: str) -> QAction:
    return next(action for action in menu.actions() if action.text() == title)


def whole_table(person: "Person") -> NDArray[np.floating]:
    """Return the open table as copied for a spreadsheet."""
    person.table.setFocus()
    person.key(Key.Key_A, Mod.ControlModifier)
    return np.array([[float(number) for number in line.split("\t")] for line in person.copy().splitlines()])


def test_a_table_can_be_filled_with_zeros_and_the_identity(person: "Person") -> None:
    choose_from(person, "Fill", "Zeros")
    np.testing.assert_array_equal(person.in_table(), np.zeros((3, 2)))
    person.settle()
    np.testing.assert_allclose(person.painted("weights"), 1 / 6, rtol=1e-6)
    choose_from(person, "Fill", "Identity")
    np.testing.assert_array_equal(person.in_table(), np.eye(3, 2))
    assert person.history()[-2:] == ["Fill W_q: zeros", "Fill W_q: identity"]


@pytest.mark.parametrize(
    ("title", "low", "high"), [("Normal (0, 1)", -9, 9), ("Uniform (−1, 1)", -1, 1), ("Xavier", -1.1, 1.1)]
)
def test_random_fills_can_be_repeated_with_the_visible_seed(
    person: "Person", title: str, low: float, high: float
) -> None:
    seed = person.find(QSpinBox, "Seed")
    choose_from(person, "Fill", title)
    first = person.in_table()
    assert ((first >= low) & (first <= high)).all()
    assert len(np.unique(first)) == first.size
    assert f"seed {seed.value()}" in person.history()[-1]
    person.press("Random")
    second = person.in_table()
    assert not np.array_equal(first, second)
    assert f"seed {seed.value()}" in person.history()[-1]
    seed.setValue(seed.value() - 1)
    choose_from(person, "Fill", title)
    np.testing.assert_array_equal(person.in_table(), first)


def test_normal_numbers_equal_those_of_torch(person: "Person") -> None:
    choose_from(person, "Fill", "Normal (0, 1)")
    seed = person.find(QSpinBox, "Seed").value()
    expected = torch.randn(3, 2, generator=torch.Generator().manual_seed(seed))
    np.testing.assert_array_equal(person.in_table().astype(np.float32), expected.numpy())


def test_a_fill_changes_only_the_selected_block(person: "Person") -> None:
    before = person.in_table()
    person.click_number(1, 0)
    person.click_number(2, 1, Mod.ShiftModifier)
    choose_from(person, "Fill", "Zeros")
    np.testing.assert_array_equal(person.in_table(), [*before[:1], [0, 0], [0, 0]])


def test_a_table_can_be_scaled_rounded_negated_and_transposed(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("the-cat-sat")
    person.type_number(0, 2, "0.1234567")
    start = whole_table(person)
    choose_from(person, "Change", "Double")
    np.testing.assert_allclose(whole_table(person), 2 * start, rtol=1e-6)
    choose_from(person, "Change", "Negate")
    np.testing.assert_allclose(whole_table(person), -2 * start, rtol=1e-6)
    choose_from(person, "Change", "Round to 2 decimals")
    assert whole_table(person)[0, 2] == pytest.approx(-0.25, abs=1e-7)
    choose_from(person, "Change", "Transpose")
    assert whole_table(person)[2, 0] == pytest.approx(-0.25, abs=1e-7)
    assert whole_table(person)[0, 2] == 0
    for _ in range(5):
        person.undo()
    assert person.document.history.index == 0


def test_a_factor_can_be_typed_and_an_invalid_one_is_refused(person: "Person") -> None:
    start = person.in_table()
    menu = open_menu(person, "Change")
    factor = person.find(QLineEdit, "Factor to scale by", menu)
    for text in ("abc", "-0,5"):
        person.click(factor)
        factor.selectAll()
        QTest.keyClicks(factor, text)
        QTest.keyClick(factor, Key.Key_Return)
        if text == "abc":
            assert person.table_message() == "Scale by: 'abc' is not a number; type one such as 0.25."
            assert menu.isVisible()
            assert len(person.history()) == 1
    assert person.table_message() == ""
    assert not menu.isVisible()
    np.testing.assert_allclose(person.in_table(), -start / 2, rtol=1e-6)
    assert person.history()[-1] == "Scale W_q by −0.5"


def test_a_table_that_is_not_square_cannot_be_transposed(person: "Person") -> None:
    menu = open_menu(person, "Change")
    assert not action_of(menu, "Transpose").isEnabled()
    menu.hide()


# Sizes


@pytest.mark.parametrize(
    ("name", "text", "shapes"),
    [
        ("T", "4", {"inputs": (1, 4, 3), "weights": (1, 4, 4), "output": (1, 4, 2)}),
        ("T", "9", {"inputs": (1, 9, 3), "weights": (1, 9, 9), "output": (1, 9, 2)}),
        ("d_model", "5", {"inputs": (1, 6, 5), "queries": (1, 6, 2), "output": (1, 6, 2)}),
        ("d_k", "4", {"queries": (1, 6, 4), "keys": (1, 6, 4), "values": (1, 6, 2)}),
        ("d_v", "1", {"queries": (1, 6, 2), "values": (1, 6, 1), "output": (1, 6, 1)}),
    ],
)
def test_changing_sizes_keeps_the_remaining_numbers(
    person: "Person", name: str, text: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    before = {stage: person.painted(stage).copy() for stage in shapes}
    tables = {"W_q": person.in_table()}
    person.set_size(name, text)
    person.settle()
    for stage, shape in shapes.items():
        assert person.painted(stage).shape == shape
    now, old = person.painted("inputs")[0], before.get("inputs", person.painted("inputs"))[0]
    rows, columns = min(len(now), len(old)), min(now.shape[1], old.shape[1])
    np.testing.assert_array_equal(now[:rows, :columns], old[:rows, :columns])
    w, was = person.in_table(), tables["W_q"]
    rows, columns = min(len(w), len(was)), min(w.shape[1], was.shape[1])
    np.testing.assert_array_equal(w[:rows, :columns], was[:rows, :columns])
    assert person.history()[-1] == f"{name} = {text}"
    person.undo()
    assert person.document.history.index == 0


def test_each_step_of_a_size_is_one_history_entry(person: "Person") -> None:
    box = person.find(QSpinBox, "d_k")
    box.setFocus()
    for _ in range(3):
        QTest.keyClick(box, Key.Key_Up)
    assert person.experiment.d_k == 5
    person.undo()
    assert person.experiment.d_k == 4


def test_undo_works_from_the_last_used_field(person: "Person") -> None:
    person.set_size("d_k", "4")
    assert QApplication.focusWidget() is person.find(QSpinBox, "d_k")
    person.undo()
    assert person.experiment.d_k == 2
    person.redo()
    assert person.experiment.d_k == 4
    person.write_sentence("Now")
    person.key(Key.Key_Return)
    assert person.playground.inputs.sentence.hasFocus()
    person.undo()
    assert person.experiment.tokens == JOURNEY


def test_undo_first_reverts_typed_letters(person: "Person") -> None:
    person.write_sentence("Now")
    person.undo()
    assert person.playground.inputs.sentence.text() == "Your journey starts with one step"
    assert person.experiment.tokens == JOURNEY
    person.settle()
    box = person.playground.inputs.shape_bar.sizes["d_k"]
    box.setFocus()
    box.selectAll()
    person.type("5")
    person.undo()
    assert (box.text(), person.experiment.d_k) == ("2", 2)


def test_with_several_heads_sizes_are_those_of_one_head(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-causal")
    assert {name: box.value() for name, box in person.playground.inputs.shape_bar.sizes.items()} == {
        "T": 5,
        "d_model": 64,
        "d_k": 8,
        "d_v": 8,
    }
    person.set_size("d_v", "3")
    person.settle()
    assert person.painted("values").shape == (8, 5, 3)
    assert person.painted("output").shape == (1, 5, 64)


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


# Typing, and what else is done meanwhile


def test_continued_typing_keeps_edits_made_in_between(person: "Person") -> None:
    field = person.playground.inputs.sentence
    field.setFocus()
    field.end(False)
    person.type(" now")
    person.playground.toggle_causal()
    person.type(" and")
    assert person.experiment.config.causal
    assert person.experiment.tokens == (*JOURNEY, "now", "and")
    assert person.history()[1:] == ["Type a sentence", "Causal on", "Type a sentence"]
    person.playground.open_preset("the-cat-sat")
    assert field.text() == " ".join(person.experiment.tokens)
    cat = person.experiment
    field.end(False)
    person.type(" x")
    assert person.experiment.tokens == (*cat.tokens, "x")


def test_an_empty_sentence_is_explained_below_it_and_escape_restores_it(person: "Person") -> None:
    before, field = person.experiment, person.playground.inputs.sentence
    field.setFocus()
    field.selectAll()
    person.key(Key.Key_Backspace)
    said = person.find(QLabel, "Message about the sentence")
    assert said.text() == "The sentence is empty; type at least one word."
    assert (
        field.mapToGlobal(QPoint(0, 0)).y() < said.mapToGlobal(QPoint(0, 0)).y() < field.mapToGlobal(QPoint(0, 60)).y()
    )
    person.type("No")
    assert not said.isVisible()
    person.key(Key.Key_Escape)
    assert (person.experiment, field.text()) == (before, " ".join(JOURNEY))
    field.selectAll()
    person.key(Key.Key_Backspace)
    person.key(Key.Key_Escape)
    assert (person.experiment, field.text(), person.message()) == (before, " ".join(JOURNEY), "")
    assert not said.isVisible()


def test_a_trailing_space_adds_no_history_entry(person: "Person") -> None:
    field = person.playground.inputs.sentence
    field.setFocus()
    field.end(False)
    person.type(" ")
    assert len(person.history()) == 1


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

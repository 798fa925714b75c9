"""Filling and changing tables, and the sizes of the layer."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton, QSpinBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")


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

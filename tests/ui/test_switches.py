"""Mask, scale, heads, output, biases, device and dtype: one click each, and errors at the control."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox

from attnlab.ui.widgets.fields.pill import Pill

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def test_the_causal_switch_makes_the_weights_a_triangle(person: "Person") -> None:
    person.press("Causal")
    person.settle()
    weights = person.painted("weights")[0]
    assert (weights[np.triu_indices(6, 1)] == 0).all()
    assert (weights[np.tril_indices(6)] > 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    masked = person.painted("masked")[0]
    assert (masked[np.triu_indices(6, 1)] == -math.inf).all()
    np.testing.assert_array_equal(masked[np.tril_indices(6)], person.painted("scaled")[0][np.tril_indices(6)])
    assert person.find(QCheckBox, "Causal").isChecked()
    person.press("Causal")
    person.settle()
    assert not person.card("masked").isVisible()
    assert (person.painted("weights") > 0).all()


def test_masked_cells_are_described_as_masked(person: "Person") -> None:
    person.press("Causal")
    person.settle()
    assert person.tip(person.card("weights"), person.cell("weights", 0, 3)) == "Your → with: masked"
    assert person.tip(person.card("masked"), person.cell("masked", 2, 4)) == "starts → one: masked"
    assert "masked" not in person.tip(person.card("masked"), person.cell("masked", 4, 2))


@pytest.mark.parametrize(("title", "divisor"), [("1/√d_k", math.sqrt(2)), ("none", None), ("1/√d_model", math.sqrt(3))])
def test_each_scale_divides_by_its_divisor(person: "Person", title: str, divisor: float | None) -> None:
    person.choose("Scale", title)
    person.settle()
    assert person.find(Pill, "Scale").value_text() == title
    if divisor is None:
        assert person.card("scaled").folded == "same as the scores"
        logits = person.painted("scores")[0]
    else:
        logits = person.painted("scaled")[0]
        np.testing.assert_allclose(logits, person.painted("scores")[0] / divisor, rtol=1e-6)
    powers = np.exp(logits)
    np.testing.assert_allclose(person.painted("weights")[0], powers / powers.sum(-1, keepdims=True), rtol=1e-5)


def test_a_custom_scale_can_be_typed(person: "Person") -> None:
    assert person.type_into_pill("Scale", "2,5") == ""
    person.settle()
    assert person.find(Pill, "Scale").value_text() == "÷ 2.5"
    np.testing.assert_allclose(person.painted("scaled"), person.painted("scores") / 2.5, rtol=1e-6)
    assert person.history()[-1] == "Scale ÷ 2.5"


INVALID_SCALES = {
    "0": "Scores cannot be divided by 0; type a number above 0.",
    "-2": "Scores cannot be divided by −2; type a number above 0.",
    "abc": "'abc' is not a number",
    "nan": "'nan' is not a finite number",
    "1e39": "'1e39' is too large",
    "": "this field is empty",
}


def test_an_invalid_scale_is_explained_at_its_field(person: "Person", subtests: pytest.Subtests) -> None:
    before = person.document.scene
    for text, words in INVALID_SCALES.items():
        with subtests.test(text=text):
            assert words in person.type_into_pill("Scale", text)
            assert person.document.scene is before
            person.key(Key.Key_Escape)
            assert person.find(Pill, "Scale").popup() is None


def test_only_head_counts_that_divide_are_offered(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("uneven-heads")
    rows = person.open_pill("Heads")
    assert [row.accessibleName() for row in rows] == ["1", "2", "5", "10"]
    person.click(rows[2])
    person.settle()
    assert person.painted("weights").shape == (5, 6, 6)
    assert person.painted("queries").shape == (5, 6, 2)
    assert person.experiment.n_heads == 5


@pytest.mark.slow
def test_an_invalid_head_count_is_explained_and_changes_nothing(
    sit_down: Callable[..., "Person"], subtests: pytest.Subtests
) -> None:
    person = sit_down("uneven-heads")
    before = person.document.scene
    for text in ("4", "3", "11", "0", "two", "-1", "2.5", ""):
        with subtests.test(text=text):
            sentence = person.type_into_pill("Heads", text)
            assert sentence.endswith(".")
            assert ("10" in sentence) if text in ("4", "3", "11") else ("whole number" in sentence), sentence
            assert person.document.scene is before
            person.check_every_number()
            assert person.type_into_pill("Heads", "10") == ""
            assert person.experiment.n_heads == 10
            person.undo()
            assert person.document.scene is before


def test_more_heads_give_more_maps_of_the_same_numbers(person: "Person") -> None:
    queries = person.painted("queries")[0]
    person.choose("Heads", "2")
    person.settle()
    assert person.painted("weights").shape == (2, 6, 6)
    np.testing.assert_array_equal(np.concatenate(list(person.painted("queries")), -1), queries)
    person.choose("Heads", "1")
    person.settle()
    assert person.painted("weights").shape == (1, 6, 6)


def test_an_added_output_matrix_keeps_the_output_and_can_be_removed(person: "Person") -> None:
    before = person.painted("output").copy()
    person.press("Output W_o")
    person.settle()
    np.testing.assert_allclose(person.painted("output")[0, :, :2], before[0], rtol=1e-6)
    person.open_table("W_o")
    person.type_number(0, 0, "3")
    person.settle()
    np.testing.assert_allclose(person.painted("output")[0, :, 0], 3 * before[0, :, 0], rtol=1e-6)
    person.press("Output W_o")
    person.settle()
    np.testing.assert_array_equal(person.painted("output"), before)
    assert person.history()[-3:] == ["W_o on", "Type W_o[0, 0] = 3", "W_o off"]


def test_biases_begin_at_zero_and_are_added(person: "Person") -> None:
    before = {name: person.painted(name).copy() for name in ("queries", "values", "output")}
    person.press("Biases")
    person.settle()
    for name, numbers in before.items():
        np.testing.assert_array_equal(person.painted(name), numbers)
    person.open_table("b_v")
    person.type_number(0, 1, "10")
    person.settle()
    np.testing.assert_allclose(person.painted("values")[0, :, 1], before["values"][0, :, 1] + 10, rtol=1e-6)
    np.testing.assert_allclose(person.painted("output")[0, :, 1], before["output"][0, :, 1] + 10, rtol=1e-6)
    person.press("Biases")
    person.settle()
    np.testing.assert_array_equal(person.painted("output"), before["output"])


@pytest.mark.parametrize(("dtype", "digits"), [("float64", 12), ("bfloat16", 2), ("float16", 2)])
def test_every_dtype_can_be_chosen(person: "Person", dtype: str, digits: int) -> None:
    exact = person.painted("weights").astype(np.float64)
    person.choose("Device and number format", f"CPU {dtype}")
    person.settle()
    assert person.find(Pill, "Device and number format").value_text() == f"CPU {dtype}"
    weights = person.painted("weights")
    assert weights.dtype == (np.float64 if dtype == "float64" else np.float32)
    np.testing.assert_allclose(weights, exact, atol=10.0 ** -min(digits, 6))
    assert not np.array_equal(weights, exact)
    time, sums = reading(person)
    assert time.endswith(f"ms · cpu {dtype}")
    assert sums == "✓ rows sum to 1"


def reading(person: "Person") -> tuple[str, str]:
    """Return the status bar's text about time and row sums."""
    from PySide6.QtWidgets import QLabel

    texts = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    return next(t for t in texts if " ms · " in t), next(t for t in texts if "rows" in t or "NaN" in t)


def test_the_status_bar_has_shape_time_and_row_sums(sit_down: Callable[..., "Person"]) -> None:
    from PySide6.QtWidgets import QLabel

    person = sit_down("multi-head-causal")
    texts = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    assert "[8, 5, 5]" in texts
    time, sums = reading(person)
    reply = person.playground.reply
    assert reply is not None
    assert time == f"{reply.elapsed_ms:.2f} ms · cpu float32"
    assert sums == "✓ rows sum to 1"


def test_the_keyboard_alone_can_turn_every_switch(person: "Person") -> None:
    causal = person.find(QCheckBox, "Causal")
    causal.setFocus()
    QTest.keyClick(causal, Key.Key_Space)
    assert person.experiment.config.causal
    scale = person.find(Pill, "Scale")
    scale.setFocus()
    QTest.keyClick(scale, Key.Key_Down)
    popup = scale.popup()
    assert popup is not None
    QTest.keyClick(QApplication.focusWidget(), Key.Key_Down)
    QTest.keyClick(QApplication.focusWidget(), Key.Key_Return)
    assert person.experiment.config.scale == "none"


def test_a_pill_has_its_name_and_value(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    names = [
        pill.accessibleName() for pill in person.playground.top_bar.findChildren(QAbstractButton) if pill.isVisible()
    ]
    assert {"Causal", "Scale: 1/√d_k", "Heads: 8", "Show: all heads", "Undo", "Redo", "History"} <= set(names)


def test_choosing_the_current_value_adds_no_history_entry(person: "Person") -> None:
    person.choose("Scale", "1/√d_k")
    person.choose("Heads", "1")
    person.choose("Device and number format", "CPU float32")
    assert len(person.history()) == 1


def test_a_pill_passes_on_other_keys(person: "Person") -> None:
    scale = person.find(Pill, "Scale")
    event = QKeyEvent(QEvent.Type.KeyPress, Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
    QApplication.sendEvent(scale, event)
    assert scale.popup() is None


def test_an_invalid_typed_head_count_is_refused_with_valid_ones(person: "Person") -> None:
    said = person.type_into_pill("Heads", "4")
    assert said == "4 heads do not fit: the 2 columns of W_q can be divided among 1 or 2 heads."
    assert person.experiment.n_heads == 1


def test_the_palette_sets_a_choice_of_a_switch(person: "Person") -> None:
    person.window.show_palette()
    person.type("positions rope")
    person.key(Qt.Key.Key_Return)
    person.settle()
    assert person.experiment.config.positions == "rope"
    assert person.playground.top_bar.switches.by_name["positions"].popup() is None
    person.undo()
    assert person.experiment.config.positions == "none"

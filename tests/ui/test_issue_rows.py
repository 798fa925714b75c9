"""Every system of the course opened by hand, with its features read from the window."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel

import attnlab
from attnlab.attention.examples.presets import PRESETS
from attnlab.ui.playground.steps_view import StepsView
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.subscripts import FormulaLabel
from attnlab.ui.widgets.tokens.token_chips import eye_rect

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Sit = Callable[..., "Person"]


def said(person: "Person") -> str:
    """Return all text of Explain."""
    texts = []
    for label in person.playground.explain.findChildren(QLabel):
        if label.isVisible() and isinstance(label, FormulaLabel):
            texts.append(label.text())
        elif label.isVisible():
            document = QTextDocument()
            document.setHtml(label.text())
            texts.append(document.toPlainText())
    return "\n".join(texts)


def bar(person: "Person") -> str:
    """Return the status bar's text about the rows."""
    texts = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    return next(text for text in texts if "row" in text and "sum" in text)


def drag_token(person: "Person", source: int, target: int) -> None:
    strip = person.playground.inputs.tokens
    start, end = strip.chip_rect(source).center(), strip.chip_rect(target)
    away = end.center() + QPoint(end.width() // 2, 0) - start
    person.drag(strip.viewport(), start, (12, 0), (away.x(), away.y()))
    person.settle()


@pytest.mark.slow
def test_every_row_of_the_gallery_opens_with_its_description_and_numbers(
    person: "Person", subtests: pytest.Subtests
) -> None:
    for name, preset in PRESETS.items():
        if not preset.rows:
            continue
        with subtests.test(name=name):
            person.playground.open_preset(name)
            person.settle()
            assert preset.about in said(person)
            lens = preset.lens.partition("/")[0]
            assert person.playground.lenses.current == (lens or "canvas")
            if lens:
                person.press("Canvas")
            person.check_every_number()


def test_the_description_of_an_example_gives_way_to_a_cell_and_returns(person: "Person") -> None:
    line = PRESETS["journey"].about
    person.click_cell("weights", 1, 1)
    assert line not in said(person)
    person.playground.let_go()
    assert line in said(person)


@pytest.mark.parametrize(("name", "page"), [("order-blind", "Order"), ("rotation-property", "Rotation")])
def test_a_row_opens_the_page_that_it_needs(sit_down: Sit, name: str, page: str) -> None:
    person = sit_down(name)
    tab = person.find(TabButton, f"Positions: {page}")
    assert tab.isChecked()
    person.wait_for(lambda: not person.playground.lane.busy)
    texts = [label.text() for label in person.playground.lenses.findChildren(QLabel) if label.isVisible()]
    if page == "Order":
        assert any("attention ignores the order" in text for text in texts)
        assert any("With sinusoidal positions" in text and "depends on the order" in text for text in texts)
    else:
        assert any("e−7 in float32" in text for text in texts), texts


def test_a_row_of_cat_is_shown_as_bars_and_in_the_map(sit_down: Sit) -> None:
    person = sit_down("the-cat-sat")
    strip = person.playground.inputs.tokens
    person.click(strip.viewport(), strip.chip_rect(1).center())
    bars = person.find(BarList, "Weights, row of “cat”")
    trace = attnlab.compute(attnlab.preset("the-cat-sat"))
    row = trace.array("weights")[0, 1]
    assert [bars.row_text(i) for i in range(3)] == [f"{value:.4f}" for value in row]
    assert int(row.argmax()) == 1
    np.testing.assert_array_equal(person.painted("weights"), trace.array("weights"))


# To take out or to move something, and see the difference


def test_masking_a_token_by_click_compares_with_the_state_before(person: "Person") -> None:
    before = person.painted("weights")
    strip = person.playground.inputs.tokens
    person.click(strip.viewport(), eye_rect(strip.chip_rect(1)).center())
    person.settle()
    after = person.painted("weights")
    assert (after[..., 1] == 0).all()
    person.press("Difference")
    np.testing.assert_array_equal(person.painted("weights"), after - before)


def test_without_positions_moving_a_token_does_not_change_the_others(person: "Person") -> None:
    before = person.painted("output")
    drag_token(person, 0, 2)
    assert person.experiment.tokens[:3] == ("journey", "starts", "Your")
    person.press("Difference")
    for stage in ("inputs", "queries", "scores", "weights", "output"):
        np.testing.assert_allclose(person.painted(stage), 0, atol=1e-6, err_msg=stage)
    person.press("Pinned")
    np.testing.assert_array_equal(person.painted("output"), before)


def test_with_positions_moving_a_token_is_compared_with_the_state_before(sit_down: Sit) -> None:
    person = sit_down("order-aware")
    person.press("Canvas")
    before = person.painted("weights")[0]
    drag_token(person, 1, 4)
    order = [0, 2, 3, 4, 1]
    assert person.experiment.tokens == ("the", "bites", "the", "man", "dog")
    after = person.painted("weights")[0]
    person.press("Difference")
    np.testing.assert_allclose(person.painted("weights")[0], after - before[np.ix_(order, order)], atol=1e-7)
    assert np.abs(person.painted("weights")).max() > 0.01
    person.click_cell("weights", 4, 1)
    assert f"pinned {before[1, 2]:.4f} · change" in said(person)


@pytest.mark.slow
def test_a_new_token_is_compared_by_its_position(person: "Person") -> None:
    person.press("Pin")
    before = person.painted("inputs")
    person.write_sentence("journey Your starts with one leap")
    person.settle()
    after = person.painted("inputs")
    person.press("Difference")
    np.testing.assert_array_equal(person.painted("inputs"), after - before)


# What a fill does to the sums of the rows


@pytest.mark.parametrize(
    ("name", "bar_says", "row_says"),
    [
        ("mask-fill-infinity", "✓ rows sum to 1 · 1 empty", "Every key of this row is masked"),
        ("mask-fill-1e9", "✓ rows sum to 1", "Every key of this row is masked, but all its scores are −1e9"),
        ("mask-fill-zero", "✓ rows sum to 1", "Every key of this row is masked, but all its scores are 0"),
        ("mask-after-softmax", "row sums 0.53 … 1.00 · 1 empty", "Every key of this row is masked"),
    ],
)
def test_row_sums_and_empty_rows_of_a_fill_are_shown(sit_down: Sit, name: str, bar_says: str, row_says: str) -> None:
    person = sit_down(name)
    assert bar(person) == bar_says
    person.click_cell("zeroed" if name == "mask-after-softmax" else "weights", 2, 1)
    assert row_says in said(person)
    explain = person.playground.explain
    sentence = next(label for label in explain.findChildren(FormulaLabel) if row_says in label.text())
    first_step = explain.findChildren(StepsView)[0]
    assert sentence.geometry().bottom() < first_step.y() < explain.viewport().height()


# How heads are split and merged


def test_without_w_o_the_output_has_the_named_columns_of_the_heads(person: "Person") -> None:
    person.choose("Heads", "2")
    person.settle()
    shown, context = person.card("output").data, person.painted("context")
    assert shown is not None
    assert (shown.column_group, shown.group_labels) == (1, ("head 0", "head 1"))
    np.testing.assert_array_equal(shown.values[0], np.concatenate(list(context), -1))
    queries = person.card("queries").data
    assert queries is not None
    assert [title.split(" ")[:2] for title in queries.titles] == [["head", "0"], ["head", "1"]]


def test_a_cell_of_a_hidden_head_highlights_no_other_head(person: "Person") -> None:
    person.choose("Heads", "2")
    person.choose("Show", "head 0")
    person.settle()
    plain = person.card("context").grab().toImage()
    person.click_cell("output", 2, 1)
    assert person.card("context").grab().toImage() == plain
    person.click_cell("output", 2, 0)
    assert person.card("context").grab().toImage() != plain

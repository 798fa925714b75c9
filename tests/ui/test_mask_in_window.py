"""Masks in the window: painted by mouse, set by number, combined, and their empty rows."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QWidget

import attnlab
from attnlab.attention import edits
from attnlab.attention.registries import masks
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from tests.ui.explained import read_explained

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key
I, J = np.indices((6, 6))  # noqa: E741  # queries and keys


def popup_of(person: "Person") -> QWidget:
    pill = person.find(Pill, "Mask")
    if pill.popup() is None:
        person.click(pill)
    popup = pill.popup()
    assert popup is not None
    return popup


def close(person: "Person") -> None:
    popup = popup_of(person)
    person.key(Key.Key_Escape, widget=popup.focusWidget() or popup)
    assert person.find(Pill, "Mask").popup() is None


def turn(person: "Person", title: str) -> None:
    """Click a switch of the Mask pill's popup, and close the popup."""
    person.click(person.find(Switch, title, popup_of(person)))
    close(person)
    person.settle()


def type_setting(person: "Person", title: str, text: str) -> list[str]:
    """Type a number into the popup; return its error message."""
    popup = popup_of(person)
    edit = person.find(NumberEdit, title, popup)
    person.click(edit)
    edit.selectAll()
    QTest.keyClicks(edit, text)
    person.key(Key.Key_Return, widget=edit)
    labels = popup.findChildren(QLabel)
    return [one.text() for one in labels if one.isVisible() and one.property("role") == "error"]


def fill_with(person: "Person", title: str) -> None:
    popup = popup_of(person)
    folded = [box for box in popup.findChildren(QComboBox) if box.isVisible()]
    if folded:
        for _ in range(abs(folded[0].findText(title) - folded[0].currentIndex())):
            person.key(Key.Key_Down, widget=folded[0])
        assert folded[0].currentText() == title
    else:
        segments = person.find(Segments, "Masked scores", popup)
        person.click(next(button for button in segments.buttons() if button.text() == title))
    close(person)
    person.settle()


def stroke(person: "Person", stage: str, *cells: tuple[int, int]) -> None:
    """Press on the first cell, move over the others in turn, and release."""
    start = person.cell(stage, *cells[0])
    away = [person.cell(stage, *cell) - start for cell in cells]
    person.drag(person.card(stage), start, *((point.x(), point.y()) for point in away))
    person.settle()


def hidden(person: "Person") -> NDArray[np.bool_]:
    """Return the masked pairs on the cards: weights of exactly 0."""
    return person.painted("weights")[0] == 0


def bar(person: "Person") -> str:
    """Return the status bar's text about the rows."""
    texts = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    return next(text for text in texts if "row" in text and "sum" in text)


def arithmetic(person: "Person") -> str:
    return read_explained(person)


# The brush


def test_painting_a_mask_by_mouse_is_one_step(person: "Person") -> None:
    steps = len(person.history())
    turn(person, "Paint on the cards")
    assert person.message() == "Drag over cells or press Space to mask or unmask; Esc ends painting."
    assert len(person.history()) == steps
    stroke(person, "weights", (1, 0), (1, 1), (1, 2))
    np.testing.assert_array_equal(hidden(person), (I == 1) & (J <= 2))
    np.testing.assert_allclose(person.painted("weights").sum(-1), 1, atol=1e-6)
    assert (person.painted("masked")[0][1, :3] == -np.inf).all()
    assert person.history()[steps:] == ["Mask by brush"]
    assert person.find(Pill, "Mask").value_text() == "painted"
    mask = person.experiment.config.mask
    assert mask is not None
    np.testing.assert_array_equal(mask.numpy(), ~((I == 1) & (J <= 2)))
    person.undo()
    person.settle()
    assert person.experiment.config.mask is None
    assert person.card("masked").isHidden()
    assert not hidden(person).any()


def test_each_stroke_is_one_step_and_its_first_cell_decides_its_effect(person: "Person") -> None:
    steps = len(person.history())
    turn(person, "Paint on the cards")
    stroke(person, "weights", (0, 1), (0, 5))
    stroke(person, "masked", (0, 3), (0, 4), (1, 4))
    np.testing.assert_array_equal(hidden(person), (I == 0) & np.isin(J, (1, 2, 5)))
    stroke(person, "scores", (3, 3))
    assert hidden(person)[3, 3]
    assert person.history()[steps:] == ["Mask by brush", "Unmask by brush", "Mask by brush"]


def test_unpainting_every_cell_removes_the_mask(person: "Person") -> None:
    turn(person, "Paint on the cards")
    stroke(person, "weights", (2, 2), (2, 3))
    stroke(person, "weights", (2, 3), (2, 2))
    assert person.experiment.config.mask is None
    assert person.card("masked").isHidden()
    assert person.find(Pill, "Mask").value_text() == "none"


def test_escape_ends_painting_and_a_click_selects_a_cell_again(person: "Person") -> None:
    turn(person, "Paint on the cards")
    stroke(person, "weights", (4, 0))
    before = person.document.scene
    person.key(Key.Key_Escape)
    assert not person.playground.canvas.painting
    assert not person.find(Switch, "Paint on the cards", popup_of(person)).isChecked()
    close(person)
    person.click_cell("weights", 4, 1)
    assert person.document.scene is before
    assert person.document.view.pinned
    assert person.document.view.cell is not None
    assert (person.document.view.cell.row, person.document.view.cell.column) == (4, 1)


def test_a_painted_mask_can_be_removed_by_one_click(person: "Person") -> None:
    popup = popup_of(person)
    assert not [box for box in popup.findChildren(QCheckBox) if box.accessibleName() == "Painted"]
    close(person)
    turn(person, "Paint on the cards")
    stroke(person, "weights", (4, 0), (4, 3))
    person.key(Key.Key_Escape)
    turn(person, "Painted")
    assert person.experiment.config.mask is None
    assert person.history()[-1] == "Clear the painted mask"
    assert not hidden(person).any()
    person.undo()
    person.settle()
    np.testing.assert_array_equal(hidden(person), (I == 4) & (J <= 3))


def test_painting_applies_to_every_head(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    turn(person, "Paint on the cards")
    at = [person.cell("weights", 2, column, 5) for column in (0, 1)]
    person.drag(person.card("weights"), at[0], (at[1].x() - at[0].x(), at[1].y() - at[0].y()))
    person.settle()
    zero = person.painted("weights") == 0
    assert zero[:, 2, :2].all()
    assert zero.sum() == 16


def test_brush_and_causal_switch_are_independent(person: "Person") -> None:
    person.press("Causal")
    turn(person, "Paint on the cards")
    stroke(person, "weights", (5, 0), (5, 2))
    np.testing.assert_array_equal(hidden(person), (J > I) | ((I == 5) & (J <= 2)))
    person.press("Causal")
    person.settle()
    np.testing.assert_array_equal(hidden(person), (I == 5) & (J <= 2))


# Rows with nothing left


def test_an_empty_row_is_shown_counted_and_explained(person: "Person") -> None:
    turn(person, "Paint on the cards")
    stroke(person, "weights", (3, 0), (3, 5))
    person.key(Key.Key_Escape)
    assert not person.painted("weights")[0, 3].any()
    assert not person.painted("context")[0, 3].any()
    assert bar(person) == "✓ rows sum to 1 · 1 empty"
    person.click_cell("weights", 3, 2)
    assert "Every key of this row is masked." in arithmetic(person)
    assert person.tip(person.card("weights"), person.cell("weights", 3, 2)).endswith(": masked")
    assert np.isfinite(person.painted("output")).all()
    assert person.message() == ""


def test_with_a_fill_of_minus_1e9_an_empty_row_attends_evenly(person: "Person") -> None:
    turn(person, "Paint on the cards")
    stroke(person, "weights", (3, 0), (3, 5))
    person.key(Key.Key_Escape)
    fill_with(person, "−1e9")
    np.testing.assert_allclose(person.painted("weights")[0, 3], 1 / 6, rtol=1e-6)
    assert bar(person) == "✓ rows sum to 1"


# Masks by number


MASKS = {
    "Window": (2, np.abs(I - J) >= 2),
    "Prefix": (3, (J > I) & (J >= 3)),
    "Blocks": (2, I // 2 != J // 2),
    "Padding": (4, J >= 4),
}


@pytest.mark.parametrize("title", MASKS)
def test_a_mask_can_be_switched_on_and_given_its_number(person: "Person", title: str) -> None:
    number, expected = MASKS[title]
    steps = len(person.history())
    turn(person, title)
    assert len(person.history()) == steps + 1
    assert type_setting(person, title, str(number)) == []
    close(person)
    person.settle()
    np.testing.assert_array_equal(hidden(person), expected)
    assert person.find(Pill, "Mask").value_text() == f"{title.lower()} {number}"
    np.testing.assert_allclose(person.painted("weights").sum(-1), 1, atol=1e-6)
    trace = attnlab.compute(
        attnlab.Experiment(
            person.experiment.tokens,
            person.experiment.embeddings,
            person.experiment.weights,
            attnlab.AttentionConfig(mask=torch.from_numpy(~expected)),
        )
    )
    np.testing.assert_array_equal(person.painted("weights"), trace.array("weights"))
    turn(person, title)
    assert not hidden(person).any()
    assert person.history()[-1] == f"{title} off"


@pytest.mark.parametrize("title", ["Window", "Blocks", "Padding"])
def test_a_mask_and_the_causal_switch_allow_only_what_both_allow(person: "Person", title: str) -> None:
    number, expected = MASKS[title]
    person.press("Causal")
    turn(person, title)
    type_setting(person, title, str(number))
    close(person)
    person.settle()
    np.testing.assert_array_equal(hidden(person), expected | (J > I))


def test_a_prefix_lifts_the_causal_mask_for_its_keys(person: "Person") -> None:
    person.press("Causal")
    turn(person, "Prefix")
    type_setting(person, "Prefix", "3")
    close(person)
    person.settle()
    np.testing.assert_array_equal(hidden(person), MASKS["Prefix"][1])


def test_a_masked_cell_names_its_masks(person: "Person") -> None:
    person.press("Causal")
    turn(person, "Window")
    person.click_cell("masked", 0, 5)
    said = arithmetic(person)
    assert "comes after" in said
    assert "5 tokens away: the window allows at most 2" in said


@pytest.mark.parametrize(
    ("title", "text", "words"),
    [
        ("Window", "0", "Window is 0; it needs a whole number from 1 to 512."),
        ("Window", "1.5", "it needs a whole number"),
        ("Blocks", "two", "'two' is not a number"),
        ("Padding", "7", "Padding is 7; it needs a whole number from 1 to 6."),
    ],
)
def test_an_invalid_number_is_explained_below_it(person: "Person", title: str, text: str, words: str) -> None:
    turn(person, title)
    before = person.document.scene
    sentences = type_setting(person, title, text)
    assert len(sentences) == 1
    assert words in sentences[0]
    assert person.document.scene is before
    person.check_every_number()


def test_masks_keep_their_numbers_when_the_sentence_grows(person: "Person") -> None:
    turn(person, "Blocks")
    person.set_size("T", "8")
    person.settle()
    i, j = np.indices((8, 8))
    np.testing.assert_array_equal(hidden(person), i // 2 != j // 2)


# What masked scores become


def test_a_fill_of_zero_gives_masked_cells_a_weight(person: "Person") -> None:
    turn(person, "Paint on the cards")
    stroke(person, "weights", (2, 0), (2, 1))
    person.key(Key.Key_Escape)
    fill_with(person, "0 (a mistake)")
    assert (person.painted("masked")[0, 2, :2] == 0).all()
    assert (person.painted("weights")[0, 2, :2] > 0).all()
    assert bar(person) == "✓ rows sum to 1"
    person.click_cell("weights", 2, 0)
    assert "A score of 0 does not mean none" in arithmetic(person)


def test_masking_after_softmax_leaves_row_sums_below_one(person: "Person") -> None:
    weights = person.painted("weights").copy()
    turn(person, "Paint on the cards")
    stroke(person, "weights", (2, 0), (2, 1))
    person.key(Key.Key_Escape)
    fill_with(person, "after (a mistake)")
    np.testing.assert_array_equal(person.painted("weights"), weights)
    assert not person.painted("zeroed")[0, 2, :2].any()
    left = person.painted("zeroed").sum(-1)
    assert bar(person) == f"row sums {left.min():.2f} … {left.max():.2f}"
    assert left.max() == pytest.approx(1)
    assert person.card("masked").isHidden()
    person.click_cell("zeroed", 2, 0)
    assert "is set to 0 too late" in arithmetic(person)


def test_the_fill_can_be_chosen_without_a_mask(person: "Person") -> None:
    weights = person.painted("weights").copy()
    fill_with(person, "after (a mistake)")
    np.testing.assert_array_equal(person.painted("weights"), weights)
    person.press("Causal")
    person.settle()
    assert person.card("zeroed").isVisible()
    expected = attnlab.compute(edits.configure(attnlab.preset("journey"), causal=True, fill="after"))
    np.testing.assert_array_equal(person.painted("zeroed"), expected.array("zeroed"))


def test_each_entry_of_the_menu_has_its_description_below_it(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey")
    popup = popup_of(person)
    labels = {label.text(): label for label in popup.findChildren(QLabel) if label.isVisible()}
    for mask in masks.MASKS.values():
        if mask.name != "causal":
            title, about = labels[mask.title], labels[mask.about]
            assert title.geometry().bottom() < about.y()
            assert about.property("role") == "caption"
            assert about.height() >= about.heightForWidth(about.width())  # nothing is cut
    close(person)

"""Figures on the cards: one line of statistics for each stage, computed only while visible."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

import attnlab
from attnlab.attention import edits
from attnlab.attention.measures.statistics import describe_stage, format_brief
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.table import about
from attnlab.ui.playground import stage_maps as looks
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.switch import Switch

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def figures(person: "Person", stage: str) -> str:
    """Return the line of figures of a card from its description, "" without one."""
    card = person.card(stage)
    return card.accessibleName().partition(about(card.stage, person.experiment))[2].strip().removesuffix(".")


def toggle(person: "Person") -> None:
    person.press("Figures on the cards")


def check(person: "Person", head: int | str) -> None:
    """Compare the line of every card with the statistics of the experiment, computed again."""
    person.settle()
    trace = attnlab.compute(person.experiment)
    for name in trace.all_stages:
        expected = describe_stage(trace, name, head if trace.stage(name).has_heads else "all")
        assert expected
        if not person.card(name).folded and name != person.playground.canvas.covered:
            assert figures(person, name) == expected, name


def set_dropout(person: "Person", text: str) -> None:
    pill = person.find(Pill, "Weights")
    person.click(pill)
    popup = pill.popup()
    assert popup is not None
    edit = person.find(NumberEdit, "Dropout", popup)
    person.click(edit)
    edit.selectAll()
    QTest.keyClicks(edit, text)
    person.key(Key.Key_Return, widget=edit)
    person.key(Key.Key_Escape, widget=edit)
    person.settle()


def test_one_button_shows_and_hides_the_figures(person: "Person") -> None:
    button = person.find(QPushButton, "Figures on the cards")
    assert not button.isChecked()
    assert all(figures(person, name) == "" for name in attnlab.compute(person.experiment).all_stages)
    steps = len(person.history())
    toggle(person)
    assert button.isChecked()
    check(person, 0)
    toggle(person)
    assert not button.isChecked()
    assert all(figures(person, name) == "" for name in attnlab.compute(person.experiment).all_stages)
    assert len(person.history()) == steps


def test_the_figures_are_ranges_means_sums_and_entropies(person: "Person") -> None:
    toggle(person)
    scores = person.painted("scores").astype(np.float64)
    assert figures(person, "scores") == (
        f"{format_brief(scores.min())} … {format_brief(scores.max())} · mean {format_brief(scores.mean())}"
    )
    weights = person.painted("weights")[0].astype(np.float64)
    entropy = -(weights * np.log(weights)).sum(-1)
    assert figures(person, "weights") == (
        f"row sums 1.0000 · entropy {format_brief(entropy.mean())} · {np.exp(entropy).mean():.1f} tokens"
    )


@pytest.mark.parametrize("stage", ["queries", "scores", "weights", "context"])
def test_the_line_is_painted_under_the_colours(person: "Person", stage: str) -> None:
    card = person.card(stage)
    without = card.grab().toImage()
    toggle(person)
    shown = card.grab().toImage()
    assert shown != without
    line = QRect(8, card.height() - 20, card.width() - 16, 14)
    ratio = shown.devicePixelRatio()
    below = [
        shown.pixel(round(x * ratio), round(y * ratio))
        for x in range(line.left(), line.right())
        for y in range(line.top(), line.bottom())
    ]
    assert len(set(below)) > 3
    toggle(person)
    assert card.grab().toImage() == without


def test_the_figures_follow_every_edit(person: "Person") -> None:
    toggle(person)
    before = figures(person, "scores")
    person.open_table("W_q")
    person.type_number(0, 0, "5")
    check(person, 0)
    assert figures(person, "scores") != before
    person.press("Causal")
    check(person, 0)
    assert "∞" not in figures(person, "masked")
    person.undo()
    person.undo()
    check(person, 0)
    assert figures(person, "scores") == before


def test_the_figures_are_those_of_the_visible_heads(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    toggle(person)
    check(person, "all")
    person.choose("Show", "head 3")
    check(person, 3)
    person.choose("Show", "mean")
    check(person, "mean")


def test_row_sums_after_dropout_are_shown(person: "Person") -> None:
    toggle(person)
    set_dropout(person, "0.5")
    dropped = person.painted("dropped")[0].astype(np.float64)
    sums = dropped.sum(-1)
    assert not np.allclose(sums, 1, atol=0.01)
    assert figures(person, "dropped").startswith(f"row sums {format_brief(sums.min())} … {format_brief(sums.max())} · ")
    assert figures(person, "weights").startswith("row sums 1.0000 · ")
    check(person, 0)
    told = person.playground.step_bar.figures.sums
    assert (told.property("role"), told.toolTip().partition(": ")[2]) == (
        "muted",  # red would mean that something is wrong
        "dropout drops weights and scales the others",
    )


def test_rows_masked_after_softmax_are_reported(person: "Person") -> None:
    person.document.edit("Causal", lambda e: edits.configure(e, causal=True, fill="after"))
    toggle(person)
    person.settle()
    sums = person.painted("zeroed")[0].sum(-1)
    assert figures(person, "zeroed").startswith(f"row sums {format_brief(sums.min())} … 1.00 · ")
    check(person, 0)
    assert person.playground.step_bar.figures.sums.property("role") == "error"


def test_nan_is_counted(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("naive-softmax-overflow")
    toggle(person)
    weights = person.painted("weights")
    assert np.isnan(weights).any()
    assert f"{np.isnan(weights).sum()} NaN" in figures(person, "weights")
    check(person, 0 if person.experiment.n_heads == 1 else "all")


def test_figures_describe_the_compared_state(person: "Person") -> None:
    toggle(person)
    then = {name: figures(person, name) for name in ("queries", "scores", "weights")}
    scores = person.painted("scores").copy()
    person.press("Pin")
    person.open_table("W_q")
    person.type_number(0, 0, "6")
    check(person, 0)
    now = person.painted("scores").copy()
    person.press("Pinned")
    assert {name: figures(person, name) for name in then} == then
    person.press("Difference")
    assert figures(person, "scores") == f"largest change {number(float(np.abs(now - scores).max()))}"
    assert figures(person, "values") == "nothing changed"
    person.press("Present")
    check(person, 0)


def test_the_largest_change_ignores_the_sign(person: "Person") -> None:
    toggle(person)
    person.press("Pin")
    person.open_table("X")
    value = float(person.in_table()[0, 0])
    person.type_number(0, 0, f"{value - 3:g}")
    person.settle()
    person.press("Difference")
    assert person.painted("inputs").min() == pytest.approx(-3)
    assert person.painted("inputs").max() == 0
    assert figures(person, "inputs") == "largest change 3.0000"
    person.press("Present")


def test_an_unrevealed_stage_has_no_figures(person: "Person") -> None:
    toggle(person)
    person.playground.step_bar.buttons["first"].click()
    assert figures(person, "inputs")
    assert figures(person, "scores") == ""
    assert person.card("scores")._strip == ""
    person.playground.step_bar.buttons["last"].click()
    check(person, 0)


def test_hidden_figures_are_not_computed(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(trace: Any, name: str, head: int | str) -> str:
        asked.append(name)
        return describe_stage(trace, name, head)

    monkeypatch.setattr(looks, "describe_stage", counted)
    person.open_table("W_v")
    person.type_number(0, 0, "6")
    person.press("Causal")
    person.settle()
    person.click_cell("weights", 1, 0)
    assert asked == []
    toggle(person)
    assert sorted(asked) == sorted(attnlab.compute(person.experiment).all_stages)
    asked.clear()
    person.point_at("scores", 0, 0)
    person.open_table("W_v")
    person.type_number(0, 0, "7")
    person.settle()
    assert set(asked) == {"values", "context", "output"}, "what an edit left as it was is counted anew"
    toggle(person)
    asked.clear()
    person.press("Causal")
    person.settle()
    assert asked == []


def test_a_shortcut_shows_the_figures(person: "Person") -> None:
    button = person.find(QPushButton, "Figures on the cards")
    button.setFocus()
    person.key(Key.Key_Space)
    assert button.isChecked()
    check(person, 0)


def test_the_status_bar_has_the_same_row_sums(person: "Person") -> None:
    toggle(person)
    set_dropout(person, "0.5")
    labels = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    told = next(text for text in labels if text.startswith("row sums"))
    assert figures(person, "dropped").startswith(told)
    pill = person.find(Pill, "Weights")
    person.click(pill)
    popup = pill.popup()
    assert popup is not None
    person.click(person.find(Switch, "Training", popup))
    person.key(Key.Key_Escape, widget=popup)
    person.settle()
    assert not person.card("dropped").isVisible()

"""The goal lens: a weight is typed or dragged to what it should be; one edit does it, and one undo takes it back."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

import attnlab
from attnlab.attention import edits
from attnlab.attention.stages.explain import Cell
from attnlab.document.settings import Settings
from attnlab.ui.base.theme import px
from attnlab.ui.playground.lenses.goal_lens import GoalLens
from attnlab.ui.playground.weight_drag import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QAbstractButton

    from tests.ui.conftest import Person


def finish(person: "Person") -> None:
    person.settle()
    person.wait_for(lambda: not person.playground.lane.busy)
    person.settle()


def open_lens(person: "Person") -> GoalLens:
    person.playground.lenses.open_lens("goal")
    finish(person)
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, GoalLens)
    return lens


def hold(person: "Person", query: int, key: int, head: int = 0) -> None:
    person.document.show(cell=Cell("weights", query, key, head), pinned=True)
    finish(person)


def type_wanted(person: "Person", lens: GoalLens, text: str) -> None:
    field = lens.panel.wanted
    field.setFocus()
    field.lineEdit().selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    finish(person)


def click(person: "Person", button: "QAbstractButton") -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    finish(person)


def weigh(person: "Person", query: int, key: int, head: int = 0) -> float:
    return float(attnlab.compute(person.experiment).array("weights")[head, query, key])


def test_what_may_change_stands_beside_its_first_choice(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(size=(1366, 768), settings=Settings(type_size=175))
    lens = open_lens(person)
    label = next(each for each in lens.panel.findChildren(QLabel) if each.text() == "may change:")
    first = next(iter(lens.panel.chips.values()))
    person.wait_for(lambda: first.x() > label.x())
    assert abs(first.geometry().center().y() - label.geometry().center().y()) <= 1


def test_a_typed_goal_is_reached_by_one_edit_that_is_undone(person: "Person") -> None:
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    assert lens.panel.name.text() == f"The weight “journey” → “starts” is {weigh(person, 1, 2):.4f}."
    assert not lens.changes.isVisible()
    type_wanted(person, lens, "0.5")
    click(person, lens.panel.reach)
    assert weigh(person, 1, 2) == pytest.approx(0.5, abs=5e-5)
    assert lens.panel.name.text() == "The weight “journey” → “starts” is 0.5000."
    assert person.document.history.current.label == "Goal 0.5"
    assert lens.changes.sentence.text().startswith("Goal 0.5, reached 0.5000 by the smallest change found: W_q by ")
    assert set(lens.changes.maps) == {"W_q", "W_k"}
    changed = person.experiment.weights.W_q
    assert changed is not None
    assert before.weights.W_q is not None
    data = lens.changes.maps["W_q"].data
    assert data is not None
    np.testing.assert_allclose(data.values[0], (changed - before.weights.W_q).numpy(), atol=1e-7)
    assert person.experiment.embeddings is before.embeddings
    for line in lens.changes.moved.text().splitlines()[1:]:
        _, was, now, change = (cell.replace("−", "-") for cell in line.split("\t"))
        assert float(now) - float(was) == pytest.approx(float(change), abs=2e-4)
        assert float(change)
    old = lens.weights.before.data
    assert old is not None
    assert old.values[0, 1, 2] == pytest.approx(float(attnlab.compute(before).array("weights")[0, 1, 2]), abs=1e-6)
    assert lens.panel.status.text() == "Goal 0.5, reached 0.5000."
    person.document.undo()
    finish(person)
    assert person.experiment is before
    assert not lens.changes.isVisible()
    assert not lens.panel.status.isVisible()


def test_the_contributions_before_and_after_sum_to_the_scores(person: "Person") -> None:
    before = attnlab.compute(person.experiment).array("scores")[0, 1, 2]
    hold(person, 1, 2)
    lens = open_lens(person)
    assert not lens.scores.isVisible()
    type_wanted(person, lens, "0.5")
    click(person, lens.panel.reach)
    after = attnlab.compute(person.experiment).array("scores")[0, 1, 2]
    for word, score, label, figure in zip(
        ("Before", "Now"), (before, after), lens.scores.sums, lens.scores.maps, strict=True
    ):
        assert label.text() == f"{word}: the contributions sum to {score:.4f}"
        assert figure.data is not None
        assert figure.data.values.sum() == pytest.approx(score, abs=1e-5)
    assert lens.scores.maps[0].data.scale == lens.scores.maps[1].data.scale
    person.document.undo()
    finish(person)
    assert not lens.scores.isVisible()


@pytest.mark.slow
def test_scores_that_are_no_sums_of_contributions_are_not_compared(person: "Person") -> None:
    person.document.edit("Cosine", lambda e: edits.configure(e, score="cosine"))
    finish(person)
    hold(person, 1, 2)
    lens = open_lens(person)
    type_wanted(person, lens, f"{weigh(person, 1, 2) + 0.005:.4f}")
    click(person, lens.panel.reach)
    assert lens.changes.isVisible()
    assert not lens.scores.isVisible()


def test_a_weight_is_dragged_up_in_the_map(person: "Person") -> None:
    lens = open_lens(person)
    figure = lens.weights.now
    at = figure.cell_rect(3, 4).center().toPoint()
    start = weigh(person, 3, 4)
    up = px(FULL) // 2
    QTest.mousePress(figure, Qt.MouseButton.LeftButton, pos=at)
    for step in (10, up // 2, up):
        QTest.mouseMove(figure, at - QPoint(0, step))
    assert person.document.view.cell == Cell("weights", 3, 4, 0)
    QTest.mouseRelease(figure, Qt.MouseButton.LeftButton, pos=at - QPoint(0, up))
    finish(person)
    assert weigh(person, 3, 4) == pytest.approx(start + up / px(FULL), abs=1e-3)


def type_numbers(person: "Person", lens: GoalLens, text: str) -> None:
    lens.panel.numbers.setFocus()
    lens.panel.numbers.selectAll()
    QTest.keyClicks(lens.panel.numbers, text)


def test_only_chosen_numbers_change(person: "Person") -> None:
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    for name in ("W_q", "W_k"):
        lens.panel.chips[name].click()
    type_wanted(person, lens, f"{weigh(person, 1, 2) + 0.02:.4f}")
    type_numbers(person, lens, 'W_q[0, 1], X["starts", :]')
    wanted = weigh(person, 1, 2) + 0.02
    QTest.keyClick(lens.panel.numbers, Qt.Key.Key_Return)
    finish(person)
    assert weigh(person, 1, 2) == pytest.approx(wanted, abs=1e-4)
    for name, allowed in (("W_q", {(0, 1)}), ("W_k", set()), ("W_v", set())):
        old, new = getattr(before.weights, name), getattr(person.experiment.weights, name)
        assert {tuple(place) for place in (old != new).nonzero().tolist()} == allowed
    assert (person.experiment.embeddings != before.embeddings).any(1).tolist() == [False, False, True] + 3 * [False]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("W_v[0, 1]", "“W_v[0, 1]” does not name numbers of X, W_q, W_k; write W_q[0, 1] or X[2, :]."),
        ("W_q[0, 9]", "The column of W_q is 9; it needs a number from 0 to 1, or :."),
        (
            'X["dog", :]',
            "The row of embeddings is “dog”; there are “Your”, “journey”, “starts”, “with”, “one”, “step”.",
        ),
        ("[", "“[” does not name numbers of X, W_q, W_k; write W_q[0, 1] or X[2, :]."),
    ],
)
def test_numbers_that_do_not_exist_are_refused_in_a_sentence(person: "Person", text: str, sentence: str) -> None:
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    type_wanted(person, lens, "0.3")
    type_numbers(person, lens, text)
    click(person, lens.panel.reach)
    assert lens.panel.status.text() == sentence
    assert person.experiment is before


@pytest.mark.slow
def test_only_what_may_change_changes(person: "Person") -> None:
    before = person.experiment
    hold(person, 4, 0)
    lens = open_lens(person)
    for name in ("W_q", "W_k"):
        lens.panel.chips[name].click()
    assert [chip.text() for chip in lens.panel.chips.values()] == [
        "X", "W_q", "W_k", "the query’s token", "the key’s token",
    ]  # fmt: skip
    type_wanted(person, lens, "0.4")
    click(person, lens.panel.reach)
    assert lens.panel.status.text() == "Nothing may change: choose W_q, W_k, X or a token, or type some numbers."
    assert person.experiment is before
    lens.panel.chips["query token"].click()
    click(person, lens.panel.reach)
    assert weigh(person, 4, 0) == pytest.approx(0.4, abs=5e-5)
    moved = (person.experiment.embeddings != before.embeddings).any(1).tolist()
    assert moved == [False, False, False, False, True, False]
    assert person.experiment.weights is before.weights


def test_other_rows_are_held(person: "Person") -> None:
    person.playground.open_preset("agreement-cat")
    finish(person)
    hold(person, 10, 1)
    lens = open_lens(person)
    before = attnlab.compute(person.experiment).array("weights").copy()
    lens.panel.hold.click()
    type_wanted(person, lens, "0.8")
    click(person, lens.panel.reach)
    after = attnlab.compute(person.experiment).array("weights")
    assert after[0, 10, 1] == pytest.approx(0.8, abs=5e-5)
    assert np.abs(np.delete(after - before, 10, 1)).max() < 0.01
    assert "by a small change: " in lens.changes.sentence.text()


def test_two_goals_are_reached_together(person: "Person") -> None:
    lens = open_lens(person)
    hold(person, 1, 2)
    type_wanted(person, lens, "0.3")
    click(person, lens.panel.add)
    assert lens.panel.goals.text() == "Kept goals: “journey” → “starts” 0.3."
    hold(person, 4, 0)
    lens.panel.chips["embeddings"].click()
    type_wanted(person, lens, "0.35")
    click(person, lens.panel.reach)
    assert (weigh(person, 1, 2), weigh(person, 4, 0)) == (pytest.approx(0.3, abs=1e-4), pytest.approx(0.35, abs=1e-4))
    assert lens.panel.goals.text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_goal_that_is_the_weight_shown_holds_it(person: "Person", is_kept: bool) -> None:
    """It is reached with the other goal, whether it is set first or last; without it, the weight would move."""
    before = weigh(person, 1, 2)
    lens = open_lens(person)

    def hold_it() -> None:
        hold(person, 1, 2)
        type_wanted(person, lens, lens.panel.wanted.text())
        assert lens.panel.status.text() == f"Goal: this weight stays {before:.4f}."

    def move_another() -> None:
        hold(person, 1, 3)
        type_wanted(person, lens, "0.3")

    first, last = (hold_it, move_another) if is_kept else (move_another, hold_it)
    first()
    click(person, lens.panel.add)
    last()
    click(person, lens.panel.reach)
    assert weigh(person, 1, 3) == pytest.approx(0.3, abs=1e-4)
    assert weigh(person, 1, 2) == pytest.approx(before, abs=5e-5)
    person.document.undo()
    finish(person)
    move_another()
    click(person, lens.panel.reach)
    assert weigh(person, 1, 2) != pytest.approx(before, abs=1e-3)


@pytest.mark.slow
def test_a_weight_that_only_has_to_stay_needs_another_goal(person: "Person") -> None:
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    type_wanted(person, lens, f"{weigh(person, 1, 2):.4f}")
    click(person, lens.panel.reach)
    assert lens.panel.status.text() == "The weight is this already. Keep this goal, then set one for another weight."
    assert person.experiment is before


def test_a_drag_that_comes_back_changes_nothing(person: "Person") -> None:
    before = person.experiment
    lens = open_lens(person)
    figure = lens.weights.now
    at = figure.cell_rect(3, 4).center().toPoint()
    QTest.mousePress(figure, Qt.MouseButton.LeftButton, pos=at)
    for up in (10, px(FULL) // 2, 0):
        QTest.mouseMove(figure, at - QPoint(0, up))
    QTest.mouseRelease(figure, Qt.MouseButton.LeftButton, pos=at)
    finish(person)
    assert person.experiment is before
    assert lens.panel.status.text().startswith("The weight is this already.")


def test_goals_that_cannot_be_are_one_sentence_and_change_nothing(person: "Person") -> None:
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    click(person, lens.panel.reach)
    assert lens.panel.status.text().startswith("Type what the weight should be")
    type_wanted(person, lens, "1.2")
    assert lens.panel.status.text()
    type_wanted(person, lens, "1")
    click(person, lens.panel.reach)
    assert lens.panel.status.text().endswith("a weight of exactly 1; 0.999 can be reached.")
    type_wanted(person, lens, "0.6")
    click(person, lens.panel.add)
    hold(person, 1, 3)
    type_wanted(person, lens, "0.7")
    click(person, lens.panel.reach)
    assert "sum to 1.3, and a row sums to 1" in lens.panel.status.text()
    click(person, lens.panel.clear)
    assert person.experiment is before
    person.document.edit("Causal", lambda e: edits.configure(e, causal=True))
    finish(person)
    type_wanted(person, lens, "0.5")
    click(person, lens.panel.reach)
    assert "is masked, so it cannot have a goal" in lens.panel.status.text()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["1.2", "-0.1", "nan", "cat"])
def test_a_goal_that_is_refused_as_the_button_is_pressed_changes_nothing(person: "Person", text: str) -> None:
    """Neither the goal before nor the current weight is taken instead."""
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    type_wanted(person, lens, "0.8")
    for button in (lens.panel.reach, lens.panel.add, lens.panel.ways):
        lens.panel.wanted.setFocus()
        lens.panel.wanted.lineEdit().selectAll()
        QTest.keyClicks(lens.panel.wanted, text)
        click(person, button)
        assert lens.panel.status.text().startswith("wanted")
        assert person.experiment is before
        assert lens.panel.goals.text() == ""
    click(person, lens.panel.reach)  # the field shows the goal before
    assert weigh(person, 1, 2) == pytest.approx(0.8, abs=1e-4)


def test_what_is_not_reached_says_how_near_it_came(person: "Person") -> None:
    """The key of “starts” lies between those of other tokens, so no query prefers it by far."""
    before = person.experiment
    hold(person, 1, 2)
    lens = open_lens(person)
    lens.panel.chips["W_k"].click()
    type_wanted(person, lens, "0.9")
    click(person, lens.panel.reach)
    assert person.experiment is before
    assert lens.panel.status.text().startswith("Not reached: the search came to 0.")
    assert lens.panel.status.text().endswith("Nothing was changed. Let X or W_k change too.")
    assert not lens.changes.isVisible()


def test_other_ways_need_a_goal(person: "Person") -> None:
    hold(person, 1, 2)
    lens = open_lens(person)
    click(person, lens.panel.ways)
    assert lens.panel.status.text().startswith("“wanted” is the weight as it is now: type another number")


@pytest.mark.slow
def test_other_ways_are_listed_with_their_lengths_also_after_the_goal_is_reached(person: "Person") -> None:
    hold(person, 1, 2)
    lens = open_lens(person)
    type_wanted(person, lens, "0.5")
    click(person, lens.panel.ways)
    listed = lens.ways.table.text()
    rows = [line.split("\t") for line in listed.splitlines()]
    assert rows[0] == ["what may change", "change", "other rows move by"]
    lengths = {row[0]: float(row[1]) for row in rows[1:]}
    assert lengths["all matrices"] < lengths["W_k"]
    assert lengths["all matrices, other rows held"] >= lengths["all matrices"] * 0.999
    assert {"X", "W_k", "the query’s token", "the key’s token"} <= set(lengths)
    assert lens.ways.refused.text() == "Not reached by: W_q."
    assert not lens.ways.start.isVisible()
    click(person, lens.panel.reach)
    assert not lens.ways.isVisible()
    click(person, lens.panel.ways)
    assert lens.ways.start.isVisible()
    assert lens.ways.table.text() == listed
    person.wait_for(lambda: lens.ways.visibleRegion().boundingRect() == lens.ways.rect())  # scrolled to
    hold(person, 1, 3)
    click(person, lens.panel.ways)
    assert lens.panel.status.text().startswith("“wanted” is the weight as it is now")


def test_an_edit_during_the_search_wins(person: "Person") -> None:
    hold(person, 1, 2)
    lens = open_lens(person)
    type_wanted(person, lens, "0.5")
    QTest.mouseClick(lens.panel.reach, Qt.MouseButton.LeftButton)
    person.document.edit("Set", lambda e: edits.set_block(e, "W_q", 0, 0, [[0.9]]))
    edited = person.experiment
    finish(person)
    assert person.experiment is edited
    assert not lens.changes.isVisible()

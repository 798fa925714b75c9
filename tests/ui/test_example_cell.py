"""While no cell is held, Explain and the lenses show the same pair of tokens."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

import attnlab
from attnlab.ui.playground.lenses.arrows_lens import ArrowsLens
from attnlab.ui.playground.lenses.contributions_lens import ContributionsLens
from attnlab.ui.playground.lenses.goal_lens import GoalLens

if TYPE_CHECKING:
    from tests.ui.conftest import Person


def read_pairs(person: "Person") -> list[str]:
    """Return the pair that Explain, the arrows and the contributions each name, as "query → key"."""
    texts = [label.text() for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]
    pairs = [next(text for text in texts if " → " in text).partition(" · ")[0]]
    for name in ("arrows", "contributions"):
        person.playground.lenses.open_lens(name)
        person.settle()
        person.wait_for(lambda: not person.playground.lane.busy)
        lens = person.playground.lenses.stack.currentWidget()
        assert isinstance(lens, ArrowsLens | ContributionsLens)
        label = lens.score if isinstance(lens, ArrowsLens) else lens.sentence
        pairs.append(label.text().partition(":")[0].partition(", head")[0].replace("“", "").replace("”", ""))
        person.playground.lenses.open_lens("canvas")
    return pairs


def test_an_example_shows_its_own_pair_everywhere(person: "Person") -> None:
    assert read_pairs(person) == ["starts → journey"] * 3


def test_the_goal_of_a_sentence_opens_on_the_words_that_agree(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("agreement-cat")
    person.playground.lenses.open_lens("goal")
    person.settle()
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, GoalLens)
    assert "“purrs” → “cat”" in " ".join(label.text() for label in lens.findChildren(QLabel))


@pytest.mark.parametrize("name", ["journey-untrained", "multi-head-8", "causal-5x8", "mask-after-softmax"])
def test_without_a_pair_of_its_own_the_largest_weight_between_two_tokens_is_shown(
    sit_down: Callable[..., "Person"], name: str
) -> None:
    person = sit_down(name)
    trace = attnlab.compute(person.experiment)
    weights = trace.array("zeroed" if "zeroed" in trace else "weights")[0].copy()
    np.fill_diagonal(weights, -1)
    query, key = divmod(int(weights.argmax()), weights.shape[1])
    e = person.experiment
    assert read_pairs(person) == [f"{e.tokens[query]} → {e.key_tokens[key]}"] * 3


def test_another_example_and_undo_bring_their_own_pair(person: "Person") -> None:
    person.playground.open_preset("journey-untrained")
    person.settle()
    assert person.document.view.example is None
    person.undo()
    person.settle()
    assert read_pairs(person) == ["starts → journey"] * 3

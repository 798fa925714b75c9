"""Goal seek: the goals are reached by small changes of what may change only, or one sentence says why they are not."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention.edits.layer_edits import configure
from attnlab.attention.edits.layer_tables import table
from attnlab.attention.measures.goal_seek import Goal, seek_goals
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.scores import SCORES
from attnlab.base.errors import ExperimentError
from tests.attention.test_arithmetic_by_hand import layer

May = dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]


def allow(e: attnlab.Experiment, *names: str, row: int | None = None) -> May:
    found = {}
    for name in names:
        found[name] = np.zeros(tuple(table(e, name).shape), bool)
        found[name][slice(None) if row is None else row] = True
    return found


CAT, PURRS = 1, 10
"""“cat” and “purrs” of the preset agreement-cat."""


@pytest.mark.parametrize(
    ("names", "row", "hold", "length", "others"),
    [
        (("W_q", "W_k"), None, False, 0.96, 0.533),
        (("W_q",), None, False, 1.39, 0.425),
        (("W_k",), None, False, 1.72, 0.745),
        (("embeddings",), CAT, False, 5.41, 0.837),
        (("W_q", "W_k"), None, True, 1.30, 0.006),
    ],
)
def test_purrs_looks_at_cat_at_0_8_by_five_ways(
    names: tuple[str, ...], row: int | None, hold: bool, length: float, others: float
) -> None:
    """The lengths are those of an independent search: a general optimiser with a penalty, run once."""
    e = attnlab.preset("agreement-cat")
    found = seek_goals(e, [Goal(0, PURRS, CAT, 0.8)], allow(e, *names, row=row), hold_others=hold)
    weights = attnlab.compute(found.experiment).array("weights")
    assert weights[0, PURRS, CAT] == pytest.approx(0.8, abs=2e-5)
    assert found.is_reached
    assert found.length == pytest.approx(length, rel=0.01)
    assert found.others_moved == pytest.approx(others, abs=0.002)
    changed = {name: (table(found.experiment, name) - table(e, name)).numpy() for name in names}
    assert sum(float(np.square(each).sum()) for each in changed.values()) ** 0.5 == pytest.approx(
        found.length, rel=1e-5
    )
    untouched = {"embeddings", "W_q", "W_k", "W_v"} - set(names)
    assert all(table(found.experiment, name) is table(e, name) for name in untouched)
    if row is not None:
        assert not np.delete(changed["embeddings"], row, 0).any()


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("normalizer", [name for name, entry in NORMALIZERS.items() if entry.kind != "signed"])
def test_every_score_and_normaliser_reaches_a_near_goal(normalizer: str, score: str) -> None:
    e = configure(layer(2, 1.0, {}, (4, 2, 4)), normalizer=normalizer, score=score)
    weights = attnlab.compute(e, dtype="float64").array("weights")
    key = int(weights[1, 2].argmax())  # sparse normalisers have no slope at 0
    wanted = float(weights[1, 2, key]) * 0.9
    found = seek_goals(e, [Goal(1, 2, key, wanted)], allow(e, "W_q"))
    assert found.missed < 5e-5
    assert found.weights[1, 2, key] == pytest.approx(wanted, abs=5e-5)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.02, 0.95), st.booleans())
def test_random_goals_are_reached(seed: int, wanted: float, causal: bool) -> None:
    e = configure(layer(seed, 1.0, {}, (4, 1, 4)), causal=causal)
    found = seek_goals(e, [Goal(0, 3, seed % 4, wanted)], allow(e, "W_q", "W_k"))
    assert found.missed < 5e-5
    assert found.weights.sum(-1) == pytest.approx(1)


def test_a_goal_is_reached_from_a_saturated_row() -> None:
    e = layer(307, 1.0, {}, (4, 1, 4))
    weight = attnlab.compute(e, dtype="float64").array("weights")[0, 3, 3]
    assert weight in (0.0, 1.0) or abs(weight - round(weight)) < 1e-12
    assert seek_goals(e, [Goal(0, 3, 3, 0.5)], allow(e, "W_q", "W_k")).missed < 5e-5


PARALLEL, SQUARE = [[1.0, 1], [2, 2], [3, 3]], [[1.0, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("x", "size", "names"),
    [
        (PARALLEL, 1, ("W_q", "W_k")),
        (PARALLEL, 1, ("W_q", "W_k", "embeddings")),
        (SQUARE, 0, ("W_q", "W_k")),
        ([[0.0, 0]] * 3, 1, ("embeddings",)),
    ],
)
def test_a_goal_is_reached_past_queries_of_0(x: list[list[float]], size: float, names: tuple[str, ...]) -> None:
    """The scores of parallel tokens change their sign on the way, and where Q and K are 0 there is no slope."""
    weights = attnlab.Weights(**{name: size * np.eye(2) for name in ("W_q", "W_k", "W_v")})
    e = attnlab.Experiment(("a", "b", "c"), np.array(x), weights)
    found = seek_goals(e, [Goal(0, 1, 0, 0.8)], allow(e, *names))
    assert found.is_reached
    assert attnlab.compute(found.experiment).array("weights")[0, 1, 0] == pytest.approx(0.8, abs=1e-4)
    alone = [seek_goals(e, [Goal(0, 1, 0, 0.8)], allow(e, name)) for name in names]
    assert all(found.length < 1.001 * each.length for each in alone if each.is_reached)


def test_equal_tokens_cannot_be_told_apart_by_matrices() -> None:
    e = attnlab.Experiment(("a", "b", "c"), np.ones((3, 2)), attnlab.Weights(W_q=np.eye(2), W_k=np.eye(2)))
    found = seek_goals(e, [Goal(0, 1, 0, 0.8)], allow(e, "W_q", "W_k"))
    assert (found.length, found.missed) == (0, pytest.approx(0.8 - 1 / 3))


def test_two_goals_in_two_rows_are_reached_together() -> None:
    e = attnlab.preset("journey")
    goals = [Goal(0, 1, 2, 0.5), Goal(0, 4, 0, 0.4)]
    found = seek_goals(e, goals, allow(e, "embeddings", "W_q", "W_k"))
    assert found.weights[0, 1, 2] == pytest.approx(0.5, abs=1e-4)
    assert found.weights[0, 4, 0] == pytest.approx(0.4, abs=1e-4)


def test_the_smallest_change_is_smaller_than_another_that_reaches_the_goal() -> None:
    e = attnlab.preset("journey")
    both = seek_goals(e, [Goal(0, 1, 2, 0.5)], allow(e, "W_q", "W_k"))
    one = seek_goals(e, [Goal(0, 1, 2, 0.5)], allow(e, "W_q"))
    assert both.length < one.length


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_held_rows_move_less(seed: int) -> None:
    e = layer(seed, 1.0, {}, (5, 1, 8))
    goals, may = [Goal(0, 2, 1, 0.6)], allow(e, "W_q", "W_k")
    free = seek_goals(e, goals, may)
    assume(free.others_moved > 0.01)
    held = seek_goals(e, goals, may, hold_others=True)
    assert held.others_moved < free.others_moved
    assert held.missed < 5e-5


def test_what_cannot_be_reached_is_told_by_how_much() -> None:
    e = attnlab.preset("journey")
    found = seek_goals(e, [Goal(0, 1, 2, 0.9), Goal(0, 2, 2, 0.05)], allow(e, "W_q", row=0))
    weights = attnlab.compute(found.experiment).array("weights")
    missed = max(abs(weights[0, 1, 2] - 0.9), abs(weights[0, 2, 2] - 0.05))
    assert found.missed == pytest.approx(missed, abs=1e-5)
    assert not found.is_reached


@pytest.mark.parametrize(
    ("change", "goals", "sentence"),
    [
        ({}, [(1, 2, 1.2)], "is not between 0 and 1, as weights of a row are"),
        ({}, [(1, 2, float("nan"))], "nan cannot be the goal for “journey” → “starts”; type a number such as 0.8"),
        ({}, [(1, 2, 1.0)], "No finite score gives “journey” → “starts” a weight of exactly 1; 0.999 can be reached"),
        ({}, [(1, 2, 0.7), (1, 3, 0.6)], "The goals in the row of “journey” sum to 1.3, and a row sums to 1"),
        (
            {},
            [(1, key, 0.1) for key in range(6)],
            "“journey” sum to 0.6, and a row sums to 1: raise or drop one",
        ),
        ({"causal": True}, [(1, 0, 0.3), (1, 1, 0.3)], "The goals of all keys of “journey” sum to 0.6, and a row"),
        ({"causal": True}, [(1, 2, 0.5)], "“journey” → “starts” is masked, so it cannot have a goal"),
        (
            {"causal": True},
            [(0, 0, 0.5)],
            "“Your” → “Your” is the only visible key of its row, so",
        ),
    ],
)
def test_goals_that_nothing_reaches_are_refused(
    change: dict[str, bool], goals: list[tuple[int, int, float]], sentence: str
) -> None:
    e = configure(attnlab.preset("journey"), **change)
    with pytest.raises(ExperimentError, match=sentence):
        seek_goals(e, [Goal(0, *goal) for goal in goals], allow(e, "W_q"))


@pytest.mark.parametrize("fill", ["0", "after"])
def test_a_mask_that_leaves_weights_ordinary_forbids_no_goal(fill: str) -> None:
    e = configure(attnlab.preset("journey"), causal=True, fill=fill)
    for query, key in ((0, 0), (1, 2)):
        found = seek_goals(e, [Goal(0, query, key, 0.25)], allow(e, "W_q", "W_k", "embeddings"))
        assert found.is_reached
        weights = attnlab.compute(found.experiment).array("weights")
        assert weights[0, query, key] == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("normalizer", ["sparsemax", "entmax15"])
def test_a_weight_of_exactly_0_that_nothing_moves_is_refused(normalizer: str) -> None:
    e = configure(attnlab.preset("random-4x8"), normalizer=normalizer)
    place = next(zip(*np.nonzero(attnlab.compute(e).array("weights") == 0), strict=True))
    head, query, key = map(int, place)
    with pytest.raises(ExperimentError, match="has a weight of exactly 0, and no small change moves it; bring"):
        seek_goals(e, [Goal(head, query, key, 0.4)], allow(e, "W_q", "W_k", "embeddings"))


def test_nothing_may_change_and_unknown_tables_are_refused() -> None:
    e = attnlab.preset("journey")
    with pytest.raises(ExperimentError, match="Nothing may change"):
        seek_goals(e, [Goal(0, 1, 2, 0.5)], {"W_q": np.zeros((3, 2), bool)})
    with pytest.raises(ExperimentError, match="This layer has no table W_o; there are embeddings, W_q"):
        seek_goals(e, [Goal(0, 1, 2, 0.5)], {"W_o": np.ones((3, 2), bool)})


def test_a_search_that_is_stopped_keeps_what_it_has() -> None:
    e = attnlab.preset("agreement-cat")
    asked: list[float] = []

    def stop(missed: float) -> bool:
        asked.append(missed)
        return len(asked) < 2

    found = seek_goals(e, [Goal(0, PURRS, CAT, 0.8)], allow(e, "W_q", "W_k"), progress=stop)
    assert len(asked) == 2
    assert np.isfinite(found.length)

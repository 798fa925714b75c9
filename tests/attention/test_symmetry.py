"""Scores of queries and keys that are the same vectors are symmetric, and no others are taken for it."""

from itertools import product

import numpy as np
import pytest

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.symmetry import is_symmetric
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES

STAGES = ("scores", "scaled", "biased", "capped")


def make_layer(*, same: bool = True, **options: object) -> Experiment:
    """Return a layer whose tables are random, with or without the same ones for queries and keys."""
    e = edits.configure(preset("causal-5x8"), causal=False, **options)
    for seed, name in enumerate(edits.tables(e)):
        e = edits.fill(e, name, "normal", seed=seed)
    pairs = [("W_q", "W_k"), *([("g_q", "g_k")] if "g_q" in edits.tables(e) else [])]
    for query, key in pairs if same else ():
        e = edits.with_table(e, key, edits.table(e, query))
    return e


def find_symmetric(e: Experiment) -> list[str]:
    """Return the stages whose numbers are symmetric."""
    trace = attnlab.compute(e)
    arrays = {name: trace.array(name) for name in STAGES if name in trace}
    return [name for name, each in arrays.items() if np.allclose(each, each.swapaxes(-1, -2), atol=1e-5)]


@pytest.mark.parametrize(("score", "positions", "norm"), list(product(SCORES, POSITIONS, NORMS)))
def test_scores_of_the_same_vectors_are_symmetric(score: str, positions: str, norm: str) -> None:
    e = make_layer(score=score, positions=positions, qk_norm=norm)
    told = [name for name in STAGES if name in attnlab.compute(e) and is_symmetric(e, name)]
    assert set(told) <= set(find_symmetric(e))
    assert bool(told) == (score in ("dot", "cosine"))


def test_only_the_scores_are_told_apart_from_what_positions_add() -> None:
    e = make_layer(positions="t5", soft_cap=5.0)
    assert [name for name in STAGES if is_symmetric(e, name)] == ["scores", "scaled"]
    e = make_layer(soft_cap=5.0)
    assert [name for name in STAGES if is_symmetric(e, name)] == ["scores", "scaled", "capped"]


def test_scores_of_different_queries_and_keys_are_not_symmetric() -> None:
    assert not is_symmetric(make_layer(same=False), "scores")
    assert not is_symmetric(toggle_memory(make_layer(), True), "scores")
    biased = edits.toggle_biases(make_layer(), True)
    assert not is_symmetric(edits.fill(biased, "b_k", "normal"), "scores")
    assert not is_symmetric(make_layer(), "weights")

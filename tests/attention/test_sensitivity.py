"""Derivatives of the weights: held to finite differences and to each other, for every score, normaliser and scheme."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention.edits.layer_edits import configure
from attnlab.attention.measures.sensitivity import (
    Number,
    list_largest,
    list_tables,
    measure_by_trying,
    measure_causes,
    measure_effects,
)
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.base.errors import ExperimentError
from tests.attention.test_arithmetic_by_hand import layer

STEP = 1e-5


def check(e: attnlab.Experiment, number: Number, head: int, query: int, key: int) -> None:
    """Check the derivatives against a central difference and against each other."""
    effects = measure_effects(e, number)
    np.testing.assert_allclose(effects, measure_by_trying(e, number, STEP), rtol=1e-4, atol=1e-7)
    causes = measure_causes(e, head, query, key)
    assert causes[number.table][number.row, number.column] == pytest.approx(effects[head, query, key], abs=1e-12)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_derivatives_are_those_of_trying_for_every_score_and_normaliser(normalizer: str, score: str) -> None:
    e = configure(layer(3, 1.0, {}, (4, 2, 4)), normalizer=normalizer, score=score, causal=True)
    check(e, Number("W_q", 1, 2), 1, 2, 1)
    check(e, Number("embeddings", 1, 0), 0, 3, 2)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("positions", POSITIONS)
def test_derivatives_are_those_of_trying_for_every_position_scheme_and_norm(positions: str, norm: str) -> None:
    e = configure(layer(5, 1.0, {}, (4, 2, 4)), positions=positions, qk_norm=norm)
    check(e, Number("W_k", 0, 1), 0, 1, 2)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 4.0]), st.tuples(*[st.integers(1, 5)] * 2, st.just(2)))
def test_derivatives_of_random_layers_are_those_of_autograd(seed: int, size: float, dims: tuple[int, int, int]) -> None:
    e = layer(seed, size, {}, dims)
    heads, rows, columns = attnlab.compute(e)["weights"].shape
    x = e.embeddings.double().requires_grad_()
    w = e.weights
    assert w.W_q is not None
    assert w.W_k is not None
    assert w.b_q is not None
    q, k = x @ w.W_q.double() + w.b_q.double(), x @ w.W_k.double()
    q, k = (each.view(rows, heads, -1).transpose(0, 1) for each in (q, k))
    weights = torch.softmax(q @ k.mT / e.d_k**0.5, -1)
    weights[heads - 1, 0, columns - 1].backward()
    assert x.grad is not None
    causes = measure_causes(e, heads - 1, 0, columns - 1)
    np.testing.assert_allclose(causes["embeddings"], x.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_the_values_move_no_weight_and_a_row_of_effects_sums_to_zero() -> None:
    e = attnlab.preset("journey")
    assert list_tables(e) == ("embeddings", "W_q", "W_k", "W_v")
    assert not measure_effects(e, Number("W_v", 0, 0)).any()
    effects = measure_effects(e, Number("embeddings", 1, 1))
    assert effects.any()
    np.testing.assert_allclose(effects.sum(-1), 0, atol=1e-15)


def test_the_first_token_of_a_causal_layer_moves_with_nothing() -> None:
    e = configure(attnlab.preset("journey"), causal=True)
    assert not any(found.any() for found in measure_causes(e, 0, 0, 0).values())
    assert not list_largest(measure_causes(e, 0, 0, 0), 5)


def test_cross_attention_has_the_second_sequence() -> None:
    e = attnlab.preset("cross-attention")
    assert "memory_embeddings" in list_tables(e)
    check(e, Number("memory_embeddings", 1, 0), 0, 1, 1)


def test_one_tensor_given_twice_is_two_tables() -> None:
    given = attnlab.preset("journey")
    shared = given.weights.W_q
    e = attnlab.Experiment(given.tokens, given.embeddings, attnlab.Weights(W_q=shared, W_k=shared, W_v=shared))
    check(e, Number("W_q", 0, 1), 0, 2, 1)
    check(e, Number("W_k", 0, 1), 0, 2, 1)


def test_the_largest_are_listed_by_size() -> None:
    causes = {"W_q": np.array([[0.1, -0.5]]), "W_k": np.array([[0.3], [0.0]])}
    found = [(each.table, each.row, each.column, value) for each, value in list_largest(causes, 3)]
    assert found == [("W_q", 0, 1, -0.5), ("W_k", 0, 0, 0.3), ("W_q", 0, 0, 0.1)]
    assert [value for _, value in list_largest(causes, 1)] == [-0.5]


def test_what_has_no_derivative_is_said() -> None:
    e = attnlab.preset("journey")
    with pytest.raises(ExperimentError, match=r"There is no number W_q\[9, 0\] in this layer"):
        measure_effects(e, Number("W_q", 9, 0))
    huge = attnlab.Experiment(e.tokens, e.embeddings.double() * 1e200, e.weights)
    with pytest.raises(ExperimentError, match="no derivatives while weights are ∞ or NaN"):
        measure_causes(huge, 0, 0, 0)

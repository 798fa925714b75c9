"""Contributions: they sum to the engine's score and output in every configuration."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.measures.contributions import choose_largest, find_reason_against, measure_contributions
from attnlab.attention.measures.head_matrices import measure_output, multiply_output, multiply_scores
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.scores import SCORES
from attnlab.base.errors import ExperimentError
from attnlab.compute.engine import compute

POSITIONS = ("none", "sinusoidal", "learned", "rope", "alibi")


@st.composite
def layers(draw: st.DrawFn) -> Experiment:
    """Draw a layer whose scores are bilinear: heads, grouped keys, biases, positions, a second sequence."""
    heads, size = draw(st.sampled_from([(1, 1), (2, 1), (2, 2), (4, 2)])), draw(st.sampled_from([2, 4]))
    T_q, T_k, width, memory_width = (draw(st.integers(1, 5)) for _ in range(4))
    crossed, biased = draw(st.booleans()), draw(st.booleans())
    positions = draw(st.sampled_from(POSITIONS if not crossed or memory_width == width else POSITIONS[:2]))
    make = torch.Generator().manual_seed(draw(st.integers(0, 9999)))
    other = memory_width if crossed else width

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=make, dtype=torch.float64)

    (h, h_kv), d = heads, size
    arrays: dict[str, Any] = {"W_q": normal(width, h * d), "W_k": normal(other, h_kv * d)}
    arrays |= {"W_v": normal(other, h_kv * 3)}
    if draw(st.booleans()):
        arrays["W_o"] = normal(h * 3, 4)
    if biased:
        arrays |= {"b_q": normal(h * d), "b_k": normal(h_kv * d), "b_v": normal(h_kv * 3)}
        arrays |= {"b_o": normal(4 if "W_o" in arrays else h * 3)}
    score = draw(st.sampled_from([name for name, each in SCORES.items() if each.is_bilinear]))
    extra = {"W_a": normal(d, d)} if score == "general" else {}
    if positions == "learned":
        extra["P"] = normal(max(T_q, T_k), width)
    config = AttentionConfig(
        h, n_kv_heads=h_kv, positions=positions, score=score, causal=draw(st.booleans()), ablated=(0,) * (h > 2)
    )
    second = {"memory_tokens": [f"k{j}" for j in range(T_k)], "memory_embeddings": normal(T_k, other)}
    return Experiment(
        [f"t{i}" for i in range(T_q)],
        normal(T_q, width),
        Weights(**arrays, extra=extra),
        config,
        **(second if crossed else {}),
    )


@given(layers(), st.sampled_from(["float32", "float64"]), st.randoms(use_true_random=False))
def test_contributions_sum_to_the_score_and_the_output(e: Experiment, dtype: str, pick: Any) -> None:
    trace = compute(e, dtype=dtype)
    head, query, key = pick.randrange(e.n_heads), pick.randrange(e.T_q), pick.randrange(e.T_k)
    c = measure_contributions(trace, head, query, key)
    near = 1e-11 if dtype == "float64" else 3e-6
    allowed = near * max(np.abs(c.values).sum(), 1)
    assert c.engine == trace.array("scores")[head, query, key]
    assert c.total == pytest.approx(c.engine, abs=allowed)
    assert c.blocks.sum() == pytest.approx(c.total, abs=1e-11 * max(np.abs(c.values).sum(), 1))
    assert c.values.shape == (len(c.row_labels), len(c.column_labels))
    column = pick.randrange(e.d_out)
    o = measure_output(trace, head, query, column)
    assert o.heads[head] == o.values.sum()
    assert o.total == pytest.approx(o.engine, abs=near * max(np.abs(o.values).sum(), np.abs(o.heads).sum(), 1))


def test_a_score_by_hand() -> None:
    x, y = [2.0, 3.0], [5.0, 7.0]
    e = Experiment(["a", "b"], [x, y], Weights(W_q=[[1, 0], [0, 2]], W_k=[[1, 1], [0, 1]]))
    c = measure_contributions(compute(e), 0, 0, 1)
    np.testing.assert_array_equal(c.matrix, [[1, 0], [2, 2]])  # W_q W_kᵀ by hand
    np.testing.assert_array_equal(c.values, [[10, 0], [30, 42]])
    assert (c.total, c.engine) == (82, 82)


def test_with_rope_the_matrix_depends_on_the_distance_alone() -> None:
    e = edits.configure(preset("the-cat-sat"), positions="rope")
    trace = compute(e, dtype="float64")
    same = measure_contributions(trace, 0, 0, 1).matrix, measure_contributions(trace, 0, 1, 2).matrix
    np.testing.assert_allclose(*same, atol=1e-12)
    assert not np.allclose(same[0], measure_contributions(trace, 0, 0, 2).matrix)


@pytest.mark.parametrize("norm", [name for name in NORMS if name != "none"])
def test_with_qk_norm_a_sentence_says_why_there_is_no_table(norm: str) -> None:
    e = edits.configure(preset("journey"), qk_norm=norm)
    assert "divided by its own size" in find_reason_against(e)
    with pytest.raises(ExperimentError, match="no fixed matrix"):
        measure_contributions(compute(e), 0, 0, 0)


@pytest.mark.parametrize("score", [name for name, each in SCORES.items() if not each.is_bilinear])
def test_other_scores_say_why_there_is_no_table(score: str) -> None:
    e = edits.configure(preset("journey"), score=score)
    assert f"“{SCORES[score].title}”" in find_reason_against(e)


def test_the_matrix_of_a_head_is_that_of_its_contributions() -> None:
    for options in ({}, {"positions": "rope"}, {"score": "general"}):
        e = edits.configure(preset("multi-head-8"), **options)
        matrix = measure_contributions(compute(e), 3, 4, 1).matrix
        np.testing.assert_allclose(multiply_scores(e, 3, 4, 1).values, matrix, atol=1e-12)


@given(layers())
def test_singular_values_are_those_of_the_whole_product(e: Experiment) -> None:
    for m in (multiply_scores(e, e.n_heads - 1, e.T_q - 1, 0), multiply_output(e, e.n_heads - 1)):
        whole = np.linalg.svd(m.values, compute_uv=False)
        count = min(len(whole), len(m.singular_values))
        np.testing.assert_allclose(m.singular_values[:count], whole[:count], atol=1e-10)
        np.testing.assert_allclose(whole[count:], 0, atol=1e-10)


def test_the_largest_rows_and_columns_are_chosen_in_their_order() -> None:
    values = np.array([[0.0, 1, -9], [0, 2, 0], [0, -3, 4]])
    assert choose_largest(values, 2) == [[0, 2], [1, 2]]
    assert choose_largest(values, 9) == [[0, 1, 2], [0, 1, 2]]

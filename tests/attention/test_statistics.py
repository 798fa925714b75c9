"""Statistics of rows of weights: sum, entropy, effective tokens and strongest target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.measures.statistics import (
    describe_stage,
    name_strongest,
    row_statistics,
    stage_summary,
    statistics_of,
    weights_statistics,
)


def test_a_uniform_row_has_the_largest_entropy() -> None:
    even = row_statistics(np.full(4, 0.25), 4)
    assert (even.total, even.entropy, even.most, even.effective) == pytest.approx((1.0, math.log(4), math.log(4), 4.0))
    assert (even.strongest, even.tied) == (0, 4)


def test_a_row_with_one_target_has_zero_entropy() -> None:
    one = row_statistics(np.array([0.0, 0.0, 1.0]), 3)
    assert (one.total, one.entropy, one.effective, one.strongest, one.tied) == (1.0, 0.0, 1.0, 2, 1)


@pytest.mark.parametrize(
    ("row", "said"), [([0.4, 0.4, 0.2], "a and 1 more tie"), ([0.2, 0.5, 0.3], "∅"), ([0.0] * 3, "none")]
)
def test_keys_that_share_the_largest_weight_are_said_to_tie(row: list[float], said: str) -> None:
    keys, alone, all_rows = ("a", "", "c"), row_statistics(np.array(row), 3), weights_statistics(np.array([[row]]))
    assert name_strongest(keys, alone.strongest, alone.tied) == said
    assert name_strongest(keys, all_rows.strongest.item(), all_rows.tied.item()) == said


def test_an_empty_row_has_no_target() -> None:
    nothing = row_statistics(np.zeros(3, dtype=np.float32), 0)
    assert (nothing.total, nothing.entropy, nothing.most, nothing.effective) == (0.0, 0.0, 0.0, 0.0)
    assert nothing.strongest is None


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, -np.inf], [np.inf, 0.0]])
def test_a_row_with_nan_is_not_described(row: list[float]) -> None:
    said = row_statistics(np.array(row), 2)
    assert not math.isfinite(said.total)
    assert math.isnan(said.entropy)
    assert math.isnan(said.effective)
    assert said.strongest is None


def test_negative_weights_of_a_plain_sum_have_a_target_and_no_entropy() -> None:
    said = row_statistics(np.array([-1.0, 2.0]), 2)
    assert (said.total, said.strongest) == (1.0, 1)
    assert math.isnan(said.entropy)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda row: sum(row) > 1e-3))
def test_entropy_lies_between_that_of_one_target_and_of_all(row: list[float]) -> None:
    weights = np.array(row) / sum(row)
    said = row_statistics(weights, len(row))
    assert said.total == pytest.approx(1.0)
    assert 0.0 <= said.entropy <= said.most + 1e-9
    assert 1.0 - 1e-9 <= said.effective <= len(row) + 1e-9
    assert said.strongest is not None
    assert weights[said.strongest] == weights.max()
    written_out = -sum(w * math.log(w) for w in weights.tolist() if w > 0)
    assert said.entropy == pytest.approx(max(written_out, 0.0), abs=1e-9)


def test_a_causal_row_is_compared_with_its_visible_tokens() -> None:
    trace = attnlab.compute(attnlab.preset("causal-5x8"))
    said = row_statistics(trace.array("weights")[0, 2], 3)
    assert said.most == pytest.approx(math.log(3))
    assert said.strongest in (0, 1, 2)


# All rows at once


def described(row: list[float], i: int) -> tuple[float, float, float, float]:
    """Return sum, entropy, effective tokens and distance of a row of probabilities, computed by loops."""
    total = sum(row)
    if total == 0:
        return 0.0, 0.0, 0.0, math.nan
    entropy = -sum(w / total * math.log(w / total) for w in row if w > 0)
    return total, entropy, math.exp(entropy), sum(w * abs(i - j) for j, w in enumerate(row)) / total


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_statistics_of_every_row_agree_with_loops(heads: int, queries: int, keys: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((heads, queries, keys)) * (rng.random((heads, queries, keys)) < 0.7)
    s = weights_statistics(weights)
    for h in range(heads):
        for i in range(queries):
            row = weights[h, i].tolist()
            found = (s.total[h, i], s.entropy[h, i], s.effective[h, i], s.distance[h, i])
            assert found == pytest.approx(described(row, i), nan_ok=True, abs=1e-9)
            assert s.largest[h, i] == max(row)
            assert s.strongest[h, i] == (row.index(max(row)) if any(row) else -1)
            assert s.most[h, i] == pytest.approx(math.log(keys))


def test_undefined_statistics_are_nan_and_have_no_text() -> None:
    rows = np.array([[0.0, 0.0], [-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0], [np.inf, -np.inf]])
    s = weights_statistics(rows)
    assert np.isnan(s.distance).all()
    assert np.isnan(s.entropy).tolist() == np.isnan(s.effective).tolist() == [False, True, True, True, True]
    assert s.strongest.tolist() == [-1, 1, -1, -1, -1]


def test_the_uniform_entropy_counts_only_visible_keys() -> None:
    s = weights_statistics(np.tril(np.ones((3, 3))), np.tril(np.ones((3, 3), dtype=bool)))
    np.testing.assert_allclose(s.entropy, s.most, atol=1e-12)
    np.testing.assert_allclose(s.distance, [0, 0.5, 1])


def test_the_mean_of_a_head_omits_empty_rows() -> None:
    s = weights_statistics(np.array([[[0.5, 0.5], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]))
    np.testing.assert_allclose(s.mean("effective"), [2, 1])
    assert math.isnan(float(weights_statistics(np.zeros((2, 2))).mean("entropy")))


def test_one_row_has_the_same_statistics_alone_as_among_all() -> None:
    weights = attnlab.compute(attnlab.preset("causal-5x8")).array("weights")
    s, one = weights_statistics(weights), row_statistics(weights[0, 3], 4, 3)
    assert (one.distance, one.largest, one.entropy) == (s.distance[0, 3], s.largest[0, 3], s.entropy[0, 3])
    assert math.isnan(row_statistics(weights[0, 3], 4).distance)


# Stages, and the line on a card


@pytest.mark.parametrize("head", [0, "mean", "all"])
def test_a_row_is_compared_with_its_querys_visible_keys(head: int | str) -> None:
    mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
    mask[2, 0] = False  # query 2 sees two keys of three
    e = attnlab.Experiment(("a", "b", "c"), np.eye(3, 4), config=attnlab.AttentionConfig(n_heads=2, mask=mask))
    s = statistics_of(attnlab.compute(e), "weights", head)
    rows = 2 if head == "all" else 1
    np.testing.assert_allclose(s.most.reshape(rows, 3), [[0, math.log(2), math.log(2)]] * rows)


def test_a_stages_summary_ignores_masked_cells() -> None:
    trace = attnlab.compute(attnlab.preset("causal-5x8"))
    found, array = stage_summary(trace, "masked", "all"), trace.array("masked")
    kept = [float(array[0, i, j]) for i in range(5) for j in range(i + 1)]
    assert (found.smallest, found.largest, found.nans, found.infinities) == (min(kept), max(kept), 0, 0)
    assert found.mean == pytest.approx(sum(kept) / len(kept))
    assert found.shape == array.shape


def test_overflowed_cells_are_counted_and_reported() -> None:
    e = attnlab.preset("random-4x8")
    large = attnlab.Experiment(e.tokens, np.asarray(e.embeddings) * 1e3, e.weights, e.config)
    trace = attnlab.compute(large, dtype="float16")
    count = int(np.isinf(trace.array("scores")).sum())
    assert stage_summary(trace, "scores", 0).infinities == count > 0
    assert describe_stage(trace, "scores", 0).endswith(f" · {count} ∞")
    nans = int(np.isnan(trace.array("weights")).sum())
    assert nans > 0
    assert f"{nans} NaN" in describe_stage(trace, "weights", 0)


@pytest.mark.parametrize("head", [0, 1, "mean", "all"])
def test_the_line_for_weights_has_sums_entropy_and_effective_tokens(head: int | str) -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    weights = trace.array("weights").astype(np.float64)
    chosen = {"mean": weights.mean(0), "all": weights.reshape(-1, 10)}.get(str(head))
    rows = (weights[int(head)] if chosen is None else chosen).tolist()
    found = [described(row, 0) for row in rows]
    entropy, tokens = (sum(f[k] for f in found) / len(found) for k in (1, 2))
    assert describe_stage(trace, "weights", head) == f"row sums 1.0000 · entropy {entropy:.2f} · {tokens:.1f} tokens"


@pytest.mark.parametrize("stage", ["inputs", "scores", "output"])
def test_the_line_for_other_stages_is_their_range(stage: str) -> None:
    trace = attnlab.compute(attnlab.preset("journey"))
    x = trace.array(stage)
    assert describe_stage(trace, stage, "all") == f"{x.min():.2f} … {x.max():.2f} · mean {x.mean():.2f}"


def test_rows_that_do_not_sum_to_one_are_reported() -> None:
    e = attnlab.preset("journey")
    mask = np.ones((6, 6), dtype=bool)
    mask[2] = False
    config = attnlab.AttentionConfig(scale="none", mask=mask)
    trace = attnlab.compute(attnlab.Experiment(e.tokens, e.embeddings, e.weights, config))
    assert describe_stage(trace, "weights", 0).startswith("row sums 0.00 … 1.00 · ")

"""Standard deviation and gradient compared with their formulas, and how both change with d_k."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.measures.saturation import SIZES, jacobian_norms, measure, measure_random, measure_trace
from attnlab.compute.engine import compute

CAUSAL = torch.ones(5, 5, dtype=torch.bool).triu(1)


def jacobian(row: Tensor) -> Tensor:
    """Return the derivative of softmax, by torch's own differentiation."""
    return torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), row)


@given(st.integers(1, 6), st.integers(1, 9), st.floats(0.01, 30), st.integers(0, 10**6))
def test_the_gradient_is_the_norm_of_the_softmax_derivative(rows: int, keys: int, size: float, seed: int) -> None:
    logits = size * torch.randn(rows, keys, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = torch.stack([jacobian(row).norm() for row in logits])
    torch.testing.assert_close(jacobian_norms(torch.softmax(logits, -1)), expected, rtol=1e-10, atol=1e-10)


def test_a_nearly_saturated_row_keeps_its_digits() -> None:
    logits = torch.tensor([[40.0, 0.0]], dtype=torch.float64)
    tiny = math.exp(-40)  # the four entries of the derivative are ± p (1 − p)
    assert float(jacobian_norms(torch.softmax(logits, -1))) == pytest.approx(2 * tiny, rel=1e-12)


def test_masked_cells_do_not_count() -> None:
    logits = torch.randn(5, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    seen = [logits[i, : i + 1] for i in range(5)]
    found = measure(logits.masked_fill(CAUSAL, 1e6), CAUSAL)
    assert found.spread == pytest.approx(float(np.concatenate([row.numpy() for row in seen]).std()), abs=1e-12)
    assert found.gradient == pytest.approx(sum(float(jacobian(row).norm()) for row in seen) / 5, abs=1e-12)
    assert found.largest == pytest.approx(sum(float(torch.softmax(row, 0).max()) for row in seen) / 5, abs=1e-12)


def test_empty_rows_are_left_out_and_no_rows_give_nan() -> None:
    hidden = torch.tensor([[False, False], [True, True]])
    logits = torch.tensor([[0.0, 1.0], [5.0, 9.0]])
    assert measure(logits, hidden) == measure(logits[:1])
    assert math.isnan(measure(logits, torch.ones(2, 2, dtype=torch.bool)).gradient)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_scores_have_standard_deviation_root_d_k_before_scaling(seed: int) -> None:
    pairs = measure_random(64, seed)
    assert tuple(pair.d_k for pair in pairs) == SIZES
    for pair in pairs:
        assert pair.raw.spread == pytest.approx(math.sqrt(pair.d_k), rel=0.35)
        assert pair.scaled.spread == pytest.approx(pair.raw.spread / math.sqrt(pair.d_k), rel=1e-12)
    assert pairs[-1].raw.gradient < 0.15 < 0.05 + pairs[-1].scaled.gradient
    assert pairs[-1].raw.largest > 0.9


def test_random_curves_depend_on_their_seed_and_leave_torchs_state_alone() -> None:
    before = torch.get_rng_state()
    assert measure_random(6, 3) == measure_random(6, 3) != measure_random(6, 4)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", ["journey", "multi-head-causal", "causal-5x8"])
def test_an_experiment_is_measured_for_each_head(name: str) -> None:
    trace = compute(preset(name), dtype="float64")
    found, e = measure_trace(trace), trace.experiment
    assert len(found.heads) == e.n_heads
    assert (found.divided, found.divisor) == (True, math.sqrt(e.d_k))
    hidden = e.hidden()
    for head, pair in enumerate(found.heads):
        scores = trace.array("scores")[head]
        seen = scores if hidden is None else scores[~hidden.numpy()]
        assert pair.d_k == e.d_k
        assert pair.raw.spread == pytest.approx(seen.std(), abs=1e-12)
        assert pair.scaled.spread == pytest.approx(seen.std() / math.sqrt(e.d_k), abs=1e-12)
        assert pair.scaled.largest == pytest.approx(trace.array("weights")[head].max(-1).mean(), abs=1e-12)
    assert found.mean.raw.gradient == pytest.approx(np.mean([pair.raw.gradient for pair in found.heads]), abs=1e-12)


def test_without_a_scale_the_root_of_d_k_is_shown_as_not_in_use() -> None:
    e = preset("journey")
    unscaled = measure_trace(compute(edits.configure(e, scale="none"), dtype="float64"))
    assert not unscaled.divided
    assert unscaled.mean == measure_trace(compute(e, dtype="float64")).mean


def test_a_custom_scale_is_measured() -> None:
    e = edits.configure(preset("journey"), scale=10.0)
    found = measure_trace(compute(e, dtype="float64"))
    assert found.divisor == 10
    assert found.mean.scaled.spread == pytest.approx(found.mean.raw.spread / 10)


def test_queries_without_visible_keys_do_not_count() -> None:
    mask = torch.tensor([[True, True], [False, False]])
    e = Experiment(("a", "b"), torch.eye(2), config=AttentionConfig(mask=mask))
    assert math.isfinite(measure_trace(compute(e)).mean.raw.gradient)

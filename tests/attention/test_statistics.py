"""What is said of one row of weights: its sum, entropy, tokens in effect and strongest target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.statistics import row_statistics


def test_a_row_that_is_even_has_the_most_entropy() -> None:
    even = row_statistics(np.full(4, 0.25), 4)
    assert (even.total, even.entropy, even.most, even.effective) == pytest.approx((1.0, math.log(4), math.log(4), 4.0))
    assert even.strongest == 0


def test_a_row_with_one_target_has_none() -> None:
    one = row_statistics(np.array([0.0, 0.0, 1.0]), 3)
    assert (one.total, one.entropy, one.effective, one.strongest) == (1.0, 0.0, 1.0, 2)


def test_a_row_with_nothing_left_has_no_target() -> None:
    nothing = row_statistics(np.zeros(3, dtype=np.float32), 0)
    assert (nothing.total, nothing.entropy, nothing.most, nothing.effective) == (0.0, 0.0, 0.0, 0.0)
    assert nothing.strongest is None


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, -np.inf], [np.inf, 0.0]])
def test_a_row_that_overflowed_is_not_described(row: list[float]) -> None:
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
def test_entropy_lies_between_one_target_and_all(row: list[float]) -> None:
    weights = np.array(row) / sum(row)
    said = row_statistics(weights, len(row))
    assert said.total == pytest.approx(1.0)
    assert 0.0 <= said.entropy <= said.most + 1e-9
    assert 1.0 - 1e-9 <= said.effective <= len(row) + 1e-9
    assert said.strongest is not None
    assert weights[said.strongest] == weights.max()
    written_out = -sum(w * math.log(w) for w in weights.tolist() if w > 0)
    assert said.entropy == pytest.approx(max(written_out, 0.0), abs=1e-9)


def test_a_causal_row_is_compared_with_the_tokens_it_may_see() -> None:
    trace = attnlab.compute(attnlab.preset("causal-5x8"))
    said = row_statistics(trace.array("weights")[0, 2], 3)
    assert said.most == pytest.approx(math.log(3))
    assert said.strongest in (0, 1, 2)

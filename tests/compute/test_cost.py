"""The cost lens's measurements: bytes counted by hand, equal loops, and limits. No time is tested."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.base.errors import DeviceError
from attnlab.compute import cost
from attnlab.compute.cost import SIZES, compare_with_loops, measure, measure_at
from attnlab.compute.engine import compute, estimate_bytes

JOURNEY_NUMBERS = 6 * 3 + 3 * 6 * 2 + 3 * 6 * 6 + 6 * 2  # X; Q, K, V; scores, scaled, weights; Z, which is the output


def drawn(T: int, width: int, **config: object) -> Experiment:
    g = torch.Generator().manual_seed(0)
    x, *w = (torch.randn(*size, generator=g) for size in ((T, width), *[(width, width)] * 3))
    return Experiment([f"t{i}" for i in range(T)], x, Weights(*w), AttentionConfig(**config))  # type: ignore[arg-type]


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("float64", 8), ("bfloat16", 2)])
def test_each_stages_bytes_are_counted_once(dtype: str, size: int) -> None:
    found = measure(preset("journey"), "cpu", dtype)
    assert found.bytes == JOURNEY_NUMBERS * size
    assert (found.device, found.dtype, found.T) == ("cpu", dtype, 6)
    assert found.milliseconds > 0
    assert 1 <= found.runs <= cost.MOST_RUNS


def test_maps_grow_with_the_square_of_the_token_count() -> None:
    e = drawn(4, 2)
    few, many = measure_at(e, 64), measure_at(e, 128)
    assert few is not None
    assert many is not None
    rows = 4 * (1 + 3 + 1) * 2 * 64  # X, Q, K, V and the context: twice as many for twice T
    assert many.bytes - 2 * rows == 4 * (few.bytes - rows)


def test_sizes_run_from_four_to_the_token_limit() -> None:
    assert SIZES == (4, 8, 16, 32, 64, 128, 256, 512)


def test_sizes_beyond_the_limit_of_a_window_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "BUDGET", 100_000)
    e = preset("journey")
    assert measure_at(e, 32) is not None
    assert measure_at(e, 128) is None


def test_a_missing_device_is_named() -> None:
    with pytest.raises(DeviceError, match="cuda:77"):
        measure(preset("journey"), "cuda:77")


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(1, 3), st.integers(1, 4), st.integers(0, 99))
def test_loops_and_matrix_product_agree(T: int, heads: int, d_k: int, seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    width = heads * d_k
    x, *w = (torch.randn(*size, generator=g, dtype=torch.float64) for size in ((T, width), *[(width, width)] * 3))
    e = Experiment([f"t{i}" for i in range(T)], x, Weights(*w), AttentionConfig(n_heads=heads))
    found = compare_with_loops(compute(e, dtype="float64"))
    assert found.difference < 1e-10
    assert (found.heads, found.T_q, found.T_k, found.cut) == (heads, T, T, False)


def test_loops_and_matrix_product_compute_the_experiments_context() -> None:
    trace = compute(preset("journey"), dtype="float64")
    q, k, v = (trace[name] for name in ("queries", "keys", "values"))
    expected = trace["context"]
    looped = [cost._run_loops(q[0].tolist(), k[0].tolist(), v[0].tolist(), math.sqrt(2))]
    torch.testing.assert_close(torch.tensor(looped, dtype=torch.float64), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(cost._run_products(q, k, v, math.sqrt(2)), expected, rtol=1e-12, atol=1e-12)


def test_in_half_precision_the_difference_is_that_of_the_dtype() -> None:
    single = compare_with_loops(compute(drawn(8, 4), dtype="float32")).difference
    half = compare_with_loops(compute(drawn(8, 4), dtype="bfloat16")).difference
    assert 0 < single < 1e-5 < 1e-3 < half < 0.5


@pytest.mark.parametrize(
    ("T", "heads", "products", "expected"),
    [
        (10, 4, 10 * 10 * 4 * 2, (2, 10, 10, True)),  # half of the heads
        (10, 4, 10 * 10 * 4 * 4, (4, 10, 10, False)),
        (10, 4, 5 * 5 * 4, (1, 5, 5, True)),  # not even one head: a part of it
        (10, 4, 1, (1, 1, 1, True)),
    ],
)
def test_loops_that_take_too_long_are_cut(
    T: int, heads: int, products: int, expected: tuple[int, int, int, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "MOST_PRODUCTS", products)
    found = compare_with_loops(compute(drawn(T, 8, n_heads=heads)))
    assert (found.heads, found.T_q, found.T_k, found.cut) == expected
    assert found.difference < 1e-5


def test_the_speed_up_is_a_ratio() -> None:
    assert cost.Loops(1, 6, 6, 12.0, 0.5, 0.0, False).times_faster == 24
    assert cost.Loops(1, 6, 6, 12.0, 0.0, 0.0, False).times_faster == math.inf


def test_half_precision_needs_half_the_memory() -> None:
    e = preset("multi-head-8")
    single = estimate_bytes(e, "float32")
    assert (estimate_bytes(e, "float64"), estimate_bytes(e, "float16"), estimate_bytes(e, "bfloat16")) == (
        2 * single,
        single / 2,
        single / 2,
    )

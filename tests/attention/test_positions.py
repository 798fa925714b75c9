"""Each position scheme compared with its paper, and the properties that all schemes share."""

import dataclasses
import math
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.assemble import assemble
from attnlab.attention.measures.order import measure_order_blindness
from attnlab.attention.registries.position_functions import buckets, find_frequencies, rope, slopes
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.table import STAGES

CLOSE: dict[str, Any] = {"atol": 1e-10, "rtol": 1e-10}
SCHEMES = sorted(POSITIONS)


def randn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(positions: str, t_q: int = 5, t_k: int | None = None, heads: int = 3, **config: Any) -> attnlab.Experiment:
    """Return tokens of 6 numbers and heads of 4; with ``t_k`` keys from a second sequence."""
    e = attnlab.Experiment(
        tokens=[f"t{i}" for i in range(t_q)],
        embeddings=randn(t_q, 6),
        weights=attnlab.Weights(
            W_q=randn(6, 4 * heads, seed=2), W_k=randn(6, 4 * heads, seed=3), W_v=randn(6, 2 * heads, seed=7)
        ),
        memory_tokens=None if t_k is None else [f"m{j}" for j in range(t_k)],
        memory_embeddings=None if t_k is None else randn(t_k, 6, seed=4),
        config=attnlab.AttentionConfig(n_heads=heads),
    )
    return assemble(e, config=attnlab.AttentionConfig(n_heads=heads, positions=positions, **config))


def traced(e: attnlab.Experiment) -> attnlab.Trace:
    return attnlab.compute(e, dtype="float64")


# --- every scheme ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t_k", [None, 3, 7])
@pytest.mark.parametrize("positions", SCHEMES)
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_the_code_of_every_scheme_computes_its_numbers(positions: str, t_k: int | None, heads: int) -> None:
    e = layer(positions, t_k=t_k, heads=heads)
    trace = traced(e)
    scope: dict[str, Any] = {"torch": torch, "x": e.embeddings, "memory": e.memory_embeddings, **e.weights.extra}
    scope |= {"W_q": e.weights.W_q, "W_k": e.weights.W_k, "W_v": e.weights.W_v}
    for stage in (stage for stage in STAGES if stage.present(e)):
        code = stage.code(e)
        assert all(len(line) <= 100 for line in code.splitlines())
        exec(code, scope)
        torch.testing.assert_close(scope[stage.variable], trace[stage.name], **CLOSE)


@pytest.mark.parametrize("positions", SCHEMES)
def test_shuffled_tokens_shuffle_the_maps_only_without_positions(positions: str) -> None:
    found = measure_order_blindness(layer(positions), (3, 0, 4, 1, 2))
    assert found.largest < 1e-12 if positions == "none" else found.largest > 1e-3
    assert found.largest_output < 1e-12 if positions == "none" else found.largest_output > 1e-3


@pytest.mark.parametrize("positions", SCHEMES)
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_schemes_treat_shared_keys_like_expanded_keys(positions: str, kv_heads: int) -> None:
    e = layer(positions, heads=4)
    narrow: dict[str, Any] = {"W_k": randn(6, 4 * kv_heads, seed=5), "W_v": randn(6, 2 * kv_heads, seed=6)}
    wide = {
        name: matrix.unflatten(-1, (kv_heads, -1)).repeat_interleave(4 // kv_heads, 1).flatten(1)
        for name, matrix in narrow.items()
    }
    shared = dataclasses.replace(
        e,
        weights=dataclasses.replace(e.weights, **narrow),
        config=dataclasses.replace(e.config, n_kv_heads=kv_heads),
    )
    whole = dataclasses.replace(e, weights=dataclasses.replace(e.weights, **wide))
    torch.testing.assert_close(traced(shared)["output"], traced(whole)["output"], **CLOSE)


NUMBER = r"\(?−?\d+(?:\.\d+)?(?:e−?\d+)?\)?"


def numbers(text: str) -> list[float]:
    return [float(found.strip("()").replace("−", "-")) for found in re.findall(NUMBER, text)]


@pytest.mark.parametrize("t_k", [None, 7])
@pytest.mark.parametrize("positions", SCHEMES)
def test_every_cell_that_a_scheme_changes_is_explained_up_to_its_value(positions: str, t_k: int | None) -> None:
    e = layer(positions, t_k=t_k)
    trace = traced(e)
    for name in {"inputs", "memory", "rotated_queries", "rotated_keys", "biased"} & set(trace.all_stages):
        *heads, rows, columns = trace[name].shape
        for head in range(*heads) if heads else [None]:
            for row in range(rows):
                for column in range(columns):
                    explanation = explain(trace, Cell(name, row, column, head))
                    lines = [plain(line) for line in explanation.lines]
                    assert explanation.value == trace[name][(() if head is None else (head,)) + (row, column)]
                    _assert_adds_up(name, lines, explanation.value, POSITIONS[positions].encode is not None)


def _assert_adds_up(name: str, lines: list[str], value: float, encodes: bool) -> None:
    """Check that the printed sums give the value; printed numbers have four decimals."""
    if name.startswith("rotated"):
        a, cos, b, sin = numbers(lines[2].removeprefix("= "))
        assert a * cos + b * sin == pytest.approx(value, abs=1e-3)
        assert numbers(lines[3]) == [pytest.approx(value, abs=1e-4)]
    elif name == "biased":
        after, before, added = numbers(lines[0])
        assert after == pytest.approx(value, abs=1e-4)
        assert before + added == pytest.approx(value, abs=2e-4)
        assert numbers(lines[2])[-1] == pytest.approx(added, abs=1e-4)
    elif encodes:
        given, added, total = numbers(lines[1])
        assert given + added == pytest.approx(total, abs=2e-4)
        assert total == pytest.approx(value, abs=1e-4)
    else:
        assert numbers(lines[0]) == [pytest.approx(value, abs=1e-4)]


@pytest.mark.parametrize("positions", SCHEMES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_schemes_compute_in_the_requested_dtype(positions: str, dtype: str) -> None:
    e = layer(positions)
    trace, exact = attnlab.compute(e, dtype=dtype), traced(e)
    for name in trace.all_stages:
        assert trace[name].dtype == getattr(torch, dtype)
    torch.testing.assert_close(trace["output"].double(), exact["output"], atol=0.1, rtol=0.1)


@pytest.mark.parametrize("positions", SCHEMES)
def test_missing_tables_are_named(positions: str) -> None:
    e = layer("none")
    config = dataclasses.replace(e.config, positions=positions)
    for table in POSITIONS[positions].tables:
        with pytest.raises(attnlab.ExperimentError, match=rf"{positions} needs {table.name} \["):
            dataclasses.replace(e, config=config)


# --- added to the embeddings ----------------------------------------------------------------------------------------


def test_learned_positions_add_the_first_rows_of_their_table() -> None:
    e = layer("learned", t_k=3)
    longer = randn(9, 6, seed=8)
    e = dataclasses.replace(e, weights=dataclasses.replace(e.weights, extra={"P": longer}))
    assert e.memory_embeddings is not None
    trace = traced(e)
    assert torch.equal(trace["inputs"], e.embeddings + longer[:5])
    assert torch.equal(trace["memory"], e.memory_embeddings + longer[:3])


def test_learned_positions_need_sequences_of_equal_width() -> None:
    with pytest.raises(attnlab.ExperimentError) as refused:
        attnlab.Experiment(
            tokens=["a", "b"],
            embeddings=randn(2, 6),
            weights=attnlab.Weights(W_q=randn(6, 4), W_k=randn(5, 4), W_v=randn(5, 4), extra={"P": randn(3, 6)}),
            memory_tokens=["x", "y", "z"],
            memory_embeddings=randn(3, 5),
            config=attnlab.AttentionConfig(positions="learned"),
        )
    assert str(refused.value) == (
        "positions 'learned' adds P to both sequences, but d_memory is 5 and d_model is 6; "
        "use a second sequence of 6 columns, or positions 'sinusoidal'."
    )


def test_a_table_of_positions_may_be_longer_than_the_tokens_but_not_shorter() -> None:
    e = layer("learned")
    with pytest.raises(attnlab.ExperimentError, match=r"P has shape \[4, 6\]; .* with position = 5\."):
        dataclasses.replace(e, weights=dataclasses.replace(e.weights, extra={"P": randn(4, 6)}))


# --- turned: RoPE ---------------------------------------------------------------------------------------------------


def llama(x: torch.Tensor, base: float) -> torch.Tensor:
    """Rotate [h, T, d] as Llama does: the halves are parts of complex numbers, times e^(i · position · frequency)."""
    d = x.shape[-1]
    frequencies = torch.tensor([base ** (-2 * c / d) for c in range(d // 2)], dtype=torch.float64)
    angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float64), frequencies)
    turned = torch.complex(x[..., : d // 2], x[..., d // 2 :]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


def rotate_half(x: torch.Tensor, base: float) -> torch.Tensor:
    """Rotate [h, T, d] like Llama's code in transformers: x cos + rotate_half(x) sin, with repeated angles."""
    d = x.shape[-1]
    inverse = 1.0 / (base ** (torch.arange(0, d, 2, dtype=torch.float64) / d))
    angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * inverse
    both = torch.cat([angles, angles], -1)
    return x * both.cos() + torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1) * both.sin()


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 40), st.integers(1, 8), st.floats(1.5, 1e6), st.integers(0, 99))
def test_rope_equals_the_implementation_of_llama(heads: int, length: int, pairs: int, base: float, seed: int) -> None:
    x = randn(heads, length, 2 * pairs, seed=seed)
    turned = rope(x, base)
    torch.testing.assert_close(turned, llama(x, base), **CLOSE)
    torch.testing.assert_close(turned, rotate_half(x, base), **CLOSE)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), **CLOSE)
    assert torch.equal(turned[:, 0], x[:, 0])


@pytest.mark.parametrize("t_k", [None, 7])
@pytest.mark.parametrize("base", [10000.0, 500000.0, 2.0])
def test_a_layer_with_rope_rotates_queries_and_keys(t_k: int | None, base: float) -> None:
    trace = traced(layer("rope", t_k=t_k, rope_base=base))
    q, k = llama(trace["queries"], base), llama(trace["keys"], base)
    torch.testing.assert_close(trace["rotated_queries"], q, **CLOSE)
    torch.testing.assert_close(trace["rotated_keys"], k, **CLOSE)
    torch.testing.assert_close(trace["weights"], torch.softmax(q @ k.mT / 2, -1), **CLOSE)


def test_rope_scores_depend_only_on_the_distance() -> None:
    e = layer("rope", t_q=12)
    same = dataclasses.replace(e, embeddings=e.embeddings[:1].expand(12, -1))
    scores = traced(same)["scores"]
    for distance in range(-11, 12):
        diagonal = scores.diagonal(distance, -2, -1)
        torch.testing.assert_close(diagonal, diagonal[:, :1].expand_as(diagonal), **CLOSE)
    assert (scores[:, 0, 1:] - scores[:, 0, :1]).abs().min() > 1e-3


@pytest.mark.parametrize(("d_k", "fitting"), [(1, "2"), (3, "2 or 4"), (5, "4 or 6")])
def test_rope_needs_an_even_d_k(d_k: int, fitting: str) -> None:
    with pytest.raises(attnlab.ExperimentError) as refused:
        attnlab.Experiment(["a"], randn(1, d_k), config=attnlab.AttentionConfig(positions="rope"))
    assert str(refused.value) == (
        f"positions 'rope' rotates columns in pairs, but d_k is {d_k}; use an even d_k such as {fitting}."
    )


@pytest.mark.parametrize("base", [1, 0.5, -2, math.inf, math.nan, "10"])
def test_a_base_of_1_or_less_is_refused(base: Any) -> None:
    with pytest.raises(attnlab.ExperimentError, match=r"rope_base is .*; it needs a number above 1"):
        attnlab.AttentionConfig(rope_base=base)


# --- turned: RoPE with a table of frequencies -----------------------------------------------------------------------


def with_omega(e: attnlab.Experiment, omega: Any) -> attnlab.Experiment:
    return dataclasses.replace(e, weights=dataclasses.replace(e.weights, extra={"omega": omega}))


@pytest.mark.parametrize("base", [10000.0, 500.0])
def test_scaled_rope_begins_with_the_frequencies_of_the_base(base: float) -> None:
    plain = layer("rope", t_k=7, rope_base=base)
    scaled = edits.configure(plain, positions="rope_scaled")
    assert scaled.weights.extra["omega"].tolist() == [1, base**-0.5]
    assert "omega" in edits.tables(scaled)
    torch.testing.assert_close(traced(scaled)["output"], traced(plain)["output"], **CLOSE)


def test_scaled_rope_turns_each_pair_by_its_own_frequency_and_multiplies() -> None:
    e = with_omega(layer("rope_scaled", rope_factor=1.5), [0.25, -2.0])
    trace = traced(e)
    for name in ("queries", "keys"):
        given = torch.complex(trace[name][..., :2], trace[name][..., 2:])
        angles = torch.outer(torch.arange(5.0, dtype=torch.float64), torch.tensor([0.25, -2.0], dtype=torch.float64))
        turned = given * torch.polar(torch.full_like(angles, 1.5), angles)
        torch.testing.assert_close(trace[f"rotated_{name}"], torch.cat([turned.real, turned.imag], -1), **CLOSE)


def test_a_number_turned_by_a_table_is_written_out() -> None:
    e = with_omega(layer("rope_scaled", rope_factor=1.5), [0.25, 0.5])
    trace = traced(e)
    found = explain(trace, Cell("rotated_queries", 3, 1, 0))
    by, what, sum_of, *_ = (plain(each) for each in found.lines)
    assert by == "rotated with column 3 by the angle θ = 3 · omega[1] = 3 · 0.5 = 1.5000 rad"
    assert what == "x[1]·1.5 cos θ − x[3]·1.5 sin θ"
    a, cos, b, sin = numbers(sum_of.removeprefix("= "))
    assert (cos, sin) == pytest.approx((1.5 * math.cos(1.5), -1.5 * math.sin(1.5)), abs=1e-4)
    assert a * cos + b * sin == pytest.approx(found.value, abs=1e-3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_does_not_round_the_frequencies(dtype: str) -> None:
    """At position 900, a frequency rounded to bfloat16 would be an eighth of a turn off."""
    length, omega = 900, 0.7071067690849304
    e = attnlab.Experiment(["a"] * length, torch.ones(length, 2), config=attnlab.AttentionConfig())
    e = with_omega(edits.configure(e, positions="rope_scaled"), torch.tensor([omega]))
    last = attnlab.compute(e, dtype=dtype)["rotated_queries"][0, -1]
    angle = (length - 1) * omega
    expected = [math.cos(angle) - math.sin(angle), math.sin(angle) + math.cos(angle)]
    assert last.tolist() == pytest.approx(expected, abs=0.01)


def test_a_half_precision_experiment_begins_with_frequencies_in_float32() -> None:
    e = attnlab.Experiment(["a"], torch.ones(1, 6, dtype=torch.bfloat16))
    omega = edits.configure(e, positions="rope_scaled").weights.extra["omega"]
    assert torch.equal(omega, find_frequencies(10000.0, 3).float())


def test_the_frequencies_follow_d_k() -> None:
    e = with_omega(layer("rope_scaled"), [0.25, 0.5])
    assert edits.resize(e, d_k=6).weights.extra["omega"].tolist() == [0.25, 0.5, pytest.approx(10000 ** (-2 / 3))]
    assert edits.resize(e, d_k=2).weights.extra["omega"].tolist() == [0.25]
    with pytest.raises(attnlab.ExperimentError, match="positions 'rope_scaled' rotates columns in pairs, but d_k is 5"):
        edits.resize(e, d_k=5)
    with pytest.raises(attnlab.ExperimentError, match=r"omega has shape \[3\]; it needs \[pair\] with pair = 2"):
        with_omega(e, [1.0, 1.0, 1.0])
    with pytest.raises(attnlab.ExperimentError, match="rope_factor is 0; it needs a number above 0"):
        attnlab.AttentionConfig(rope_factor=0)


# --- added to the scores: ALiBi -------------------------------------------------------------------------------------


def test_alibi_slopes_equal_the_published_ones() -> None:
    eight = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert slopes(8) == tuple(eight)
    twelve = [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]  # every second one of sixteen heads
    assert slopes(12) == pytest.approx([*eight, *twelve], rel=1e-14)
    assert slopes(16) == pytest.approx([2 ** (-k / 2) for k in range(1, 17)], rel=1e-14)
    assert slopes(1) == (1 / 256,)


@pytest.mark.parametrize("heads", range(1, 34))
def test_alibi_slopes_of_other_head_counts_equal_the_authors_code(heads: int) -> None:
    def published(n: int) -> list[float]:
        if math.log2(n).is_integer():
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]
        closest = 2 ** math.floor(math.log2(n))
        return published(closest) + published(2 * closest)[0::2][: n - closest]

    assert slopes(heads) == pytest.approx(published(heads), rel=1e-12)


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("t_k", [None, 7])
def test_alibi_subtracts_slope_times_distance(heads: int, t_k: int | None) -> None:
    trace = traced(layer("alibi", t_k=t_k, heads=heads))
    added = trace["biased"] - trace["scaled"]
    for head in range(heads):
        for i in range(added.shape[1]):
            for j in range(added.shape[2]):
                assert float(added[head, i, j]) == pytest.approx(-slopes(heads)[head] * abs(i - j), abs=1e-12)


# --- added to the scores: T5 ----------------------------------------------------------------------------------------


def published_bucket(relative: int, both_ways: bool, count: int, farthest: int) -> int:
    """Return the bucket of key − query as defined by Raffel et al., with the floor of the logarithm in integers."""
    bucket = 0
    if both_ways:
        count //= 2
        bucket, relative = (count if relative > 0 else 0), abs(relative)
    else:
        relative = max(-relative, 0)
    exact = count // 2
    if relative < exact:
        return bucket + relative
    wide = count - exact
    # the largest k with log(r/exact) / log(farthest/exact) · wide >= k, both sides to the power of e
    steps = (k for k in range(wide) if relative**wide * exact**k >= farthest**k * exact**wide)
    return bucket + exact + max(steps)


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize(("count", "farthest"), [(32, 128), (8, 20), (4, 2), (16, 1000), (6, 128), (64, 256)])
def test_t5_buckets_equal_the_published_ones(both_ways: bool, count: int, farthest: int) -> None:
    farthest = max(farthest, count // 2 + 1)
    distances = [*range(-300, 301), 10**4, -(10**4), 10**6, -(10**6)]
    made = buckets(torch.tensor(distances), count, farthest, both_ways).tolist()
    for distance, bucket in zip(distances, made, strict=True):
        assert bucket == published_bucket(distance, both_ways, count, farthest), distance
    assert min(made) == 0
    assert max(made) == count - 1


def test_t5_buckets_match_hand_computed_ones() -> None:
    made = buckets(torch.tensor([0, -1, -7, -8, -11, -12, 1, 7, 8, -127, -128, 500]), 32, 128, both_ways=True)
    assert made.tolist() == [0, 1, 7, 8, 8, 9, 17, 23, 24, 15, 15, 31]
    made = buckets(torch.tensor([3, 0, -15, -16, -127, -500]), 32, 128, both_ways=False)
    assert made.tolist() == [0, 0, 15, 16, 31, 31]


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("t_k", [None, 7])
def test_t5_adds_the_bias_of_the_bucket_and_head(both_ways: bool, t_k: int | None) -> None:
    e = layer("t5", t_k=t_k, t5_buckets=8, t5_distance=5, t5_bidirectional=both_ways)
    trace, table = traced(e), e.weights.extra["B"]
    added = trace["biased"] - trace["scaled"]
    assert table.shape == (8, 3)
    for head in range(3):
        for i in range(e.T_q):
            for j in range(e.T_k):
                bucket = published_bucket(j - i, both_ways, 8, 5)
                assert float(added[head, i, j]) == pytest.approx(float(table[bucket, head]), abs=1e-12)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"t5_buckets": 9}, r"t5_buckets is 9; use an even number such as 8 or 10\."),
        ({"t5_distance": 8}, r"t5_distance is 8, but with 32 for t5_buckets .*; use more than 8\."),
        ({"t5_distance": 16, "t5_bidirectional": False}, r"use more than 16\."),
    ],
)
def test_invalid_buckets_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(attnlab.ExperimentError, match=sentence):
        layer("t5", **options)


def test_a_table_with_a_wrong_number_of_buckets_is_refused() -> None:
    e = layer("t5")
    config = dataclasses.replace(e.config, options={"t5_buckets": 16})
    with pytest.raises(attnlab.ExperimentError, match=r"B has shape \[32, 3\].* bucket = 16, which is t5_buckets\."):
        dataclasses.replace(e, config=config)
    kept = assemble(e, config=config).weights.extra["B"]
    assert torch.equal(kept, e.weights.extra["B"][:16])

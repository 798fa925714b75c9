"""Edits of numbers return a new experiment, share what they do not change, and refuse invalid values."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits

WEIGHTS = ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")


def randn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(dtype: torch.dtype = torch.float32, biases: bool = True, **config: Any) -> attnlab.Experiment:
    """Return four tokens × 6, two heads of d_k 3 and d_v 2, d_out 6, with distinct numbers."""
    shapes = {"W_q": (6, 6), "W_k": (6, 6), "W_v": (6, 4), "W_o": (4, 6)}
    widths = {"b_q": 6, "b_k": 6, "b_v": 4, "b_o": 6} if biases else {}
    weights = {name: randn(*shape, seed=i).to(dtype) for i, (name, shape) in enumerate(shapes.items())}
    weights |= {name: randn(width, seed=9).to(dtype) for name, width in widths.items()}
    return attnlab.Experiment(
        tokens=("a", "b", "c", "d"),
        embeddings=randn(4, 6).to(dtype),
        weights=attnlab.Weights(**weights),
        config=attnlab.AttentionConfig(**({"n_heads": 2} | config)),
    )


def untrained(heads: int = 2) -> attnlab.Experiment:
    config = attnlab.AttentionConfig(n_heads=heads)
    return attnlab.Experiment(("a", "b", "c", "d"), randn(4, 6).float(), config=config)


def crossed(**weights: Any) -> attnlab.Experiment:
    """Return four tokens × 6 and a memory of three × 5."""
    given_weights = {"W_q": randn(6, 4), "W_k": randn(5, 4), "W_v": randn(5, 2)} | weights
    return attnlab.Experiment(
        tokens=("a", "b", "c", "d"),
        embeddings=randn(4, 6),
        weights=attnlab.Weights(**given_weights),
        memory_tokens=("x", "y", "z"),
        memory_embeddings=randn(3, 5),
    )


def tensors(e: attnlab.Experiment) -> dict[str, torch.Tensor | None]:
    names = {"embeddings": e.embeddings, "memory_embeddings": e.memory_embeddings, "mask": e.config.mask}
    return names | {name: getattr(e.weights, name) for name in WEIGHTS}


def changed(before: attnlab.Experiment, after: attnlab.Experiment) -> set[str]:
    """Return the names of the tensors that are different objects."""
    old, new = tensors(before), tensors(after)
    return {name for name in old if old[name] is not new[name]}


def refusal(edit: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(attnlab.ExperimentError) as caught:
        edit(*args, **kwargs)
    return str(caught.value)


# --- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [layer, untrained, crossed])
def test_every_table_has_its_reported_shape(make: Any) -> None:
    e = make()
    for name in (*edits.MATRICES, *edits.BIASES):
        assert tuple(edits.table(e, name).shape) == edits.shape(e, name)
        assert edits.table(e, name).dtype == e.embeddings.dtype


def test_a_missing_weight_is_shown_as_the_identity() -> None:
    e = untrained()
    for name in ("W_q", "W_k", "W_v", "W_o"):
        assert torch.equal(edits.table(e, name), torch.eye(6))
        explicit = edits.with_table(e, name, edits.table(e, name))
        assert torch.equal(attnlab.compute(explicit)["output"], attnlab.compute(e)["output"])
    for name in edits.BIASES:
        assert torch.equal(edits.table(e, name), torch.zeros(1, 6))


@pytest.mark.parametrize("name", [*edits.MATRICES, *edits.BIASES])
def test_setting_one_number_shares_every_other_tensor(name: str) -> None:
    e = layer()
    after = edits.set_block(e, name, 0, 2, [[0.1]])
    assert changed(e, after) == {name}
    expected = edits.table(e, name).clone()
    expected[0, 2] = 0.1
    assert torch.equal(edits.table(after, name), expected)
    assert not torch.equal(edits.table(e, name), expected)


@pytest.mark.parametrize("values", [[[1.5, 2.5], [3.5, 4.5]], np.array([[1.5, 2.5], [3.5, 4.5]], dtype=np.float32)])
def test_a_block_is_pasted_at_its_position(values: Any) -> None:
    after = edits.set_block(layer(), "W_v", 4, 2, values)
    assert edits.table(after, "W_v")[4:, 2:].tolist() == [[1.5, 2.5], [3.5, 4.5]]


def test_a_number_typed_into_a_double_table_keeps_all_its_digits() -> None:
    after = edits.set_block(layer(torch.float64), "W_q", 1, 1, [[0.1]])
    assert float(edits.table(after, "W_q")[1, 1]) == 0.1


@pytest.mark.parametrize(
    ("dtype", "value", "most"),
    [(torch.float32, 1e39, "3.4e+38"), (torch.float16, 70000.0, "6.55e+04"), (torch.float32, float("nan"), "3.4e+38")],
)
def test_a_number_beyond_the_dtype_is_refused_with_the_dtypes_limit(
    dtype: torch.dtype, value: float, most: str
) -> None:
    sentence = refusal(edits.set_block, layer(dtype), "W_q", 1, 2, [[0.5, value]])
    assert "W_q[1, 3]" in sentence
    assert f"{value:g}" in sentence
    assert most in sentence
    assert str(dtype).removeprefix("torch.") in sentence


@pytest.mark.parametrize(("row", "column"), [(5, 0), (0, 5), (-1, 0), (0, -1)])
def test_a_block_beyond_the_table_is_refused(row: int, column: int) -> None:
    sentence = refusal(edits.set_block, layer(), "W_q", row, column, [[1.0, 2.0], [3.0, 4.0]])
    assert "2 × 2" in sentence
    assert "6 × 6" in sentence


@pytest.mark.parametrize("values", [[[1.0], [2.0, 3.0]], [["x"]], [[None, 1.0]], [[10**400]], [1.0, 2.0], [[[1.0]]]])
def test_a_block_that_is_not_numeric_is_refused(values: Any) -> None:
    assert "W_q" in refusal(edits.set_block, layer(), "W_q", 0, 0, values)


def test_a_replaced_table_is_copied() -> None:
    mine, bias = randn(6, 6).float(), randn(1, 6).float()
    after = edits.with_table(edits.with_table(layer(), "W_q", mine), "b_q", bias)
    mine[0, 0], bias[0, 0] = 99.0, 99.0
    assert 99.0 not in edits.table(after, "W_q")
    assert 99.0 not in edits.table(after, "b_q")


def test_a_table_of_the_wrong_shape_is_refused() -> None:
    assert "W_k" in refusal(edits.with_table, layer(), "W_k", randn(6, 8))
    assert "embeddings" in refusal(edits.with_table, layer(), "embeddings", None)
    assert "b_q" in refusal(edits.with_table, layer(), "b_q", randn(2, 6))
    assert "finite" in refusal(edits.with_table, layer(), "W_k", torch.full((6, 6), torch.inf))


# --- fill, scale, transpose, round ----------------------------------------------------------------------------------


def test_each_fill_has_the_numbers_of_its_name() -> None:
    e = layer()
    assert torch.equal(edits.table(edits.fill(e, "W_v", "zeros"), "W_v"), torch.zeros(6, 4))
    assert torch.equal(edits.table(edits.fill(e, "W_v", "identity"), "W_v"), torch.eye(6, 4))
    generator = torch.Generator().manual_seed(7)
    assert torch.equal(edits.table(edits.fill(e, "W_v", "normal", 7), "W_v"), torch.randn(6, 4, generator=generator))
    uniform = edits.table(edits.fill(e, "W_v", "uniform", 7), "W_v")
    assert uniform.abs().max() <= 1
    assert uniform.min() < -0.5 < 0.5 < uniform.max()
    xavier = edits.table(edits.fill(e, "W_v", "xavier", 7), "W_v")
    torch.testing.assert_close(xavier, uniform * (6 / 10) ** 0.5)


@pytest.mark.parametrize("kind", edits.FILLS)
def test_a_fill_can_be_limited_to_a_block_and_depends_on_its_seed(kind: str) -> None:
    e = layer()
    first, second = (edits.fill(e, "W_q", kind, 3, (1, 2, 2, 3)) for _ in range(2))
    assert torch.equal(edits.table(first, "W_q"), edits.table(second, "W_q"))
    outside = torch.ones(6, 6, dtype=torch.bool)
    outside[1:3, 2:5] = False
    assert torch.equal(edits.table(first, "W_q")[outside], edits.table(e, "W_q")[outside])
    assert not torch.equal(edits.table(first, "W_q"), edits.table(e, "W_q"))
    assert changed(e, first) == {"W_q"}


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_fills_keep_the_dtype_whatever_the_callers_defaults(dtype: torch.dtype) -> None:
    e = layer(dtype)
    expected = {kind: edits.table(edits.fill(e, "W_q", kind), "W_q") for kind in edits.FILLS}
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            for kind, table in expected.items():
                made = edits.table(edits.fill(e, "W_q", kind), "W_q")
                assert made.dtype == dtype
                assert made.tolist() == table.tolist()
            edits.toggle_output(edits.toggle_biases(edits.resize(e, d_model=8), True), False)
    finally:
        torch.set_default_dtype(torch.float32)


def test_an_unknown_fill_is_refused_with_the_known_ones() -> None:
    sentence = refusal(edits.fill, layer(), "W_q", "ones")
    assert all(kind in sentence for kind in ("ones", *edits.FILLS))


def test_a_table_can_be_multiplied() -> None:
    e = layer()
    after = edits.scale(e, "b_v", -2.5)
    torch.testing.assert_close(after.weights.b_v, e.weights.b_v * -2.5)
    assert changed(e, after) == {"b_v"}


def test_an_overflowing_product_is_refused_with_a_valid_factor() -> None:
    large = edits.scale(edits.fill(layer(), "W_q", "identity"), "W_q", 10)
    sentence = refusal(edits.scale, large, "W_q", 1e38)
    assert "W_q[0, 0] would be 1e+39" in sentence
    assert "3.4e+38" in sentence
    assert "embeddings" in refusal(edits.scale, layer(torch.float64), "embeddings", float("inf"))


def test_a_factor_beyond_the_dtype_is_allowed_if_the_products_fit() -> None:
    tiny = edits.with_table(layer(), "W_q", torch.full((6, 6), 1e-30))
    torch.testing.assert_close(edits.scale(tiny, "W_q", 1e39).weights.W_q, torch.full((6, 6), 1e9))


def test_only_square_tables_can_be_transposed() -> None:
    e = layer()
    assert torch.equal(edits.table(edits.transpose(e, "W_q"), "W_q"), edits.table(e, "W_q").T)
    assert "6 × 4" in refusal(edits.transpose, e, "W_v")


def test_rounding_keeps_numbers_too_large_to_have_decimals() -> None:
    e = edits.set_block(layer(), "W_q", 0, 0, [[3e38, 0.12345, -0.5555]])
    after = edits.table(edits.round_table(e, "W_q", 2), "W_q")
    assert after[0, :3].tolist() == torch.tensor([3e38, 0.12, -0.56]).tolist()
    double = edits.with_table(layer(torch.float64), "W_q", torch.full((6, 6), 1e307, dtype=torch.float64))
    assert torch.equal(edits.table(edits.round_table(double, "W_q", 4), "W_q"), edits.table(double, "W_q"))


# --- switches -------------------------------------------------------------------------------------------------------


def test_configuration_changes_keep_every_number() -> None:
    e = layer(mask=torch.ones(4, 4, dtype=torch.bool))
    after = edits.configure(e, causal=True, scale=2.0)
    assert (after.config.causal, after.config.scale, after.config.n_heads) == (True, 2.0, 2)
    assert changed(e, after) == set()


def test_none_switches_a_mask_off_and_an_invalid_number_is_refused() -> None:
    e = edits.configure(layer(), masks={"window": 2, "block": 3})
    assert edits.configure(e, masks={"window": None}).config.masks == {"block": 3}
    assert "window is 0" in refusal(edits.configure, e, masks={"window": 0})


def test_switching_on_the_output_matrix_keeps_the_numbers() -> None:
    e = untrained()
    on = edits.toggle_output(e, True)
    assert torch.equal(edits.table(on, "W_o"), torch.eye(6))
    assert torch.equal(attnlab.compute(on)["output"], attnlab.compute(e)["output"])
    assert changed(edits.toggle_output(on, False), e) == set()


def test_switching_on_an_active_table_keeps_its_numbers() -> None:
    e = layer()
    assert edits.toggle_output(e, True) is e
    assert changed(edits.toggle_biases(e, True), e) == set()


def test_removing_the_output_matrix_removes_its_bias() -> None:
    off = edits.toggle_output(layer(), False)
    assert off.weights.W_o is None
    assert off.weights.b_o is None
    assert changed(layer(), off) >= {"W_o", "b_o"}
    biased = edits.with_table(off, "b_o", [[1.0, 2.0, 3.0, 4.0]])
    assert edits.table(edits.toggle_output(biased, True), "b_o").tolist() == [[1.0, 2.0, 3.0, 4.0, 0.0, 0.0]]


def test_new_biases_are_zero_and_keep_the_output() -> None:
    e = layer(biases=False)
    on = edits.toggle_biases(e, True)
    assert all(torch.equal(edits.table(on, name), torch.zeros(edits.shape(e, name))) for name in edits.BIASES)
    torch.testing.assert_close(attnlab.compute(on)["output"], attnlab.compute(e)["output"])
    assert changed(edits.toggle_biases(on, False), e) == set()
    assert edits.toggle_biases(untrained(), True).weights.b_o is None


def test_switching_on_biases_keeps_an_existing_one() -> None:
    e = edits.with_table(layer(biases=False), "b_k", [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    on = edits.toggle_biases(e, True)
    assert on.weights.b_k is e.weights.b_k
    assert on.weights.b_q is not None


@pytest.mark.parametrize("e", [layer(), untrained(), crossed(), attnlab.preset("uneven-heads"), layer(n_kv_heads=2)])
def test_exactly_the_offered_head_counts_are_valid(e: attnlab.Experiment) -> None:
    offered = edits.fitting_heads(e)
    assert e.n_heads in offered
    for count in range(1, 13):
        if count in offered:
            assert attnlab.compute(edits.configure(e, n_heads=count))["weights"].shape[0] == count
        else:
            with pytest.raises(attnlab.ExperimentError):
                edits.configure(e, n_heads=count)


def grouped_keys() -> attnlab.Experiment:
    """Return four heads of d_k 2 and d_v 1: head h has h + 0.0 and h + 0.1 in W_k and b_k, 10 + h in W_v and b_v."""
    key, value = [0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 3.0, 3.1], [10.0, 11.0, 12.0, 13.0]
    weights = {"W_q": randn(3, 8), "W_k": [key] * 3, "W_v": [value] * 3, "b_k": key, "b_v": value}
    return attnlab.Experiment(("a", "b"), randn(2, 3), attnlab.Weights(**weights), attnlab.AttentionConfig(n_heads=4))


@pytest.mark.parametrize(("heads", "kept"), [(2, [0, 2]), (1, [0])])
def test_fewer_key_heads_keep_the_first_of_each_group(heads: int, kept: list[int]) -> None:
    after = edits.with_setting(grouped_keys(), n_kv_heads=heads)
    keys = [number for h in kept for number in (h, h + 0.1)]
    values = [10 + h for h in kept]
    assert after.n_kv_heads == heads
    for name, row in (("W_k", keys), ("b_k", keys), ("W_v", values), ("b_v", values)):
        torch.testing.assert_close(
            edits.table(after, name), torch.tensor([row] * (3 if name[0] == "W" else 1), dtype=torch.float64)
        )


def test_added_key_heads_are_copies_and_keep_the_output() -> None:
    two = edits.with_setting(grouped_keys(), n_kv_heads=2)
    four = edits.with_setting(two, n_kv_heads=4)
    assert edits.table(four, "W_v")[0].tolist() == [10, 10, 12, 12]
    assert four.config.n_kv_heads is None
    torch.testing.assert_close(attnlab.compute(four)["output"], attnlab.compute(two)["output"])


@pytest.mark.parametrize("e", [untrained(), crossed()])
def test_painting_a_pair_twice_leaves_no_mask(e: attnlab.Experiment) -> None:
    one = edits.paint_mask(e, 3, 1, allowed=False)
    two = edits.paint_mask(one, 0, 2, allowed=False)
    assert one.config.mask is not None
    assert two.config.mask is not None
    assert (~one.config.mask).nonzero().tolist() == [[3, 1]]
    assert (~two.config.mask).nonzero().tolist() == [[0, 2], [3, 1]]
    assert edits.paint_mask(one, 3, 1, allowed=False) is one
    assert edits.paint_mask(e, 3, 1, allowed=True) is e
    back = edits.paint_mask(two, 3, 1, allowed=True)
    assert back.config.mask is not None
    assert (~back.config.mask).nonzero().tolist() == [[0, 2]]
    assert edits.paint_mask(one, 3, 1, allowed=True).config.mask is None


def test_switching_a_head_off_twice_switches_it_on() -> None:
    off = edits.toggle_head(edits.toggle_head(layer(), 1), 0)
    assert off.config.ablated == (0, 1)
    assert edits.toggle_head(off, 1).config.ablated == (0,)


# --- sizes ----------------------------------------------------------------------------------------------------------


def heads_of(matrix: torch.Tensor, n_heads: int) -> torch.Tensor:
    return matrix.reshape(matrix.shape[0], n_heads, -1)


def assert_kept(before: torch.Tensor, after: torch.Tensor) -> None:
    """Check that common numbers are equal and new ones are 0."""
    common = tuple(slice(0, min(sizes)) for sizes in zip(before.shape, after.shape, strict=True))
    assert torch.equal(before[common], after[common])
    rest = after.clone()
    rest[common] = 0
    assert not rest.any()


@settings(max_examples=60)
@given(
    st.integers(1, 9) | st.none(),
    st.integers(1, 5) | st.none(),
    st.integers(1, 5) | st.none(),
    st.booleans(),
    st.booleans(),
)
def test_resizing_keeps_the_remaining_numbers(
    d_model: int | None, d_k: int | None, d_v: int | None, biases: bool, grouped: bool
) -> None:
    e = layer(biases=biases)
    if grouped:
        weights = {"W_k": randn(6, 3), "W_v": randn(6, 2), "b_k": None, "b_v": None}
        replaced = {each.name: getattr(e.weights, each.name) for each in fields(e.weights)} | weights
        config = attnlab.AttentionConfig(n_heads=2, n_kv_heads=1)
        e = attnlab.Experiment(e.tokens, e.embeddings, attnlab.Weights(**replaced), config)
    after = edits.resize(e, d_model=d_model, d_k=d_k, d_v=d_v)
    assert (after.d_model, after.d_k, after.d_v) == (d_model or 6, d_k or 3, d_v or 2)
    assert_kept(e.embeddings, after.embeddings)
    for letter, heads in (("q", e.n_heads), ("k", e.n_kv_heads), ("v", e.n_kv_heads)):
        old, new = getattr(e.weights, f"W_{letter}"), getattr(after.weights, f"W_{letter}")
        assert_kept(heads_of(old, heads), heads_of(new, heads))
        bias = getattr(after.weights, f"b_{letter}")
        if bias is not None:
            assert_kept(heads_of(getattr(e.weights, f"b_{letter}")[None], heads), heads_of(bias[None], heads))
    assert e.weights.W_o is not None
    assert after.weights.W_o is not None
    assert_kept(heads_of(e.weights.W_o.T, 2).transpose(0, 1), heads_of(after.weights.W_o.T, 2).transpose(0, 1))
    assert after.d_out == after.d_model
    attnlab.compute(after)["output"]


@pytest.mark.parametrize(
    ("sizes", "touched"),
    [
        ({"d_k": 4}, {"W_q", "W_k", "b_q", "b_k"}),
        ({"d_v": 3}, {"W_v", "W_o", "b_v"}),
        ({"d_model": 7}, {"embeddings", "W_q", "W_k", "W_v", "W_o", "b_o"}),
        ({"d_model": 6, "d_k": 3, "d_v": 2}, set()),
    ],
)
def test_a_size_changes_only_the_tables_that_depend_on_it(sizes: dict[str, int], touched: set[str]) -> None:
    e = layer(mask=torch.ones(4, 4, dtype=torch.bool))
    assert changed(e, edits.resize(e, **sizes)) == touched


def test_an_output_of_another_width_keeps_its_width() -> None:
    weights = attnlab.Weights(W_q=randn(6, 4), W_k=randn(6, 4), W_v=randn(6, 4), W_o=randn(4, 3))
    after = edits.resize(attnlab.Experiment(("a", "b"), randn(2, 6), weights), d_model=8)
    assert (after.d_model, after.d_out) == (8, 3)
    assert torch.equal(edits.table(after, "W_o"), randn(4, 3))


def test_untrained_attention_stays_untrained_when_the_embeddings_grow() -> None:
    after = edits.resize(untrained(), d_model=8)
    assert (after.d_model, after.d_k, after.d_v) == (8, 4, 4)
    assert all(getattr(after.weights, name) is None for name in WEIGHTS)


def test_an_identity_becomes_a_table_when_its_shape_is_no_longer_square() -> None:
    after = edits.resize(untrained(1), d_k=4)
    assert torch.equal(edits.table(after, "W_q"), torch.eye(6, 4))
    assert after.weights.W_v is None
    uneven = edits.resize(untrained(2), d_model=7)
    assert torch.equal(edits.table(uneven, "W_q"), torch.eye(7, 6))
    assert (uneven.d_model, uneven.d_k) == (7, 3)
    two_heads = edits.resize(untrained(2), d_v=2)
    assert edits.table(two_heads, "W_v")[:, 2:].tolist() == torch.eye(6)[:, 3:5].tolist()
    assert two_heads.weights.W_q is None


def test_biases_of_untrained_attention_follow_its_sizes() -> None:
    after = edits.resize(edits.toggle_biases(untrained(), True), d_model=8)
    assert [getattr(after.weights, name).numel() for name in ("b_q", "b_k", "b_v")] == [8, 8, 8]
    only_output = edits.with_table(untrained(), "b_o", torch.arange(6.0)[None])
    assert edits.table(edits.resize(only_output, d_model=8), "b_o").tolist() == [[0, 1, 2, 0, 3, 4, 5, 0]]


def test_tables_of_a_second_sequence_do_not_follow_the_embeddings() -> None:
    e = crossed()
    after = edits.resize(e, d_model=9)
    assert changed(e, after) == {"embeddings", "W_q"}
    assert edits.shape(after, "W_q") == (9, 4)
    wide = edits.resize(crossed(W_v=None), d_v=7)
    assert torch.equal(edits.table(wide, "W_v"), torch.eye(5, 7, dtype=torch.float64))


@pytest.mark.parametrize(("name", "size"), [("d_model", 0), ("d_k", -1), ("d_v", 0), ("d_model", 10**6), ("d_k", 4096)])
def test_an_invalid_size_is_refused_with_valid_ones(name: str, size: int) -> None:
    sentence = refusal(edits.resize, layer(), **{name: size})
    assert f"{name} is {size}" in sentence
    assert f"1 to {edits.MAX_COLUMNS // (1 if name == 'd_model' else 2)}" in sentence


def test_an_edit_without_effect_returns_the_same_experiment() -> None:
    e = attnlab.preset("the-cat-sat")
    assert edits.configure(e, n_heads=e.n_heads, scale=e.config.scale, causal=e.config.causal) is e
    assert edits.resize(e, d_model=e.d_model, d_k=e.d_k, d_v=e.d_v) is e
    bare = edits.toggle_biases(e, on=False)
    assert edits.toggle_biases(bare, on=False) is bare
    biased = edits.toggle_biases(bare, on=True)
    assert edits.toggle_biases(biased, on=True) is biased


def test_an_output_matrix_added_to_a_layer_with_biases_has_one() -> None:
    e = edits.toggle_biases(edits.toggle_output(attnlab.preset("journey"), on=False), on=True)
    assert edits.has_biases(e)
    bias = edits.toggle_output(e, on=True).weights.b_o
    assert bias is not None
    assert bias.tolist() == [0.0] * e.d_model
    assert edits.toggle_output(edits.toggle_biases(e, on=False), on=True).weights.b_o is None


def test_the_hidden_units_of_a_score_can_be_resized() -> None:
    e = edits.configure(attnlab.preset("journey"), score="additive")
    assert edits.free_sizes(e) == {"hidden": 2}
    wider = edits.resize_free(e, "hidden", 5)
    assert {name: tuple(table.shape) for name, table in wider.weights.extra.items()} == {
        "W_d": (2, 5),
        "W_e": (2, 5),
        "v_a": (5,),
    }
    assert torch.equal(wider.weights.extra["W_d"][:, :2], e.weights.extra["W_d"])
    assert edits.resize_free(wider, "hidden", 5) is wider
    with pytest.raises(attnlab.ExperimentError, match="hidden is 0; it needs a whole number from 1 to 4096"):
        edits.resize_free(e, "hidden", 0)
    assert edits.free_sizes(attnlab.preset("journey")) == {}

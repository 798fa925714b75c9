"""Masks compared with a double loop, combinations with "all allow", and masked layers with torch's own."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention.registries import masks, registry
from attnlab.attention.registries.masks import MASKS
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.table import BY_NAME

CLOSE: dict[str, Any] = {"atol": 1e-10, "rtol": 1e-10}
NUMBERED = sorted(name for name in MASKS if name != "causal")

Rule = Callable[[int, int, int], bool]
RULES: dict[str, Rule] = {
    "causal": lambda i, j, n: j <= i,
    "padding": lambda i, j, n: j < n,
    "window": lambda i, j, n: -n < i - j < n,
    "prefix": lambda i, j, n: j <= i or j < n,
    "block": lambda i, j, n: any(b <= i < b + n and b <= j < b + n for b in range(0, 50, n)),
}
"""The pairs that each mask allows. A mask without a rule here is compared with its PyTorch code."""


def rule(name: str) -> Rule:
    """Return the rule of a mask, from the table above or from the entry's own line of code."""

    def by_code(i: int, j: int, n: int) -> bool:
        scope = {"torch": torch, "i": torch.tensor([[i]]), "j": torch.tensor([j])}
        return bool(eval(MASKS[name].code.format(n=n), scope).all())

    return RULES.get(name, by_code)


def opened(name: str, i: int, j: int, n: int) -> bool:
    """Return whether a mask lifts the causal one for a pair."""
    if name == "prefix":
        return j < n
    mask, scope = MASKS[name], {"torch": torch, "i": torch.tensor([[i]]), "j": torch.tensor([j])}
    return mask.opens is not None and bool(eval(mask.opens_code.format(n=n), scope).all())


def allows(name: str, on: dict[str, int], i: int, j: int, n: int) -> bool:
    """Return whether one of the masks that are on allows a pair."""
    return rule(name)(i, j, n) or (name == "causal" and any(opened(other, i, j, m) for other, m in on.items()))


def randn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(t_q: int, t_k: int | None = None, **config: Any) -> attnlab.Experiment:
    """Return tokens of 6 numbers and three heads on 2, with W_o; with ``t_k`` keys from a second sequence."""
    weights: dict[str, Any] = {name: randn(6, 6, seed=k) for k, name in enumerate(("W_q", "W_k", "W_v", "W_o"))}
    return attnlab.Experiment(
        tokens=[f"q{i}" for i in range(t_q)],
        embeddings=randn(t_q, 6),
        weights=attnlab.Weights(**weights),
        config=attnlab.AttentionConfig(n_heads=3, **config),
        memory_tokens=None if t_k is None else [f"k{j}" for j in range(t_k)],
        memory_embeddings=None if t_k is None else randn(t_k, 6, seed=9),
    )


# --- each alone -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize(("t_q", "t_k"), [(1, None), (7, None), (12, 10), (3, 8)])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 512])
def test_each_mask_allows_what_its_rule_allows(name: str, t_q: int, t_k: int | None, n: int) -> None:
    e = layer(t_q, t_k, masks={name: n})
    allowed = e.allowed()
    assert allowed is not None
    expected = [[rule(name)(i, j, n) for j in range(e.T_k)] for i in range(t_q)]
    assert allowed.tolist() == expected
    hidden = e.hidden_cells()
    assert hidden is not None
    assert hidden.has_empty_rows == any(not any(row) for row in expected)


def test_masks_match_hand_drawn_examples() -> None:
    def rows(**on: int) -> list[str]:
        allowed = layer(5, masks=on).allowed()
        assert allowed is not None
        return ["".join(".x"[int(cell)] for cell in row) for row in allowed]

    assert rows(window=2) == ["xx...", "xxx..", ".xxx.", "..xxx", "...xx"]
    assert rows(prefix=3) == ["xxx..", "xxx..", "xxx..", "xxxx.", "xxxxx"]
    assert rows(block=2) == ["xx...", "xx...", "..xx.", "..xx.", "....x"]
    assert rows(padding=3) == ["xxx.."] * 5


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("number", ["below", "above", 2.5, True, "2", None])
def test_an_invalid_mask_parameter_is_refused_by_name(name: str, number: Any) -> None:
    option = registry.mask_option(name)
    if option is None:
        pytest.skip("a mask without a number")
    number = {"below": option.least - 1, "above": option.most + 1}.get(str(number), number)
    with pytest.raises(attnlab.ExperimentError, match=rf"{option.name} is .*; it needs {option.needs}\."):
        attnlab.AttentionConfig(masks={name: number})


# --- together -------------------------------------------------------------------------------------------------------

combinations = st.fixed_dictionaries({}, optional={name: st.integers(1, 9) for name in NUMBERED})


@settings(max_examples=150)
@given(combinations, st.booleans(), st.integers(1, 9), st.none() | st.integers(1, 9), st.none() | st.integers(0, 99))
def test_masks_together_allow_only_what_all_allow(
    numbers: dict[str, int], causal: bool, t_q: int, t_k: int | None, painted_seed: int | None
) -> None:
    painted = None
    if painted_seed is not None:
        painted = torch.rand(t_q, t_k or t_q, generator=torch.Generator().manual_seed(painted_seed)) < 0.7
    e = layer(t_q, t_k, masks=numbers, causal=causal, mask=painted)
    on = ({"causal": 0} if causal else {}) | numbers
    expected = [[all(allows(name, on, i, j, n) for name, n in on.items()) for j in range(e.T_k)] for i in range(t_q)]
    if painted is not None:
        expected = [[a and bool(painted[i, j]) for j, a in enumerate(row)] for i, row in enumerate(expected)]
    allowed, hidden = e.allowed(), e.hidden_cells()
    if allowed is None or hidden is None:
        assert not on
        assert painted is None
        return
    assert allowed.tolist() == expected
    assert hidden.has_empty_rows == any(not any(row) for row in expected)
    _assert_reasons(e, on, painted, expected)
    _assert_numbers(e, allowed)


def _assert_reasons(
    e: attnlab.Experiment, on: dict[str, int], painted: torch.Tensor | None, expected: list[list[bool]]
) -> None:
    """Check that the reasons name exactly the masks that hide the pair."""
    for i, j in itertools.product(range(e.T_q), range(e.T_k)):
        hiding = [name for name in MASKS if name in on and not allows(name, on, i, j, on[name])]
        said = [MASKS[name].why(e, i, j, on[name]) for name in hiding]
        said += [] if painted is None or painted[i, j] else ["the mask does not allow this pair"]
        assert masks.reasons(e, i, j) == " and ".join(said)
        assert bool(said) is not expected[i][j]


def _assert_numbers(e: attnlab.Experiment, allowed: torch.Tensor) -> None:
    """Check that masked weights are 0, rows sum to 1 or are empty, and the code gives the same."""
    trace = attnlab.compute(e, dtype="float64")
    weights = trace["weights"]
    assert (weights.masked_select(~allowed) == 0).all()
    sums = allowed.any(-1).double().expand(e.n_heads, -1)
    torch.testing.assert_close(weights.sum(-1), sums, **CLOSE)
    assert trace.empty_rows == tuple((h, i) for h in range(e.n_heads) for i in range(e.T_q) if not allowed[i].any())
    scope: dict[str, Any] = {"torch": torch, "scaled": trace["scaled"], "mask": e.config.mask}
    for name in ("masked", "weights"):
        code = BY_NAME[name].code(e)
        assert all(len(line) <= 100 for line in code.splitlines())
        exec(code, scope)
        torch.testing.assert_close(scope[name], trace[name], **CLOSE)


@pytest.mark.parametrize("name", sorted(MASKS))
def test_a_masked_cell_gives_its_masks_reason(name: str) -> None:
    e = layer(8, causal=name == "causal", masks={} if name == "causal" else {name: 2})
    trace = attnlab.compute(e)
    allowed = e.allowed()
    assert allowed is not None
    i, j = (int(index) for index in (~allowed).nonzero()[0])
    why = MASKS[name].why(e, i, j, e.config.masks.get(name, 0))
    assert f"“q{j}”" in why
    assert "".join(span.text for span in explain(trace, Cell("masked", i, j, 0)).lines[0]) == why
    assert MASKS[name].formula.format(n=2) in BY_NAME["masked"].formula(e)


def test_reasons_name_the_tokens_and_the_number() -> None:
    e = attnlab.Experiment(
        tokens=["the", "cat", "sat", "down"],
        embeddings=randn(4, 2),
        config=attnlab.AttentionConfig(masks={"window": 3, "block": 2}),
    )
    assert masks.reasons(e, 0, 3) == (
        "“down” is 3 tokens away: the window allows at most 2 and “down” is in block 1, “the” in block 0, of 2 each"
    )
    assert masks.reasons(e, 0, 2) == "“sat” is in block 1, “the” in block 0, of 2 each"
    assert masks.reasons(e, 0, 1) == ""
    narrow = attnlab.Experiment(["a", "b"], randn(2, 2), config=attnlab.AttentionConfig(masks={"window": 1}))
    assert masks.reasons(narrow, 0, 1) == "“b” is 1 token away: the window allows at most 0"


# --- against torch --------------------------------------------------------------------------------------------------


def torchs(e: attnlab.Experiment, attn_mask: torch.Tensor | None, lengths: int | None) -> tuple[Any, Any]:
    """Return output and weights [h, T_q, T_k] of torch's layer, whose masks are True where attention is forbidden."""
    module = torch.nn.MultiheadAttention(6, 3, bias=False, dtype=torch.float64, batch_first=True)
    w = e.weights
    assert w.W_q is not None
    assert w.W_k is not None
    assert w.W_v is not None
    assert w.W_o is not None
    assert isinstance(module.in_proj_weight, torch.Tensor)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([w.W_q.T, w.W_k.T, w.W_v.T]))
        module.out_proj.weight.copy_(w.W_o.T)
        padding = None if lengths is None else (torch.arange(e.T_k) >= lengths)[None]
        output, weights = module(
            e.embeddings[None],
            e.memory[None],
            e.memory[None],
            attn_mask=attn_mask,
            key_padding_mask=padding,
            average_attn_weights=False,
        )
    return output[0], weights[0]


@pytest.mark.parametrize(
    "on", [{}, {"padding": 4}, {"window": 3}, {"prefix": 2}, {"block": 7}, {"padding": 7, "window": 2}]
)
@pytest.mark.parametrize("causal", [False, True])
def test_a_layer_with_masks_equals_torchs_multi_head_attention(on: dict[str, int], causal: bool) -> None:
    e = layer(7, causal=causal, masks=on)
    trace = attnlab.compute(e, dtype="float64")
    shapes = ({"causal": 0} if causal else {}) | {name: n for name, n in on.items() if name != "padding"}
    hidden = [
        [not all(allows(name, shapes, i, j, n) for name, n in shapes.items()) for j in range(7)] for i in range(7)
    ]
    output, weights = torchs(e, torch.tensor(hidden) if shapes else None, on.get("padding"))
    torch.testing.assert_close(trace["weights"], weights, **CLOSE)
    torch.testing.assert_close(trace["output"], output, **CLOSE)


def test_the_masks_of_an_encoder_and_decoder_equal_torchs() -> None:
    """Target of 12 tokens, source of 10, of which 9 and 7 are real."""
    source, target = layer(10, masks={"padding": 7}), layer(12, causal=True, masks={"padding": 9})
    across = layer(12, 10, masks={"padding": 7})
    ahead = torch.ones(12, 12, dtype=torch.bool).triu(1)
    for e, attn_mask, length in ((source, None, 7), (target, ahead, 9), (across, None, 7)):
        trace = attnlab.compute(e, dtype="float64")
        output, weights = torchs(e, attn_mask, length)
        assert trace["weights"].shape == (3, e.T_q, e.T_k)
        assert (trace["weights"][..., length:] == 0).all()
        torch.testing.assert_close(trace["weights"], weights, **CLOSE)
        torch.testing.assert_close(trace["output"], output, **CLOSE)


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_masks_with_grouped_keys_equal_scaled_dot_product_attention(name: str, kv_heads: int) -> None:
    e = attnlab.Experiment(
        tokens=list("abcdef"),
        embeddings=randn(6, 8),
        weights=attnlab.Weights(
            W_q=randn(8, 8), W_k=randn(8, 2 * kv_heads, seed=2), W_v=randn(8, 3 * kv_heads, seed=3)
        ),
        config=attnlab.AttentionConfig(n_heads=4, n_kv_heads=kv_heads, masks={name: 2}),
    )
    trace = attnlab.compute(e, dtype="float64")
    w = e.weights
    assert w.W_q is not None
    assert w.W_k is not None
    assert w.W_v is not None
    q, k, v = (
        (e.embeddings @ matrix).unflatten(-1, (heads, -1)).transpose(0, 1)
        for matrix, heads in ((w.W_q, 4), (w.W_k, kv_heads), (w.W_v, kv_heads))
    )
    allowed = torch.tensor([[rule(name)(i, j, 2) for j in range(6)] for i in range(6)])
    context = torch.nn.functional.scaled_dot_product_attention(
        q[None], k[None], v[None], attn_mask=allowed, enable_gqa=True
    )
    torch.testing.assert_close(trace["context"], context[0], **CLOSE)


def test_a_mask_is_copied_to_a_device_once() -> None:
    hidden = masks.find_hidden(5, 7, True, {"window": 3}, None)
    assert hidden is not None
    assert hidden.on(torch.device("cpu")) is hidden
    there = hidden.on(torch.device("meta"))  # a device of torch that holds no numbers
    assert there.cells.device.type == "meta"
    assert there.cells.shape == (5, 7)
    assert there.has_empty_rows is hidden.has_empty_rows
    assert hidden.on(torch.device("meta")).cells is there.cells


def test_a_copied_mask_can_be_used_by_a_training() -> None:
    hidden = masks.find_hidden(3, 3, True, {}, None)
    assert hidden is not None
    with torch.inference_mode():
        assert not hidden.on(torch.device("meta", 0)).cells.is_inference()

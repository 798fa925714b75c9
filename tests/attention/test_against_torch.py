"""Random layers compared with torch's own attention in float64, and checked for the symmetries of attention."""

import math
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

import attnlab

Tensor = torch.Tensor
quick = settings(deadline=None, max_examples=60)


def assert_equal(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


@dataclass(frozen=True)
class Layer:
    """A random layer for attnlab and torch."""

    x: Tensor  # [T_q, d_model]
    memory: Tensor | None  # [T_k, d_memory]
    n_heads: int
    n_kv_heads: int
    weights: dict[str, Tensor] = field(repr=False)

    @property
    def source(self) -> Tensor:
        """Return the sequence of keys and values."""
        return self.x if self.memory is None else self.memory

    def experiment(self, **config: Any) -> attnlab.Experiment:
        memory_tokens = None if self.memory is None else [f"m{j}" for j in range(len(self.memory))]
        config = {"n_heads": self.n_heads, "n_kv_heads": self.n_kv_heads} | config
        return attnlab.Experiment(
            tokens=[f"t{i}" for i in range(len(self.x))],
            embeddings=self.x,
            weights=attnlab.Weights(**self.weights),
            config=attnlab.AttentionConfig(**config),
            memory_tokens=memory_tokens,
            memory_embeddings=self.memory,
        )

    def trace(self, dtype: str = "float64", **config: Any) -> Any:
        return attnlab.compute(self.experiment(**config), dtype=dtype)

    def heads(self) -> tuple[Tensor, Tensor, Tensor]:
        """Project and split as torch users do: [1, h, T, d], keys and values with h_kv heads."""
        projected = []
        for name, rows, n in (("q", self.x, self.n_heads), ("k", self.source, 0), ("v", self.source, 0)):
            made = rows @ self.weights[f"W_{name}"] + self.weights.get(f"b_{name}", torch.zeros(()).double())
            projected.append(made.unflatten(-1, (n or self.n_kv_heads, -1)).transpose(0, 1).unsqueeze(0))
        q, k, v = projected
        return q, k, v


def random_layer(
    seed: int, t: int, d_model: int, heads: tuple[int, int], widths: tuple[int, int], memory: tuple[int, int] | None
) -> Layer:
    """Draw a layer with all four weights and biases; heads is (h, h_kv), widths (d_k, d_v), memory (T_k, d_memory)."""
    generator = torch.Generator().manual_seed(seed)

    def randn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    (h, h_kv), (d_k, d_v) = heads, widths
    d_source = d_model if memory is None else memory[1]
    columns = {"q": (d_model, h * d_k), "k": (d_source, h_kv * d_k), "v": (d_source, h_kv * d_v), "o": (h * d_v, 3)}
    weights = {f"W_{name}": randn(*shape) / math.sqrt(shape[0]) for name, shape in columns.items()}
    weights |= {f"b_{name}": randn(shape[1]) for name, shape in columns.items()}
    return Layer(randn(t, d_model), None if memory is None else randn(*memory), h, h_kv, weights)


@st.composite
def layers(draw: st.DrawFn, *, grouped: bool = False, cross: bool | None = None) -> Layer:
    def size(largest: int) -> int:
        return draw(st.integers(1, largest))

    h_kv = size(4)
    heads = (h_kv * (size(3) if grouped else 1), h_kv)
    with_memory = draw(st.booleans()) if cross is None else cross
    memory = (size(9), size(6)) if with_memory else None
    return random_layer(draw(st.integers(0, 10_000)), size(9), size(8), heads, (size(6), size(6)), memory)


def causal_mask(layer: Layer) -> Tensor:
    return torch.ones(len(layer.x), len(layer.source), dtype=torch.bool).tril()


def random_mask(layer: Layer, seed: int) -> Tensor:
    """Draw a mask in which every query may attend to the first key, so that no row is empty."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(len(layer.x), len(layer.source), generator=generator) < 0.5
    mask[:, 0] = True
    return mask


# --- torch's scaled_dot_product_attention ---------------------------------------------------------------------------


@quick
@given(layers(grouped=True))
def test_grouped_heads_agree_with_torch(layer: Layer) -> None:
    q, k, v = layer.heads()
    assert_equal(layer.trace()["context"], scaled_dot_product_attention(q, k, v, enable_gqa=True)[0])


@quick
@given(layers())
def test_causal_agrees_with_torch_on_maps_that_are_not_square(layer: Layer) -> None:
    q, k, v = layer.heads()
    assert_equal(layer.trace(causal=True)["context"], scaled_dot_product_attention(q, k, v, is_causal=True)[0])


@quick
@given(layers(), st.integers(0, 10_000))
def test_boolean_mask_agrees_with_torch(layer: Layer, seed: int) -> None:
    q, k, v = layer.heads()
    mask = random_mask(layer, seed)
    assert_equal(layer.trace(mask=mask)["context"], scaled_dot_product_attention(q, k, v, attn_mask=mask)[0])


@quick
@given(layers(), st.integers(0, 10_000))
def test_causal_and_mask_together_allow_only_what_both_allow(layer: Layer, seed: int) -> None:
    q, k, v = layer.heads()
    mask = random_mask(layer, seed)
    both = scaled_dot_product_attention(q, k, v, attn_mask=mask & causal_mask(layer))[0]
    assert_equal(layer.trace(mask=mask, causal=True)["context"], both)


@quick
@given(layers(), st.floats(0.05, 20.0))
def test_a_numeric_scale_divides_the_scores(layer: Layer, scale: float) -> None:
    q, k, v = layer.heads()
    trace = layer.trace(scale=scale)
    assert_equal(trace["scaled"], (q @ k.mT / scale)[0])
    assert_equal(trace["context"], scaled_dot_product_attention(q, k, v, scale=1.0 / scale)[0])


@quick
@given(layers())
def test_named_scales_divide_by_the_root_of_d_k_or_d_model(layer: Layer) -> None:
    q, k, v = layer.heads()
    for name, factor in (("sqrt_d_k", q.shape[-1] ** -0.5), ("sqrt_d_model", layer.x.shape[1] ** -0.5), ("none", 1.0)):
        assert_equal(layer.trace(scale=name)["context"], scaled_dot_product_attention(q, k, v, scale=factor)[0])


# --- torch's MultiheadAttention -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """The sizes of a MultiheadAttention, where d_model is h times d_head for queries, keys and values alike."""

    t: int
    n_heads: int
    d_head: int
    memory: tuple[int, int] | None
    bias: bool
    seed: int


SHAPES = st.builds(
    Shape,
    t=st.integers(1, 8),
    n_heads=st.integers(1, 4),
    d_head=st.integers(1, 5),
    memory=st.none() | st.tuples(st.integers(1, 8), st.integers(1, 6)),
    bias=st.booleans(),
    seed=st.integers(0, 10_000),
)


def torch_module(shape: Shape) -> torch.nn.MultiheadAttention:
    """Build torch's layer in float64 with biases other than zero, torch's default."""
    d_model = shape.n_heads * shape.d_head
    d_source = shape.memory[1] if shape.memory else d_model
    module = torch.nn.MultiheadAttention(
        d_model, shape.n_heads, bias=shape.bias, kdim=d_source, vdim=d_source, dtype=torch.float64
    )
    generator = torch.Generator().manual_seed(shape.seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return module


def unpacked(module: torch.nn.MultiheadAttention) -> attnlab.Weights:
    """Return torch's parameters transposed for right multiplication."""
    if module.in_proj_weight is None:
        packed = [module.q_proj_weight, module.k_proj_weight, module.v_proj_weight]
    else:
        packed = list(module.in_proj_weight.chunk(3))
    weights = dict(zip(("W_q", "W_k", "W_v", "W_o"), [w.T for w in [*packed, module.out_proj.weight]], strict=True))
    if module.in_proj_bias is not None:
        biases = [*module.in_proj_bias.chunk(3), module.out_proj.bias]
        weights |= dict(zip(("b_q", "b_k", "b_v", "b_o"), biases, strict=True))
    return attnlab.Weights(**weights)


@quick
@given(SHAPES, st.booleans())
def test_multi_head_attention_agrees_with_torch(shape: Shape, causal: bool) -> None:
    module, generator = torch_module(shape), torch.Generator().manual_seed(shape.seed + 1)
    x = torch.randn(shape.t, shape.n_heads * shape.d_head, generator=generator, dtype=torch.float64)
    memory = torch.randn(*shape.memory, generator=generator, dtype=torch.float64) if shape.memory else None
    source = x if memory is None else memory
    forbidden = torch.ones(len(x), len(source), dtype=torch.bool).triu(1) if causal else None
    with torch.no_grad():
        output, weights = module(x, source, source, attn_mask=forbidden, need_weights=True, average_attn_weights=False)
    experiment = attnlab.Experiment(
        tokens=["t"] * len(x),
        embeddings=x,
        weights=unpacked(module),
        config=attnlab.AttentionConfig(n_heads=shape.n_heads, causal=causal),
        memory_tokens=None if memory is None else ["m"] * len(memory),
        memory_embeddings=memory,
    )
    trace = attnlab.compute(experiment, dtype="float64")
    assert_equal(trace["weights"], weights)
    assert_equal(trace["output"], output)


# --- what must hold of any attention --------------------------------------------------------------------------------


@quick
@given(layers(grouped=True), st.booleans(), st.integers(0, 10_000))
def test_rows_of_weights_sum_to_one_and_none_is_negative(layer: Layer, causal: bool, seed: int) -> None:
    weights = layer.trace(causal=causal, mask=random_mask(layer, seed))["weights"]
    assert_equal(weights.sum(-1), torch.ones(weights.shape[:2], dtype=torch.float64))
    assert (weights >= 0.0).all()


@quick
@given(layers(), st.integers(0, 10_000))
def test_a_masked_weight_is_exactly_zero_and_its_score_minus_infinity(layer: Layer, seed: int) -> None:
    mask = random_mask(layer, seed) & causal_mask(layer)
    trace = layer.trace(mask=mask, causal=True)
    assert (trace["weights"][:, ~mask] == 0.0).all()
    assert (trace["masked"][:, ~mask] == -math.inf).all()
    assert_equal(trace["masked"][:, mask], trace["scaled"][:, mask])


@quick
@given(layers(grouped=True, cross=False), st.integers(0, 10_000))
def test_without_positions_the_maps_permute_with_the_tokens(layer: Layer, seed: int) -> None:
    order = torch.randperm(len(layer.x), generator=torch.Generator().manual_seed(seed))
    shuffled = Layer(layer.x[order], None, layer.n_heads, layer.n_kv_heads, layer.weights)
    before, after = layer.trace(), shuffled.trace()
    assert_equal(after["weights"], before["weights"][:, order][:, :, order])
    assert_equal(after["output"], before["output"][order])


@quick
@given(layers(grouped=True))
def test_grouped_keys_and_values_are_expanded_over_the_heads(layer: Layer) -> None:
    trace, (_, k, v) = layer.trace(), layer.heads()
    copies = layer.n_heads // layer.n_kv_heads
    assert_equal(trace["keys"], k[0].repeat_interleave(copies, dim=0))
    assert_equal(trace["values"], v[0].repeat_interleave(copies, dim=0))


@quick
@given(layers(cross=False))
def test_n_kv_heads_defaults_to_n_heads(layer: Layer) -> None:
    assert_equal(layer.trace(n_kv_heads=None)["output"], layer.trace(n_kv_heads=layer.n_heads)["output"])


@quick
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.sampled_from("qkvo"))
def test_a_missing_weight_is_the_identity(seed: int, t: int, n_heads: int, d_head: int, name: str) -> None:
    d_model = n_heads * d_head
    layer = random_layer(seed, t, d_model, (n_heads, n_heads), (d_head, d_head), None)
    weights = {key: value for key, value in layer.weights.items() if key not in (f"W_{name}", "b_o")}
    identity = torch.eye(d_model, dtype=torch.float64)
    left_out = Layer(layer.x, None, n_heads, n_heads, weights).trace()
    written_out = Layer(layer.x, None, n_heads, n_heads, weights | {f"W_{name}": identity}).trace()
    for stage in left_out.stages:
        assert_equal(left_out[stage], written_out[stage])


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float16", 1e-2), ("bfloat16", 8e-2)])
@pytest.mark.parametrize("seed", range(8))
def test_smaller_number_formats_stay_near_float64(dtype: str, tolerance: float, seed: int) -> None:
    layer = random_layer(seed, 6, 8, (4, 2), (4, 4), (5, 8) if seed % 2 else None)
    exact, rounded = layer.trace(causal=True), layer.trace(dtype=dtype, causal=True)
    for stage in rounded.stages:
        assert rounded[stage].dtype == getattr(torch, dtype)
        torch.testing.assert_close(rounded[stage].double(), exact[stage], atol=tolerance, rtol=tolerance)
    assert rounded.warnings == ()

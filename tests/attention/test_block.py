"""A whole block computes what torch's own layers do, and refuses what has no residual."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.token_edits import add_token, remove_token
from attnlab.attention.edits.vector_edits import move_by_matrix, move_by_token
from attnlab.attention.measures.contributions import measure_contributions
from attnlab.attention.measures.head_matrices import measure_output
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell, explain

D, FF, HEADS, T = 12, 20, 3, 5


def transposed(linear: nn.Linear) -> Tensor:
    return linear.weight.detach().T.contiguous()


def randomize(module: nn.Module) -> None:
    """Give a layer random gains, shifts and biases, as ones and zeros could hide errors."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 2)


def from_attention(attention: nn.MultiheadAttention) -> dict[str, Tensor]:
    """Return the projections of torch's attention, by their names in attnlab."""
    given: dict[str, Tensor] = {}
    for name, weight in zip("qkv", attention.in_proj_weight.detach().chunk(3), strict=True):
        given[f"W_{name}"] = weight.T
    for name, bias in zip("qkv", attention.in_proj_bias.detach().chunk(3), strict=True):
        given[f"b_{name}"] = bias
    return given | {"W_o": transposed(attention.out_proj), "b_o": attention.out_proj.bias.detach()}


def feed_forward(layer: Any) -> dict[str, Tensor]:
    return {
        "W_1": transposed(layer.linear1),
        "b_1": layer.linear1.bias.detach(),
        "W_2": transposed(layer.linear2),
        "b_2": layer.linear2.bias.detach(),
    }


def norms(first: nn.LayerNorm, second: nn.LayerNorm) -> dict[str, Tensor]:
    return {
        f"{name}_{place}": array.detach()
        for place, norm in ((1, first), (2, second))
        for name, array in (("gamma", norm.weight), ("beta", norm.bias))
    }


def words(count: int) -> tuple[str, ...]:
    return tuple(f"t{i}" for i in range(count))


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def last(e: attnlab.Experiment) -> Tensor:
    """Return what leaves a block: its last stage."""
    trace = attnlab.compute(e, dtype="float64")
    return trace[trace.stages[-1]]


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("causal", [False, True])
def test_a_block_is_an_encoder_layer_of_torch(norm_first: bool, activation: str, causal: bool) -> None:
    layer = nn.TransformerEncoderLayer(
        D, HEADS, FF, 0.0, activation, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    randomize(layer)
    x = drawn(T, D)
    e = attnlab.Experiment(
        words(T),
        x,
        attnlab.Weights(**from_attention(layer.self_attn), extra=feed_forward(layer) | norms(layer.norm1, layer.norm2)),
        attnlab.AttentionConfig(HEADS, causal, block="before" if norm_first else "after", feed_forward=activation),
    )
    mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64) if causal else None
    with torch.no_grad():
        expected = layer.train()(x[None], src_mask=mask)[0]
    torch.testing.assert_close(last(e), expected, atol=1e-9, rtol=0)
    half = attnlab.compute(e)
    gap = (half[half.stages[-1]].double() - expected).abs().max()
    assert gap < 1e-6 * expected.abs().max()


@pytest.mark.parametrize("norm_first", [False, True])
def test_two_blocks_are_a_decoder_layer_of_torch(norm_first: bool) -> None:
    """A decoder layer is a block without feed-forward, and one that reads the second sequence."""
    layer = nn.TransformerDecoderLayer(
        D, HEADS, FF, 0.0, "gelu", batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    randomize(layer)
    x, memory = drawn(T, D), drawn(T + 2, D, seed=2)
    block = "before" if norm_first else "after"
    first = attnlab.Experiment(
        words(T),
        x,
        attnlab.Weights(**from_attention(layer.self_attn), extra=norms(layer.norm1, layer.norm1)),
        attnlab.AttentionConfig(HEADS, causal=True, block=block, feed_forward="none"),
    )
    second = attnlab.Experiment(
        words(T),
        last(first),
        attnlab.Weights(
            **from_attention(layer.multihead_attn), extra=feed_forward(layer) | norms(layer.norm2, layer.norm3)
        ),
        attnlab.AttentionConfig(HEADS, block=block, feed_forward="gelu"),
        memory_tokens=words(T + 2),
        memory_embeddings=memory,
    )
    mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)
    with torch.no_grad():
        expected = layer.train()(x[None], memory[None], tgt_mask=mask)[0]
    torch.testing.assert_close(last(second), expected, atol=1e-9, rtol=0)


@pytest.mark.slow
def test_a_block_is_a_decoder_layer_of_llama() -> None:
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    from transformers import LlamaConfig

    config = LlamaConfig(
        hidden_size=D,
        intermediate_size=FF,
        num_attention_heads=HEADS,
        num_key_value_heads=1,
        head_dim=4,
        rms_norm_eps=1e-6,
        attn_implementation="eager",
    )
    layer = llama.LlamaDecoderLayer(config, 0).double()
    randomize(layer)
    x = drawn(T, D)
    attention, mlp = layer.self_attn, layer.mlp
    e = attnlab.Experiment(
        words(T),
        x,
        attnlab.Weights(
            **{f"W_{name}": transposed(getattr(attention, f"{name}_proj")) for name in "qkvo"},
            extra={
                "gamma_1": layer.input_layernorm.weight,
                "gamma_2": layer.post_attention_layernorm.weight,
                "W_gate": transposed(mlp.gate_proj),
                "W_1": transposed(mlp.up_proj),
                "W_2": transposed(mlp.down_proj),
            },
        ),
        attnlab.AttentionConfig(
            HEADS,
            causal=True,
            n_kv_heads=1,
            positions="rope",
            block="before",
            block_norm="rms",
            feed_forward="swiglu",
            norm_eps=1e-6,
        ),
    )
    rope = llama.LlamaRotaryEmbedding(config)
    places = torch.arange(T)[None]
    mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)[None, None]
    with torch.no_grad():
        made = layer(x[None], attention_mask=mask, position_embeddings=rope(x[None], places), position_ids=places)
    expected = (made[0] if isinstance(made, tuple) else made).reshape(T, D)
    torch.testing.assert_close(last(e), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("block", ["after", "before"])
def test_without_norms_and_feed_forward_only_the_residual_is_left(block: str) -> None:
    e = edits.configure(attnlab.preset("multi-head-causal"), block=block, block_norm="none", feed_forward="none")
    trace = attnlab.compute(e, dtype="float64")
    assert trace.stages[-1] == "residual"
    assert "normed_inputs" not in trace
    torch.testing.assert_close(trace["residual"], trace["inputs"] + trace["output"], rtol=0, atol=0)


def test_a_block_gets_the_projection_that_its_residual_needs() -> None:
    journey = attnlab.preset("journey")  # three columns, and values of two
    e = edits.configure(journey, block="after")
    assert e.weights.W_o is not None
    assert list(e.weights.W_o.shape) == [2, 3]
    assert {name: list(e.weights.extra[name].shape) for name in ("W_1", "b_1", "W_2", "b_2", "gamma_2")} == {
        "W_1": [3, 12],
        "b_1": [12],
        "W_2": [12, 3],
        "b_2": [3],
        "gamma_2": [3],
    }
    with pytest.raises(attnlab.ExperimentError, match=r"The block adds the output \(d_out = 2\) to the inputs"):
        edits.toggle_output(e, False)
    resized = edits.resize_free(edits.resize(e, d_model=5), "d_ff", 7)
    assert list(resized.weights.extra["W_1"].shape) == [5, 7]
    assert torch.equal(resized.weights.extra["W_1"][:3], e.weights.extra["W_1"][:, :7])


def test_a_block_that_is_off_leaves_the_layer_as_it_was() -> None:
    e = attnlab.preset("multi-head-causal")
    there_and_back = edits.configure(edits.configure(e, block="before"), block="none")
    one, other = attnlab.compute(e), attnlab.compute(there_and_back)
    assert one.stages == other.stages
    assert all(torch.equal(one[name], other[name]) for name in one.stages)


def test_an_edit_that_needs_no_new_table_keeps_the_weights() -> None:
    e = attnlab.preset("whole-block")
    shorter = remove_token(e, 0)
    assert shorter.weights is e.weights
    assert shorter.config is e.config
    learned = edits.configure(e, positions="learned")
    assert add_token(learned, "mat").weights is not learned.weights  # P has one row more


def test_a_missing_table_is_named() -> None:
    e = attnlab.preset("multi-head-causal")
    with pytest.raises(attnlab.ExperimentError, match=r"layer needs gamma_1 \[d_model\] with d_model = 64"):
        attnlab.Experiment(e.tokens, e.embeddings, e.weights, attnlab.AttentionConfig(8, block="before"))


def test_equal_numbers_are_not_divided_by_zero() -> None:
    e = edits.configure(attnlab.preset("the-cat-sat"), block="before")
    even = edits.with_table(e, "embeddings", torch.full((3, 4), 0.5))
    trace = attnlab.compute(even)
    assert (trace["normed_inputs"] == 0).all()
    bare = edits.configure(even, norm_eps=0.0)
    trace = attnlab.compute(bare)
    assert trace["normed_inputs"].isnan().all()
    assert any(warning.startswith("normed_inputs: 12 of 12 values are ∞ or NaN") for warning in trace.warnings)
    assert "it divides by 0" in plain(explain(trace, Cell("normed_inputs", 0, 0)).lines[0])


def test_explain_writes_out_the_mean_and_the_deviation_of_a_short_row() -> None:
    e = edits.configure(attnlab.preset("journey"), block="before")
    lines = [plain(each) for each in explain(attnlab.compute(e), Cell("normed_inputs", 0, 0)).lines]
    assert lines[0] == "mean of the row: (0.43 + 0.15 + 0.89) ÷ 3 = 0.4900"
    assert lines[1].startswith("mean square: ((0.43 − 0.49)^{2} + (0.15 − 0.49)^{2} + (0.89 − 0.49)^{2}) ÷ 3 = 0.0931")
    assert lines[-1].startswith("= −0.19")


@pytest.mark.parametrize("norm", BLOCK_NORMS)
@pytest.mark.parametrize("feed", FEED_FORWARDS)
@pytest.mark.parametrize("block", ["after", "before"])
def test_every_block_has_the_same_bits_in_any_number_of_threads(norm: str, feed: str, block: str) -> None:
    e = edits.configure(attnlab.preset("multi-head-8"), block=block, block_norm=norm, feed_forward=feed)
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 4):
            torch.set_num_threads(threads)
            trace = attnlab.compute(e)
            found.append([trace[name].clone() for name in trace.stages])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_a_score_behind_a_norm_is_a_sum_over_the_normed_numbers() -> None:
    e = edits.configure(attnlab.preset("multi-head-causal"), block="before", positions="sinusoidal")
    trace = attnlab.compute(e, dtype="float64")
    found = measure_contributions(trace, 2, 3, 1)
    assert found.total == pytest.approx(float(trace["scores"][2, 3, 1]), abs=1e-10)
    assert found.query.tolist() == trace["normed_inputs"][3].tolist()
    assert found.query_parts == found.key_parts == ("content",)
    parts = measure_output(trace, 1, 2, 5)
    assert parts.total == pytest.approx(float(trace["output"][2, 5]), abs=1e-10)


def test_a_token_does_not_follow_an_arrow_behind_a_norm() -> None:
    e = edits.configure(attnlab.preset("multi-head-causal"), block="before")
    step = np.full(8, 0.1)
    with pytest.raises(attnlab.ExperimentError, match="A norm stands between the token and W_q"):
        move_by_token(e, "queries", 0, 1, step)
    moved = move_by_matrix(e, "queries", 0, 1, step)
    gap = attnlab.compute(moved)["queries"][0, 1] - attnlab.compute(e)["queries"][0, 1]
    assert gap.tolist() == pytest.approx(step.tolist(), abs=1e-5)

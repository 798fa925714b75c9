"""Whole models compared with torch's own Transformer layers with the same weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from attnlab.training import models
from attnlab.training.batch import PAD, Batch
from attnlab.training.models import Attention, watch
from attnlab.training.models.blocks import Block
from attnlab.training.specs import ModelSpec

D, HEADS, FF, V = 16, 4, 24, 11


@dataclass(frozen=True)
class Letters:
    """The part of a task's data that models need."""

    vocabulary: tuple[str, ...] = ("·", "⟨", "⟩", *"abcdefgh")
    features: int = 0
    longest: int = 12
    longest_source: int = 0
    causal: bool = True


def made(kind: str, norm: str, positions: str, source: int = 0) -> models.Model:
    torch.manual_seed(3)
    spec = ModelSpec(kind, 2, HEADS, D, FF, norm, positions, 0.1)
    model = models.build(spec, Letters(longest_source=source))  # type: ignore[arg-type]
    with torch.no_grad():
        for p in model.parameters():  # gains and biases too begin as something that would show when left out
            p += 0.1 * torch.randn_like(p)
    return model.eval()


def give(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.W_q.T, ours.W_k.T, ours.W_v.T]))
    theirs.in_proj_bias.copy_(torch.cat([ours.b_q, ours.b_k, ours.b_v]))
    theirs.out_proj.weight.copy_(ours.W_o.T)
    theirs.out_proj.bias.copy_(ours.b_o)


@torch.no_grad()
def twins(blocks: Sequence[Block], norm: str, activation: str, cross: bool = False) -> list[nn.Module]:
    """Return torch's own layers with the weights of the blocks."""
    found: list[nn.Module] = []
    kind = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    for block in blocks:
        layer = kind(D, HEADS, FF, 0.1, activation, batch_first=True, norm_first=norm == "before").eval()
        give(layer.self_attn, block.attention)
        if cross:
            give(layer.multihead_attn, block.cross)
        for i, linear in ((0, layer.linear1), (3, layer.linear2)):
            linear.load_state_dict(block.feed_forward[i].state_dict())
        for i, of_block in enumerate(block.norms, 1):
            getattr(layer, f"norm{i}").load_state_dict(of_block.state_dict())
        found.append(layer)
    return found


def ahead(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def tokens(*lengths: int) -> Tensor:
    rows = torch.randint(3, V, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(1))
    for row, length in zip(rows, lengths, strict=True):
        row[length:] = PAD
    return rows


@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_a_single_stack_equals_torchs_encoder_layers(kind: str, norm: str) -> None:
    model = made(kind, norm, "learned")
    causal = kind == "decoder"
    x = tokens(9, 5, 9)
    with torch.no_grad():
        y = model.embedding.table[x] + model.embedding.positions.P[:9]
        for layer in twins(list(model.blocks), norm, "relu" if causal and norm == "after" else "gelu"):
            pad = torch.zeros(x.shape).masked_fill(x == PAD, -torch.inf)
            mask = torch.zeros(9, 9).masked_fill(ahead(9), -torch.inf) if causal else None
            y = layer(y, mask, pad)
        expected = model.norm(y) @ model.embedding.table.T if norm == "before" else model.output(y)
        torch.testing.assert_close(model(Batch(x, x)), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_encoder_and_decoder_equal_torchs_with_all_masks(norm: str) -> None:
    model = made("encoder-decoder", norm, "sinusoidal", source=10)
    source, target = tokens(10, 7, 4), tokens(12, 12, 6)
    pads = [torch.zeros(x.shape).masked_fill(x == PAD, -torch.inf) for x in (source, target)]
    t, i = torch.arange(12.0)[:, None], torch.arange(D // 2)
    angle = t / 10000 ** (2 * i / D)
    encoding = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # sin and cos side by side (Vaswani et al. 2017)
    with torch.no_grad():
        memory = model.source_embedding.table[source] * math.sqrt(D) + encoding[:10]
        for layer in twins(list(model.encoder), norm, "relu"):
            memory = layer(memory, None, pads[0])
        memory = model.norms[0](memory)
        y = model.embedding.table[target] * math.sqrt(D) + encoding
        causal = torch.zeros(12, 12).masked_fill(ahead(12), -torch.inf)
        for layer in twins(list(model.decoder), norm, "relu", cross=True):
            y = layer(y, memory, causal, None, pads[1], pads[0])
        expected = model.output(model.norms[1](y))
        with watch(model) as traces:
            torch.testing.assert_close(model(Batch(target, target, source)), expected, rtol=0, atol=1e-5)
            weights = {name: trace["weights"] for name, trace in traces.items()}
    for name, maps in weights.items():
        keys = target if name.startswith("decoder") else source
        assert not maps.transpose(1, 3)[keys == PAD].any()
    assert not weights["decoder 2"].triu(1).any()


@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_a_model_on_numbers_is_one_attention_layer(positions: str) -> None:
    torch.manual_seed(0)
    spec = ModelSpec("attention", 1, 8, 512, 0, "none", positions)
    model = models.build(spec, Letters((), 512, 10, 0, False))  # type: ignore[arg-type]
    theirs = nn.MultiheadAttention(512, 8, batch_first=True)
    x = torch.randn(2, 10, 512)
    with torch.no_grad():
        give(theirs, model.layers["attention 1"])
        placed = x + model.positions.encoding if positions == "sinusoidal" else x
        torch.testing.assert_close(model(Batch(x, x)), theirs(placed, placed, placed)[0], rtol=0, atol=1e-5)
    assert sum(p.numel() for p in model.parameters()) == 4 * (512 * 512 + 512)


def test_the_recurrent_model_equals_torchs_on_unpadded_rows() -> None:
    torch.manual_seed(0)
    model = models.build(ModelSpec("recurrent", 1, d_model=D), Letters(longest_source=8)).eval()  # type: ignore[arg-type]
    source, target = tokens(8, 5), tokens(6, 6)
    with torch.no_grad():
        together = model(Batch(target, target, source))
        for i, length in enumerate((8, 5)):
            states, last = model.encoder(model.source_embedding(source[i, :length]))
            torch.testing.assert_close(last.flatten(), torch.cat([states[-1, : D // 2], states[0, D // 2 :]]))
            begin = torch.tanh(model.bridge(last.flatten()))
            y, _ = model.decoder(model.embedding(target[i]), begin[None])
            torch.testing.assert_close(together[i], model.output(y), rtol=0, atol=1e-5)


def test_the_first_loss_on_numbers_equals_that_of_the_course() -> None:
    torch.manual_seed(0)
    model = models.build(ModelSpec("attention", 1, 8, 512, 0, "none", "none"), Letters((), 512, 10, 0, False))  # type: ignore[arg-type]
    x = torch.randn(100, 10, 512)
    target = x.clone()
    for place in (2, 5, 8):
        target[:, place] = x[:, place - 2] + x[:, place - 1]
    with torch.no_grad():
        assert float(models.compute_loss(model(Batch(x, target)), target)) == pytest.approx(1.3141, abs=0.01)


def attention_and_norm(d: int) -> int:
    return 4 * (d * d + d) + 2 * d


def feed_forward_and_norm(d: int, ff: int) -> int:
    return d * ff + ff + ff * d + d + 2 * d


def test_parameter_counts_match_hand_counted_ones() -> None:
    words = tuple(map(str, range(1000)))
    small = ModelSpec("decoder", 4, 4, 64, 256, "after", "learned")
    layer = attention_and_norm(64) + feed_forward_and_norm(64, 256)
    by_hand = 1000 * 64 + 128 * 64 + 4 * layer + 64 * 1000 + 1000
    assert models.count_parameters(small, Letters(words, longest=128)) == (by_hand, by_hand)  # type: ignore[arg-type]
    large = ModelSpec("encoder-decoder", 3, 8, 128, 512, "after", "sinusoidal")
    encoder = attention_and_norm(128) + feed_forward_and_norm(128, 512)
    decoder = 2 * attention_and_norm(128) + feed_forward_and_norm(128, 512)
    by_hand = 2 * 1000 * 128 + 3 * encoder + 3 * decoder + 128 * 1000 + 1000
    assert models.count_parameters(large, Letters(words, longest=50, longest_source=50)) == (by_hand, by_hand)  # type: ignore[arg-type]

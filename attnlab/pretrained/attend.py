"""The forward pass of one attention layer, written out so that its weights can be seen and changed."""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.position_functions import buckets
from attnlab.pretrained.edited import attend_edited
from attnlab.pretrained.layers import AttentionLayer, Bias, Norm


class Off(NamedTuple):
    """What is changed in one layer: heads that are off, single arrows as (head, query, key), and an edited layer."""

    heads: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int, int], ...] = ()
    edited: Experiment | None = None


NOTHING_OFF = Off()


def find_weights(layer: AttentionLayer, x: Tensor, memory: Tensor, off: Off = NOTHING_OFF) -> Tensor:
    """Return the softmax weights [h, T_q, T_k] of queries from x [T_q, d] on keys from memory [T_k, d_memory].

    A pair that is off is masked like a future token: its score is −∞, and the other weights of the row sum to 1. A row
    of which all pairs are off is 0.
    """
    if off.edited is not None:
        return attend_edited(off, layer, x, memory).weights
    q = _rotate(layer, _normalize(layer.norm_q, _split(layer.q(x), layer.n_heads)))
    k = _rotate(layer, _normalize(layer.norm_k, _split(layer.k(memory), layer.n_kv_heads)))
    if layer.divisor is not None:
        q = q / layer.divisor  # not the scores, of which there are more
    scores = q @ _repeat(layer, k).mT  # changed in place from here on: of a long text it is large
    if layer.bias is not None:
        scores += find_bias(layer.bias, *scores.shape[-2:])
    hidden = find_hidden(layer, *scores.shape[-2:])
    if hidden is not None:
        scores.masked_fill_(hidden, -torch.inf)
    for head, query, key in off.pairs:
        scores[head, query, key] = -torch.inf
    weights = torch.softmax(scores, -1, out=scores)
    return weights.nan_to_num_(0.0) if off.pairs else weights


def attend(layer: AttentionLayer, x: Tensor, memory: Tensor, off: Off = NOTHING_OFF) -> tuple[Tensor, Tensor]:
    """Return the output [T_q, d_model] and the weights [h, T_q, T_k]. The context of a head that is off is 0."""
    if off.edited is not None:
        edited = attend_edited(off, layer, x, memory)
        return edited.output, edited.weights
    weights = find_weights(layer, x, memory, off)
    context = weights @ find_values(layer, memory)
    for head in off.heads:
        context[head] = 0.0
    return layer.o(context.transpose(0, 1).flatten(1)), weights


def find_values(layer: AttentionLayer, memory: Tensor) -> Tensor:
    """Return the values that each query head reads, [h, T_k, d_v]."""
    return _repeat(layer, _split(layer.v(memory), layer.n_kv_heads))


def find_hidden(layer: AttentionLayer, t_q: int, t_k: int) -> Tensor | None:
    """Return the masked cells [T_q, T_k], None if the layer has no mask."""
    return _make_causal(t_q, t_k, layer.window) if layer.causal else None


@lru_cache(2)  # all layers have the same, or two in turn; nobody writes into it
def _make_causal(t_q: int, t_k: int, window: int | None) -> Tensor:
    distance = torch.arange(t_q)[:, None] - torch.arange(t_k)
    hidden = distance < 0
    return hidden if window is None else hidden | (distance >= window)


def find_bias(bias: Bias, t_q: int, t_k: int) -> Tensor:
    """Return T5's bias [h, T_q, T_k]."""
    distance = torch.arange(t_k) - torch.arange(t_q)[:, None]
    return bias.table[buckets(distance, len(bias.table), bias.farthest, bias.both_ways)].permute(2, 0, 1)


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(len(x), heads, -1).transpose(0, 1)  # [T, h·d] -> [h, T, d]


def _repeat(layer: AttentionLayer, x: Tensor) -> Tensor:
    """Return keys or values of each query head, [h_kv, T, d] -> [h, T, d]."""
    return x if layer.n_kv_heads == layer.n_heads else x.repeat_interleave(layer.n_heads // layer.n_kv_heads, 0)


def _normalize(norm: Norm | None, x: Tensor) -> Tensor:
    return x if norm is None else norm(x)


def _rotate(layer: AttentionLayer, x: Tensor) -> Tensor:
    return x if layer.rotation is None else layer.rotation(x)

"""Converts a model's layer on a text to an experiment that computes the same weights."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.attend import NOTHING_OFF, Off, find_hidden
from attnlab.pretrained.edited import place
from attnlab.pretrained.layers import AttentionLayer
from attnlab.pretrained.tokenizer import readable


def to_experiment(
    layer: AttentionLayer,
    tokens: tuple[str, ...],
    x: Tensor,
    across: tuple[tuple[str, ...], Tensor] | None,
    off: Off | None,
) -> Experiment:
    """Return an experiment whose embeddings x [T, d_model] are what the layer reads, after a norm that comes first.

    ``across`` is the second sequence of cross-attention, its tokens and [T_k, d_memory].

    Raises:
        ArgumentError: arrows are off in some heads only, but an experiment's mask hides a pair in all heads.
        ExperimentError: there are too many tokens.
    """
    off = off or NOTHING_OFF
    t_k = len(tokens if across is None else across[0])
    arrows = _find_arrows(layer, off)
    if off.edited is not None:
        keys, memory_x = across or (tokens, None)
        return place(off, layer, x, memory_x, (tuple(map(readable, tokens)), tuple(map(readable, keys))), arrows)
    weights, config = read_definition(layer, len(tokens), t_k)
    config = replace(config, mask=_make_mask(layer, arrows, len(tokens), t_k), ablated=off.heads)
    memory: dict[str, Any] = {}
    if across is not None:
        memory = {"memory_tokens": tuple(map(readable, across[0])), "memory_embeddings": across[1]}
    return Experiment(tuple(map(readable, tokens)), x, weights, config, **memory)


def read_definition(layer: AttentionLayer, t_q: int, t_k: int) -> tuple[Weights, AttentionConfig]:
    """Return the weights and the settings of a layer with nothing off, for ``t_q`` queries and ``t_k`` keys."""
    tables, settings = list_settings(layer, t_q)
    weights = Weights(
        **{f"W_{name}": getattr(layer, name).weight for name in "qkvo"},
        **{f"b_{name}": getattr(layer, name).bias for name in "qkvo"},
        extra=tables,
    )
    masks = {"window": layer.window} if layer.window is not None and layer.window < t_k else {}
    return weights, AttentionConfig(masks=masks, **settings)


def list_settings(layer: AttentionLayer, count: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tables of a layer, and its settings as arguments of AttentionConfig, without its masks.

    ``count`` is the number of tokens, on which the frequencies of RoPE can depend.
    """
    tables, settings = _position_settings(layer, count)
    settings |= {
        "n_heads": layer.n_heads,
        "n_kv_heads": None if layer.n_kv_heads == layer.n_heads else layer.n_kv_heads,
        "causal": layer.causal,
        "scale": _find_scale(layer),
    }
    return tables, settings


def _find_scale(layer: AttentionLayer) -> str | float:
    """Return the scale of the scores: √d_k, none, or another number."""
    d_k = layer.q.weight.shape[1] // layer.n_heads
    if layer.divisor is None:
        return "none"
    return "sqrt_d_k" if layer.divisor == math.sqrt(d_k) else layer.divisor


def _position_settings(layer: AttentionLayer, count: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tables and settings of positions in ``count`` tokens, and of the norm of queries and keys."""
    tables: dict[str, Tensor] = {}
    config: dict[str, Any] = {}
    if layer.norm_q is not None and layer.norm_k is not None:
        tables |= {"g_q": layer.norm_q.gain, "g_k": layer.norm_k.gain}
        config["qk_norm"] = "rms"
    if layer.rotation is not None and layer.rotation.base is not None:
        config |= {"positions": "rope", "rope_base": layer.rotation.base}
    elif layer.rotation is not None:
        tables["omega"] = layer.rotation.find_frequencies(count)
        config |= {"positions": "rope_scaled", "rope_factor": layer.rotation.factor}
    if layer.bias is not None:
        tables["B"] = layer.bias.table
        config |= {
            "positions": "t5",
            "t5_buckets": len(layer.bias.table),
            "t5_distance": layer.bias.farthest,
            "t5_bidirectional": layer.bias.both_ways,
        }
    return tables, config


def _find_arrows(layer: AttentionLayer, off: Off) -> tuple[tuple[int, int], ...]:
    """Return the arrows (query, key) that are off in every head.

    Raises:
        ArgumentError: some are off in some heads only.
    """
    arrows = {(query, key) for _, query, key in off.pairs}
    if len(off.pairs) != len(arrows) * layer.n_heads:
        raise ArgumentError(
            "Arrows are off in some heads of this layer only, but the mask of an experiment hides a pair in all heads."
        )
    return tuple(sorted(arrows))


def _make_mask(layer: AttentionLayer, arrows: tuple[tuple[int, int], ...], t_q: int, t_k: int) -> Tensor | None:
    """Return the pairs that are on, [T_q, T_k], None if no arrow is off."""
    if not arrows:
        return None
    hidden = find_hidden(layer, t_q, t_k)
    on = torch.ones(t_q, t_k, dtype=torch.bool) if hidden is None else ~hidden
    for arrow in arrows:
        on[arrow] = False
    return on

"""A layer that was edited as an experiment, in place of the model's own: its stages on other inputs."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries.masks import find_hidden
from attnlab.base.errors import ArgumentError
from attnlab.compute.engine import compute
from attnlab.pretrained.layers import AttentionLayer, Linear

if TYPE_CHECKING:
    from attnlab.pretrained.attend import Off

Arrow = tuple[int, int]
"""A query and a key."""


class EditedAttention(NamedTuple):
    """What an edited layer computes: weights [h, T_q, T_k], values [h, T_k, d_v], and the output [T_q, d_model]."""

    weights: Tensor
    values: Tensor
    output: Tensor


def place(
    off: "Off",
    layer: AttentionLayer,
    x: Tensor,
    memory: Tensor | None,
    tokens: tuple[tuple[str, ...], tuple[str, ...]],
    arrows: Iterable[Arrow] = (),
) -> Experiment:
    """Return an edited layer of a model on what the model's queries read, x [T_q, d], and its keys, None for the same.

    It is the attention alone: what a block has around it is not computed. ``arrows`` are hidden in all heads.

    Raises:
        ArgumentError: its mask is painted for another number of tokens.
    """
    e = off.edited
    assert e is not None
    sizes = len(tokens[0]), len(tokens[1])
    weights, config = _fit_length(e, layer, *sizes)
    mask = _take_mask(e, *sizes)
    for arrow in arrows:
        mask = torch.ones(sizes, dtype=torch.bool) if mask is None else mask.clone()
        mask[arrow] = False
    config = replace(config, mask=mask, ablated=tuple(sorted({*config.ablated, *off.heads})), block="none")
    if memory is None:
        return Experiment(tokens[0], x, weights, config)
    return Experiment(tokens[0], x, weights, config, tokens[1], memory)


def attend_edited(off: "Off", layer: AttentionLayer, x: Tensor, memory: Tensor) -> EditedAttention:
    """Return what the edited layer computes for queries from x [T_q, d] on keys from memory [T_k, d_memory].

    A mask of an experiment hides a pair in all heads. So heads with arrows off are computed on their own, and their
    weights and contexts are put beside those of the others.
    """
    names = tuple(map(str, range(len(x)))), tuple(map(str, range(len(memory))))
    other = None if memory is x else memory
    trace = compute(place(off, layer, x, other, names))
    weights, values = trace["weights"], trace["values"]
    if not off.pairs:
        return EditedAttention(weights, values, trace["output"])
    weights, context = weights.clone(), trace["context"].clone()
    for arrows, heads in _group_heads(off).items():
        hiding = compute(place(off, layer, x, other, names, arrows))
        weights[heads], context[heads] = hiding["weights"][heads], hiding["context"][heads]
    assert off.edited is not None
    merged = context.transpose(0, 1).flatten(1)
    return EditedAttention(weights, values, find_output(off.edited, merged.shape[1])(merged))


def find_edited_hidden(e: Experiment, layer: AttentionLayer, t_q: int, t_k: int) -> Tensor | None:
    """Return the pairs that the masks of an edited layer hide, bool [T_q, T_k]; None if it has none.

    Raises:
        ArgumentError: its mask is painted for another number of tokens.
    """
    config = _fit_length(e, layer, t_q, t_k)[1]
    found = find_hidden(t_q, t_k, config.causal, config.masks, _take_mask(e, t_q, t_k))
    return None if found is None else found.cells


def find_output(e: Experiment, width: int) -> Linear:
    """Return what mixes the merged heads [T, ``width``] of an edited layer; the identity without W_o."""
    w = e.weights
    return Linear(torch.eye(width) if w.W_o is None else w.W_o, w.b_o)


def check_edited(e: Any, n_heads: int, d_model: int, d_memory: int | None) -> None:
    """Refuse an experiment that cannot stand in a model's place.

    Raises:
        ArgumentError: it has another number of heads or columns, or no second sequence where the model has one.
    """
    if not isinstance(e, Experiment):
        raise ArgumentError(f"layers contains {type(e).__name__}; it needs what run.experiment(layer) gives, edited.")
    if e.n_heads != n_heads:
        raise ArgumentError(f"The edited layer has {e.n_heads} heads; the model has {n_heads}.")
    if e.d_model != d_model:
        raise ArgumentError(f"The edited layer reads {e.d_model} columns; the model has {d_model}.")
    if (e.memory_tokens is None) != (d_memory is None):
        raise ArgumentError("Self-attention cannot stand in the place of cross-attention, nor the reverse.")
    if e.weights.W_o is not None and e.weights.W_o.shape[1] != d_model:
        raise ArgumentError(f"The edited layer writes {e.weights.W_o.shape[1]} columns; the model has {d_model}.")


def _fit_length(e: Experiment, layer: AttentionLayer, t_q: int, t_k: int) -> tuple[Weights, AttentionConfig]:
    """Return the weights and settings of an edited layer for another number of tokens than that at which it was edited.

    A window as long as the text is left out of an experiment, and the frequencies of dynamic RoPE depend on the number
    of tokens; where they were not edited, they are those of the model.
    """
    weights, config = e.weights, e.config
    if layer.window is not None and config.masks.get("window") == (layer.window if layer.window < e.T_k else None):
        others = {name: number for name, number in config.masks.items() if name != "window"}
        config = replace(config, masks=others | ({"window": layer.window} if layer.window < t_k else {}))
    if layer.rotation is not None and layer.rotation.of_long is not None and config.positions == "rope_scaled":
        before, after = (layer.rotation.find_frequencies(count) for count in (e.T_q, t_q))
        if torch.equal(weights.extra["omega"].to(before.dtype), before) and not torch.equal(before, after):
            weights = replace(weights, extra={**weights.extra, "omega": after})
    return weights, config


def _take_mask(e: Experiment, t_q: int, t_k: int) -> Tensor | None:
    """Return the painted mask of an edited layer, refused if it is not [T_q, T_k]."""
    mask = e.config.mask
    if mask is not None and tuple(mask.shape) != (t_q, t_k):
        rows, columns = mask.shape
        raise ArgumentError(
            f"The edited layer has a mask painted for {rows} × {columns} tokens, and this text has {t_q} × {t_k}; "
            "clear the mask, or return to its text."
        )
    return mask


def _group_heads(off: "Off") -> dict[tuple[Arrow, ...], list[int]]:
    """Return the heads that have the same arrows off, by these arrows."""
    by_head: dict[int, list[Arrow]] = {}
    for head, query, key in off.pairs:
        by_head.setdefault(head, []).append((query, key))
    groups: dict[tuple[Arrow, ...], list[int]] = {}
    for head, arrows in by_head.items():
        groups.setdefault(tuple(sorted(arrows)), []).append(head)
    return groups

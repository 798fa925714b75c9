"""Edits of a layer's configuration, output projection, biases, heads and painted mask."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.edits.assemble import assemble
from attnlab.attention.edits.layer_tables import BIASES, identity, shape, table, with_weights, zeros
from attnlab.attention.edits.size_edits import resize_bias
from attnlab.attention.experiment import Experiment
from attnlab.attention.validation import MOST_HEADS, columns
from attnlab.base.counted import divisors


def configure(e: Experiment, **changes: Any) -> Experiment:
    """Return the experiment with fields or options of its configuration changed; the same object if nothing changes.

    Tables that an entry needs are created, and W_o if a block needs it for its residual. In ``masks`` {name: number},
    None switches that mask off.
    """
    if "masks" in changes:
        masks = {**e.config.masks, **changes["masks"]}
        changes["masks"] = {name: number for name, number in masks.items() if number is not None}
    changes = {name: value for name, value in changes.items() if not _is_same(setting(e, name), value)}
    if not changes:
        return e
    config = replace(e.config, **changes)
    if config.block != "none" and e.d_out != e.d_model and e.weights.W_o is None:
        e = toggle_output(e, True)
    return assemble(e, config=config)


def with_setting(e: Experiment, **changes: Any) -> Experiment:
    """Return the experiment with settings changed; another number of key heads also resizes W_k and W_v.

    Fewer key heads keep the first of each group; more are copies of the head that they shared; results stay the same.
    """
    heads = changes.pop("n_kv_heads", None)
    e = configure(e, **changes)
    if heads is None or heads == e.n_kv_heads:
        return e
    w = e.weights
    sizes = {"W_k": e.d_k, "W_v": e.d_v, "b_k": e.d_k, "b_v": e.d_v}
    tables = {name: table(e, name) for name in sizes if name[0] == "W" or getattr(w, name) is not None}
    grouped = {name: _regroup(numbers, e.n_kv_heads, heads, sizes[name]) for name, numbers in tables.items()}
    given: dict[str, Any] = {name: numbers if name[0] == "W" else numbers[0] for name, numbers in grouped.items()}
    config = replace(e.config, n_kv_heads=None if heads == e.n_heads else heads)
    return assemble(e, weights=replace(w, **given), config=config)


def _regroup(matrix: Tensor, before: int, after: int, size: int) -> Tensor:
    """Return a matrix [rows, before·size] for ``after`` heads: the first head of each group, or copies of it."""
    heads = matrix.reshape(matrix.shape[0], before, size)
    picked = [i * before // after for i in range(after)]
    return heads[:, picked].flatten(1).contiguous()


def setting(e: Experiment, name: str) -> Any:
    """Return a field or an option of the configuration."""
    return getattr(e.config, name) if hasattr(e.config, name) else e.config.option(name)


def _is_same(old: Any, new: Any) -> bool:
    tensors = isinstance(old, Tensor) or isinstance(new, Tensor | np.ndarray)
    return old is new if tensors else type(old) is type(new) and bool(old == new)


def toggle_output(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with W_o, initially the identity [h·d_v, d_model], or without it and its bias.

    If the other projections have biases, W_o gets a bias of zeros.
    """
    w = e.weights
    if on == (w.W_o is not None):
        return e
    if not on:
        return with_weights(e, W_o=None, b_o=None)
    bias = zeros(e, e.d_model) if w.b_o is None and has_biases(e) else resize_bias(w.b_o, 1, e.d_model)
    return with_weights(e, W_o=identity(e, e.n_heads * e.d_v, e.d_model), b_o=bias)


def has_biases(e: Experiment) -> bool:
    """Return whether any projection has a bias."""
    return any(getattr(e.weights, name) is not None for name in BIASES)


def toggle_biases(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with a bias for each projection (missing ones are zeros), or without biases."""
    if not on:
        return with_weights(e, **dict.fromkeys(BIASES)) if has_biases(e) else e
    wanted = [name for name in BIASES if name != "b_o" or e.weights.W_o is not None]
    missing = [name for name in wanted if getattr(e.weights, name) is None]
    return with_weights(e, **{name: zeros(e, shape(e, name)[1]) for name in missing}) if missing else e


def fitting_heads(e: Experiment) -> tuple[int, ...]:
    """Return the head counts that divide the columns of the tables; with grouped keys only the present count."""
    if e.config.n_kv_heads is not None:
        return (e.n_heads,)
    width_q = columns(e.weights.W_q, e.d_model)
    width_v = columns(e.weights.W_v, e.memory.shape[1])
    return tuple(n for n in divisors(math.gcd(width_q, width_v)) if n <= MOST_HEADS)


def toggle_head(e: Experiment, head: int) -> Experiment:
    """Return the experiment with a head switched off, or on again."""
    return configure(e, ablated=tuple(sorted(set(e.config.ablated) ^ {head})))


def paint_mask(e: Experiment, query: int, key: int, allowed: bool) -> Experiment:
    """Return the experiment with a cell of its painted mask hidden or allowed; a mask that hides nothing is removed."""
    mask = e.config.mask
    if (mask is None and allowed) or (mask is not None and bool(mask[query, key]) == allowed):
        return e
    painted = torch.ones(e.T_q, e.T_k, dtype=torch.bool, device="cpu") if mask is None else mask.clone()
    painted[query, key] = allowed
    return configure(e, mask=None if bool(painted.all()) else own(painted))

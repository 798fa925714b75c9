"""A layer that was edited as an experiment, in place of the model's own: its stages on other inputs."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ArgumentError
from attnlab.compute.engine import compute
from attnlab.pretrained.layers import Linear

if TYPE_CHECKING:
    from attnlab.pretrained.attend import Off


def place(off: "Off", x: Tensor, memory: Tensor | None, tokens: tuple[tuple[str, ...], tuple[str, ...]]) -> Experiment:
    """Return the edited layer on what the model's queries read, x [T_q, d], and its keys, None for the same.

    Raises:
        ArgumentError: arrows are off, too, or its mask is painted for another number of tokens.
    """
    e = off.edited
    assert e is not None
    if off.pairs:
        raise ArgumentError("In a layer that was edited, hide pairs with its mask; single arrows cannot be off there.")
    sizes = (len(tokens[0]), len(tokens[1]))
    if e.config.mask is not None and tuple(e.config.mask.shape) != sizes:
        rows, columns = e.config.mask.shape
        raise ArgumentError(
            f"The edited layer has a mask painted for {rows} × {columns} tokens, and this text has {sizes[0]} × "
            f"{sizes[1]}; clear the mask, or return to its text."
        )
    config = replace(e.config, ablated=tuple(sorted({*e.config.ablated, *off.heads})))
    if memory is None:
        return Experiment(tokens[0], x, e.weights, config)
    return Experiment(tokens[0], x, e.weights, config, tokens[1], memory)


def trace_edited(off: "Off", x: Tensor, memory: Tensor) -> Trace:
    """Return the stages of the edited layer for queries from x [T_q, d] on keys from memory [T_k, d_memory]."""
    names = tuple(map(str, range(len(x)))), tuple(map(str, range(len(memory))))
    return compute(place(off, x, None if memory is x else memory, names))


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

"""Edits of a layer's sizes: existing numbers are kept, new ones are 0."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.edits.assemble import assemble, free_sizes
from attnlab.attention.edits.layer_tables import shape, table
from attnlab.attention.edits.stack_edits import in_every_layer
from attnlab.attention.experiment import Experiment, Sample
from attnlab.base.counted import format_bounds
from attnlab.base.errors import ExperimentError

MAX_COLUMNS = 4096
"""The maximum width of a table: 4096 × 4096 numbers in float32 take 64 MiB."""


def resize_free(e: Experiment, axis: str, size: int) -> Experiment:
    """Return the experiment with another size of a free axis of its entries' tables, such as the hidden units.

    Raises:
        ExperimentError: a size below 1 or above MAX_COLUMNS.
    """
    if not 1 <= size <= MAX_COLUMNS:
        raise ExperimentError(f"{axis} is {size}; it needs a whole number from 1 to {MAX_COLUMNS}.")
    return e if free_sizes(e).get(axis, size) == size else assemble(e, {axis: size})


def resize(
    e: Experiment,
    *,
    d_model: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    d_memory: int | None = None,
) -> Experiment:
    """Return the experiment with other sizes; existing numbers are kept, new ones are 0.

    An implied identity (None) stays implied if its size does not change, or if d_model changes in a layer without any
    weights, whose head size then changes too. Otherwise it becomes an explicit table. All sequences of a batch change
    alike, and all layers of a stack have one d_model; d_memory is the number of columns of the second sequence, or
    d_model without one.

    Raises:
        ExperimentError: a size below 1, or one that makes a table wider than MAX_COLUMNS.
    """
    if e.other_layers and d_model is not None:
        e = in_every_layer(_resize)(e, d_model=d_model)
    return _resize(e, d_model=d_model, d_k=d_k, d_v=d_v, d_memory=d_memory)


def _resize(
    e: Experiment,
    *,
    d_model: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    d_memory: int | None = None,
) -> Experiment:
    w, h, h_kv = e.weights, e.n_heads, e.n_kv_heads
    for name, size, most in (
        ("d_model", d_model, MAX_COLUMNS),
        ("d_k", d_k, MAX_COLUMNS // h),
        ("d_v", d_v, MAX_COLUMNS // h),
        ("d_memory", d_memory, MAX_COLUMNS),
    ):
        if size is not None and not 1 <= size <= most:
            raise ExperimentError(f"{name} is {size}; it needs {format_bounds(1, most, 'a whole number')}.")
    memory = e.memory.shape[1] if d_memory is None else d_memory
    sizes = ((d_model, e.d_model), (d_k, e.d_k), (d_v, e.d_v), (memory, e.memory.shape[1]))
    if all(size in (None, now) for size, now in sizes):
        return e
    untrained = e.memory_embeddings is None and all(weight is None for weight in (w.W_q, w.W_k, w.W_v))
    model = d_model or e.d_model
    follows = untrained and d_model is not None and model % h == 0
    k, v = d_k or (model // h if follows else e.d_k), d_v or (model // h if follows else e.d_v)
    implied = untrained and model == h * k == h * v
    memory = model if e.memory_embeddings is None else memory
    changes: dict[str, Any] = {}
    for letter, rows, heads, size in (("q", model, h, k), ("k", memory, h_kv, k), ("v", memory, h_kv, v)):
        name = f"W_{letter}"
        if not implied and (rows, heads * size) != shape(e, name):
            changes[name] = _resize_heads(resize_matrix(table(e, name), rows, shape(e, name)[1]), heads, size)
        changes[f"b_{letter}"] = resize_bias(getattr(w, f"b_{letter}"), heads, size)
    changes |= _resize_output(e, model, v)
    others = [replace(other, **_resize_columns(other, model, memory)) for other in e.others]
    return assemble(e, **_resize_columns(e, model, memory), weights=replace(w, **changes), others=others)


def _resize_columns(s: Experiment | Sample, d_model: int, d_memory: int) -> dict[str, Any]:
    """Return the resized embeddings of a sequence and of its memory, if it has one, as keywords for ``replace``."""
    resized = {"embeddings": resize_matrix(s.embeddings, len(s.tokens), d_model)}
    if s.memory_embeddings is not None:
        resized["memory_embeddings"] = resize_matrix(s.memory_embeddings, len(s.memory_embeddings), d_memory)
    return resized


def _resize_output(e: Experiment, d_model: int, d_v: int) -> dict[str, Tensor | None]:
    """Return W_o and b_o for other sizes; if d_out equals d_model, it changes with it."""
    w, h = e.weights, e.n_heads
    if w.W_o is None:
        return {"b_o": resize_bias(w.b_o, h, d_v)}
    d_out = d_model if e.d_out == e.d_model else e.d_out
    rows = w.W_o if d_v == e.d_v else _resize_heads(w.W_o.T, h, d_v).T
    return {"W_o": resize_matrix(rows, h * d_v, d_out), "b_o": resize_bias(w.b_o, 1, d_out)}


def resize_matrix(matrix: Tensor, rows: int, cols: int) -> Tensor:
    """Return a matrix cut or padded with zeros to [rows, cols]; the same object if it has that size."""
    if matrix.shape == (rows, cols):
        return matrix
    result = torch.zeros(rows, cols, dtype=matrix.dtype, device="cpu")
    kept = matrix[:rows, :cols]
    result[: kept.shape[0], : kept.shape[1]] = kept
    return result


def resize_bias(bias: Tensor | None, heads: int, size: int) -> Tensor | None:
    """Return a bias [heads·d] with each head's part cut or padded to ``size``."""
    return bias if bias is None or len(bias) == heads * size else _resize_heads(bias[None], heads, size)[0]


def _resize_heads(matrix: Tensor, heads: int, size: int) -> Tensor:
    """Return a matrix [rows, heads·d] with each head's columns cut or padded to ``size``."""
    rows, cols = matrix.shape
    if cols == heads * size:
        return matrix
    blocks = matrix.reshape(rows, heads, cols // heads)
    result = torch.zeros(rows, heads, size, dtype=matrix.dtype, device="cpu")
    kept = min(size, cols // heads)
    result[..., :kept] = blocks[..., :kept]
    return result.flatten(1)

"""Edits of numbers: pure functions from one Experiment to the next, sharing every tensor they do not touch."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.experiment import Experiment
from attnlab.attention.validation import columns
from attnlab.errors import ExperimentError

MATRICES = ("embeddings", "W_q", "W_k", "W_v", "W_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")


def shape(e: Experiment, name: str) -> tuple[int, int]:
    """Return the rows and columns that a table has, a bias being one row; also when it is None."""
    d_memory = e.memory.shape[1]
    wide = {"q": e.n_heads * e.d_k, "k": e.n_kv_heads * e.d_k, "v": e.n_kv_heads * e.d_v, "o": e.d_out}
    if name == "embeddings":
        return e.T_q, e.d_model
    if name.startswith("b_"):
        return 1, wide[name[-1]]
    rows = {"q": e.d_model, "k": d_memory, "v": d_memory, "o": e.n_heads * e.d_v}
    return rows[name[-1]], wide[name[-1]]


def table(e: Experiment, name: str) -> Tensor:
    """Return a table's numbers [rows, columns]; a weight that is None is shown as the identity, a bias as zeros."""
    tensor: Tensor | None = e.embeddings if name == "embeddings" else getattr(e.weights, name)
    if tensor is not None:
        return tensor if tensor.ndim == 2 else tensor[None]
    rows, cols = shape(e, name)
    return torch.zeros(1, cols, dtype=dtype(e)) if name.startswith("b_") else torch.eye(rows, cols, dtype=dtype(e))


def dtype(e: Experiment) -> torch.dtype:
    """Return the dtype in which new numbers are made: that of the embeddings."""
    return e.embeddings.dtype


def with_table(e: Experiment, name: str, numbers: Tensor | None) -> Experiment:
    """Return the experiment with one table replaced; [1, n] for a bias; None for the identity or no bias.

    Raises:
        ExperimentError: a number that is not finite in the table's dtype, or a shape that does not fit.
    """
    if numbers is not None:
        if not bool(torch.isfinite(numbers).all()):
            raise ExperimentError(f"{name} would hold numbers too large for {str(numbers.dtype).removeprefix('torch.')}.")
        numbers = own(numbers[0].clone() if name.startswith("b_") else numbers.contiguous())
    if name == "embeddings":
        return replace(e, embeddings=numbers)
    return replace(e, weights=replace(e.weights, **{name: numbers}))


def set_block(e: Experiment, name: str, row: int, column: int, values: Any) -> Experiment:
    """Return the experiment with a block [r, c] of a table replaced, its top left at ``row``, ``column``."""
    numbers = table(e, name).clone()
    block = torch.as_tensor(values).to(numbers.dtype)
    numbers[row : row + block.shape[0], column : column + block.shape[1]] = block
    return with_table(e, name, numbers)


def fill(e: Experiment, name: str, kind: str, seed: int = 0, block: tuple[int, int, int, int] | None = None) -> Experiment:
    """Return the experiment with a table, or its block (row, column, rows, columns), filled.

    ``kind`` is zeros, identity, normal (0, 1), uniform (−1, 1) or xavier (U(±√(6 / (rows + columns))), Glorot 2010).
    """
    whole = shape(e, name)
    row, column, rows, cols = block or (0, 0, *whole)
    g = torch.Generator().manual_seed(seed)
    kinds = {
        "zeros": lambda: torch.zeros(rows, cols),
        "identity": lambda: torch.eye(rows, cols),
        "normal": lambda: torch.randn(rows, cols, generator=g),
        "uniform": lambda: torch.rand(rows, cols, generator=g) * 2 - 1,
        "xavier": lambda: (torch.rand(rows, cols, generator=g) * 2 - 1) * (6 / sum(whole)) ** 0.5,
    }
    return set_block(e, name, row, column, kinds[kind]())


def scale(e: Experiment, name: str, factor: float) -> Experiment:
    """Return the experiment with a table multiplied by a number."""
    return with_table(e, name, table(e, name) * factor)


def transpose(e: Experiment, name: str) -> Experiment:
    """Return the experiment with a square table transposed.

    Raises:
        ExperimentError: the table is not square.
    """
    rows, cols = shape(e, name)
    if rows != cols:
        raise ExperimentError(f"{name} is {rows} × {cols}; only a square table can be transposed in its place.")
    return with_table(e, name, table(e, name).T.clone())


def rounded(e: Experiment, name: str, decimals: int) -> Experiment:
    """Return the experiment with a table rounded to so many decimals."""
    return with_table(e, name, torch.round(table(e, name), decimals=decimals))


def configured(e: Experiment, **changes: Any) -> Experiment:
    """Return the experiment with fields of its configuration changed."""
    return replace(e, config=replace(e.config, **changes))


def toggle_output(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with W_o, first the identity [h·d_v, d_model], or without it and its bias."""
    if not on:
        return replace(e, weights=replace(e.weights, W_o=None, b_o=None))
    return with_table(e, "W_o", torch.eye(e.n_heads * e.d_v, e.d_model, dtype=dtype(e)))


def toggle_biases(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with a bias, first zeros, for each projection it has, or with none."""
    names = [name for name in BIASES if name != "b_o" or e.weights.W_o is not None]
    sizes = {name: shape(e, name)[1] for name in names}
    biases = {name: torch.zeros(size, dtype=dtype(e)) if on else None for name, size in sizes.items()}
    if not on:
        biases["b_o"] = None
    return replace(e, weights=replace(e.weights, **biases))


def resize(e: Experiment, *, d_model: int | None = None, d_k: int | None = None, d_v: int | None = None) -> Experiment:
    """Return the experiment with other sizes; numbers that remain keep their values, new ones are 0.

    A weight that was the identity becomes an explicit one where its shape can no longer be implied.

    Raises:
        ExperimentError: a size below 1.
    """
    for name, size in (("d_model", d_model), ("d_k", d_k), ("d_v", d_v)):
        if size is not None and size < 1:
            raise ExperimentError(f"{name} is {size}; it needs a whole number, 1 or more.")
    w, h, h_kv = e.weights, e.n_heads, e.n_kv_heads
    untrained = all(weight is None for weight in (w.W_q, w.W_k, w.W_v))
    new_model = d_model or e.d_model
    follows = untrained and d_model is not None and e.memory_embeddings is None and new_model % h == 0
    new_k, new_v = (d_k or (new_model // h if follows else e.d_k)), (d_v or (new_model // h if follows else e.d_v))
    rows_kv = new_model if e.memory_embeddings is None else e.memory.shape[1]
    implied = untrained and new_model == h * new_k == h * new_v and h == h_kv
    changes: dict[str, Tensor | None] = {}
    for letter, heads, size, rows in (("q", h, new_k, new_model), ("k", h_kv, new_k, rows_kv), ("v", h_kv, new_v, rows_kv)):
        if not implied:
            old = table(e, f"W_{letter}")
            changes[f"W_{letter}"] = _heads_resized(_grown(old, rows, old.shape[1]), heads, size)
        bias = getattr(w, f"b_{letter}")
        changes[f"b_{letter}"] = None if bias is None else _heads_resized(bias[None], heads, size)[0]
    if w.W_o is not None:
        d_out = new_model if e.d_out == e.d_model else e.d_out
        changes["W_o"] = _grown(_heads_resized(w.W_o.T, h, new_v).T, h * new_v, d_out)
        changes["b_o"] = None if w.b_o is None else _grown(w.b_o[None], 1, d_out)[0]
    elif w.b_o is not None:
        changes["b_o"] = _heads_resized(w.b_o[None], h, new_v)[0]
    return replace(e, embeddings=_grown(e.embeddings, e.T_q, new_model), weights=replace(w, **changes))


def _grown(matrix: Tensor, rows: int, cols: int) -> Tensor:
    """Return a matrix cut or padded with zeros to [rows, cols]."""
    result = torch.zeros(rows, cols, dtype=matrix.dtype)
    kept = matrix[:rows, :cols]
    result[: kept.shape[0], : kept.shape[1]] = kept
    return result


def _heads_resized(matrix: Tensor, heads: int, size: int) -> Tensor:
    """Return a matrix [rows, heads·d] with each head's columns cut or padded to ``size``."""
    blocks = matrix.unflatten(-1, (heads, -1))  # [rows, heads, d]
    result = torch.zeros(matrix.shape[0], heads, size, dtype=matrix.dtype)
    kept = min(size, blocks.shape[-1])
    result[..., :kept] = blocks[..., :kept]
    return result.flatten(1)


def fitting_heads(e: Experiment) -> tuple[int, ...]:
    """Return the head counts that divide the columns of W_q, W_k and W_v."""
    width_q = columns(e.weights.W_q, e.d_model)
    width_v = columns(e.weights.W_v, e.memory.shape[1])
    return tuple(n for n in range(1, min(width_q, width_v) + 1) if width_q % n == 0 and width_v % n == 0)

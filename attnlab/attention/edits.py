"""Edits of numbers: pure functions from one Experiment to the next, sharing every tensor they do not touch."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention import registry
from attnlab.attention.arrays import dtype_name, own
from attnlab.attention.assemble import assemble
from attnlab.attention.experiment import Experiment, Sample
from attnlab.attention.validation import columns
from attnlab.errors import ExperimentError

MATRICES = ("embeddings", "W_q", "W_k", "W_v", "W_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")
FILLS = ("zeros", "identity", "normal", "uniform", "xavier")
MAX_COLUMNS = 4096
"""The widest table that sizes can be typed for: 4096 × 4096 numbers of float32 take 64 MiB."""


def shape(e: Experiment, name: str) -> tuple[int, int]:
    """Return the rows and columns that a table has, a bias being one row; also when it is None."""
    if name == "memory_embeddings":
        return e.T_k, e.memory.shape[1]
    if name in e.weights.extra:
        extra = e.weights.extra[name]
        return (1, len(extra)) if extra.ndim == 1 else (extra.shape[0], extra.shape[1])
    d_memory = e.memory.shape[1]
    wide = {"q": e.n_heads * e.d_k, "k": e.n_kv_heads * e.d_k, "v": e.n_kv_heads * e.d_v, "o": e.d_out}
    if name == "embeddings":
        return e.T_q, e.d_model
    if name.startswith("b_"):
        return 1, wide[name[-1]]
    rows = {"q": e.d_model, "k": d_memory, "v": d_memory, "o": e.n_heads * e.d_v}
    return rows[name[-1]], wide[name[-1]]


def table(e: Experiment, name: str) -> Tensor:
    """Return a table's numbers [rows, columns]; a weight that is None is shown as the identity, a bias as zeros.

    The tensor may be the experiment's own: it is to be read, not written into.
    """
    tensor: Tensor | None = _given(e, name)
    if tensor is not None:
        return tensor if tensor.ndim == 2 else tensor[None]
    rows, cols = shape(e, name)
    return zeros(e, 1, cols) if name.startswith("b_") else identity(e, rows, cols)


def _given(e: Experiment, name: str) -> Tensor | None:
    if name in ("embeddings", "memory_embeddings"):
        given: Tensor | None = getattr(e, name)
        return given
    return e.weights.extra[name] if name in e.weights.extra else getattr(e.weights, name)


def tables(e: Experiment) -> tuple[str, ...]:
    """Return the names of the tables that there are to edit: embeddings, projections, biases, tables of entries."""
    given = [name for name in ("memory_embeddings", "W_o", *BIASES) if _given(e, name) is not None]
    memory = [name for name in given if name == "memory_embeddings"]
    rest = [name for name in given if name != "memory_embeddings"]
    return ("embeddings", *memory, "W_q", "W_k", "W_v", *rest, *registry.tables(e.config))


def array(e: Experiment, name: str) -> np.ndarray[Any, np.dtype[np.floating]]:
    """Return a table's numbers [rows, columns] in the dtype they have; bfloat16, which NumPy lacks, as float32."""
    numbers = table(e, name)
    return (numbers.float() if numbers.dtype == torch.bfloat16 else numbers).numpy()


def dtype(e: Experiment) -> torch.dtype:
    """Return the dtype in which new numbers are made: that of the embeddings."""
    return e.embeddings.dtype


def zeros(e: Experiment, *size: int) -> Tensor:
    """Return zeros in the experiment's dtype."""
    return torch.zeros(*size, dtype=dtype(e), device="cpu")


def identity(e: Experiment, rows: int, cols: int) -> Tensor:
    """Return ones on the diagonal, in the experiment's dtype."""
    return torch.eye(rows, cols, dtype=dtype(e), device="cpu")


def with_table(e: Experiment, name: str, numbers: Any) -> Experiment:
    """Return the experiment with one table replaced; [1, n] for a bias; None for the identity or no bias.

    Raises:
        ExperimentError: a number that is not finite in the table's dtype, or a shape that does not fit.
    """
    if numbers is not None and (name in BIASES or (name in e.weights.extra and e.weights.extra[name].ndim == 1)):
        rows = len(numbers)
        if rows != 1:
            raise ExperimentError(f"{name} was given {rows} rows; it needs one, [1, n].")
        numbers = numbers[0]
    if name in e.weights.extra:
        return with_weights(e, extra={**e.weights.extra, name: numbers})
    if name in ("embeddings", "memory_embeddings"):
        return replace(e, **{name: numbers})
    return with_weights(e, **{name: numbers})


def with_weights(e: Experiment, **changes: Any) -> Experiment:
    """Return the experiment with some of its weights and biases replaced."""
    return replace(e, weights=replace(e.weights, **changes))


def set_block(e: Experiment, name: str, row: int, column: int, values: Any) -> Experiment:
    """Return the experiment with a block [r, c] of a table replaced, its top left at ``row``, ``column``.

    Raises:
        ExperimentError: a number that is not finite or too large for the table's dtype (names its cell and what would
            be right), or a block that does not lie inside the table.
    """
    old = table(e, name)
    block = _block(name, values)
    rows, cols = block.shape
    if row < 0 or column < 0 or row + rows > old.shape[0] or column + cols > old.shape[1]:
        raise ExperimentError(
            f"A block of {rows} × {cols} at row {row}, column {column} reaches outside {name}, "
            f"which is {old.shape[0]} × {old.shape[1]}."
        )
    numbers = old.clone()
    numbers[row : row + rows, column : column + cols] = _fitted(name, block, old.dtype, (row, column))
    return with_table(e, name, numbers)


def _block(name: str, values: Any) -> Tensor:
    try:
        block = values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, dtype=np.float64))
    except (ValueError, TypeError, OverflowError):
        raise ExperimentError(f"The block for {name} is not rows of numbers of one length, such as 0.25.") from None
    if block.ndim != 2:
        raise ExperimentError(f"The block for {name} has {block.ndim} dimensions; it needs 2, rows and columns.")
    return block.detach()


def _fitted(name: str, numbers: Tensor, to: torch.dtype, at: tuple[int, int] = (0, 0)) -> Tensor:
    """Return numbers [r, c] in a dtype, or say which does not fit; ``at`` is where they stand in the table."""
    fitted = numbers.to("cpu", to)
    bad = ~torch.isfinite(fitted)
    if bool(bad.any()):
        i, j = (int(index) for index in bad.nonzero()[0])
        most = f"{torch.finfo(to).max:.3g}"
        raise ExperimentError(
            f"{name}[{at[0] + i}, {at[1] + j}] would be {float(numbers[i, j]):g}; "
            f"in {dtype_name(to)} it needs a number from −{most} to {most}."
        )
    return fitted


def fill(
    e: Experiment, name: str, kind: str, seed: int = 0, block: tuple[int, int, int, int] | None = None
) -> Experiment:
    """Return the experiment with a table, or its block (row, column, rows, columns), filled.

    ``kind`` is zeros, identity, normal (0, 1), uniform (−1, 1) or xavier (U(±√(6 / (rows + columns))), Glorot 2010).
    The random ones are what ``torch.manual_seed(seed)`` and ``torch.randn`` or ``torch.rand`` give in float32.

    Raises:
        ExperimentError: an unknown kind, or a block outside the table.
    """
    if kind not in FILLS:
        raise ExperimentError(f"A table cannot be filled with {kind!r}; there are {', '.join(FILLS)}.")
    whole = shape(e, name)
    row, column, rows, cols = block or (0, 0, *whole)
    if kind in ("zeros", "identity"):
        return set_block(e, name, row, column, identity(e, rows, cols) if kind == "identity" else zeros(e, rows, cols))
    g = torch.Generator(device="cpu").manual_seed(seed)
    draw = torch.randn if kind == "normal" else torch.rand
    drawn = draw(rows, cols, generator=g, dtype=torch.float32, device="cpu")
    if kind != "normal":
        drawn = (drawn * 2 - 1) * (1 if kind == "uniform" else (6 / sum(whole)) ** 0.5)
    return set_block(e, name, row, column, drawn)


def scale(e: Experiment, name: str, factor: float) -> Experiment:
    """Return the experiment with a table multiplied by a number.

    Raises:
        ExperimentError: a product that is too large for the table's dtype, or a factor that is not finite.
    """
    if not np.isfinite(factor):
        raise ExperimentError(f"{name} cannot be multiplied by {factor}; the factor needs to be a finite number.")
    old = table(e, name)
    return with_table(e, name, _fitted(name, old.double() * factor, old.dtype))


def transpose(e: Experiment, name: str) -> Experiment:
    """Return the experiment with a square table transposed.

    Raises:
        ExperimentError: the table is not square.
    """
    rows, cols = shape(e, name)
    if rows != cols:
        raise ExperimentError(f"{name} is {rows} × {cols}; only a square table can be transposed in its place.")
    return with_table(e, name, table(e, name).T)


def rounded(e: Experiment, name: str, decimals: int) -> Experiment:
    """Return the experiment with a table rounded to so many decimals; numbers too large to have any stay."""
    old = table(e, name)
    numbers = torch.round(old.double(), decimals=decimals)
    return with_table(e, name, torch.where(torch.isfinite(numbers), numbers, old.double()).to(old.dtype))


def configured(e: Experiment, **changes: Any) -> Experiment:
    """Return the experiment with fields or options of its configuration changed; the same one if they are so already.

    The tables that an entry needs are made. A value None of ``masks`` {name: number} switches that mask off.
    """
    if "masks" in changes:
        masks = {**e.config.masks, **changes["masks"]}
        changes["masks"] = {name: number for name, number in masks.items() if number is not None}
    changes = {name: value for name, value in changes.items() if not _is(setting(e, name), value)}
    return assemble(e, config=replace(e.config, **changes)) if changes else e


def with_setting(e: Experiment, **changes: Any) -> Experiment:
    """Return the experiment with settings changed; another number of key heads changes W_k and W_v with it.

    Fewer key heads keep the first of each group; more are copies of the one that they shared, so that nothing changes.
    """
    heads = changes.pop("n_kv_heads", None)
    e = configured(e, **changes)
    if heads is None or heads == e.n_kv_heads:
        return e
    w = e.weights
    sizes = {"W_k": e.d_k, "W_v": e.d_v, "b_k": e.d_k, "b_v": e.d_v}
    tables = {name: table(e, name) for name in sizes if name[0] == "W" or getattr(w, name) is not None}
    grouped = {name: _regrouped(numbers, e.n_kv_heads, heads, sizes[name]) for name, numbers in tables.items()}
    given: dict[str, Any] = {name: numbers if name[0] == "W" else numbers[0] for name, numbers in grouped.items()}
    config = replace(e.config, n_kv_heads=None if heads == e.n_heads else heads)
    return assemble(e, weights=replace(w, **given), config=config)


def _regrouped(matrix: Tensor, before: int, after: int, size: int) -> Tensor:
    """Return a matrix [rows, before·size] for another number of heads: of each group the first, or copies of it."""
    heads = matrix.reshape(matrix.shape[0], before, size)
    picked = [i * before // after for i in range(after)]
    return heads[:, picked].flatten(1).contiguous()


def setting(e: Experiment, name: str) -> Any:
    """Return a field or an option of the configuration."""
    return getattr(e.config, name) if hasattr(e.config, name) else e.config.option(name)


def _is(old: Any, new: Any) -> bool:
    tensors = isinstance(old, Tensor) or isinstance(new, Tensor | np.ndarray)
    return old is new if tensors else type(old) is type(new) and bool(old == new)


def toggle_output(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with W_o, first the identity [h·d_v, d_model], or without it and its bias.

    Where the other projections have biases, so has it: zeros.
    """
    w = e.weights
    if on == (w.W_o is not None):
        return e
    if not on:
        return with_weights(e, W_o=None, b_o=None)
    bias = zeros(e, e.d_model) if w.b_o is None and has_biases(e) else _bias_resized(w.b_o, 1, e.d_model)
    return with_weights(e, W_o=identity(e, e.n_heads * e.d_v, e.d_model), b_o=bias)


def has_biases(e: Experiment) -> bool:
    """Return whether any projection has a bias."""
    return any(getattr(e.weights, name) is not None for name in BIASES)


def toggle_biases(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with a bias for each projection it has, zeros where there was none, or with no bias."""
    if not on:
        return with_weights(e, **dict.fromkeys(BIASES)) if has_biases(e) else e
    wanted = [name for name in BIASES if name != "b_o" or e.weights.W_o is not None]
    missing = [name for name in wanted if getattr(e.weights, name) is None]
    return with_weights(e, **{name: zeros(e, shape(e, name)[1]) for name in missing}) if missing else e


def resize(
    e: Experiment,
    *,
    d_model: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    d_memory: int | None = None,
) -> Experiment:
    """Return the experiment with other sizes; numbers that remain keep their values, new ones are 0.

    An identity stays one where its shape can still be implied: where nothing of it changes, and where d_model of a
    layer without any weights changes, whose heads then change with it. Elsewhere it becomes an explicit table.
    All sequences of a batch change alike; d_memory, the columns of a second sequence, is d_model without one.

    Raises:
        ExperimentError: a size below 1, or one that makes a table wider than MAX_COLUMNS.
    """
    w, h, h_kv = e.weights, e.n_heads, e.n_kv_heads
    for name, size, most in (
        ("d_model", d_model, MAX_COLUMNS),
        ("d_k", d_k, MAX_COLUMNS // h),
        ("d_v", d_v, MAX_COLUMNS // h),
        ("d_memory", d_memory, MAX_COLUMNS),
    ):
        if size is not None and not 1 <= size <= most:
            raise ExperimentError(f"{name} is {size}; it needs a whole number from 1 to {most}.")
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
            changes[name] = _heads_resized(grown(table(e, name), rows, shape(e, name)[1]), heads, size)
        changes[f"b_{letter}"] = _bias_resized(getattr(w, f"b_{letter}"), heads, size)
    changes |= _output_resized(e, model, v)
    others = [replace(other, **_columns_resized(other, model, memory)) for other in e.others]
    return assemble(e, **_columns_resized(e, model, memory), weights=replace(w, **changes), others=others)


def _columns_resized(s: Experiment | Sample, d_model: int, d_memory: int) -> dict[str, Any]:
    """Return the embeddings of a sequence with other numbers of columns, and those of its memory if it has one."""
    resized = {"embeddings": grown(s.embeddings, len(s.tokens), d_model)}
    if s.memory_embeddings is not None:
        resized["memory_embeddings"] = grown(s.memory_embeddings, len(s.memory_embeddings), d_memory)
    return resized


def _output_resized(e: Experiment, d_model: int, d_v: int) -> dict[str, Tensor | None]:
    """Return W_o and b_o for other sizes; an output as wide as the embeddings stays so."""
    w, h = e.weights, e.n_heads
    if w.W_o is None:
        return {"b_o": _bias_resized(w.b_o, h, d_v)}
    d_out = d_model if e.d_out == e.d_model else e.d_out
    rows = w.W_o if d_v == e.d_v else _heads_resized(w.W_o.T, h, d_v).T
    return {"W_o": grown(rows, h * d_v, d_out), "b_o": _bias_resized(w.b_o, 1, d_out)}


def grown(matrix: Tensor, rows: int, cols: int) -> Tensor:
    """Return a matrix cut or padded with zeros to [rows, cols]; the same one if it has that size."""
    if matrix.shape == (rows, cols):
        return matrix
    result = torch.zeros(rows, cols, dtype=matrix.dtype, device="cpu")
    kept = matrix[:rows, :cols]
    result[: kept.shape[0], : kept.shape[1]] = kept
    return result


def _bias_resized(bias: Tensor | None, heads: int, size: int) -> Tensor | None:
    """Return a bias [heads·d] with each head's part cut or padded to ``size``."""
    return bias if bias is None or len(bias) == heads * size else _heads_resized(bias[None], heads, size)[0]


def _heads_resized(matrix: Tensor, heads: int, size: int) -> Tensor:
    """Return a matrix [rows, heads·d] with each head's columns cut or padded to ``size``."""
    rows, cols = matrix.shape
    if cols == heads * size:
        return matrix
    blocks = matrix.reshape(rows, heads, cols // heads)
    result = torch.zeros(rows, heads, size, dtype=matrix.dtype, device="cpu")
    kept = min(size, cols // heads)
    result[..., :kept] = blocks[..., :kept]
    return result.flatten(1)


def fitting_heads(e: Experiment) -> tuple[int, ...]:
    """Return the head counts that the tables' columns allow; with grouped keys only the present one does."""
    if e.config.n_kv_heads is not None:
        return (e.n_heads,)
    width_q = columns(e.weights.W_q, e.d_model)
    width_v = columns(e.weights.W_v, e.memory.shape[1])
    return tuple(n for n in range(1, min(width_q, width_v) + 1) if width_q % n == 0 and width_v % n == 0)


def toggle_head(e: Experiment, head: int) -> Experiment:
    """Return the experiment with a head switched off, or on again."""
    return configured(e, ablated=tuple(sorted(set(e.config.ablated) ^ {head})))


def paint_mask(e: Experiment, query: int, key: int, allowed: bool) -> Experiment:
    """Return the experiment with one pair of its painted mask hidden or shown; a mask that hides nothing is none."""
    mask = e.config.mask
    if (mask is None and allowed) or (mask is not None and bool(mask[query, key]) == allowed):
        return e
    painted = torch.ones(e.T_q, e.T_k, dtype=torch.bool, device="cpu") if mask is None else mask.clone()
    painted[query, key] = allowed
    return configured(e, mask=None if bool(painted.all()) else own(painted))

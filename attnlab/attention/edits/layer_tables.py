"""The tables of a layer by name: embeddings, projections, biases, and those of registry entries; read and replaced."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.base.errors import ExperimentError

MATRICES = ("embeddings", "W_q", "W_k", "W_v", "W_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")


def shape(e: Experiment, name: str) -> tuple[int, int]:
    """Return the rows and columns of a table, also of one that is None; a bias is one row."""
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
    """Return a table's numbers [rows, columns]; a weight that is None is the identity, a bias that is None zeros.

    The tensor may be the experiment's own: do not write to it.
    """
    tensor: Tensor | None = _find_array(e, name)
    if tensor is not None:
        return tensor if tensor.ndim == 2 else tensor[None]
    rows, cols = shape(e, name)
    return zeros(e, 1, cols) if name.startswith("b_") else identity(e, rows, cols)


def _find_array(e: Experiment, name: str) -> Tensor | None:
    if name in ("embeddings", "memory_embeddings"):
        given: Tensor | None = getattr(e, name)
        return given
    return e.weights.extra[name] if name in e.weights.extra else getattr(e.weights, name)


def tables(e: Experiment) -> tuple[str, ...]:
    """Return the names of the tables that can be edited: embeddings, projections, biases, tables of entries."""
    given = [name for name in ("memory_embeddings", "W_o", *BIASES) if _find_array(e, name) is not None]
    memory = [name for name in given if name == "memory_embeddings"]
    rest = [name for name in given if name != "memory_embeddings"]
    return ("embeddings", *memory, "W_q", "W_k", "W_v", *rest, *registry.tables(e.config))


def array(e: Experiment, name: str) -> np.ndarray[Any, np.dtype[np.floating]]:
    """Return a table's numbers [rows, columns] in their dtype; bfloat16, which NumPy lacks, as float32."""
    numbers = table(e, name)
    return (numbers.float() if numbers.dtype == torch.bfloat16 else numbers).numpy()


def dtype(e: Experiment) -> torch.dtype:
    """Return the dtype of new numbers: that of the embeddings."""
    return e.embeddings.dtype


def zeros(e: Experiment, *size: int) -> Tensor:
    """Return zeros in the experiment's dtype."""
    return torch.zeros(*size, dtype=dtype(e), device="cpu")


def identity(e: Experiment, rows: int, cols: int) -> Tensor:
    """Return ones on the diagonal, in the experiment's dtype."""
    return torch.eye(rows, cols, dtype=dtype(e), device="cpu")


def with_table(e: Experiment, name: str, numbers: Any) -> Experiment:
    """Return the experiment with one table replaced: [1, n] for a bias, None for the identity or for no bias.

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

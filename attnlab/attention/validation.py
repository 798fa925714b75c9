"""Check the fields of an experiment: convert each to a plain value or raise an error that names the field."""

import math
import operator
import reprlib
from collections.abc import Mapping, Set
from numbers import Real
from typing import TYPE_CHECKING, Any

from torch import Tensor

from attnlab.base.counted import divisors, format_bounds, format_count
from attnlab.base.errors import ExperimentError

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

SCALES = ("sqrt_d_k", "none", "sqrt_d_model")
MOST_HEADS = 4096
"""The maximum number of heads: far more than any model has, and the window draws a map for each."""
MOST = 2**31 - 1
"""The maximum of a count."""


def columns(weight: Tensor | None, rows: int) -> int:
    """Return the number of columns of a weight [rows, columns]; None means the identity."""
    return rows if weight is None else weight.shape[1]


def take_count(name: str, value: Any, most: int = MOST) -> int:
    """Return a whole number from 1 to ``most`` as a plain int."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise ExperimentError(f"{name} is {reprlib.repr(value)}; it needs a whole number, 1 or more.")
    if count > most:
        raise ExperimentError(f"{name} is {reprlib.repr(value)}; it needs {format_bounds(1, most, 'a whole number')}.")
    return count


def take_scale(scale: Any) -> str | float:
    """Return the name of a scale, or a positive number as a plain float."""
    if isinstance(scale, str) and scale in SCALES:
        return scale
    try:
        number = math.nan if isinstance(scale, bool) or not isinstance(scale, Real) else float(scale)
        got = reprlib.repr(scale)
    except OverflowError:
        number, got = math.nan, "beyond 1.8e308"
    if not 0 < number < math.inf:
        raise ExperimentError(f"scale is {got}; it needs {', '.join(SCALES)} or a positive number to divide by.")
    return number


def take_name(field: str, name: Any, registry: Mapping[str, Any]) -> str:
    """Return a name that is in the registry."""
    if not isinstance(name, str) or name not in registry:
        raise ExperimentError(f"{field} is {reprlib.repr(name)}; it needs one of {', '.join(registry)}.")
    return name


def take_tokens(name: str, tokens: Any) -> tuple[str, ...]:
    """Return a sequence of strings as a tuple of plain ones."""
    if isinstance(tokens, str | Mapping | Set) or not hasattr(tokens, "__iter__"):
        raise ExperimentError(f"{name} is {reprlib.repr(tokens)}; it needs a sequence of strings, one per token.")
    try:
        taken = tuple(tokens)
    except TypeError:  # an array without axes
        taken = (tokens,)
    for i, token in enumerate(taken):
        if not isinstance(token, str):
            raise ExperimentError(f"{name}[{i}] is {reprlib.repr(token)}; every token needs to be a string.")
    if not taken:
        raise ExperimentError(f"{name} is empty; at least one token is needed.")
    return tuple(map(str, taken))


def match_tokens(name: str, tokens: tuple[str, ...], array_name: str, array: Tensor) -> None:
    """Check that an array has one row for each token."""
    if len(tokens) != array.shape[0]:
        raise ExperimentError(
            f"{array_name} has {array.shape[0]} rows; it needs {len(tokens)}, one for each of the {name}."
        )


def check_shapes(e: "Experiment") -> None:
    """Check the shapes of all weights and of the mask, in the order in which they are used."""
    w, h, h_kv = e.weights, e.n_heads, e.n_kv_heads
    source, d_memory = ("embeddings", e.d_model) if e.memory_tokens is None else ("memory_embeddings", len(e.memory[0]))
    _check_rows("W_q", w.W_q, e.d_model, "embeddings have")
    _check_heads("W_q", columns(w.W_q, e.d_model), "n_heads", h)
    for name in ("W_k", "W_v"):
        _check_rows(name, getattr(w, name), d_memory, f"{source} have")
    heads = "n_heads" if e.config.n_kv_heads is None else "n_kv_heads"
    got, need = columns(w.W_k, d_memory), h_kv * e.d_k
    if got != need:
        raise ExperimentError(
            f"W_k has {got} columns; it needs {need}: {format_count(h_kv, 'head')} of d_k = {e.d_k}, which is W_q’s "
            "columns ÷ n_heads."
        )
    _check_heads("W_v", columns(w.W_v, d_memory), heads, h_kv)
    _check_rows("W_o", w.W_o, h * e.d_v, "the concatenated heads have")
    sizes = {"b_q": h * e.d_k, "b_k": h_kv * e.d_k, "b_v": h_kv * e.d_v, "b_o": e.d_out}
    for name, need in sizes.items():
        bias = getattr(w, name)
        if bias is not None and len(bias) != need:
            raise ExperimentError(
                f"{name} has {len(bias)} numbers; it needs {need}, one for each column of W_{name[-1]}."
            )
    mask = e.config.mask
    if mask is not None and tuple(mask.shape) != (e.T_q, e.T_k):
        raise ExperimentError(f"mask has shape {list(mask.shape)}; it needs [{e.T_q}, {e.T_k}], queries by keys.")


def _check_rows(name: str, weight: Tensor | None, rows: int, because: str) -> None:
    if weight is not None and weight.shape[0] != rows:
        raise ExperimentError(
            f"{name} has shape {list(weight.shape)}; it needs {rows} rows because {because} {rows} columns."
        )


def _check_heads(name: str, n_columns: int, heads: str, count: int) -> None:
    if n_columns % count:
        fits = ", ".join(map(str, divisors(n_columns)))
        raise ExperimentError(f"{heads} is {count}; it needs to divide the {n_columns} columns of {name}: {fits}.")

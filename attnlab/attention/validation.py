"""What the fields of an experiment may be: each is taken as a plain value or refused by a sentence that names it."""

import math
import operator
import reprlib
from collections.abc import Mapping, Set
from numbers import Real
from typing import TYPE_CHECKING, Any

from torch import Tensor

from attnlab.attention import registry
from attnlab.attention.arrays import take
from attnlab.attention.axes import SIZES, size
from attnlab.attention.entries import Table
from attnlab.attention.frozen import Frozen
from attnlab.attention.masks import MASKS
from attnlab.errors import ExperimentError

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

SCALES = ("sqrt_d_k", "none", "sqrt_d_model")


def columns(weight: Tensor | None, rows: int) -> int:
    """Return the number of columns of a weight [rows, columns]; None is the identity."""
    return rows if weight is None else weight.shape[1]


def take_count(name: str, value: Any) -> int:
    """Return a whole number of 1 or more as a plain int."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise ExperimentError(f"{name} is {reprlib.repr(value)}; it needs a whole number, 1 or more.")
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
    """Return a name that the registry has."""
    if not isinstance(name, str) or name not in registry:
        raise ExperimentError(f"{field} is {reprlib.repr(name)}; it needs one of {', '.join(registry)}.")
    return name


def take_tokens(name: str, tokens: Any) -> tuple[str, ...]:
    """Return a sequence of strings as a tuple of plain ones."""
    if isinstance(tokens, str | Mapping | Set) or not hasattr(tokens, "__iter__"):
        raise ExperimentError(f"{name} is {reprlib.repr(tokens)}; it needs a sequence of strings, one a token.")
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
    """Check every weight and the mask against the rest, in the order in which they are used."""
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
            f"W_k has {got} columns; it needs {need}: {h_kv} heads of d_k = {e.d_k}, which is W_q's columns ÷ n_heads."
        )
    _check_heads("W_v", columns(w.W_v, d_memory), heads, h_kv)
    _check_rows("W_o", w.W_o, h * e.d_v, "the heads side by side have")
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
        fits = ", ".join(str(n) for n in range(1, n_columns + 1) if n_columns % n == 0)
        raise ExperimentError(f"{heads} is {count}; it needs to divide the {n_columns} columns of {name}: {fits}.")


def take_options(given: Any) -> Mapping[str, Any]:
    """Return options by name as plain values, without those at their default."""
    if not isinstance(given, Mapping):
        raise ExperimentError(f"options is {reprlib.repr(given)}; it needs names and values, {{'temperature': 2.0}}.")
    known, taken = registry.all_options(), {}
    for name, value in given.items():
        if name not in known:
            raise ExperimentError(f"There is no option {reprlib.repr(name)}; there are {', '.join(known)}.")
        plain = known[name].take(value)
        if plain != known[name].default:
            taken[name] = plain
    return Frozen(taken)


def take_masks(given: Any) -> Mapping[str, int]:
    """Return the masks besides the causal and the painted one, name to number, in the order of the registry."""
    if not isinstance(given, Mapping):
        raise ExperimentError(f"masks is {reprlib.repr(given)}; it needs names and numbers, {{'window': 3}}.")
    others = [name for name in MASKS if name != "causal"]
    for name in given:
        if name not in others:
            raise ExperimentError(f"masks has {reprlib.repr(name)}; it needs some of {', '.join(others)}.")
    taken = {}
    for name in (name for name in others if name in given):
        option = registry.mask_option(name)
        taken[name] = 1 if option is None else option.take(given[name])
    return Frozen(taken)


def take_ablated(given: Any) -> tuple[int, ...]:
    """Return the numbers of the heads that are switched off, each once, in order."""
    try:
        heads = sorted({operator.index(head) for head in given})
    except TypeError:
        raise ExperimentError(f"ablated is {reprlib.repr(given)}; it needs numbers of heads, such as (0, 2).") from None
    if heads and heads[0] < 0:
        raise ExperimentError(f"ablated has head {heads[0]}; heads count from 0.")
    return tuple(heads)


def take_extra(given: Any) -> Mapping[str, Tensor]:
    """Return tables of registry entries by name as owned tensors."""
    if not isinstance(given, Mapping):
        raise ExperimentError(f"extra is {reprlib.repr(given)}; it needs names and arrays, {{'W_a': [[...]]}}.")
    known = registry.all_tables()
    for name in given:
        if name not in known:
            raise ExperimentError(f"extra has {reprlib.repr(name)}; it needs some of {', '.join(known)}.")
    return Frozen({name: take(name, array, len(known[name].axes)) for name, array in given.items()})


def check_tables(e: "Experiment") -> None:
    """Check that the tables of the entries in use are there and of the right sizes."""
    free: dict[str, tuple[str, int]] = {}
    for entry in registry.chosen(e.config):
        for table in entry.tables:
            array = e.weights.extra.get(table.name)
            axes = ", ".join(table.axes)
            if array is None:
                raise ExperimentError(
                    f"{entry.name} needs {table.name} [{axes}], which is missing; give it in Weights(extra=...)."
                )
            for axis, got in zip(table.axes, array.shape, strict=True):
                because, need = _needed(e, table, axis, free.get(axis, ("", got)))
                if got != need and not (table.may_be_longer and got > need):
                    shape = list(array.shape)
                    raise ExperimentError(f"{table.name} has shape {shape}; [{axes}] needs {need} there, {because}.")
                free.setdefault(axis, (f"as {table.name} has", got))


def _needed(e: "Experiment", table: Table, axis: str, seen: tuple[str, int]) -> tuple[str, int]:
    """Return why an axis has the size it needs, and the size: an option's, the layer's, or as a table before had it."""
    option = dict(table.free).get(axis)
    if option is not None:
        return f"which is {option}", e.config.option(option)
    return seen if axis not in SIZES else (f"which is {axis}", size(e, axis))


def check_entries(e: "Experiment") -> None:
    """Check that the entries chosen go with the rest."""
    for entry in registry.chosen(e.config):
        problem = entry.check(e)
        if problem:
            raise ExperimentError(problem)


def check_ablated(e: "Experiment") -> None:
    """Check that the heads that are switched off exist."""
    if e.config.ablated and e.config.ablated[-1] >= e.n_heads:
        raise ExperimentError(f"ablated has head {e.config.ablated[-1]}; there are heads 0 to {e.n_heads - 1}.")


def check_others(e: "Experiment") -> None:
    """Check the other sequences of a batch against this one."""
    if not 0 <= e.item < e.n_items:
        raise ExperimentError(f"item is {e.item}; it needs a place from 0 to {e.n_items - 1} in the batch.")
    for place, other in enumerate(e.others):
        sizes = (len(other.tokens), other.embeddings.shape[1])
        if sizes != (e.T_q, e.d_model):
            raise ExperimentError(
                f"others[{place}] is {sizes[0]} tokens by {sizes[1]} numbers; it needs {e.T_q} by {e.d_model}, "
                "as every sequence of a batch."
            )
        if (other.memory_tokens is None) != (e.memory_tokens is None):
            raise ExperimentError(f"others[{place}] and this sequence need a memory both, or neither.")
        memory = other.embeddings if other.memory_embeddings is None else other.memory_embeddings
        if memory.shape != e.memory.shape:
            raise ExperimentError(
                f"others[{place}] has a memory of shape {list(memory.shape)}; it needs {list(e.memory.shape)}."
            )

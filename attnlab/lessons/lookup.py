"""The names in a lesson's expressions: stages, tables, sizes, settings and tokens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnlab.attention import edits
from attnlab.attention.axes import TOKENS, labels
from attnlab.attention.registries import registry
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.counted import format_bounds, format_has
from attnlab.base.errors import AttnlabError
from attnlab.base.near_names import find_near
from attnlab.lessons.cell_references import find_position

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

ALIASES = {"X": "embeddings", "M": "memory_embeddings"}


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """An array of numbers, with their names if they run along tokens."""

    values: NDArray[np.floating]
    names: tuple[str, ...] | None = None


Value: TypeAlias = int | float | str | Numbers

SIZES: Mapping[str, Callable[["Experiment"], int]] = {
    "T": lambda e: e.T_q,
    "T_q": lambda e: e.T_q,
    "T_k": lambda e: e.T_k,
    "d_model": lambda e: e.d_model,
    "d_memory": lambda e: int(e.memory.shape[1]),
    "d_k": lambda e: e.d_k,
    "d_v": lambda e: e.d_v,
    "d_out": lambda e: e.d_out,
    "d_ff": lambda e: e.d_ff,
    "n_layers": lambda e: e.n_layers,
    "n_heads": lambda e: e.n_heads,
    "n_kv_heads": lambda e: e.n_kv_heads,
}


def look_up_number(name: str, trace: "Trace") -> int | float:
    """Return a size, or a number of the configuration, such as temperature or window."""
    e = trace.experiment
    if name in SIZES:
        return SIZES[name](e)
    if name in e.config.masks:
        return e.config.masks[name]
    option = e.config.option(name) if name in registry.all_options() else None
    if isinstance(option, int | float) and not isinstance(option, bool):
        return option
    if name in BY_NAME or ALIASES.get(name, name) in edits.tables(e):
        raise AttnlabError(f"{name} has many numbers; {name}[0, 1] is one of them.")
    raise AttnlabError(_describe_unknown(name, trace))


def _describe_unknown(name: str, trace: "Trace") -> str:
    known = (*trace.all_stages, *edits.tables(trace.experiment), "X", "tokens", "key_tokens", "before", *SIZES)
    near = find_near(name, known)
    return f"there is no {name!r} here; " + (f"did you mean {near}?" if near else f"there are {', '.join(known)}.")


def look_up(name: str, indices: list[int | str | None], trace: "Trace", head: int | str) -> Value:
    """Return the value of a name with indices: a number, a row, a column, the whole array, or a token.

    Raises:
        AttnlabError: the name or the index does not exist; the sentence says which exist.
    """
    e = trace.experiment
    if name in ("tokens", "key_tokens"):
        names = e.tokens if name == "tokens" else e.key_tokens
        if len(indices) != 1 or indices[0] is None:
            raise AttnlabError(f"{name} needs one number, such as {name}[0].")
        return names[find_position(e, "query" if name == "tokens" else "key", indices[0], "the token")]
    if name in BY_NAME:
        return _look_up_stage(name, indices, trace, head)
    table = ALIASES.get(name, name)
    if table in edits.tables(e):
        return _look_up_table(table, indices, e)
    raise AttnlabError(_describe_unknown(name, trace))


def _look_up_stage(name: str, indices: list[int | str | None], trace: "Trace", head: int | str) -> Value:
    e = trace.experiment
    if name not in trace:
        raise AttnlabError(f"this state has no {name}; there are {', '.join(trace.all_stages)}.")
    stage = trace.stage(name)
    if len(indices) == 3 and stage.has_heads:
        first = indices.pop(0)
        if not isinstance(first, int) and first != "mean":
            raise AttnlabError(f"the head of {name} needs a number from 0.")
        head = first
    if len(indices) != 2:
        more = f", or {name}[0, 2, 1] with a head" if stage.has_heads else ""
        raise AttnlabError(f"{name} needs a row and a column, {name}[2, 1]{more}.")
    if stage.has_heads and isinstance(head, int) and head >= e.n_heads:
        raise AttnlabError(f"there is no head {head}; this state {format_has('head', 0, e.n_heads - 1)}.")
    array = trace.mean(name) if stage.has_heads and head == "mean" else trace.array(name)
    if array.ndim == 3:
        array = array[head if isinstance(head, int) else 0]
    return _pick(array, indices, stage.axes[-2:], e, name)


def _look_up_table(name: str, indices: list[int | str | None], e: "Experiment") -> Value:
    array = edits.array(e, name)
    if len(indices) == 1 and len(array) == 1:
        indices = [0, *indices]
    if len(indices) != 2:
        raise AttnlabError(f"{name} needs a row and a column, {name}[0, 1].")
    axes = {"embeddings": ("token", ""), "memory_embeddings": ("key", "")}.get(name, ("", ""))
    return _pick(array, indices, axes, e, name)


def _pick(
    array: NDArray[np.floating], indices: list[int | str | None], axes: tuple[str, ...], e: "Experiment", name: str
) -> int | float | Numbers:
    """Return a cell, a row, a column or the whole of a table [rows, columns]."""
    at = [
        None if index is None else _find_index(e, axis, index, count, f"the {what} of {name}")
        for index, axis, count, what in zip(indices, axes, array.shape, ("row", "column"), strict=True)
    ]
    row, column = at
    if row is not None and column is not None:
        return float(array[row, column])
    picked = array[slice(None) if row is None else row, slice(None) if column is None else column]
    along = axes[0] if row is None else axes[1]
    return Numbers(picked, labels(e, along, len(picked)) if along in TOKENS and picked.ndim == 1 else None)


def _find_index(e: "Experiment", axis: str, index: int | str, count: int, what: str) -> int:
    if axis in TOKENS:
        return find_position(e, axis, index, what)
    if not isinstance(index, int) or index >= count:
        raise AttnlabError(f"{what} is {index}; it needs {format_bounds(0, count - 1)}.")
    return index

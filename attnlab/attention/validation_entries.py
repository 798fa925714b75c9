"""Check the options, masks, tables and batch of an experiment, each alone and against the other fields."""

import operator
import reprlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from torch import Tensor

from attnlab.attention.arrays import take
from attnlab.attention.axes import SIZES, size
from attnlab.attention.frozen import NOTHING, Frozen
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Table
from attnlab.attention.registries.masks import MASKS
from attnlab.base.counted import format_bounds, format_has
from attnlab.base.errors import ExperimentError

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

T = TypeVar("T")


def take_options(given: Any, more: Mapping[str, Any] = NOTHING) -> Mapping[str, Any]:
    """Return options by name as plain values, without defaults; ``more`` takes precedence over ``given``."""
    if not isinstance(given, Mapping):
        raise ExperimentError(f"options is {reprlib.repr(given)}; it needs names and values, {{'temperature': 2.0}}.")
    if not given and not more:
        return NOTHING
    known, taken = registry.all_options(), {}
    for name, value in {**given, **more}.items():
        if name not in known:
            raise ExperimentError(f"There is no option {reprlib.repr(name)}; there are {', '.join(known)}.")
        plain = known[name].take(value)
        if plain != known[name].default:
            taken[name] = plain
    return Frozen(taken)


def take_masks(given: Any) -> Mapping[str, int]:
    """Return the masks other than the causal and the painted one, name to number, in the order of the registry."""
    if not isinstance(given, Mapping):
        raise ExperimentError(f"masks is {reprlib.repr(given)}; it needs names and numbers, {{'window': 3}}.")
    if not given:
        return NOTHING
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
    """Return the indices of the heads that are switched off, sorted and without duplicates."""
    heads = _whole_numbers(given.tolist() if isinstance(given, np.ndarray | Tensor) else given)
    if heads is None:
        raise ExperimentError(f"ablated is {reprlib.repr(given)}; it needs numbers of heads, such as (0, 2).")
    if heads and heads[0] < 0:
        raise ExperimentError(f"ablated has head {reprlib.repr(heads[0])}; heads count from 0.")
    return heads


def _whole_numbers(given: Any) -> tuple[int, ...] | None:
    """Return sorted whole numbers without duplicates; None for anything else, including booleans."""
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        return None
    items = tuple(given)
    try:
        return None if any(isinstance(item, bool) for item in items) else tuple(sorted(set(map(operator.index, items))))
    except TypeError:
        return None


def take_extra(given: Any) -> Mapping[str, Tensor]:
    """Return tables of registry entries by name as owned tensors."""
    if not isinstance(given, Mapping):
        raise ExperimentError(f"extra is {reprlib.repr(given)}; it needs names and arrays, {{'W_a': [[...]]}}.")
    if not given:
        return NOTHING
    known = registry.all_tables()
    for name in given:
        if name not in known:
            raise ExperimentError(f"extra has {reprlib.repr(name)}; it needs some of {', '.join(known)}.")
    return Frozen({name: take(name, array, len(known[name].axes)) for name, array in given.items()})


def check_tables(e: "Experiment") -> None:
    """Check that the tables of the entries in use exist and have the right sizes."""
    free: dict[str, tuple[str, int]] = {}
    for entry in registry.list_entries(e.config):
        for table in entry.tables:
            array = e.weights.extra.get(table.name)
            axes = ", ".join(table.axes)
            if array is None:
                known = ", ".join(f"{axis} = {size(e, axis)}" for axis in dict.fromkeys(table.axes) if axis in SIZES)
                raise ExperimentError(
                    f"{entry.name} needs {table.name} [{axes}]{f' with {known}' if known else ''}, which is missing; "
                    f"Weights(extra={{{table.name!r}: ...}}) would give it."
                )
            for axis, got in zip(table.axes, array.shape, strict=True):
                because, need = _find_needed_size(e, table, axis, free.get(axis, ("", got)))
                longer = table.may_be_longer and axis == table.axes[0] and got > need
                if got != need and not longer:
                    shape = list(array.shape)
                    raise ExperimentError(
                        f"{table.name} has shape {shape}; it needs [{axes}] with {axis} = {need}{because}."
                    )
                free.setdefault(axis, (f", as {table.name} has", got))


def _find_needed_size(e: "Experiment", table: Table, axis: str, seen: tuple[str, int]) -> tuple[str, int]:
    """Return the reason as text, and the size that an axis needs: an option's, the layer's or an earlier table's."""
    option = dict(table.free).get(axis)
    if option is not None:
        return f", which is {option}", e.config.option(option)
    return seen if axis not in SIZES else ("", size(e, axis))


def check_entries(e: "Experiment") -> None:
    """Check that the chosen entries are compatible with the other fields."""
    for entry in registry.list_entries(e.config):
        problem = entry.check(e)
        if problem:
            raise ExperimentError(problem)


def check_ablated(e: "Experiment") -> None:
    """Check that the heads that are switched off exist."""
    if e.config.ablated and e.config.ablated[-1] >= e.n_heads:
        head = reprlib.repr(e.config.ablated[-1])
        raise ExperimentError(f"ablated has head {head}; the layer {format_has('head', 0, e.n_heads - 1)}.")


def take_item(item: Any, n_items: int) -> int:
    """Return the index of the present sequence in its batch as a plain int."""
    try:
        place = -1 if isinstance(item, bool) else operator.index(item)
    except TypeError:
        place = -1
    if not 0 <= place < n_items:
        needs = "0, as there are no others" if n_items == 1 else f"a place from 0 to {n_items - 1} in the batch"
        raise ExperimentError(f"item is {reprlib.repr(item)}; it needs {needs}.")
    return place


def take_others(others: Any, kind: type[T]) -> tuple[T, ...]:
    """Return the other sequences of a batch, all of type ``kind``."""
    if not isinstance(others, Iterable):
        raise ExperimentError(f"others is {reprlib.repr(others)}; it needs a sequence of attnlab.Sample.")
    taken = tuple(others)
    for place, other in enumerate(taken):
        if not isinstance(other, kind):
            raise ExperimentError(f"others[{place}] is {type(other).__name__}; it needs attnlab.Sample.")
    return taken


def check_others(e: "Experiment") -> None:
    """Check the other sequences of a batch against this one."""
    for place, other in enumerate(e.others):
        sizes = (len(other.tokens), other.embeddings.shape[1])
        if sizes != (e.T_q, e.d_model):
            raise ExperimentError(
                f"others[{place}] is {sizes[0]} tokens by {sizes[1]} numbers; it needs {e.T_q} by {e.d_model}, "
                "as every sequence of a batch."
            )
        if (other.memory_tokens is None) != (e.memory_tokens is None):
            raise ExperimentError(f"others[{place}] and this sequence both need a memory, or neither.")
        memory = other.embeddings if other.memory_embeddings is None else other.memory_embeddings
        if memory.shape != e.memory.shape:
            raise ExperimentError(
                f"others[{place}] has a memory of shape {list(memory.shape)}; it needs {list(e.memory.shape)}, "
                "as every sequence of a batch."
            )
        if other.length is not None and other.length > e.T_k:
            needs = format_bounds(1, e.T_k, "a whole number")
            raise ExperimentError(
                f"others[{place}] has length {other.length}; it needs {needs}, the number of its keys."
            )

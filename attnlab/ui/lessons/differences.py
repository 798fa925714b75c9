"""The differences between two experiments as edits of a lesson file, and the test whether they are the same."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from attnlab.attention import edits
from attnlab.attention.edits.stack_edits import Layer
from attnlab.attention.experiment import PROJECTIONS, AttentionConfig, Experiment
from attnlab.attention.registries.registry import CHOICES
from attnlab.lessons.lesson import Edit

MOST_CELLS = 6
"""From this number of cells, a whole table is easier to read than a line for each cell."""
MOST_NUMBERS = 64
"""The largest table, in numbers, that is written into a lesson."""

Numbers = np.ndarray[Any, np.dtype[np.floating]]
Found = tuple[Edit, ...] | None
"""The edits from one experiment to another; None if a lesson cannot express them."""


def is_same(a: Experiment, b: Experiment) -> bool:
    """Return whether two experiments are bitwise the same: tokens, tables, configuration and batch."""
    if a is b:
        return True
    if (a.tokens, a.memory_tokens, a.item) != (b.tokens, b.memory_tokens, b.item):
        return False
    if edits.tables(a) != edits.tables(b) or len(a.others) != len(b.others):
        return False
    if any(not _is_equal(getattr(a.weights, name), getattr(b.weights, name)) for name in ("W_q", "W_k", "W_v", "W_o")):
        return False
    if any(not _is_equal(edits.table(a, name), edits.table(b, name)) for name in edits.tables(a)):
        return False
    if (a.layer, len(a.other_layers)) != (b.layer, len(b.other_layers)) or not _has_same_layers(a, b):
        return False
    return _has_same_config(a.config, b.config) and all(
        (one.tokens, one.memory_tokens, one.length) == (two.tokens, two.memory_tokens, two.length)
        and _is_equal(one.embeddings, two.embeddings)
        and _is_equal(one.memory_embeddings, two.memory_embeddings)
        for one, two in zip(a.others, b.others, strict=True)
    )


def _has_same_layers(a: Experiment, b: Experiment) -> bool:
    """Return whether the other layers of two stacks are the same."""
    pairs = zip(a.other_layers, b.other_layers, strict=True)
    return all(one is two or _is_same_layer(one, two) for one, two in pairs)


def _is_same_layer(one: Layer, two: Layer) -> bool:
    (weights, config), (other_weights, other_config) = one, two
    tables = set(weights.extra) == set(other_weights.extra) and all(
        _is_equal(weights.extra[name], other_weights.extra[name]) for name in weights.extra
    )
    same = all(_is_equal(getattr(weights, name), getattr(other_weights, name)) for name in PROJECTIONS)
    return tables and same and _has_same_config(config, other_config)


def _is_equal(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and torch.equal(a, b)


def _has_same_config(a: AttentionConfig, b: AttentionConfig) -> bool:
    names = [field.name for field in fields(AttentionConfig) if field.name != "mask"]
    return _is_equal(a.mask, b.mask) and all(getattr(a, name) == getattr(b, name) for name in names)


def find_layer_edits(a: Experiment, b: Experiment) -> Found:
    """Return the choice of the layer of a stack."""
    if len(a.other_layers) != len(b.other_layers):
        return None
    return (Edit("layer", b.layer + 1),) if a.layer != b.layer else ()


def find_token_edits(a: Experiment, b: Experiment) -> Found:
    """Return the edits of the words."""
    if a.others or b.others:
        return () if (a.tokens, a.memory_tokens) == (b.tokens, b.memory_tokens) else None
    found = []
    if a.tokens != b.tokens:
        found.append(Edit("tokens", list(b.tokens)))
    if a.memory_tokens != b.memory_tokens:
        if b.memory_tokens is not None and b.memory_tokens != tuple(" ".join(b.memory_tokens).split()):
            return None
        found.append(Edit("memory", "none" if b.memory_tokens is None else " ".join(b.memory_tokens)))
    return tuple(found)


def find_config_edits(a: Experiment, b: Experiment) -> Found:
    """Return the edits of sizes, switches and choices."""
    if not _is_equal(a.config.mask, b.config.mask) and b.config.mask is not None:
        return None  # painted by mouse
    found = [Edit("output", b.weights.W_o is not None)] if (a.weights.W_o is None) != (b.weights.W_o is None) else []
    if edits.has_biases(a) != edits.has_biases(b):
        found.append(Edit("biases", edits.has_biases(b)))
    names = ("n_heads", "n_kv_heads", "d_k", "d_v")
    found += [Edit(name, getattr(b, name)) for name in names if getattr(a, name) != getattr(b, name)]
    for name in ("causal", "scale", *(choice.field for choice in CHOICES)):
        if getattr(a.config, name) != getattr(b.config, name):
            found.append(Edit(name, getattr(b.config, name)))
    if a.config.ablated != b.config.ablated:
        found.append(Edit("ablate", list(b.config.ablated)))
    for given, wanted in ((a.config.masks, b.config.masks), (a.config.options, b.config.options)):
        for name in {**given, **wanted}:
            if name not in wanted:
                return None  # a default that a lesson cannot name
            if given.get(name) != wanted[name]:
                found.append(Edit(name, wanted[name]))
    return tuple(found)


def find_table_edits(a: Experiment, b: Experiment) -> Found:
    """Return the edits of numbers: single cells if few differ, else the whole table."""
    found: list[Edit] = []
    for name in edits.tables(b):
        if name not in edits.tables(a) or edits.shape(a, name) != edits.shape(b, name):
            if b.others or edits.table(b, name).numel() > MOST_NUMBERS:
                return None
            found.append(Edit(name, _list_numbers(edits.array(b, name))))
            continue
        cells = list(_find_changed_cells(edits.array(a, name), edits.array(b, name)))
        if len(cells) <= MOST_CELLS:
            found += [Edit(f"{name}[{row}, {column}]", value) for row, column, value in cells]
        elif edits.table(b, name).numel() <= MOST_NUMBERS:
            found.append(Edit(name, _list_numbers(edits.array(b, name))))
        else:
            return None
    return tuple(found)


def _find_changed_cells(a: Numbers, b: Numbers) -> Iterator[tuple[int, int, float]]:
    for row, column in np.argwhere(a != b):
        yield int(row), int(column), _shorten(b[row, column])


def _list_numbers(numbers: Numbers) -> list[list[float]]:
    return [[_shorten(value) for value in row] for row in numbers]


def _shorten(value: "np.floating[Any]") -> float:
    """Return the number with the fewest digits that equals this one in its precision."""
    return float(str(value))

"""All registries in one place: the switches a layer has, and the options and tables of the entries that are chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from attnlab.attention.axes import SIZES
from attnlab.attention.layer import LayerConfig
from attnlab.attention.registries.entries import Entry, Option, Table
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.masks import MASKS
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES


@dataclass(frozen=True, slots=True)
class Choice:
    """One switch: the field of AttentionConfig, what it is called, and the entries to choose among.

    ``within`` names the switch that it is a part of, "" for one of its own.
    """

    field: str
    title: str
    about: str
    entries: Mapping[str, Entry]
    within: str = ""


CHOICES = (
    Choice("score", "Score", "Score function: how well a query fits a key", SCORES),
    Choice("normalizer", "Weights", "From scores to weights", NORMALIZERS),
    Choice("positions", "Positions", "How tokens know where they stand", POSITIONS),
    Choice("qk_norm", "QK norm", "Queries and keys made of like size before they meet", NORMS, "heads"),
)


def chosen(config: LayerConfig) -> tuple[Entry, ...]:
    """Return the entries that a configuration uses: one of each switch, and the features that are on."""
    entries = [choice.entries[getattr(config, choice.field)] for choice in CHOICES]
    return (*entries, *(feature for feature in FEATURES.values() if feature.on(config)))


def tables(config: LayerConfig) -> dict[str, Table]:
    """Return the tables that a configuration needs besides the projections, by name."""
    return {table.name: table for entry in chosen(config) for table in entry.tables}


def all_tables() -> dict[str, Table]:
    """Return every table that any entry has, by name."""
    return {table.name: table for entry in _all() for table in entry.tables}


def free_axes() -> tuple[str, ...]:
    """Return the axes of any entry's tables that neither the layer nor an option gives a size."""
    found = [axis for table in all_tables().values() for axis in table.axes if axis not in dict(table.free)]
    return tuple(dict.fromkeys(axis for axis in found if axis not in SIZES))


def all_options() -> dict[str, Option]:
    """Return every option that any entry or feature has, by name; the numbers of masks are not among them."""
    return {option.name: option for entry in _all() for option in entry.options}


def mask_option(name: str) -> Option | None:
    """Return the option that holds a mask's number; None for a mask without."""
    return MASKS[name].options[0] if MASKS[name].options else None


@lru_cache(maxsize=64)
def default(name: str) -> Any:
    """Return the default of an option; KeyError for one that nothing has."""
    return all_options()[name].default


def _all() -> "chain[Entry]":
    return chain(*(choice.entries.values() for choice in CHOICES), FEATURES.values())

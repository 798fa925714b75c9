"""All registries together: the choices of a layer, and the options and tables of the chosen entries."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from attnlab.attention.axes import SIZES
from attnlab.attention.layer import LayerConfig
from attnlab.attention.registries.blocks import BLOCK_NORMS, BLOCKS, FEED_FORWARDS
from attnlab.attention.registries.entries import Entry, Option, Table
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.masks import MASKS
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: the field of AttentionConfig, its title, and the entries to choose from.

    ``within`` names the switch in the window that contains it, "" for a separate one. A choice ``under`` another one
    has an effect only if that is not its first entry.
    """

    field: str
    title: str
    about: str
    entries: Mapping[str, Entry]
    within: str = ""
    under: str = ""

    def is_on(self, config: LayerConfig) -> bool:
        """Return whether the choice has an effect in a configuration."""
        return not self.under or getattr(config, self.under) != next(iter(_BY_FIELD[self.under].entries))


CHOICES = (
    Choice("score", "Score", "Score function: how well a query matches a key", SCORES),
    Choice("normalizer", "Weights", "From scores to weights", NORMALIZERS),
    Choice("positions", "Positions", "How tokens know their position", POSITIONS),
    Choice("qk_norm", "QK norm", "Normalises queries and keys before the scores", NORMS, "heads"),
    Choice("block", "Block", "Attention alone, or a whole block with residuals, norms and a feed-forward", BLOCKS),
    Choice("block_norm", "Norm", "How the rows of the residual stream are normalised", BLOCK_NORMS, "block", "block"),
    Choice(
        "feed_forward", "Feed-forward", "What each token goes through after attention", FEED_FORWARDS, "block", "block"
    ),
)
_BY_FIELD = {choice.field: choice for choice in CHOICES}


_ENTRIES: "WeakKeyDictionary[LayerConfig, tuple[Entry, ...]]" = WeakKeyDictionary()


def list_entries(config: LayerConfig) -> tuple[Entry, ...]:
    """Return the entries that a configuration uses: one of each choice that has an effect, and the active features.

    They are cached by configuration, as every edit of a number asks for them.
    """
    found = _ENTRIES.get(config)
    if found is None:
        chosen = (choice.entries[getattr(config, choice.field)] for choice in CHOICES if choice.is_on(config))
        found = _ENTRIES[config] = (*chosen, *(feature for feature in FEATURES.values() if feature.on(config)))
    return found


_NAMED = re.compile(rf"\b({'|'.join(_BY_FIELD)}) '(\w+)'")


def name_as_shown(refusal: str) -> str:
    """Return a sentence of a ``check`` with entries and options named by their titles.

    “RoPE” is written for positions 'rope', and “Buckets” for t5_buckets. Options whose names are words stay.
    """

    def write(found: re.Match[str]) -> str:
        entry = _BY_FIELD[found[1]].entries.get(found[2])
        if entry is None:
            return found[0]
        return f"“{entry.title if found.start() else entry.title[:1].upper() + entry.title[1:]}”"

    titles = {name: option.title for name, option in all_options().items() if "_" in name}
    words = re.compile(rf"\b({'|'.join(titles)})\b")
    return words.sub(lambda found: f"“{titles[found[1]]}”", _NAMED.sub(write, refusal))


def tables(config: LayerConfig) -> dict[str, Table]:
    """Return the tables that a configuration needs besides the projections, by name."""
    return {table.name: table for entry in list_entries(config) for table in entry.tables}


def all_tables() -> dict[str, Table]:
    """Return the tables of all entries by name."""
    return {table.name: table for entry in _all() for table in entry.tables}


def free_axes() -> tuple[str, ...]:
    """Return the axes of all tables whose size neither the layer nor an option determines."""
    found = [axis for table in all_tables().values() for axis in table.axes if axis not in dict(table.free)]
    return tuple(dict.fromkeys(axis for axis in found if axis not in SIZES))


def all_options() -> dict[str, Option]:
    """Return the options of all entries and features by name, without the numbers of masks."""
    return {option.name: option for entry in _all() for option in entry.options}


def mask_option(name: str) -> Option | None:
    """Return the option for a mask's number; None for a mask without one."""
    return MASKS[name].options[0] if MASKS[name].options else None


@lru_cache(maxsize=64)
def default(name: str) -> Any:
    """Return the default of an option; KeyError for an unknown one."""
    return all_options()[name].default


def _all() -> "chain[Entry]":
    return chain(*(choice.entries.values() for choice in CHOICES), FEATURES.values())

"""Experiments of every kind: each registry entry in use, within a sequence and across two."""

from collections.abc import Iterator
from typing import Any

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries import registry
from attnlab.attention.registries.features import FEATURES
from attnlab.attention.registries.masks import MASKS
from attnlab.base.errors import ExperimentError

BASES = ("multi-head-8", "the-cat-sat", "random-4x8")
ON: dict[str, dict[str, Any]] = {
    "fill": {"causal": True, "fill": "-1e9"},
    "dropout": {"dropout": 0.5, "dropout_seed": 3},
    "sink": {"sink": True},
    "soft_cap": {"soft_cap": 1.5},
    "loss": {"loss": "weight", "loss_wanted": 0.7},
    "wanted_output": {"loss": "output"},
    "read_out": {"loss": "class", "loss_class": 1},
}


def entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every entry of every registry with the changes that use it."""
    for choice in registry.CHOICES:
        yield from ((f"{choice.field} {name}", {choice.field: name}) for name in choice.entries)
    for name in MASKS:
        option = registry.mask_option(name)
        on = (
            {"causal": True}
            if name == "causal"
            else {"masks": {name: 2 if option is None else int(max(option.least, 2))}}
        )
        yield f"mask {name}", on
    yield from ((f"feature {name}", ON[name]) for name in FEATURES)
    for name, option in registry.all_options().items():
        if option.kind == "choice":
            yield from ((f"{name} {value}", {name: value, "causal": True}) for value, _, _ in option.choices)


def made(changes: dict[str, Any], bases: tuple[str, ...] = BASES) -> Experiment:
    """Return the first preset that goes with the changes.

    Raises:
        LookupError: none does.
    """
    for base in bases:
        try:
            return configure(attnlab.preset(base), **changes)
        except ExperimentError:
            continue
    raise LookupError(f"no preset goes with {changes}")


KINDS = {name: made(changes) for name, changes in entries()}


def across(bases: tuple[str, ...]) -> dict[str, Experiment]:
    """Return each entry that is compatible with one of these presets."""
    found = {}
    for name, changes in entries():
        try:
            found[f"{name} in {bases[0]}"] = made(changes, bases)
        except LookupError:
            continue
    return found

"""Build experiments with the tables that their registry entries need: create missing ones, resize the others."""

import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.axes import SIZES, size
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.frozen import NOTHING
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Entry, Table
from attnlab.attention.registries.position_functions import find_frequencies


def assemble(e: Experiment, free: Mapping[str, int] = NOTHING, **changes: Any) -> Experiment:
    """Return the experiment with fields changed, as ``dataclasses.replace`` does, and with the tables that it needs.

    An existing table keeps the numbers that fit; new cells are filled as the entry specifies. ``free`` gives the sizes
    of axes that are not the layer's, {"hidden": 64}.

    Raises:
        ExperimentError: the fields disagree.
    """
    config = changes.get("config", e.config)
    if not registry.tables(config):
        return replace(e, **changes)
    bare = replace(e, **{**changes, "config": _remove_tables(config)})
    made = _make_tables(bare, config, free)
    if all(bare.weights.extra.get(name) is table for name, table in made.items()):
        return replace(bare, config=config)  # its weights stay the same object, as no table is new
    extra = {**bare.weights.extra, **made}
    return replace(bare, config=config, weights=replace(bare.weights, extra=extra))


def _remove_tables(config: AttentionConfig) -> AttentionConfig:
    """Return the configuration with features off and with the first entry of each registry, which never has tables."""
    plain: dict[str, Any] = {choice.field: next(iter(choice.entries)) for choice in registry.CHOICES}
    needing = {option.name for entry in registry.list_entries(config) if entry.tables for option in entry.options}
    options = {name: value for name, value in config.options.items() if name not in needing}
    return replace(config, **plain, options=options)


def _make_tables(e: Experiment, config: AttentionConfig, given: Mapping[str, int]) -> dict[str, Tensor]:
    made: dict[str, Tensor] = {}
    for entry in registry.list_entries(config):
        free = {**_free_sizes(e, config, entry), **given}
        for table in entry.tables:
            sizes = [free[axis] if axis in free else size(e, axis) for axis in table.axes]
            made[table.name] = _fit_table(e, table, sizes)
    return made


def _free_sizes(e: Experiment, config: AttentionConfig, entry: Entry) -> dict[str, int]:
    """Return the sizes of the axes that are not the layer's: an option's value, the present size, or a usual one."""
    found: dict[str, int] = {}
    for table in entry.tables:
        known = e.weights.extra.get(table.name)
        for place, axis in enumerate(table.axes):
            if axis in SIZES:
                continue
            option = dict(table.free).get(axis)
            if option is not None:
                found[axis] = config.option(option)
            elif known is not None:
                found.setdefault(axis, known.shape[place])
    new = {"d_ff": 4 * e.d_model}  # as in most transformers
    return {
        axis: found.get(axis, new.get(axis, e.d_k))
        for table in entry.tables
        for axis in table.axes
        if axis not in SIZES
    }


def _fit_table(e: Experiment, table: Table, sizes: list[int]) -> Tensor:
    known = e.weights.extra.get(table.name)
    if known is not None and list(known.shape[1:]) == sizes[1:]:
        rows = known.shape[0]
        if rows == sizes[0] or (table.may_be_longer and rows > sizes[0]):
            return known
    given = e.embeddings.dtype
    dtype = torch.promote_types(given, torch.float32) if table.is_exact else given
    made = make_table(table, sizes, e.config.option("rope_base")).to(dtype)
    if known is not None:
        kept = tuple(slice(min(old, new)) for old, new in zip(known.shape, sizes, strict=True))
        made[kept] = known[kept].to(made.dtype)
    return own(made)


def make_table(table: Table, sizes: list[int], rope_base: float = 10000.0) -> Tensor:
    """Return a new table, float64; normal numbers are seeded by the table's name and divided by √(last size).

    Frequencies are those of RoPE with a base, so that scaled RoPE begins with what RoPE does.
    """
    match table.fill:
        case "identity":
            return torch.eye(*sizes, dtype=torch.float64, device="cpu")
        case "zeros" | "ones":
            return torch.full(sizes, float(table.fill == "ones"), dtype=torch.float64, device="cpu")
        case "frequencies":
            return find_frequencies(rope_base, sizes[0])
    g = torch.Generator(device="cpu").manual_seed(zlib.crc32(table.name.encode()))
    drawn: Tensor = torch.randn(sizes, generator=g, dtype=torch.float64, device="cpu") / sizes[-1] ** 0.5
    return drawn


def free_sizes(e: Experiment) -> dict[str, int]:
    """Return the sizes of the axes that neither the layer nor an option determines: the hidden units of a score."""
    return {
        axis: e.weights.extra[table.name].shape[place]
        for table in registry.tables(e.config).values()
        for place, axis in enumerate(table.axes)
        if axis not in SIZES and axis not in dict(table.free)
    }

"""Makes what the cards draw from what was computed: the order of heads, colours, labels. Values only."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from attnlab.figures.map_data import MapData
from attnlab.figures.panels.figure_source import Sheet
from attnlab.figures.scales import Colouring, find_scale, find_sinks
from attnlab.ui.models.model_values import HeadChanges, LayerMaps, Overview
from attnlab.ui.widgets.maps.map_sheet import Lattice

if TYPE_CHECKING:
    from attnlab.pretrained.patterns import HeadPatterns

Place = tuple[int, int]
"""A layer and a head."""
LEAST_NUMBER = 0.05
"""Smaller weights, or smaller shares of the scale, are not written into cells: the eye goes to the others."""


def list_heads(found: Overview) -> list[Place]:
    """Return the heads layer by layer."""
    n_layers, n_heads = found.maps.shape[:2]
    return [(layer, head) for layer in range(n_layers) for head in range(n_heads)]


def order_by_changes(changes: HeadChanges) -> list[Place]:
    """Return the heads by how much the answer changes without each, the largest change first."""
    places = list_heads(changes.of)
    return [places[int(place)] for place in np.argsort(-changes.sizes, axis=None, kind="stable")]


def order_heads(found: Overview, rows: "Sequence[HeadPatterns]", sort: str) -> list[Place]:
    """Return the heads layer by layer, or by a score of ``rows``, the highest first."""
    places = list_heads(found)
    if sort == "layer" or len(rows) != len(places) or np.isnan(getattr(rows[0], sort)):
        return places
    scores = np.array([getattr(row, sort) for row in rows])
    return [places[int(place)] for place in np.argsort(-scores, kind="stable")]


def make_lattice(found: Overview, places: list[Place]) -> Lattice | None:
    """Return the names of lines and columns if the heads are layer by layer; None if they are sorted."""
    if places != sorted(places):
        return None
    n_layers, n_heads = found.maps.shape[:2]
    return Lattice(tuple(f"L{layer}" for layer in range(n_layers)), tuple(map(str, range(n_heads))))


def make_overview(found: Overview, places: list[Place], colouring: Colouring) -> MapData:
    """Return the maps of all heads, in an order, all on one scale."""
    maps = np.stack([found.maps[layer, head] for layer, head in places])
    masked = None if found.hidden is None else np.stack([found.hidden[layer] for layer, _ in places])
    everywhere = None if masked is None else np.logical_and.reduce(masked)
    reduced = maps.shape[1:] != (len(found.queries), len(found.keys))
    muted = () if reduced else find_muted(found, colouring)
    scale = find_scale(maps, "probability", everywhere, colouring, tight=True, muted=muted)
    titles = tuple(f"L{layer} H{head}" for layer, head in places)
    labels = found.queries, found.keys
    if reduced:
        labels = name_blocks(maps.shape[1], len(found.queries)), name_blocks(maps.shape[2], len(found.keys))
    return MapData(maps, "probability", scale, masked, *labels, titles, muted=muted, has_numbers=False)


def make_all_heads(found: Overview, colouring: Colouring) -> Sheet:
    """Return the maps of all heads for a figure, with one line for each layer."""
    data = make_overview(found, order_heads(found, (), "layer"), colouring)
    everywhere = None if data.masked is None else np.logical_and.reduce(data.masked)
    name = f"{found.part}: all heads" if len(found.facts.parts) > 1 else "all heads"
    return Sheet(
        name,
        name.capitalize(),
        data.values,
        data.row_labels,
        data.column_labels,
        everywhere,
        "probability",
        data.scale,
        titles=tuple(title.replace(" ", "·") for title in data.titles),  # of two words only the last is kept if narrow
        per_row=found.maps.shape[1],
    )


def make_head(layer: LayerMaps, head: int, values: str, colouring: Colouring) -> MapData:
    """Return the map of one head: its "weights", or what each key "moved"."""
    found, kind = layer.overview, "probability" if values == "weights" else "positive"
    maps = (layer.weights if values == "weights" else layer.moved)[head : head + 1]
    muted = find_muted(found, colouring)
    scale = find_scale(maps, kind, layer.hidden, colouring, tight=True, muted=muted)
    least = LEAST_NUMBER * (1.0 if values == "weights" else scale.limit)
    return MapData(maps, kind, scale, layer.hidden, found.queries, found.keys, muted=muted, least_number=least)


def find_muted(found: Overview, colouring: Colouring) -> tuple[int, ...]:
    """Return the columns that are drawn in grey: the first token and the special ones, unless there are no others."""
    if not colouring.mute_sinks:
        return ()
    sinks = tuple(sorted({*find_sinks(found.keys), *found.specials}))
    return sinks if len(sinks) < len(found.keys) else ()


def name_blocks(count: int, tokens: int) -> tuple[str, ...]:
    """Return names for blocks of tokens: "tokens 0 to 4"."""
    edges = np.linspace(0, tokens, count + 1).astype(int)
    return tuple(f"tokens {first} to {max(after - 1, first)}" for first, after in pairwise(edges))

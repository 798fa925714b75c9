"""The maps of arrays as the sheets of a figure: one sheet for each layer."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnlab.figures.array_maps import ArrayMaps, Floats
from attnlab.figures.panels.figure_source import Sheet, Sheets
from attnlab.figures.scales import find_scale, join_scales

Layer = int | str
"""A layer from 0, or "mean"."""
ONLY = "maps"
"""The name of the sheet of an array without an axis of layers."""


def make_array_sheets(maps: ArrayMaps, layers: Sequence[Layer] | None = None, *, shared: bool = False) -> Sheets:
    """Return a sheet for each of some layers, by default for all and, if there are several, for their mean.

    The colours of each layer have their own scale, or with ``shared`` all have one, so that layers can be compared.
    """
    n_layers = len(maps.values)
    if layers is None:
        layers = (*range(n_layers), "mean") if n_layers > 1 else (0,)
    what = name_maps(maps)
    sheets = [_make_sheet(maps, layer, what) for layer in layers]
    if shared:
        scale = join_scales([sheet.scale for sheet in sheets])
        sheets = [replace(sheet, scale=scale) for sheet in sheets]
    return Sheets(tuple(sheets), what if n_layers > 1 else "", "Layers", shared)


def name_maps(maps: ArrayMaps) -> str:
    """Return a title for all maps."""
    return "Attention" if maps.kind == "probability" else "Maps"


def name_layer(maps: ArrayMaps, layer: Layer) -> str:
    """Return the name of the sheet of a layer."""
    return ONLY if len(maps.values) == 1 else f"layer-{layer}"


def _make_sheet(maps: ArrayMaps, layer: Layer, what: str) -> Sheet:
    values = maps.values[layer] if isinstance(layer, int) else average(maps.values, 0)[0]
    n_layers = len(maps.values)
    title = what if n_layers == 1 else f"Mean of {n_layers} layers" if layer == "mean" else f"Layer {layer}"
    return Sheet(
        name_layer(maps, layer),
        title,
        values,
        maps.query_tokens,
        maps.key_tokens,
        None,
        maps.kind,
        find_scale(values, maps.kind),
    )


def average(values: Floats, axis: int) -> Floats:
    """Return the mean over an axis, which is kept; ∞ − ∞ is NaN and is shown as such."""
    with np.errstate(all="ignore"):
        mean: Floats = values.mean(axis, keepdims=True)
    return mean

"""The arrays that ``attnlab.figure`` draws, as the sheets of a figure."""

from collections.abc import Iterable
from operator import index
from reprlib import repr as short
from typing import SupportsIndex

from attnlab.base.counted import format_range
from attnlab.base.errors import AttnlabError
from attnlab.figures.array_maps import take_maps
from attnlab.figures.panels.array_sheets import Layer, make_array_sheets
from attnlab.figures.panels.figure_source import Sheets
from attnlab.pretrained.opened_maps import open_maps

WORDS = ("all", "mean")


def make_source(
    x: object, tokens: object, layer: object, head: int | str, stages: tuple[str, ...], *, canvas: bool
) -> Sheets:
    """Return a sheet for each layer to draw, all with one scale of colours.

    Raises:
        AttnlabError: x is no array, the tokens do not match, there is no such layer or head, or an argument is for
        experiments only.
    """
    maps = take_maps(*open_maps(x, tokens), "figure")
    for name, given in (("stage", stages != ("weights",)), ("canvas", canvas)):
        if given:
            raise AttnlabError(
                f"{name} is for experiments only; x is an array, whose maps are chosen by layer and head."
            )
    n_layers, n_heads = maps.values.shape[:2]
    if head not in WORDS and not (isinstance(head, int) and 0 <= head < n_heads):
        raise AttnlabError(f"There is no head {head}; x has {format_range('head', 0, n_heads - 1)}, all and mean.")
    layers = _choose_layers(layer, n_layers)
    return make_array_sheets(maps, layers, shared=len(layers) > 1)


def _choose_layers(layer: object, count: int) -> tuple[Layer, ...]:
    if isinstance(layer, str) and layer in WORDS:
        return tuple(range(count)) if layer == "all" or count == 1 else (layer,)
    several = isinstance(layer, Iterable) and not isinstance(layer, str)
    chosen = tuple(layer) if isinstance(layer, Iterable) and several else (layer,)
    wrong = [each for each in chosen if not isinstance(each, SupportsIndex) or not 0 <= index(each) < count]
    if wrong or not chosen:
        told = short(wrong[0] if wrong else layer)
        raise AttnlabError(f"There is no layer {told}; x has {format_range('layer', 0, count - 1)}, all and mean.")
    return tuple(dict.fromkeys(index(each) for each in chosen if isinstance(each, SupportsIndex)))

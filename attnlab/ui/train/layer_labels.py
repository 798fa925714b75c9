"""Titles of a layer's maps, the tokens beside and above them, and the room that these need."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetricsF

from attnlab.figures.map_labels import LABEL_SPACING
from attnlab.ui.base.theme import font, px
from attnlab.ui.train.answer_words import show_sign
from attnlab.ui.train.map_cards import Shape

if TYPE_CHECKING:
    from attnlab.training.look import LayerMaps

Tokens = tuple[str, ...]
ARROW = "→"
SMALL_LABEL = 0.86
"""The size of the labels of small cells, as a share of the smallest type."""
WIDEST_LABEL, WIDEST_WRITING, WIDEST_ALONE = 40, 56, 140
"""The most pixels at 100 % for tokens beside and above a small map, for rows with the token that they write, and for
such rows of the only map."""


def find_group(layer: str) -> str:
    """Return the first word of a layer's name: "encoder", "decoder", "cross"."""
    return layer.split(" ")[0]


def format_title(layer: "LayerMaps") -> str:
    """Return the name of a layer with a capital."""
    return f"{layer.layer[:1].upper()}{layer.layer[1:]}"


def list_titles(layers: Sequence["LayerMaps"]) -> Tokens:
    """Return the titles of all heads, or of their means, layer by layer."""
    return tuple(
        format_title(each) + (f" · head {head}" if len(each.weights) > 1 else _format_mean(each.averaged))
        for each in layers
        for head in range(len(each.weights))
    )


def _format_mean(heads: int) -> str:
    return f" · mean of {heads} heads" if heads else ""


def list_tokens(layer: "LayerMaps") -> tuple[Tokens, Tokens]:
    """Return the tokens of rows and columns; white space as visible signs."""
    rows, columns = (tuple(map(show_sign, each)) for each in (layer.query_tokens, layer.key_tokens))
    return rows, columns


def list_labels(layer: "LayerMaps") -> tuple[Tokens, Tokens]:
    """Return the labels of rows and columns: the tokens; of a row that writes, "b→a"."""
    rows, columns = list_tokens(layer)
    return tuple(f"{row}{ARROW}{wanted}" if wanted else row for row, wanted in _pair_rows(layer, rows)), columns


def name_rows(layer: "LayerMaps") -> Tokens:
    """Return the rows of a layer in words: the token read, and in quotes the right answer that the row writes."""
    rows, _ = list_tokens(layer)
    return tuple(f"{row} (writes “{wanted}”)" if wanted else row for row, wanted in _pair_rows(layer, rows))


def _pair_rows(layer: "LayerMaps", rows: Tokens) -> Iterator[tuple[str, str]]:
    writes = layer.writes or ("",) * len(rows)
    return zip(rows, map(show_sign, writes), strict=True)


def measure_plain_shape(layer: "LayerMaps") -> Shape:
    """Return the sizes of a layer's maps whose rows are labelled with the token read alone."""
    return measure_shape(replace(layer, writes=()))


def measure_shape(layer: "LayerMaps", *, alone: bool = False) -> Shape:
    """Return the sizes of a layer's maps, with the width for tokens that they need, up to the maximum, which is larger
    for a map that is ``alone``."""
    metrics, least = QFontMetricsF(font("tiny")), font("tiny", SMALL_LABEL).pixelSize()
    heads, rows, columns = layer.weights.shape
    down, across = list_labels(layer)
    writing = WIDEST_ALONE if alone else WIDEST_WRITING
    most = px(writing if any(layer.writes) else WIDEST_LABEL)
    left = min(1.1 * max(map(metrics.horizontalAdvance, down), default=0.0), most) + px(8)  # some are bold
    widest = max(map(metrics.horizontalAdvance, across), default=0.0)
    above = metrics.height() + px(4) if widest <= px(9) else min(widest, px(WIDEST_LABEL)) + px(8)
    return Shape(heads, rows, columns, round(left), round(above), math.ceil(LABEL_SPACING * least))

"""Layout of the small maps of all layers and heads: in cards, one or more lines per layer. Arithmetic only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QRect

from attnlab.figures.layout import Grid
from attnlab.ui.base.theme import px

GAP, PAD, HEAD = 14, 10, 28
"""Pixels at 100 % between cards, inside them, and of the line with their titles."""
LEAST, MOST, LARGEST_CELL = 128, 520, 26
"""Narrowest and widest card, and the largest cell, in pixels at 100 %."""
LEAST_SMALL, SMALL_CELL = 112, 5
"""Narrowest card whose cells are no smaller than this."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a layer's maps: heads, rows, columns, and the pixels for its tokens at the left and above."""

    heads: int
    rows: int
    columns: int
    left: int
    above: int


@dataclass(frozen=True, slots=True)
class Card:
    """One map's layer and head, its card's rectangle, and the grid of its cells."""

    layer: int
    head: int
    rect: QRect
    grid: Grid


def place_cards(shapes: Sequence[Shape], width: int) -> tuple[tuple[Card, ...], int]:
    """Return a card for each head of each layer in a width, and their total height."""
    cards: list[Card] = []
    y = 0
    for group in _group_in_lines(shapes):
        across = _count_per_line(len(group), width, max(_measure_least(shapes[layer]) for layer, _ in group))
        wide = min((width - (across - 1) * px(GAP)) // across, px(MOST))
        for first in range(0, len(group), across):
            pairs = enumerate(group[first : first + across])
            line = [_place_card(shapes[layer], layer, head, place, wide, y) for place, (layer, head) in pairs]
            tall = max(card.rect.height() for card in line)
            cards += [replace(card, rect=QRect(card.rect.x(), y, wide, tall)) for card in line]
            y += tall + px(GAP)
    return tuple(cards), max(y - px(GAP), 0)


def _group_in_lines(shapes: Sequence[Shape]) -> list[list[tuple[int, int]]]:
    """Return which maps share lines: those of a layer, or all of them if no layer has more than one."""
    each = [[(layer, head) for head in range(shape.heads)] for layer, shape in enumerate(shapes)]
    if all(shape.heads == 1 for shape in shapes):
        return [[pair for layer in each for pair in layer]] if each else []
    return each


def _measure_least(shape: Shape) -> int:
    """Return the width of the narrowest card of a shape."""
    return min(max(2 * px(PAD) + shape.left + px(SMALL_CELL) * shape.columns, px(LEAST_SMALL)), px(LEAST))


def _count_per_line(count: int, width: int, least: int) -> int:
    """Return the number of cards per line: as many as fit, spread evenly over the lines."""
    fit = max(1, min(count, (width + px(GAP)) // (least + px(GAP))))
    return -(-count // -(-count // fit))


def _place_card(shape: Shape, layer: int, head: int, place: int, wide: int, y: int) -> Card:
    x = place * (wide + px(GAP))
    room = wide - 2 * px(PAD) - shape.left
    cell = min(room / shape.columns, float(px(LARGEST_CELL)))
    cell = float(int(cell)) if cell >= 3 else cell
    left = x + px(PAD) + shape.left + int(max(room - cell * shape.columns, 0) / 2)
    top = y + px(HEAD) + shape.above
    grid = Grid(left, top, cell, cell, shape.rows, shape.columns, 1, 1, (0, 0), shape.left, shape.above)
    return Card(layer, head, QRect(x, y, wide, round(top - y + cell * shape.rows + px(PAD))), grid)

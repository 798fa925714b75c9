"""Layout of the small maps of all layers and heads: in cards of equal width, up to four per line. Arithmetic only."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from PySide6.QtCore import QRect

from attnlab.figures.layout import Grid
from attnlab.ui.base.theme import px

GAP, PAD, HEAD = 14, 8, 28
"""Pixels at 100 % between cards, inside them, and of the line with their titles."""
MOST_PER_LINE, WIDE, NARROW = 4, 380, 136
"""The most cards in a line; more only where each has the second width, in pixels at 100 %, or the third if all maps can
be seen at once in no other way, or are much larger that way."""
MUCH = 1.25
"""How many times as large cells are worth more cards in a line."""
LARGEST_CELL, SMALL_CELL = 48, 5
"""The largest cell, and the smallest one beside another card, in pixels at 100 %."""
LEAST = 112
"""The narrowest card beside another one, in pixels at 100 %."""
MOST_LABELS = 32
"""A map of at most so many rows and columns keeps the labels of all of them."""

Pair = tuple[int, int]
"""A layer and a head."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a layer's maps: heads, rows, columns, and the pixels for its tokens at the left and above.

    ``label`` is the height of a label: smaller cells do not have one each.
    """

    heads: int
    rows: int
    columns: int
    left: int
    above: int
    label: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """One map's layer and head (−1: their mean), its card's rectangle, and the grid of its cells."""

    layer: int
    head: int
    rect: QRect
    grid: Grid


def place_cards(shapes: Sequence[Shape], width: int, height: int = 0) -> tuple[tuple[Card, ...], int]:
    """Return a card for each head of each layer in a width, and their total height.

    If they can all be seen at once in ``height``, their cells are as large as that allows; otherwise they are as many
    per line as keep their labels.
    """
    return _place_cards(tuple(shapes), width, height, px(100))


@lru_cache(maxsize=256)
def _place_cards(shapes: tuple[Shape, ...], width: int, height: int, _unit: int) -> tuple[tuple[Card, ...], int]:
    pairs = [(layer, head) for layer, shape in enumerate(shapes) for head in range(shape.heads)]
    if not pairs:
        return (), 0
    least = max(map(_measure_least, shapes))
    fit = max(1, min(max(MOST_PER_LINE, width // px(WIDE)), len(pairs), (width + px(GAP)) // (least + px(GAP))))
    most = min(len(pairs), (width + px(GAP)) // (max(least, px(NARROW)) + px(GAP)))
    usual, wide = (
        _find_largest(shapes, pairs, width, counts, height) for counts in (range(fit, 0, -1), range(most, fit, -1))
    )
    best = wide if wide and (not usual or _cell_of(wide) > MUCH * _cell_of(usual)) else usual
    return best or _place_lines(shapes, _break_lines(shapes, pairs, fit), width, px(LARGEST_CELL))


def _find_largest(
    shapes: tuple[Shape, ...], pairs: list[Pair], width: int, counts: range, height: int
) -> tuple[tuple[Card, ...], int] | None:
    """Return the cards whose smallest cell is largest, in the first of these counts per line, or None if none fits."""
    found = [fitted for across in counts if (fitted := _fit_height(shapes, pairs, width, across, height))]
    return max(found, key=_cell_of, default=None)


def _cell_of(placed: tuple[tuple[Card, ...], int]) -> float:
    return min(card.grid.cell_width for card in placed[0])


def _fit_height(
    shapes: tuple[Shape, ...], pairs: list[Pair], width: int, across: int, height: int
) -> tuple[tuple[Card, ...], int] | None:
    """Return the largest cards that fit into a height, or None if their labels would not."""
    lines = _break_lines(shapes, pairs, across)
    wide, gap = _divide(width, lines), px(GAP)
    alike = Counter(frozenset(shapes[layer] for layer, _ in line) for line in lines)
    cells = range(max(_find_least_cell(shape) for shape in shapes), px(LARGEST_CELL) + 1)

    def measure_height(cell: int) -> int:
        return sum(count * (_measure_line(line, wide, cell) + gap) for line, count in alike.items()) - gap

    fitting = bisect_right(cells, height, key=measure_height)  # the height grows with the cells
    return _place_lines(shapes, lines, width, cells[fitting - 1]) if fitting else None


def _measure_line(shapes: Iterable[Shape], wide: int, largest_cell: int) -> int:
    """Return the height of cards of these shapes beside each other."""
    tall = max(_fit_cell(shape, wide, largest_cell) * shape.rows + shape.above for shape in shapes)
    return round(px(HEAD) + tall + px(PAD))


def _divide(width: int, lines: list[list[Pair]]) -> int:
    """Return the width of each card."""
    across = max(map(len, lines))
    return (width - (across - 1) * px(GAP)) // across


def _place_lines(
    shapes: tuple[Shape, ...], lines: list[list[Pair]], width: int, largest_cell: int
) -> tuple[tuple[Card, ...], int]:
    cards: list[Card] = []
    wide, gap = _divide(width, lines), px(GAP)
    y = 0
    for line in lines:
        tall = _measure_line({shapes[layer] for layer, _ in line}, wide, largest_cell)
        for place, (layer, head) in enumerate(line):
            rect = QRect(place * (wide + gap), y, wide, tall)
            cards.append(Card(layer, head, rect, _place_grid(shapes[layer], rect, largest_cell)))
        y += tall + gap
    return tuple(cards), y - gap


def _break_lines(shapes: tuple[Shape, ...], pairs: list[Pair], across: int) -> list[list[Pair]]:
    """Return the maps of each line: several whole layers, or an even part of one."""
    if all(across % shape.heads == 0 for shape in shapes):
        return _split_evenly(pairs, across)
    layers = [list(group) for _, group in groupby(pairs, key=lambda pair: pair[0])]
    return [line for layer in layers for line in _split_evenly(layer, across)]


def _split_evenly(pairs: list[Pair], across: int) -> list[list[Pair]]:
    each = -(-len(pairs) // -(-len(pairs) // across))
    return [pairs[first : first + each] for first in range(0, len(pairs), each)]


def _find_least_cell(shape: Shape) -> int:
    return max(shape.label if max(shape.rows, shape.columns) <= MOST_LABELS else 0, px(SMALL_CELL))


def _measure_least(shape: Shape) -> int:
    """Return the width of the narrowest card of a shape."""
    return max(2 * px(PAD) + shape.left + _find_least_cell(shape) * shape.columns, px(LEAST))


def _fit_cell(shape: Shape, wide: int, largest_cell: int) -> float:
    """Return the side of a cell on a card of a width."""
    cell = min((wide - 2 * px(PAD) - shape.left) / shape.columns, float(largest_cell))
    return float(int(cell)) if cell >= 3 else cell


def _place_grid(shape: Shape, card: QRect, largest_cell: int) -> Grid:
    """Return the grid of the cells in the middle of a card."""
    cell, room = _fit_cell(shape, card.width(), largest_cell), card.width() - 2 * px(PAD) - shape.left
    left = card.x() + px(PAD) + shape.left + int(max(room - cell * shape.columns, 0) / 2)
    top = card.y() + px(HEAD) + shape.above
    return Grid(left, top, cell, cell, shape.rows, shape.columns, 1, 1, (0, 0), shape.left, shape.above)

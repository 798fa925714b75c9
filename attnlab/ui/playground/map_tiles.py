"""The room that the maps of several heads need on one card: few lines of cells that can be told apart."""

from attnlab.ui.playground.card_needs import CardNeed

LEAST_CELL, LARGEST_CELL = 6.5, 13.0
"""The least and the largest side for which room is kept of a cell on a map beside others, at zoom 1."""
NARROW, WIDE = 96.0, 200.0
"""The most room that is kept for the width of a map of tokens by tokens, and of any other, at zoom 1."""
GAP, TITLE = 8.0, 17.0
"""The gap between maps in a line, and the height of a map's title, at zoom 1."""
PER_LINE, WIDE_PER_LINE = 4, 2
"""So many maps stand in a line of the narrowest card, and so many of many columns."""
MOST_ROWS = 32
"""Maps with more rows have no cells that can be told apart on a card."""


def measure_tiles_width(need: CardNeed, zoom: float) -> float:
    """Return the least width in pixels of the maps of a card side by side, without labels; 0 for maps of many rows."""
    if need.rows > MOST_ROWS:
        return 0.0
    side = _least_side(need)
    return min(need.count, PER_LINE if side <= NARROW else WIDE_PER_LINE) * (side + GAP) * zoom


def measure_tiles_height(need: CardNeed, width: float, zoom: float) -> tuple[float, float]:
    """Return the height in pixels of the maps of a card with their least cells, and with the largest that fit a width.

    Both are 0 for maps of many rows.
    """
    if need.rows > MOST_ROWS:
        return 0.0, 0.0
    most = min(max(int(width / ((_least_side(need) + GAP) * zoom)), 1), need.count)
    lines = -(-need.count // most)
    per_line = -(-need.count // lines)
    cell = min((width / per_line - GAP * zoom) / need.columns, LARGEST_CELL * zoom)
    least = min(cell, _least_side(need) / need.columns * zoom)
    return lines * (need.rows * least + TITLE * zoom), lines * (need.rows * cell + TITLE * zoom)


def _least_side(need: CardNeed) -> float:
    return min(need.columns * LEAST_CELL, NARROW if need.is_map else WIDE)

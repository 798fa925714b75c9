"""The brush that paints the mask on the maps of a card: which cells one stroke crosses."""

import math
from itertools import pairwise

from PySide6.QtCore import QPointF

from attnlab.figures.layout import Grid


class Brush:
    """One stroke over the maps of a card. It reports each cell once, on any head's map: all heads share one mask."""

    def __init__(self) -> None:
        self._last: tuple[Grid, tuple[float, float]] | None = None
        self._seen: set[tuple[int, int]] = set()
        self.used = False

    def move(self, grid: Grid, position: QPointF) -> list[tuple[int, int, int]]:
        """Return map, row and column of each cell first crossed by the line from the last point to this one."""
        here = (position.x(), position.y())
        there = self._last[1] if self._last is not None and self._last[0] == grid else here
        self._last = grid, here
        met = []
        for index, row, column in list_crossed(grid, there, here):
            if (row, column) not in self._seen:
                self._seen.add((row, column))
                met.append((index, row, column))
        return met


def list_crossed(grid: Grid, start: tuple[float, float], end: tuple[float, float]) -> list[tuple[int, int, int]]:
    """Return map, row and column of every cell that a straight line from one point to another crosses, in order."""
    cuts = [0.0, 1.0]
    for origin, size, a, b in zip((grid.x, grid.y), (grid.cell_width, grid.cell_height), start, end, strict=True):
        first, last = sorted(((a - origin) / size, (b - origin) / size))
        edges = range(math.ceil(first), math.floor(last) + 1) if last > first else ()
        cuts += [(origin + edge * size - a) / (b - a) for edge in edges]
    cuts = sorted(cut for cut in cuts if 0 <= cut <= 1)
    middles = ((one + other) / 2 for one, other in pairwise(cuts))
    hits = (grid.hit(*(a + t * (b - a) for a, b in zip(start, end, strict=True))) for t in middles)
    return list(dict.fromkeys(hit for hit in hits if hit is not None))

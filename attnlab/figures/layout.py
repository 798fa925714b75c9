"""The positions of the cells of one or many maps inside a rectangle, the same on the screen and in files."""

import math
from dataclasses import dataclass
from functools import lru_cache

MOST_GAP = 400
"""The maximum gap between two rows of maps, in rows of cells; only huge maps in a thumbnail would need more."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The layout of ``count`` maps of ``rows`` × ``columns`` cells, ``per_row`` side by side; all lengths in pixels.

    ``gap`` is counted in cells (rows, columns), so that all maps are one image. ``whole``: cells are whole
    pixels with room for a frame. Above the first line of maps are ``label_height`` pixels, the lowest
    ``column_space`` of them for column labels and the rest for titles.
    """

    x: float
    y: float
    cell_width: float
    cell_height: float
    rows: int
    columns: int
    count: int
    per_row: int
    gap: tuple[int, int]
    label_width: float
    label_height: float
    title_height: float = 0.0

    @property
    def column_space(self) -> float:
        """Height of the column labels above the first line of maps."""
        return max(self.label_height - self.title_height, 0.0)

    @property
    def lines(self) -> int:
        """Rows of maps."""
        return -(-self.count // self.per_row)

    @property
    def width(self) -> float:
        """Width of all maps together, without labels."""
        return self.cell_width * (self.per_row * (self.columns + self.gap[1]) - self.gap[1])

    @property
    def height(self) -> float:
        """Height of all maps together, without labels."""
        return self.cell_height * (self.lines * (self.rows + self.gap[0]) - self.gap[0])

    @property
    def framed(self) -> bool:
        """Whether cells have rounded corners and a gap."""
        return min(self.cell_width, self.cell_height) >= 5

    def origin(self, index: int) -> tuple[float, float]:
        """Return the top left of a map."""
        line, place = divmod(index, self.per_row)
        return (
            self.x + place * (self.columns + self.gap[1]) * self.cell_width,
            self.y + line * (self.rows + self.gap[0]) * self.cell_height,
        )

    def rect(self, index: int, row: int | None, column: int | None) -> tuple[float, float, float, float]:
        """Return x, y, width, height of a cell of a map, of a row (column None), of a column, or of the map."""
        x, y = self.origin(index)
        width, height = self.columns * self.cell_width, self.rows * self.cell_height
        if column is not None:
            x, width = x + column * self.cell_width, self.cell_width
        if row is not None:
            y, height = y + row * self.cell_height, self.cell_height
        return x, y, width, height

    def hit(self, x: float, y: float) -> tuple[int, int, int] | None:
        """Return map, row and column under a point, or None."""
        across, down = (x - self.x) / self.cell_width, (y - self.y) / self.cell_height
        if across < 0 or down < 0:
            return None
        place, column = divmod(int(across), self.columns + self.gap[1])
        line, row = divmod(int(down), self.rows + self.gap[0])
        index = line * self.per_row + place
        if place >= self.per_row or index >= self.count or column >= self.columns or row >= self.rows:
            return None
        return index, row, column


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest cells to draw, in pixels, and the space that labels may take."""

    cell_width: float
    cell_height: float
    label_width: float
    label_height: float
    title_height: float = 0.0


@lru_cache(maxsize=256)
def arrange(
    area: tuple[float, float, float, float],
    rows: int,
    columns: int,
    count: int,
    limits: Limits,
    square: bool,
    ratio: float = 1.0,
    most_oblong: float = 1.6,
    abreast: int = 0,
) -> Grid:
    """Return the grid of the largest cells with which ``count`` maps fit into ``area`` (x, y, width, height).

    ``square`` keeps cells about as wide as high, at most ``most_oblong`` times as wide, for maps of token by token.
    Cells of 3 px or more are whole pixels of a screen with ``ratio`` device pixels each. ``abreast`` maps are side by
    side; 0 for the number that gives the largest cells.
    """
    x, y, width, height = area
    width, height = max(width - limits.label_width, 1), max(height - limits.label_height, 1)
    oblong = most_oblong if square else math.inf
    best: tuple[float, int, float, float, tuple[int, int]] | None = None
    for per_row in (abreast,) if abreast else range(1, count + 1):
        gap = (0, 0) if count == 1 else (max(1, round(rows / 12)), max(1, round(columns / 12)))
        lines = -(-count // per_row)
        cell_w, cell_h = _find_cell_size(width, height, rows, columns, lines, per_row, gap, limits, oblong)
        if best is not None and _rate_cells(cell_w, cell_h) <= best[0]:
            continue  # a larger gap would make the cells even smaller
        while (
            lines > 1
            and gap[0] * _round_to_pixels(cell_w, cell_h, ratio)[1] < limits.title_height
            and gap[0] < MOST_GAP
        ):
            gap = (gap[0] + 1, gap[1])  # makes the cells smaller
            cell_w, cell_h = _find_cell_size(width, height, rows, columns, lines, per_row, gap, limits, oblong)
        score = _rate_cells(cell_w, cell_h)
        if best is None or score > best[0]:
            best = (score, per_row, cell_w, cell_h, gap)
    assert best is not None
    _, per_row, cell_w, cell_h, gap = best
    cell_w, cell_h = _round_to_pixels(cell_w, cell_h, ratio)
    left, top = round((x + limits.label_width) * ratio) / ratio, round((y + limits.label_height) * ratio) / ratio
    return Grid(
        left,
        top,
        cell_w,
        cell_h,
        rows,
        columns,
        count,
        per_row,
        gap,
        limits.label_width,
        limits.label_height,
        limits.title_height,
    )


def _rate_cells(cell_w: float, cell_h: float) -> float:
    """Return how well cells of a size can be seen; the larger, the better."""
    return min(cell_w, cell_h * 1.5) + 1e-3 * cell_w * cell_h


def _round_to_pixels(cell_w: float, cell_h: float, ratio: float) -> tuple[float, float]:
    """Return the size of a cell in whole screen pixels, or unchanged if rounding would matter."""
    if min(cell_w, cell_h) < 3:
        return cell_w, cell_h
    return math.floor(cell_w * ratio) / ratio, math.floor(cell_h * ratio) / ratio


def _find_cell_size(
    width: float,
    height: float,
    rows: int,
    columns: int,
    lines: int,
    per_row: int,
    gap: tuple[int, int],
    limits: Limits,
    oblong: float,
) -> tuple[float, float]:
    """Return the width and height of the largest cells with ``lines`` rows of ``per_row`` maps.

    They are at most ``oblong`` times as wide as high, and, unless that is infinite, about as high as wide at most.
    """
    cell_w = min(width / (per_row * (columns + gap[1]) - gap[1]), limits.cell_width)
    cell_h = min(height / (lines * (rows + gap[0]) - gap[0]), limits.cell_height)
    if oblong == math.inf:
        return cell_w, cell_h
    return min(cell_w, cell_h * oblong), min(cell_h, cell_w * min(oblong, 1.25))

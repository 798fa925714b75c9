"""Where everything stands in a figure: pure arithmetic in units of 1/96 inch, whatever the dots per inch."""

import math
from dataclasses import dataclass

from attnlab.figures.layout import Grid

MARGIN = 10.0
HEADER = 24.0
AXIS = 15.0
"""Room for the name of an axis."""
CAPTION = 14.0
"""Room for the title of one of several maps."""
BAR = 26.0
"""Room for the colour bar with its numbers."""
SPACE = 14.0
"""Least space between maps."""
CELL_WIDTH, CELL_HEIGHT = 56.0, 32.0
"""The largest cells, wide and high enough for four decimals."""
SHAPE = 0.62
"""The height that small multiples aim at, as a part of the width."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What labels need: the widest row label, the widest column label, and the height of a line of them.

    ``upright`` and ``turned`` are the heights of column labels side by side and turned to read upwards.
    """

    row_width: float
    column_width: float
    upright: float
    turned: float


@dataclass(frozen=True, slots=True)
class FigureLayout:
    """``width`` and ``height`` of the figure, and a grid for each line of maps, all in 1/96 inch."""

    width: float
    height: float
    grids: tuple[Grid, ...]
    caption: float

    @property
    def first(self) -> Grid:
        """The topmost line of maps."""
        return self.grids[0]

    @property
    def bottom(self) -> float:
        """Where the maps end."""
        return self.grids[-1].y + self.grids[-1].height


@dataclass(frozen=True, slots=True)
class _Plan:
    per_row: int
    cell_width: float
    cell_height: float
    gap: int
    label_height: float
    used: float
    tall: float


def lay_out(width: float, maps: tuple[int, int, int], labels: Labels, *, square: bool, ratio: float) -> FigureLayout:
    """Return the layout of ``maps`` (count, rows, columns) in a figure ``width`` wide; its height follows.

    ``square`` keeps cells about as wide as high. Cells of a pixel or more are whole pixels of ``ratio`` to the unit.
    """
    count, rows, columns = maps
    left = MARGIN + AXIS + labels.row_width
    plans = [_plan(width - left - MARGIN, maps, labels, per_row, square, ratio) for per_row in range(1, count + 1)]
    plan = min(plans, key=lambda p: _badness(p, count, width))
    caption = CAPTION if count > 1 else 0.0
    spare = max(width - left - MARGIN - plan.used, 0.0)
    x, y = _snapped(left + spare / 2, ratio), HEADER + MARGIN + AXIS
    grids = []
    for start in range(0, count, plan.per_row):
        y = _snapped(y + caption + plan.label_height, ratio)
        here = min(plan.per_row, count - start)
        grids.append(
            Grid(
                x, y, plan.cell_width, plan.cell_height, rows, columns, here, here, (1, plan.gap),
                labels.row_width, plan.label_height,
            )
        )  # fmt: skip
        y += grids[-1].height + SPACE
    return FigureLayout(width, math.ceil(y + BAR + MARGIN), tuple(grids), caption)


def _plan(room: float, maps: tuple[int, int, int], labels: Labels, per_row: int, square: bool, ratio: float) -> _Plan:
    count, rows, columns = maps
    cell_w = min(_cell_width(room, columns, per_row), CELL_WIDTH)
    gap = math.ceil(SPACE / cell_w)
    lines = -(-count // per_row)
    cell_h = min(cell_w if square and cell_w < CELL_HEIGHT else max(CELL_HEIGHT * 0.7, cell_w / 1.6), CELL_HEIGHT)
    cell_h = min(cell_h, max(1.1 * room / rows, 1 / ratio) if lines == 1 else cell_h)
    cell_w, cell_h = _whole(cell_w, ratio), _whole(cell_h, ratio)
    flat = labels.column_width <= cell_w - 2
    label_height = 0.0 if cell_w * columns < labels.upright else labels.upright if flat else labels.turned
    used = cell_w * (per_row * (columns + gap) - gap)
    caption = CAPTION if count > 1 else 0.0
    tall = HEADER + lines * (caption + label_height + cell_h * rows + SPACE) + BAR + AXIS
    return _Plan(per_row, cell_w, cell_h, gap, label_height, used, tall)


def _cell_width(room: float, columns: int, per_row: int) -> float:
    """Return the width of the cells with which ``per_row`` maps fill the room, the gaps being whole cells."""
    room = max(room, 1.0)
    cell = room / (per_row * columns)
    for _ in range(3):  # the gap is counted in cells, which get smaller by it
        gap = math.ceil(SPACE / cell)
        cell = room / (per_row * (columns + gap) - gap)
    return cell


def _badness(plan: _Plan, count: int, width: float) -> float:
    """Return how far a plan is from a figure of pleasant shape: its height, the empty places of its last line."""
    empty = -count % plan.per_row
    return abs(math.log(plan.tall / (SHAPE * width))) + 0.15 * empty + 0.3 * (1 - min(plan.used / width, 1))


def _whole(length: float, ratio: float) -> float:
    return math.floor(length * ratio) / ratio if length * ratio >= 1 else length


def _snapped(length: float, ratio: float) -> float:
    return round(length * ratio) / ratio

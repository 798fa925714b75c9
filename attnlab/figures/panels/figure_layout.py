"""The layout of a panel of a figure: arithmetic in units, independent of the dots per inch."""

import math
from dataclasses import dataclass, replace

from attnlab.figures.layout import Grid

MARGIN = 10.0
AXIS = 15.0
"""The space for the name of an axis."""
LINE = 19.0
"""The height of a line of the title."""
CAPTION = 14.0
"""The space for the title of one of several maps."""
BAR = 20.0
"""The space for the colour bar with its numbers."""
SPACE = 14.0
"""The least space between maps."""
CELL_WIDTH, CELL_HEIGHT = 72.0, 44.0
"""The largest cells, wide and high enough for four decimals."""
READABLE = 20.0
"""Cells lower than this have room for at most two decimals and are square."""
SHAPE = 0.62
"""The preferred height of a figure of small multiples, as a fraction of the width."""
LEAST_WHOLE = 4.0
"""Cells of fewer dots than this are not rounded down to whole dots, which could halve the figure."""
LEAST_LABELLED = 36.0
"""Small multiples narrower or lower than this have no labels on that side if not all fit: fewer than three would."""
LEAST_MAP = 18.0
"""The least width of small multiples if possible, because three digits are written above each."""
GOOD_MAP = 30.0
"""The width from which small multiples are easy to read, 8 mm; narrower ones had better stand in more lines."""
DENSE = 96.0
"""Maps narrower than this share the column labels of the topmost maps and are closer together."""

_FINE = 1e6


@dataclass(frozen=True, slots=True)
class Labels:
    """The space of labels: the widest row label, the widest column label, and the height of a line.

    ``upright`` and ``turned`` are the heights of horizontal and of vertical column labels. All are 0 without labels.
    """

    row_width: float
    column_width: float
    upright: float
    turned: float


NO_LABELS = Labels(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Wish:
    """The requirements of a panel: its width, its height (None for as much as its maps need), and its decorations.

    ``header`` is the height of its title. ``square`` keeps cells about as wide as high. ``per_row`` is the number of
    maps side by side, None for the best number, which parts none of several maps ``in_pairs``. A unit has ``ratio``
    dots, and cells are whole dots unless very small.
    """

    width: float
    height: float | None = None
    header: float = LINE
    axis: float = AXIS
    bar: float = BAR
    square: bool = True
    per_row: int | None = None
    in_pairs: bool = False
    ratio: float = 1.0
    cell_height: float = CELL_HEIGHT
    cell_width: float = CELL_WIDTH
    shape: float = SHAPE


@dataclass(frozen=True, slots=True)
class FigureLayout:
    """The layout of a panel: ``width``, ``height``, and a grid for each line of maps, in units."""

    width: float
    height: float
    grids: tuple[Grid, ...]
    caption: float
    axis: float
    top: float
    """The x of the title."""

    @property
    def first(self) -> Grid:
        """The topmost line of maps."""
        return self.grids[0]

    @property
    def left(self) -> float:
        """The x of the leftmost part."""
        return self.first.x - self.first.label_width - self.axis

    @property
    def right(self) -> float:
        """The right end of the maps."""
        return self.first.x + self.first.width

    @property
    def bottom(self) -> float:
        """The lower end of the maps."""
        return self.grids[-1].y + self.grids[-1].height


@dataclass(frozen=True, slots=True)
class _Plan:
    per_row: int
    cell_width: float
    cell_height: float
    gap: int
    space: float
    label_height: float
    shared: bool
    """Whether only the topmost maps have column labels."""
    caption: float
    used: float
    tall: float


def lay_out(maps: tuple[int, int, int], labels: Labels, wish: Wish) -> FigureLayout:
    """Return the layout of ``maps`` (count, rows, columns) in a panel, centred if the height is given."""
    count, rows, columns = maps
    plan = _choose_plan(maps, labels, wish)
    tight = plan.cell_height < labels.upright and rows * plan.cell_height < LEAST_LABELLED
    if labels.row_width and count > 1 and tight:
        labels = replace(labels, row_width=0.0)
        plan = _choose_plan(maps, labels, wish)
    left, room = MARGIN + wish.axis + labels.row_width, _find_room(labels, wish)
    spare_x = max(room - plan.used, 0.0)
    height = wish.height if wish.height is not None else float(math.ceil(plan.tall))
    top = MARGIN + max(height - plan.tall, 0.0) / 2
    x, y = _snap(left + spare_x / 2, wish.ratio), top + wish.header + wish.axis
    grids = []
    for line, start in enumerate(range(0, count, plan.per_row)):
        label = plan.label_height if line == 0 or not plan.shared else 0.0
        y = _snap(y + plan.caption + label, wish.ratio)
        here = min(plan.per_row, count - start)
        grids.append(
            Grid(
                x,
                y,
                plan.cell_width,
                plan.cell_height,
                rows,
                columns,
                here,
                here,
                (1, plan.gap),
                labels.row_width,
                label,
            )
        )
        y += grids[-1].height + plan.space
    return FigureLayout(wish.width, height, tuple(grids), plan.caption, wish.axis, top)


def _find_room(labels: Labels, wish: Wish) -> float:
    return wish.width - 2 * MARGIN - wish.axis - labels.row_width


def _choose_plan(maps: tuple[int, int, int], labels: Labels, wish: Wish) -> _Plan:
    """Return the best plan; it does not depend on the dots, so that all kinds of files have the same one."""
    room, fine = _find_room(labels, wish), replace(wish, ratio=_FINE)
    step = 2 if wish.in_pairs and maps[0] > 2 else 1
    tried = range(step, maps[0] + 1, step) if wish.per_row is None else (min(wish.per_row, maps[0]),)
    best = min(tried, key=lambda per_row: _rate_badness(_make_plan(room, maps, labels, fine, per_row), maps, wish))
    return _make_plan(room, maps, labels, wish, best)


def _make_plan(room: float, maps: tuple[int, int, int], labels: Labels, wish: Wish, per_row: int) -> _Plan:
    """Return the plan with horizontal column labels if these fit the resulting cells, else with vertical ones."""
    count, rows, columns = maps
    lines = -(-count // per_row)
    space = SPACE if room / per_row >= DENSE else max(SPACE / 3, 4.0)
    widest = min(_find_cell_width(room, columns, per_row, space), wish.cell_width)
    caption = 0.0 if count == 1 else CAPTION
    shared = widest * columns < DENSE or wish.height is not None
    label_height = _find_label_height(labels, widest, maps)
    around = 2 * MARGIN + wish.header + wish.axis + lines * caption + (lines - 1) * space
    around += SPACE + wish.bar if wish.bar else 0.0
    for _ in range(2):
        fixed = around + label_height * (1 if shared else lines)
        cell_w, cell_h = _find_cell_size(widest, fixed, room, (lines, rows), columns, wish)
        if _find_label_height(labels, cell_w, maps) == label_height:
            break
        label_height = labels.turned if label_height == labels.upright else label_height
    most = math.floor((room / cell_w - per_row * columns) / (per_row - 1) + 1e-6) if per_row > 1 else 1
    gap = max(min(math.ceil(space / cell_w), most), 1)  # rounding the cells must not make the gaps a cell wider
    used = cell_w * (per_row * (columns + gap) - gap)
    tall = fixed + lines * rows * cell_h
    return _Plan(per_row, cell_w, cell_h, gap, space, label_height, shared, caption, used, tall)


def _find_cell_size(
    widest: float, fixed: float, room: float, lines: tuple[int, int], columns: int, wish: Wish
) -> tuple[float, float]:
    """Return the width and height of cells in ``lines`` of maps, when ``fixed`` units of the height are used."""
    width = widest
    height = min(width if wish.square else max(CELL_HEIGHT * 0.55, width / 1.6), wish.cell_height)
    if wish.height is not None:
        height = min(height, max(wish.height - fixed, 1.0) / (lines[0] * lines[1]))
        broad = CELL_WIDTH / CELL_HEIGHT if height > READABLE else 1.0
        width = min(width, height * broad) if wish.square else width
    elif lines[0] == 1:
        height = min(height, max(1.1 * room / lines[1], 1 / wish.ratio))
    elif not wish.square:
        height = min(height, max(1.3 * width * columns / lines[1], 1 / wish.ratio))
    return _round_to_dots(width, wish.ratio), _round_to_dots(height, wish.ratio)


def _find_label_height(labels: Labels, cell_width: float, maps: tuple[int, int, int]) -> float:
    """Return the height of column labels: horizontal if they fit, else vertical, 0 above the narrowest maps."""
    if cell_width * maps[2] < (labels.upright if maps[0] == 1 else max(labels.upright, LEAST_LABELLED)):
        return 0.0
    return labels.upright if labels.column_width <= cell_width - 2 else labels.turned


def _find_cell_width(room: float, columns: int, per_row: int, space: float) -> float:
    """Return the width of cells with which ``per_row`` maps and gaps of whole cells fill the room."""
    room = max(room, 1.0)
    cell = room / (per_row * columns)
    for _ in range(3):  # the gap is counted in cells, and a gap makes cells smaller
        gap = math.ceil(space / cell)
        cell = room / (per_row * (columns + gap) - gap)
    return cell


def _rate_badness(plan: _Plan, maps: tuple[int, int, int], wish: Wish) -> float:
    """Return a penalty for a plan: a bad height, tiny maps, and empty positions in the last line."""
    empty = 0.15 * (-maps[0] % plan.per_row)
    if wish.height is not None:
        return 3 * empty - math.log(plan.cell_width * plan.cell_height)
    wide = plan.cell_width * maps[2]
    tiny = 3 * max(math.log(LEAST_MAP / wide), 0.0) + max(math.log(GOOD_MAP / wide), 0.0) if maps[0] > 1 else 0.0
    shape = abs(math.log(plan.tall / (wish.shape * wish.width)))
    return shape + tiny + empty + 0.3 * (1 - min(plan.used / wish.width, 1))


def _round_to_dots(length: float, ratio: float) -> float:
    """Return a length rounded down to whole dots, unless it is so small that rounding would matter."""
    return math.floor(length * ratio) / ratio if length * ratio >= LEAST_WHOLE else length


def _snap(length: float, ratio: float) -> float:
    return round(length * ratio) / ratio

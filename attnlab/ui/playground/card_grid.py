"""The cells of the maps on a card: they fill it, with labels beside them and numbers in them where the plan says so."""

from dataclasses import dataclass, replace
from functools import lru_cache

from PySide6.QtGui import QFontMetricsF

from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_labels import LABEL_LETTERS
from attnlab.figures.text import Face, find_key, measure_text
from attnlab.ui.base.fonts import face
from attnlab.ui.playground.canvas_lengths import LARGEST_ROW, MAP_GAP, TITLE, WIDEST_CELL
from attnlab.ui.playground.card_needs import PAIR_GAP, is_flat

LABELLED_CELL = 6.0
"""Maps side by side have token labels if their cells are at least this high at zoom 1."""
WORTH = 1.15
"""How much larger cells must be in more lines without column labels for these to be left out."""
LEAST_GAP = 6
"""Maps in a line may be this many columns apart, or as far as a map is wide, to fill the width of their card."""
SMALL_CELL = 11.0
"""Columns narrower than this at zoom 1 have no labels."""
WIDEST_MAP_CELL = 4.0
"""The greatest width of a cell with a number on a map of tokens by tokens, relative to its height."""
MOST_LABELS = 0.7
"""The greatest share of a card's width for the labels of its rows; a card with numbers is as wide as both need."""
SMALL_LABEL = "cell"
"""The role of the labels of maps side by side, which are smaller."""
MOST_TITLE_ROWS = 8
"""The gap between two maps below each other is at most this many rows, even if a title would need more."""
FEW_MAPS = 2
"""So many maps side by side may have labels of the usual size."""


@dataclass(frozen=True, slots=True)
class CardRoom:
    """The room for maps on a card: its ``area`` (x, y, width, height), zoom, and device pixels per pixel.

    ``tokens_down`` and ``tokens_across`` tell which labels are tokens, ``group`` how many columns share a label,
    ``numbered`` whether the cells have numbers, ``per_line`` how many of several maps with numbers stand side by side,
    and ``paired`` whether two maps stand side by side like one.
    """

    area: tuple[float, float, float, float]
    zoom: float
    ratio: float
    tokens_down: bool
    tokens_across: bool
    group: int = 1
    numbered: bool = True
    paired: bool = False
    per_line: int = 0
    least_top: float = 0.0
    """The least height of the column labels of one map, so that its rows are level with those of the card beside it."""


@lru_cache(maxsize=128)
def fit_card(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: CardRoom) -> Grid:
    """Return the grid for maps [n, rows, columns] with these labels; it does not depend on the numbers."""
    if room.paired:
        return _fit_pair(shape, rows, columns, room)
    if shape[0] == 1:
        return _fit_one(shape, rows, columns, room)
    return (_fit_numbered if room.per_line else _fit_many)(shape, rows, columns, room)


def label_face(grid: Grid, zoom: float) -> Face:
    """Return the font for the labels of maps: the usual one if each row has room for it, else a smaller one."""
    usual = face("map", zoom)
    return usual if grid.count <= FEW_MAPS and grid.cell_height >= 1.1 * usual.pixelSize() else face(SMALL_LABEL, zoom)


def _fit_one(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: CardRoom) -> Grid:
    """Return the grid of one map: square cells without numbers, else as wide as the card."""
    z, (x, y, width, height) = room.zoom, room.area
    most = MOST_LABELS if room.numbered else 0.45
    left = min(_widest(rows, z) + 8, most * width) if room.tokens_down else 0.0
    words = columns if room.group == 1 else tuple(label.split(" ")[-1] for label in columns)
    widest = _widest(words, z)
    upright = min(widest + 10, 0.45 * height)
    flat = 1.5 * face("map", z).pixelSize()
    for top in (flat, upright, 0.0):
        cell_w, cell_h = _cell_size(shape, room, width - left, height - top)
        fits = widest <= room.group * cell_w - (2 if room.group == 1 else 4)
        if top == 0.0 or (top == flat and fits and cell_h >= SMALL_CELL * z * 0.6):
            break
        if top == upright and room.tokens_across and room.group == 1 and min(cell_w, cell_h) >= SMALL_CELL * z:
            break
    if room.least_top > top:
        top = room.least_top
        cell_w, cell_h = _cell_size(shape, room, width - left, height - top)
    spare = max(width - left - shape[2] * cell_w, 0.0)
    at_x = round((x + left + spare / 2) * room.ratio) / room.ratio
    at_y = round((y + top) * room.ratio) / room.ratio
    return Grid(at_x, at_y, cell_w, cell_h, shape[1], shape[2], 1, 1, (0, 0), left, top)


def _fit_pair(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: CardRoom) -> Grid:
    """Return the grid of two maps side by side, each with its title: as large as one map of twice the columns.

    Flat maps are below each other, as large as one map of twice the rows.
    """
    title = _title_height(room.zoom)
    x, y, width, height = room.area
    below = replace(room, area=(x, y + title, width, height - title))
    gap, stacked = PAIR_GAP, is_flat(*shape[1:])
    if stacked:
        one = _fit_one((1, 2 * shape[1] + gap, shape[2]), rows, columns, below)
        while gap * one.cell_height < title and gap < MOST_TITLE_ROWS:  # the gap holds the second title
            gap += 1
            one = _fit_one((1, 2 * shape[1] + gap, shape[2]), rows, columns, below)
    else:
        one = _fit_one((1, shape[1], 2 * shape[2] + gap), rows, columns, below)
    return replace(
        one,
        rows=shape[1],
        columns=shape[2],
        count=2,
        per_row=1 if stacked else 2,
        gap=(gap, gap),
        label_height=one.label_height + title,
        title_height=title,
    )


def _cell_size(shape: tuple[int, int, int], room: CardRoom, width: float, height: float) -> tuple[float, float]:
    """Return the width and height of the cells of one map in a room, in whole pixels of the screen if that matters."""
    z, (_, rows, columns) = room.zoom, shape
    wide, high = min(max(width, 1.0) / columns, WIDEST_CELL * z), min(max(height, 1.0) / rows, LARGEST_ROW * z)
    is_map = room.tokens_down and room.tokens_across
    if is_map and not room.numbered:
        wide = high = min(max(width, 1.0) / columns, max(height, 1.0) / rows, LARGEST_ROW * z)
    elif is_map:
        wide = min(wide, WIDEST_MAP_CELL * high)
    if min(wide, high) < 3:
        return wide, high
    return int(wide * room.ratio) / room.ratio, int(high * room.ratio) / room.ratio


def _fit_many(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: CardRoom) -> Grid:
    """Return the grid of many maps with square cells: each has its title, and token labels if they are legible."""
    z = room.zoom
    title = _title_height(z)
    role = "map" if shape[0] <= FEW_MAPS else SMALL_LABEL
    left = min(_widest(rows, z, role) + 8, 0.3 * room.area[2]) if room.tokens_down else 0.0
    top = min(_widest(columns, z, role) + 10, 0.4 * room.area[3]) if room.tokens_across else 0.0
    grids = [_arrange(shape, room, *labels, title) for labels in ((left, top), (left, 0.0), (0.0, 0.0))]
    if grids[1].lines > grids[0].lines and grids[1].cell_height >= WORTH * grids[0].cell_height:
        del grids[0]
    chosen = next((grid for grid in grids if grid.cell_height >= LABELLED_CELL * z), grids[-1])
    return _centre(spread_maps(chosen, room.area[0] + room.area[2]), room)


def _fit_numbered(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: CardRoom) -> Grid:
    """Return the grid of many maps with room for numbers, ``per_line`` of them side by side, each with its title."""
    z, per_line = room.zoom, min(room.per_line, shape[0])
    lines = -(-shape[0] // per_line)
    left = min(_widest(rows, z) + 8, MOST_LABELS * room.area[2]) if room.tokens_down else 0.0
    title, flat = _title_height(z), 1.5 * face("map", z).pixelSize()
    all_columns = per_line * (shape[2] + MAP_GAP) - MAP_GAP
    cell_w = min((room.area[2] - left) / all_columns, WIDEST_CELL * z)
    widest = _widest(columns, z)
    upright = min(widest + 10, 0.3 * room.area[3])
    top = (flat if widest <= int(cell_w) - 2 else upright) if room.tokens_across else 0.0
    cell_h = min((room.area[3] - top - title) / (lines * (shape[1] + MAP_GAP) - MAP_GAP), LARGEST_ROW * z)
    if room.tokens_down and room.tokens_across:
        cell_w = min(cell_w, WIDEST_MAP_CELL * cell_h)
    cell_w, cell_h = int(cell_w * room.ratio) / room.ratio, int(cell_h * room.ratio) / room.ratio
    at_x, at_y = (round(at * room.ratio) / room.ratio for at in (room.area[0] + left, room.area[1] + top + title))
    grid = Grid(
        at_x, at_y, cell_w, cell_h, shape[1], shape[2], shape[0], per_line, (MAP_GAP, MAP_GAP), left, top + title, title
    )
    return _centre(spread_maps(grid, room.area[0] + room.area[2]), room)


def _title_height(zoom: float) -> float:
    return max(TITLE * zoom, QFontMetricsF(face("map", zoom)).ascent() + 3)


def spread_maps(grid: Grid, right: float, most: float = 1.0) -> Grid:
    """Return the grid with maps further apart in each line, so that they fill the width up to ``right``.

    They are at most as far apart as ``most`` maps are wide.
    """
    if grid.per_row < 2:
        return grid
    spare = int((right - grid.x - grid.width) // ((grid.per_row - 1) * grid.cell_width))
    return replace(
        grid, gap=(grid.gap[0], max(min(grid.gap[1] + spare, max(round(most * grid.columns), LEAST_GAP)), grid.gap[1]))
    )


def _centre(grid: Grid, room: CardRoom) -> Grid:
    """Return the grid with its lines apart, at most by a third of a map, and in the middle of the height."""
    bottom, gap = room.area[1] + room.area[3], grid.gap[0]
    if grid.lines > 1:
        spare = int((bottom - grid.y - grid.height) // ((grid.lines - 1) * grid.cell_height))
        gap = max(min(gap + spare, grid.rows // 3), gap)
    grid = replace(grid, gap=(gap, grid.gap[1]))
    down = max(bottom - grid.y - grid.height, 0.0) / 2
    return replace(grid, y=grid.y + int(down * room.ratio) / room.ratio)


def _arrange(shape: tuple[int, int, int], room: CardRoom, left: float, top: float, title: float) -> Grid:
    count, rows, columns = shape
    side = WIDEST_CELL * room.zoom
    limits = Limits(side, side, left, top + title, title)
    # Maps of tokens by tokens have square cells; long and narrow ones would leave most of the card empty.
    oblong = 1.0 if room.tokens_across else max(1.0, rows / columns)
    return arrange(room.area, rows, columns, count, limits, True, room.ratio, most_oblong=oblong)


def _widest(labels: tuple[str, ...], zoom: float, role: str = "map") -> float:
    """Return the width of the widest of the first labels, each shortened to the letters that are shown."""
    key = find_key(face(role, zoom))
    return max((measure_text(label[:LABEL_LETTERS] or "∅", key) for label in labels[:64]), default=0.0)


def measure_title_room(grid: Grid, right: float) -> dict[int, float]:
    """Return the width that titles at the end of a line must leave free of their map; if negative, the width beyond it.

    ``right`` is the right edge of the card.
    """
    ends = range(grid.per_row - 1, grid.count, grid.per_row)
    return dict.fromkeys(ends, grid.x + grid.width - right or -1e-9)  # 0 would count as no entry

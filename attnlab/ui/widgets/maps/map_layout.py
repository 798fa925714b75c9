"""The layout of maps in a card: as large as the card allows, with labels and numbers where these can be read."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QFont, QFontMetricsF

from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_painter import BAR_HEIGHT
from attnlab.figures.text import key_of
from attnlab.ui.base.fonts import face

FOOT, STRIP, STRIP_MIDDLE = 22.0, 14.0, 10.0
"""At zoom 1 the heights of the colour bar with its ends and of the line of figures below it, and how far above the
lower edge this line has its middle."""
TITLE, LEAST_TITLE = 12.0, 8.0
"""Height of the titles of heads at zoom 1; smaller than the least they could not be read, and are left out."""
LABEL_SIZE = 0.92
NARROW_LABEL = 32.0
NUMBER_CELL = 21.0
"""Cells this wide hold two decimals."""
SMALL_CELL = 11.0
"""Rows closer than this have no room for each one's label."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a card offers: its ``area`` (x, y, width, height), zoom, how much larger cells may be when it stands alone,
    device pixels a pixel, whether rows and columns are tokens, and to how many columns each column label belongs."""

    area: tuple[float, float, float, float]
    zoom: float
    enlarged: float
    ratio: float
    tokens_down: bool
    tokens_across: bool
    column_group: int = 1


@lru_cache(maxsize=64)
def fit(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: Room) -> Grid:
    """Return the grid for maps of a shape [n, rows, columns] with these labels; edits of numbers leave it as it is."""
    return _single(shape, rows, columns, room) if shape[0] == 1 else _multiples(shape, rows, columns, room)


def _single(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: Room) -> Grid:
    """Arrange one map: labels as wide as they need, shortened where that lets numbers into the cells."""
    z, (_, _, width, height) = room.zoom, room.area
    label_font = face("caption", z * LABEL_SIZE)
    wide = _widest(rows, label_font) + 8 if room.tokens_down else 0.0
    wide = min(wide, 84 * max(z, room.enlarged), width * 0.36)
    widest = _widest(columns, label_font)
    tall = min(widest + 8, 52 * max(z, room.enlarged), height * 0.3)
    grid = _arranged(shape, room, wide, tall)
    narrow = _arranged(shape, room, min(wide, NARROW_LABEL * z), tall)
    if grid.cell_width < NUMBER_CELL * z <= narrow.cell_width:
        grid = narrow
    if widest <= room.column_group * grid.cell_width - (2 if room.column_group == 1 else 4):
        labelled = _arranged(shape, room, grid.label_width, 14 * z)
        if room.tokens_across or labelled.cell_height >= SMALL_CELL * z:
            return labelled
    if not room.tokens_across:  # numbers of columns are for large cells only
        return _arranged(shape, room, grid.label_width, 0.0)
    if grid.cell_height < SMALL_CELL * z:  # where it is this tight, the names of the rows say enough
        return _arranged(shape, room, grid.label_width, 0.0)
    return grid


def _multiples(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: Room) -> Grid:
    """Arrange many maps: each has its title, and tokens where every one of them can be read."""
    z = room.zoom
    title = max(TITLE * z, QFontMetricsF(face("tiny", z)).ascent() + 3)  # type stops shrinking before maps do
    title = title if TITLE * z >= LEAST_TITLE else 0.0
    grid = _arranged(shape, room, 0.0, 0.0, title)
    if min(grid.cell_width, grid.cell_height) < 10 * z:
        return grid
    label_font = face("caption", z * LABEL_SIZE)
    wide = _widest(rows, label_font) + 8 if room.tokens_down else 0.0
    tall = _widest(columns, label_font) + 8 if room.tokens_across else 0.0
    labelled = _arranged(shape, room, min(wide, 84 * z), min(tall, 64 * z), title)
    return labelled if min(labelled.cell_width, labelled.cell_height) >= 10 * z else grid


def _arranged(
    shape: tuple[int, int, int], room: Room, label_width: float, label_height: float, title_height: float = 0.0
) -> Grid:
    factor = max(room.zoom, room.enlarged)
    width, height = (46 if room.tokens_across else 52) * factor, 30 * factor
    limits = Limits(width, height, label_width, label_height + title_height, title_height)
    count, rows, columns = shape
    return arrange(room.area, rows, columns, count, limits, room.tokens_across, room.ratio)


def _widest(labels: tuple[str, ...], label_font: QFont) -> float:
    """Return the width of the widest of the first labels; a long one counts by its beginning."""
    return _measured(labels[:64], key_of(label_font))


@lru_cache(maxsize=64)
def _measured(labels: tuple[str, ...], key: str) -> float:
    (label_font := QFont()).fromString(key)  # cards have their labels in common, whatever their sizes
    metrics = QFontMetricsF(label_font)
    return max((metrics.horizontalAdvance(label[:40] or "∅") for label in labels), default=0.0)


def foot_height(zoom: float, with_strip: bool) -> float:
    """Return the height of what is below the maps; type stops shrinking before the card does."""
    line = 1.2 * face("tiny", zoom).pixelSize()
    least = BAR_HEIGHT + 2 + line + (STRIP_MIDDLE * zoom + line / 2 if with_strip else 0)
    return max((FOOT + (STRIP if with_strip else 0)) * zoom, least)


def kept_free(grid: Grid, right: float) -> dict[int, float]:
    """Return what titles at the end of a line of maps must leave free of their map, below 0 what they have beyond it.

    ``right`` is where the card ends.
    """
    ends = range(grid.per_row - 1, grid.count, grid.per_row)
    return dict.fromkeys(ends, grid.x + grid.width - right or -1e-9)  # 0 would be nothing said

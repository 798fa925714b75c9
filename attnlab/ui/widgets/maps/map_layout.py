"""The layout of maps in a card: as large as the card allows, with labels and numbers where they are legible."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QFont, QFontMetricsF

from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.text import find_key
from attnlab.ui.base.fonts import face

TITLE, LEAST_TITLE = 12.0, 8.0
"""Height of the titles of heads at zoom 1; below the least size they would be illegible and are left out."""
LABEL_SIZE = 0.92
AROUND_LABEL = 8
"""The pixels between the longest label and the cells, and beyond it."""
NARROW_LABEL = 32.0
NUMBER_CELL = 21.0
"""Cells of this width have room for two decimals."""
SMALL_CELL = 11.0
"""Rows closer than this do not each have room for a label."""


@dataclass(frozen=True, slots=True)
class Room:
    """The space in a card: its ``area`` (x, y, width, height), zoom, how much larger cells may be when it stands alone,
    device pixels per pixel, whether rows and columns are tokens, and how many columns share each column label."""

    area: tuple[float, float, float, float]
    zoom: float
    enlarged: float
    ratio: float
    tokens_down: bool
    tokens_across: bool
    column_group: int = 1
    title_gap: float = 0.0
    """The least space between the title of a map and the map above it, in pixels."""
    bold_rows: bool = False
    """Whether some labels of rows are bold, and so wider."""
    has_own_columns: bool = False
    """Whether the columns of a single map are other tokens than its rows, so that they always need labels."""
    title_width: float = 0.0
    """The width that each of many maps needs for its title, in pixels; narrower maps have no titles."""
    abreast: int = 0
    """How many maps are side by side; 0 for the number that gives the largest cells."""


@lru_cache(maxsize=64)
def fit(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: Room) -> Grid:
    """Return the grid for maps of a shape [n, rows, columns] with these labels; it does not depend on the numbers."""
    return _fit_single(shape, rows, columns, room) if shape[0] == 1 else _fit_multiples(shape, rows, columns, room)


def _fit_single(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: Room) -> Grid:
    """Arrange one map: labels as wide as needed, shortened where that makes room for numbers in the cells."""
    z, (_, _, width, height) = room.zoom, room.area
    label_font = face("caption", z * LABEL_SIZE)
    row_font = QFont(label_font)
    row_font.setBold(room.bold_rows)
    wide = measure_widest(rows, row_font) + AROUND_LABEL if room.tokens_down else 0.0
    wide = min(wide, 84 * max(z, room.enlarged), width * 0.36)
    widest = measure_widest(columns, label_font)
    tall = min(widest + AROUND_LABEL, 52 * max(z, room.enlarged), height * 0.3)
    grid = _arrange(shape, room, wide, tall)
    narrow = _arrange(shape, room, min(wide, NARROW_LABEL * z), tall)
    if grid.cell_width < NUMBER_CELL * z <= narrow.cell_width:
        grid = narrow
    if widest <= room.column_group * grid.cell_width - (2 if room.column_group == 1 else 4):
        labelled = _arrange(shape, room, grid.label_width, 14 * z)
        if room.tokens_across or labelled.cell_height >= SMALL_CELL * z:
            return labelled
    if not room.tokens_across:  # only large cells have column numbers
        return _arrange(shape, room, grid.label_width, 0.0)
    if grid.cell_height < SMALL_CELL * z and not room.has_own_columns:  # the row labels are enough
        return _arrange(shape, room, grid.label_width, 0.0)
    return grid


def _fit_multiples(shape: tuple[int, int, int], rows: tuple[str, ...], columns: tuple[str, ...], room: Room) -> Grid:
    """Arrange many maps: each has its title, and token labels if all of them are legible."""
    z = room.zoom
    title = max(TITLE * z, QFontMetricsF(face("tiny", z)).ascent() + 3)  # fonts have a least size, maps do not
    title = title if TITLE * z >= LEAST_TITLE else 0.0
    title += room.title_gap if title else 0.0
    grid = _arrange(shape, room, 0.0, 0.0, title)
    if min(grid.cell_width, grid.cell_height) < 10 * z:
        is_cut = (grid.columns + grid.gap[1]) * grid.cell_width < room.title_width
        return _arrange(shape, room, 0.0, 0.0) if is_cut else grid  # a part of "11.10" would name another head
    label_font = face("caption", z * LABEL_SIZE)
    wide = measure_widest(rows, label_font) + AROUND_LABEL if room.tokens_down else 0.0
    tall = measure_widest(columns, label_font) + AROUND_LABEL if room.tokens_across else 0.0
    for abreast in (0, grid.per_row):  # the largest cells may be too low for labels
        labelled = _arrange(shape, room, min(wide, 84 * z), min(tall, 64 * z), title, abreast)
        if min(labelled.cell_width, labelled.cell_height) >= 10 * z:
            return labelled
    return grid


def _arrange(
    shape: tuple[int, int, int],
    room: Room,
    label_width: float,
    label_height: float,
    title_height: float = 0.0,
    abreast: int = 0,
) -> Grid:
    factor = max(room.zoom, room.enlarged)
    width, height = (46 if room.tokens_across else 52) * factor, 30 * factor
    limits = Limits(width, height, label_width, label_height + title_height, title_height)
    count, rows, columns = shape
    return arrange(
        room.area, rows, columns, count, limits, room.tokens_across, room.ratio, abreast=abreast or room.abreast
    )


def measure_widest(labels: tuple[str, ...], label_font: QFont) -> float:
    """Return the width of the widest of the first labels; only the beginning of a long one counts."""
    return _measure_labels(labels[:64], find_key(label_font))


@lru_cache(maxsize=64)
def _measure_labels(labels: tuple[str, ...], key: str) -> float:
    (label_font := QFont()).fromString(key)  # cards share their labels, whatever their sizes
    metrics = QFontMetricsF(label_font)
    return max((metrics.horizontalAdvance(label[:40] or "∅") for label in labels), default=0.0)

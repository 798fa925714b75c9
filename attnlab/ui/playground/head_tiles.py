"""The places of the maps on the heads card: a map for each head, and their mean beside them."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF

from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.ui.playground.canvas_lengths import TILES_SHARE, TITLE
from attnlab.ui.playground.card_grid import FEW_MAPS, CardRoom, fit_card, spread_maps
from attnlab.ui.widgets.maps.spoken_maps import MapCell, join_cell, split_cell

TILES_SHARES = tuple(TILES_SHARE - 0.02 * step for step in range(12))
"""Shares of the width for the heads; the first that leaves the mean as large as a head is taken."""
MOST_APART = 0.6
"""In a wide card the maps are at most as far apart as so many maps are wide; all stand in its middle together."""
ALMOST = 1.25
"""A mean whose cells are at most this much larger or smaller than those of heads in one line is level with them."""


@dataclass(frozen=True)
class HeadTiles:
    """The maps with their grids; the cells of all heads are numbered row by row, then those of the mean."""

    heads: MapData
    grid: Grid
    mean: MapData
    mean_grid: Grid

    @property
    def parts(self) -> tuple[tuple[Grid, MapData], tuple[Grid, MapData]]:
        """The maps of the heads and the mean, each with its grid."""
        return (self.grid, self.heads), (self.mean_grid, self.mean)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of maps with the mean, and their rows and columns."""
        count, rows, columns = self.heads.values.shape
        return count + len(self.mean.values), rows, columns

    def count_cells(self) -> int:
        """Return how many cells all maps have."""
        return sum(data.values.size for _, data in self.parts)

    def find_map(self, place: int) -> tuple[Grid, MapData, MapCell, int]:
        """Return the grid and the maps of the cell with a number, the cell in them, and the index of its map."""
        index, row, column = split_cell(self.shape, place)
        if index < len(self.heads.values):
            return self.grid, self.heads, (index, row, column), index
        return self.mean_grid, self.mean, (0, row, column), index

    def find_cell(self, at: QPointF) -> int | None:
        """Return the number of the cell under a point."""
        first = 0
        for grid, data in self.parts:
            if (hit := grid.hit(at.x(), at.y())) is not None:
                return first + join_cell(data.values.shape, hit)
            first += data.values.size
        return None

    def map_rect(self, choice: int | str) -> QRectF:
        """Return the rectangle of the map of a head, or of the mean."""
        grid, index = (self.mean_grid, 0) if choice == "mean" else (self.grid, int(choice))
        return QRectF(*grid.rect(index, None, None))

    def space_above(self, head: int) -> float:
        """Return the height of the column labels above the map of a head; only the first row of maps has them."""
        return self.grid.column_space if head < self.grid.per_row else 0.0


def place_tiles(heads: MapData, mean: MapData, area: QRectF, zoom: float, ratio: float) -> HeadTiles:
    """Place the mean at the right of an area, as large as the area is high, and the heads over the rest of the width.

    The mean has more of the width where it would be smaller than a head. ``ratio`` is the number of device pixels in a
    logical one.
    """

    def fit(data: MapData, within: QRectF, per_line: int = 0) -> Grid:
        rect = (within.x(), within.y(), max(within.width(), 1.0), max(within.height(), 1.0))
        room = CardRoom(rect, zoom, ratio, True, True, numbered=False, per_line=per_line)
        shape = max(per_line, len(data.values)), *data.values.shape[1:]
        return fit_card(shape, tuple(data.row_labels), tuple(data.column_labels), room)

    for share in TILES_SHARES:
        grid = fit(mean, area.adjusted(area.width() * share, TITLE * zoom, 0, 0))
        tiles = fit(heads, _leave_room(grid, area, zoom))
        most = area.width() * (1 - share) - grid.label_width
        if grid.cell_height >= tiles.cell_height:
            break
    if len(heads.values) == FEW_MAPS:
        line = fit(heads, area, FEW_MAPS + 1)
        if line.cell_height >= tiles.cell_height:
            return _share_line(heads, mean, line, area)
    level = tiles.lines == 1 and tiles.column_space > 0 and tiles.columns * tiles.cell_width <= most
    if level and 1 / ALMOST <= grid.cell_height / tiles.cell_height <= ALMOST:
        grid = replace(
            grid, y=tiles.y, cell_width=tiles.cell_width, cell_height=tiles.cell_height, label_height=tiles.column_space
        )
    rest = _leave_room(grid, area, zoom)
    tiles = spread_maps(tiles, rest.right(), MOST_APART)
    spare = max(rest.right() - tiles.x - tiles.width, 0.0)
    apart = min(spare, MOST_APART * tiles.columns * tiles.cell_width)  # the mean from the heads
    aside = float(int((spare - apart) / 2))
    mean_grid = replace(grid, x=float(round(area.right() - grid.width - spare + apart + aside)))
    return HeadTiles(heads, replace(tiles, x=tiles.x + aside), mean, mean_grid)


def _share_line(heads: MapData, mean: MapData, line: Grid, area: QRectF) -> HeadTiles:
    """Return few heads and their mean in a line with cells as wide as on other cards, in the middle of an area."""
    line = replace(line, x=line.x + int(max(area.right() - line.x - line.width, 0.0) / 2))
    last = replace(line, x=line.origin(len(heads.values))[0], count=1, per_row=1, label_width=0.0)
    return HeadTiles(heads, replace(line, count=len(heads.values), per_row=len(heads.values)), mean, last)


def _leave_room(mean: Grid, area: QRectF, zoom: float) -> QRectF:
    """Return the room of the heads beside the mean with its labels."""
    right = area.right() - mean.width - mean.label_width - 16 * zoom
    return QRectF(area.topLeft(), QPointF(right, area.bottom()))

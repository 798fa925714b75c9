"""The maps of a layer's tables side by side or in lines: with one cell size and one size of type."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QMargins, QRect, QRectF, QSize
from PySide6.QtWidgets import QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale
from attnlab.ui.playground.lenses.positions_map import LEAST_WIDTH
from attnlab.ui.playground.lenses.sensitivity_maps import AROUND, COLUMN, MOST_GROWTH, ROW, WIDEST, DerivativeMap
from attnlab.ui.widgets.layouts.items_layout import ItemsLayout
from attnlab.ui.widgets.maps.map_layout import AROUND_LABEL, LABEL_SIZE, Room, fit, measure_widest
from attnlab.ui.widgets.maps.map_widget import choose_longest

LEAST_COLUMNS = 2
"""A title with a power of ten is about as wide as the labels and so many columns."""
GAP, MOST_ABREAST = 8, 4
ENLARGED = 1.6
"""How much larger than usual the cells may be at one size of type."""


@guarded
class TableMap(DerivativeMap):
    """The derivatives of one table; the layout says how large its cells and its type are."""

    def __init__(self, title: str, spoken: str, parent: QWidget | None = None) -> None:
        super().__init__(title, spoken, parent)
        self._growth, self._most = 1.0, (math.inf, math.inf)

    @property
    def zoom(self) -> float:
        return scale() * self._growth

    @property
    def label_width(self) -> float:
        """The width of the labels of the rows in pixels."""
        labels = self._data.row_labels if self._data is not None else ()
        return measure_widest(choose_longest(labels), face("caption", scale() * LABEL_SIZE)) + AROUND_LABEL

    @property
    def cell_width(self) -> float:
        """The width of a cell in pixels; infinite without any."""
        return self._grid.cell_width if self._grid is not None else math.inf

    def fit_cells(self, growth: float, width: float, height: float) -> None:
        """Set how much larger the type is than other text, and the largest cells in pixels."""
        self._growth, self._most = growth, (width, height)
        self._arrange()

    def show_map(self, data: MapData | None) -> None:
        super().show_map(data)
        self.updateGeometry()  # another number of columns takes another width

    def _fit(self, data: MapData, area: QRectF) -> Grid:
        rect, z = (area.x(), area.y(), area.width(), area.height()), self.zoom
        room = Room(rect, z, ENLARGED * z, self.devicePixelRatioF(), True, False)
        grid = fit(data.values.shape, choose_longest(data.row_labels), choose_longest(data.column_labels), room)
        width, height = self._most
        return replace(grid, cell_width=min(grid.cell_width, width), cell_height=min(grid.cell_height, height))


@guarded
class TableLayout(ItemsLayout):
    """Tables with many columns one below the other, then the others in one line or, where they would not be readable,
    in several of about the same number. Cells have one size, unless a table has too many rows or columns for it.
    """

    def __init__(self, maps: Iterable[TableMap], parent: QWidget) -> None:
        super().__init__(parent, QMargins(), GAP)
        for each in maps:
            self.addWidget(each)

    def heightForWidth(self, width: int) -> int:
        heights = self._list_least_heights(self._list_lines(width))
        return sum(heights) + GAP * max(len(heights) - 1, 0)

    def minimumSize(self) -> QSize:
        return QSize(px(LEAST_WIDTH), self.heightForWidth(MOST_ABREAST * px(LEAST_WIDTH + GAP)))

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        lines = self._list_lines(rect.width())
        if not lines:
            return
        labels, counts = _measure_places(lines)
        cell = (rect.width() - GAP * (len(counts) - 1) - sum(labels)) / sum(counts) if counts else math.inf
        if any(line[0].is_wide for line in lines):
            cell = min(cell, rect.width() * COLUMN / WIDEST)
        least, around = self._list_least_heights(lines), px(AROUND)
        room = rect.height() - GAP * (len(lines) - 1)
        growth = min(max(cell / px(COLUMN), 1.0), max(room / sum(least), 1.0), MOST_GROWTH)
        tallest = max(growth, min(ENLARGED * growth, cell / px(ROW)))  # no cells like bars
        rows = (room - len(lines) * growth * around) / sum(each - around for each in least)
        rows = min(max(rows, 1.0), tallest)
        cell = min(cell, ENLARGED * rows * px(ROW))
        top = float(rect.y())
        for line, height in zip(lines, least, strict=True):
            high, left = growth * around + rows * (height - around), float(rect.x())
            for place, each in enumerate(line):
                width = rect.width() if each.is_wide else labels[place] + cell * counts[place]
                each.setGeometry(QRectF(left, top, width, high).toRect())
                left += width + GAP
            top += high + GAP
        _give_one_size([each for line in lines for each in line], growth, cell, rows * px(ROW))

    def _list_lines(self, width: int) -> list[list[TableMap]]:
        """Return the tables in each line."""
        shown = [each for item in self._items if isinstance(each := item.widget(), TableMap) and not each.isHidden()]
        wide, others = [each for each in shown if each.is_wide], [each for each in shown if not each.is_wide]
        abreast = choose_abreast(len(others), width)
        return [[each] for each in wide] + [others[i : i + abreast] for i in range(0, len(others), abreast)]

    def _list_least_heights(self, lines: Sequence[Sequence[TableMap]]) -> list[int]:
        return [max(each.minimumHeight() for each in line) for line in lines]


def lay_out_tables(maps: Iterable[TableMap]) -> QWidget:
    """Return a widget with the maps in a TableLayout."""
    widget = QWidget()
    TableLayout(maps, widget)
    return widget


def choose_abreast(count: int, width: float) -> int:
    """Return how many of ``count`` maps stand side by side in a width, so that the lines are about equally long."""
    fitting = min(max(int((width + GAP) // (px(LEAST_WIDTH) + GAP)), 1), MOST_ABREAST)
    return -(-count // -(-count // fitting)) if count else 1


def _measure_places(lines: Sequence[Sequence[TableMap]]) -> tuple[list[float], list[int]]:
    """Return the width of the labels and the number of columns at each place of a line: the largest there.

    Tables that have a line for themselves do not count.
    """
    beside = [line for line in lines if not line[0].is_wide]
    places = [
        [line[place] for line in beside if place < len(line)] for place in range(max(map(len, beside), default=0))
    ]
    labels = [max(each.label_width for each in maps) for maps in places]
    return labels, [max(LEAST_COLUMNS, *(each.shape()[2] for each in maps)) for maps in places]


def _give_one_size(maps: Sequence[TableMap], growth: float, width: float, height: float) -> None:
    """Give cells at most a width and a height, and all the width of the narrowest but for tables alone in a line."""
    for each in maps:
        each.fit_cells(growth, width, height)
    narrowest = min((each.cell_width for each in maps if not each.is_wide), default=width)
    for each in maps:
        each.fit_cells(growth, narrowest, height)

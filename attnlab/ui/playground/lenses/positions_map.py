"""One map of the positions explorer: its title, labels or indices, numbers if they fit, and a colour bar."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from weakref import WeakSet

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from attnlab.figures.cell_numbers import count_decimals, draw_numbers, write_cell_text
from attnlab.figures.colour_bar import draw_colour_bar
from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import draw_labels, draw_titles
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.subscripts import draw_text
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, px, scale
from attnlab.ui.widgets.maps.map_layout import LABEL_SIZE, Room, fit
from attnlab.ui.widgets.maps.map_widget import MapWidget, choose_longest
from attnlab.ui.widgets.maps.spoken_maps import are_tokens, describe_value, name_cell, split_cell

BAR = 32
"""Height of the colour bar below a map, with the space above it."""
LEAST_BAR = 64
"""Width of a colour bar, at 100 %, that has room for both ends."""
LEAST_WIDTH = 128
"""From this number of pixels, at 100 %, labels and cells of a map are readable."""
AIR = 3
"""The pixels that three decimals leave free in a cell beyond those that two leave free."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@guarded
class MapFigure(MapWidget):
    """One map, or one per head, with labels, numbers if they fit, and a colour bar; a tool tip gives each number.

    ``tokens``: rows and columns are square and each has a label; otherwise some are numbered, under the axis titles
    ``names``.
    """

    plain_arrows = True
    least_height = 160
    """The least height of the map with its labels and its colour bar, in pixels at 100 %."""
    is_wide = False
    """Whether cells may be much higher than wide, as there are many columns, which then have no labels."""

    def __init__(self, title: str = "", names: tuple[str, str] = ("", ""), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._names, self._spoken = title, names, title
        self._alike: WeakSet[MapFigure] = WeakSet()
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @property
    def tokens(self) -> bool:
        """Whether rows and columns are tokens, or few enough to be labelled one by one."""
        return not any(self._names)

    @property
    def heading(self) -> str:
        """The title with the power of ten of the numbers and of the colour bar; "" for neither."""
        return f"{self._title}  {self._data.power}".strip() if self._data is not None else self._title

    @property
    def zoom(self) -> float:
        """The size of the type and the cells; 1 is that of other text at 100 %."""
        return scale()

    def number_like(self, alike: "WeakSet[MapFigure]") -> None:
        """Write numbers with as few decimals as the shown map among ``alike`` with the least room."""
        self._alike = alike
        self.update()

    def count_decimals(self) -> int | None:
        """Return how many decimals have room here; None without numbers of at least two decimals."""
        if self._data is None or self._grid is None or not self.isVisibleTo(self.window()):
            return None
        count = count_decimals(self._grid, self._data, *self._number_faces())
        if count != 2:
            return count
        airy = replace(self._grid, cell_width=self._grid.cell_width - AIR)
        return count_decimals(airy, self._data, *self._number_faces(), most=3) or 2

    def _number_faces(self) -> tuple[QFont, ...]:
        return tuple(face(role, self.zoom) for role in ("number", "cell", "tiny"))

    def say_state(self, state: str) -> None:
        """Tell a screen reader which state the map shows, where several maps have one title."""
        self._spoken = f"{self._title}, {state}"
        self.setAccessibleName(self._spoken)

    def restyle(self) -> None:
        self.setMinimumSize(px(112), px(self.least_height))
        super().restyle()

    def show_map(self, data: MapData | None) -> None:
        """Show another map, or none."""
        self._data = data
        if data is not None:
            _, rows, columns = data.values.shape
            self.setAccessibleDescription(f"{rows} by {columns}")
        self._arrange()

    def name_cell(self, place: int) -> str:
        assert self._data is not None
        cell = split_cell(self.shape(), place)
        if self.tokens:
            title = self._spoken or self.spoken_title
            tokens = are_tokens(self._data.row_labels), are_tokens(self._data.column_labels)
            return name_cell(self._data, cell, title, self.title_of(cell[0]), tokens=tokens)
        down, across = self._names
        where = f"{down} {cell[1]}, {across} {cell[2]}"
        return ", ".join(filter(None, (self._spoken or self.spoken_title, where, describe_value(self._data, cell))))

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Return the rectangle of a cell, in pixels."""
        assert self._grid is not None
        return QRectF(*self._grid.rect(0, row, column))

    def cell_text(self, cell: tuple[int, int, int]) -> str:
        """Return a cell's row, column and number; "" where nothing is shown."""
        if self._data is None:
            return ""
        index, row, column = cell
        data, (down, across) = self._data, self._names
        value = data.values[index, row, column]
        number = f"{value:.6g}".replace("-", "−") if np.isfinite(value) else write_cell_text(float(value), 4)
        if self.tokens:
            which = f"{data.titles[index]}, " if len(data.titles) > 1 else ""
            return f"{which}{data.row_labels[row] or '∅'} → {data.column_labels[column] or '∅'}: {number}"
        return f"{down} {row}, {across} {column}: {number}"

    def _arrange(self) -> None:
        if self._data is not None and not self.size().isEmpty():
            z = self.zoom
            top = 24 * z if self.heading else 0.0
            area = QRectF(self.rect()).adjusted(0, top, 0, -BAR * z)
            self._grid = self._fit(self._data, area) if self.tokens else self._count_fit(self._data, area)
        self.update()
        for each in self._alike:
            each.update()

    def _fit(self, data: MapData, area: QRectF) -> Grid:
        rect, z = (area.x(), area.y(), area.width(), area.height()), self.zoom
        room = Room(rect, z, 1.6 * z, self.devicePixelRatioF(), True, not self.is_wide)
        return fit(data.values.shape, choose_longest(data.row_labels), choose_longest(data.column_labels), room)

    def _count_fit(self, data: MapData, area: QRectF) -> Grid:
        z, (_, rows, columns) = self.zoom, data.values.shape
        metrics = QFontMetricsF(face("caption", z * LABEL_SIZE))
        limits = Limits(52 * z, 30 * z, metrics.horizontalAdvance(str(rows)) + 8, metrics.height() + 4)
        rect = (area.x(), area.y(), area.width(), area.height())
        grid = arrange(rect, rows, columns, 1, limits, False, self.devicePixelRatioF())
        if grid.cell_width >= 3:  # whole pixels would leave a fifth of the width empty
            grid = replace(grid, cell_width=min((area.width() - limits.label_width) / columns, limits.cell_width))
        return grid

    def _paint_counts(self, painter: QPainter, grid: Grid) -> None:
        """Write the index of about every tenth row and column."""
        pen = Pen(painter, face("caption", self.zoom * LABEL_SIZE))
        painter.setPen(QColor(self._palette.muted))
        high, wide = 14 * self.zoom, pen.width(str(grid.columns)) + 8
        for row in range(0, grid.rows, _step(high / grid.cell_height)):
            pen.draw(grid.x - 6, grid.y + (row + 0.5) * grid.cell_height, str(row), 1.0)
        for column in range(0, grid.columns, _step(wide / grid.cell_width)):
            pen.draw(grid.x + (column + 0.5) * grid.cell_width, grid.y - 4, str(column), 0.5, 1.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, z, data, grid = QPainter(self), self.zoom, self._data, self._grid
        painter.setPen(QColor(self._palette.muted))
        caption = face("caption", z)
        if self.heading:
            draw_text(painter, 0, 8 * z, Pen(painter, caption).elide(self.heading, self.width()), caption)
        if data is not None and grid is not None:
            draw_cells(painter, grid, data, self._palette)
            self._paint_numbers(painter, grid, data)
            small = face("caption", z * LABEL_SIZE)
            if self.tokens:
                draw_labels(painter, grid, data, self._palette, small, (None, None))
                draw_titles(painter, grid, data, self._palette, face("tiny", z))
            else:
                self._paint_counts(painter, grid)
            self._paint_foot(painter, grid, data)
            if self._walked is not None and self._pointed == self._walked:
                draw_outlines(painter, grid, [Outline(*self._walked, self._palette.ink, 1.5)])
            if self.hasFocus() and self._ringed:
                cells = QRectF(grid.x, grid.y, grid.width, grid.height).adjusted(-4, -4, 4, 4)
                draw_focus_ring(painter, cells & QRectF(self.rect()).adjusted(1, 1, -1, -1), self._palette, 4)
        painter.end()

    def _paint_numbers(self, painter: QPainter, grid: Grid, data: MapData) -> None:
        alike = [each for each in self._alike if each.data is None or not each.data.exponent]  # powers have two
        counts = [count for each in alike or (self,) if (count := each.count_decimals()) is not None]
        draw_numbers(painter, grid, data, self._palette, *self._number_faces(), decimals=min(counts, default=None))

    def _paint_foot(self, painter: QPainter, grid: Grid, data: MapData) -> None:
        """Paint what the colours mean, below the map."""
        z = self.zoom
        width = min(max(grid.width, LEAST_BAR * z), 160 * z, self.width() - grid.x)
        bar = QRectF(grid.x, grid.y + grid.height + 12 * z, width, 16 * z)
        draw_colour_bar(painter, bar, data, self._palette, face("caption", z * LABEL_SIZE))


@guarded
class MapRow(QWidget):
    """Maps in one row, in two, or one below the other: as many side by side, up to four, as stay readable."""

    def __init__(self, figures: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._figures, self._abreast = tuple(figures), 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._place(len(figures))

    def _place(self, abreast: int) -> None:
        if abreast == self._abreast:
            return
        self._abreast = abreast
        for place, figure in enumerate(self._figures):
            self._grid.addWidget(figure, *divmod(place, abreast))
            self._grid.setColumnStretch(place, int(place < abreast))
            self._grid.setRowStretch(place, int(place * abreast < len(self._figures)))

    def minimumSizeHint(self) -> QSize:
        # one map has to fit, or the row would never be resized below the width of four
        return QSize(self._figures[0].minimumWidth(), self._grid.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        fitting = (event.size().width() + self._grid.spacing()) // (px(LEAST_WIDTH) + self._grid.spacing())
        self._place(next(abreast for abreast in (4, 2, 1) if abreast <= max(fitting, 1)))


def number_alike(maps: Iterable[MapFigure]) -> None:
    """Give the numbers of maps that are read together the same number of decimals: what fits the one with the least
    room.
    """
    alike = WeakSet(maps)
    for each in alike:
        each.number_like(alike)


def _step(least: float) -> int:
    """Return the next round number of rows."""
    return next((step for step in STEPS if step >= least), STEPS[-1])

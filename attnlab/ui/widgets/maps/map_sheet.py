"""Maps on a sheet of their own, with labels and a colour bar; emits the cell under the pointer and clicked maps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from attnlab.figures.cell_numbers import draw_numbers
from attnlab.figures.colour_bar import draw_colour_bar
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import draw_labels, draw_titles, measure_titles
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, scale
from attnlab.ui.widgets.maps.map_layout import LABEL_SIZE, Room, fit
from attnlab.ui.widgets.maps.map_widget import MapCell, MapWidget, choose_longest, describe_cell

MARGIN = 20
ENLARGED = 2.0
"""The greatest size of these cells relative to those on a card."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """The names of the lines and columns in which many maps are arranged, such as layers and heads."""

    lines: tuple[str, ...]
    columns: tuple[str, ...]


@guarded
class MapSheet(MapWidget):
    """Shows maps [n, rows, columns]; a cell is (map, row, column)."""

    map_clicked = Signal(int)
    title_gap = 0.0
    """The least space between the title of a map and the map above it, in pixels at 100 %."""
    title_space = 2.0
    """The space below a title, in pixels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lattice: Lattice | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("ground", "surface")

    @property
    def zoom(self) -> float:
        """The size of the type and the cells; 1 is that of other text at 100 %."""
        return scale()

    @property
    def grid(self) -> Grid | None:
        """The layout of their cells."""
        return self._grid

    def show_maps(self, data: MapData, lattice: Lattice | None = None) -> None:
        """Show other maps, in the lines and columns of the lattice, or as they fit best."""
        self._data, self._lattice, self._pointed = data, lattice, None
        if self.current_cell is None:
            self._walked = None
        elif self.hasFocus():
            self._pointed = self._walked
        self._arrange()

    def title_of(self, index: int) -> str:
        if self._lattice is None:
            return super().title_of(index)
        line, column = divmod(index, len(self._lattice.columns))
        return f"{self._lattice.lines[line]}, {self._lattice.columns[column]}"

    def cell_rect(self, index: int, row: int, column: int) -> QRectF:
        """Return the rectangle of a cell, in pixels."""
        assert self._grid is not None
        return QRectF(*self._grid.rect(index, row, column))

    def cell_text(self, cell: MapCell) -> str:
        """Return the names of a cell's row and column and its number with all its digits."""
        assert self._data is not None
        return describe_cell(self._data, cell)

    def _arrange(self) -> None:
        if self._data is not None and not self.size().isEmpty():
            area = self._area()
            grid = self._fit(area) if self._lattice is None else self._fit_lattice(area, self._lattice)
            lefts = grid.x - grid.label_width + max(area.right() - grid.x - grid.width, 0) / 2
            self._grid = replace(grid, x=float(round(lefts + grid.label_width)))
        super()._arrange()

    def _area(self) -> QRectF:
        z = self.zoom
        return QRectF(self.rect()).adjusted(MARGIN * z, (MARGIN - 4) * z, -MARGIN * z, -(MARGIN + 28) * z)

    def _fit(self, area: QRectF, abreast: int = 0) -> Grid:
        assert self._data is not None
        rect = (area.x(), area.y(), area.width(), area.height())
        z, ratio = self.zoom, self.devicePixelRatioF()
        room = Room(
            rect,
            z,
            ENLARGED * z,
            ratio,
            True,
            True,
            title_gap=self.title_gap * z,
            bold_rows=bool(self._data.bold_rows),
            has_own_columns=self._data.row_labels != self._data.column_labels,
            title_width=measure_titles(self._data.titles, face("tiny", z)),
            abreast=abreast,
        )
        count, rows, columns = self._data.values.shape
        labels = choose_longest(self._data.row_labels), choose_longest(self._data.column_labels)
        return fit((count, rows, columns), *labels, room)

    def _fit_lattice(self, area: QRectF, lattice: Lattice) -> Grid:
        """Arrange one line of maps for each line's name; there is no room for tokens beside so many."""
        assert self._data is not None
        _, rows, columns = self._data.values.shape
        lines, per_row = len(lattice.lines), len(lattice.columns)
        metrics = QFontMetricsF(face("caption", self.zoom * LABEL_SIZE))
        left, top = max(map(metrics.horizontalAdvance, lattice.lines)) + 8, 16 * self.zoom
        gap = max(2, round(rows / 8)), max(2, round(columns / 8))
        width = (area.width() - left) / (per_row * (columns + gap[1]) - gap[1])
        height = (area.height() - top) / (lines * (rows + gap[0]) - gap[0])
        width, height = min(width, height * 1.6, 30 * self.zoom), min(height, width * 1.25, 30 * self.zoom)
        if min(width, height) >= 3:
            width, height = float(int(width)), float(int(height))
        x, y = round(area.x() + left), round(area.y() + top)
        return Grid(x, y, width, height, rows, columns, lines * per_row, per_row, gap, left, top, top)

    def _draw_static(self, data: MapData, grid: Grid) -> QPixmap:
        """Return a picture of the static parts, so that pointing need not redraw thousands of cells."""
        z, picture = self.zoom, self._make_picture(self._palette.surface)
        painter = QPainter(picture)
        draw_cells(painter, grid, data, self._palette)
        draw_numbers(painter, grid, data, self._palette, *(face(role, z) for role in ("number", "cell", "tiny")))
        if self._lattice is None:
            draw_titles(painter, grid, data, self._palette, face("tiny", z), space=self.title_space)
        else:
            draw_outlines(painter, grid, [Outline(None, None, None, self._palette.hairline, 1.0)])
            self._draw_names(painter, grid, self._lattice)
        draw_colour_bar(painter, self.place_bar(grid), data, self._palette, face("caption", z * LABEL_SIZE))
        painter.end()
        return picture

    def place_bar(self, grid: Grid) -> QRectF:
        """Return the rectangle of the colour bar and the numbers below it, in pixels."""
        z = self.zoom
        width = min(max(grid.width, 120 * z), self.width() - grid.x - MARGIN * z)
        return QRectF(grid.x, min(grid.y + grid.height + 16 * z, self.height() - 28 * z), width, 16 * z)

    def _draw_names(self, painter: QPainter, grid: Grid, lattice: Lattice) -> None:
        pen = Pen(painter, face("caption", self.zoom * LABEL_SIZE))
        painter.setPen(QColor(self._palette.muted))
        down, across = (grid.rows + grid.gap[0]) * grid.cell_height, (grid.columns + grid.gap[1]) * grid.cell_width
        for line in _choose_apart(len(lattice.lines), down, 12 * self.zoom):
            _, y = grid.origin(line * grid.per_row)
            pen.draw(grid.x - 8, y + grid.rows * grid.cell_height / 2, lattice.lines[line], 1.0)
        names: Sequence[str] = lattice.columns
        if max(map(pen.width, names)) > across:
            names = [name.split(" ")[-1] for name in names]  # "head 12" as 12
        for place in _choose_apart(len(names), across, max(map(pen.width, names)) + 4):
            x, _ = grid.origin(place)
            pen.draw(x + grid.columns * grid.cell_width / 2, grid.y - 4, names[place], 0.5, 1.0)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.map_clicked.emit(cell[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._walked is not None:
            self.map_clicked.emit(self._walked[0])
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        data, grid = self._data, self._grid
        if data is None or grid is None:
            painter.fillRect(self.rect(), QColor(self._palette.surface))
            return
        if self._still is None:
            self._still = self._draw_static(data, grid)
        painter.drawPixmap(0, 0, self._still)
        strong = self._pointed[1:] if self._pointed is not None else (None, None)
        if self._lattice is None:
            draw_labels(painter, grid, data, self._palette, face("caption", self.zoom * LABEL_SIZE), strong)
        if self._pointed is not None:
            draw_outlines(painter, grid, [Outline(*self._pointed, self._palette.ink, 1.5)])
        if self.hasFocus() and self._ringed:
            draw_focus_ring(painter, QRectF(self.rect()).adjusted(2, 2, -2, -2), self._palette, 8)
        painter.end()


def _choose_apart(count: int, step: float, least: float) -> range:
    """Return which of ``count`` names, ``step`` px apart, to draw so that they are at least ``least`` px apart."""
    return range(0, count, max(1, int(np.ceil(least / step))))

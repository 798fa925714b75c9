"""Base of widgets that paint maps: the cell under the pointer, the layout of cells, and the text about each."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData, write_cell_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.maps.drawn import Drawn

MapCell = tuple[int, int, int]
"""A map, and a row and a column of it."""


@guarded
class PointedMaps(Drawn):
    """Emits the cell under the pointer, if the mouse is tracked."""

    cell_pointed = Signal(object)
    """Emitted with the MapCell under the pointer, or None, when it changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pointed: MapCell | None = None

    def cell_at(self, at: QPointF) -> MapCell | None:
        """Return the map, row and column at a point."""
        raise NotImplementedError

    def cell_text(self, cell: MapCell) -> str:
        """Return the names of a cell's row and column, and its number."""
        raise NotImplementedError

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point: row, column and number, "" outside."""
        cell = self.cell_at(at)
        return self.cell_text(cell) if cell is not None else ""

    def _point_at(self, cell: MapCell | None) -> None:
        if cell != self._pointed:
            self._pointed = cell
            self.cell_pointed.emit(cell)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)


class MapWidget(PointedMaps):
    """Shows maps [n, rows, columns] in one grid."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data: MapData | None = None
        self._grid: Grid | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def data(self) -> MapData | None:
        """The maps shown."""
        return self._data

    def cell_at(self, at: QPointF) -> MapCell | None:
        """Return the map, row and column under a point."""
        return self._grid.hit(at.x(), at.y()) if self._grid is not None else None


def describe_cell(data: MapData, cell: MapCell) -> str:
    """Return the names of a cell's row and column, and its number with all its digits, or that it is masked."""
    index, row, column = cell
    pair = f"{data.row_labels[row] or '∅'} → {data.column_labels[column] or '∅'}"
    if data.masked is not None and data.masked[row, column]:
        return f"{pair}: masked"
    value = data.values[index, row, column]
    return f"{pair}: {str(value).replace('-', '−') if np.isfinite(value) else write_cell_text(float(value), 4)}"


def choose_longest(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that may be the widest; the layout needs no others."""
    return tuple(sorted(labels, key=len, reverse=True)[:64])

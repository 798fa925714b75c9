"""Base of widgets that paint maps: the cell under the pointer, the layout of cells, and the text about each."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.cell_numbers import write_cell_text
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.maps.drawn import Drawn
from attnlab.ui.widgets.maps.spoken_maps import MapCell, join_cell, move_cell, name_cell, split_cell

__all__ = ["MapCell"]


@guarded
class PointedMaps(HasCells, Drawn):
    """Emits the cell under the pointer, if the mouse is tracked, or that the keys have walked to.

    Ctrl and the arrow keys walk; with ``plain_arrows`` the arrow keys alone do, too.
    """

    plain_arrows = False

    cell_pointed = Signal(object)
    """Emitted with the MapCell under the pointer, or None, when it changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pointed: MapCell | None = None
        self._walked: MapCell | None = None
        self._ringed = False

    def shape(self) -> tuple[int, int, int]:
        """Return the number of maps, and their rows and columns."""
        raise NotImplementedError

    def take_focus(self, *, by_key: bool) -> None:
        """Move the keyboard here; ``by_key`` draws the focus, as after Tab."""
        self.setFocus()
        self._ringed = by_key
        self.update()

    @property
    def ringed(self) -> bool:
        """Whether the keyboard came here by Tab or another key: then the focus is drawn."""
        return self._ringed

    @property
    def current_cell(self) -> int | None:
        shape = self.shape()
        inside = self._walked is not None and all(at < most for at, most in zip(self._walked, shape, strict=True))
        return join_cell(shape, self._walked) if inside and self._walked is not None else None

    def walk_to(self, cell: MapCell | None) -> None:
        """Move the keyboard to a cell, which is pointed at, or to none."""
        self._walked = cell
        self._ringed = self._ringed or cell is not None
        self._point_at(cell)
        self.tell_cell()

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
        self._point_at(self._walked if self.hasFocus() and self.current_cell is not None else None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._ringed = event.reason() in _BY_KEYBOARD
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._walked is not None and not self.underMouse():
            self._point_at(None)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        start = self._walked if self.current_cell is not None else None
        walked = move_cell(event, start, self.shape(), plain=self.plain_arrows)
        if walked is not None:
            self.walk_to(walked)
        else:
            super().keyPressEvent(event)


_BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class MapWidget(PointedMaps):
    """Shows maps [n, rows, columns] in one grid.

    ``spoken_title`` is what they are: the first words of each cell's name for screen readers.
    """

    spoken_title = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data: MapData | None = None
        self._grid: Grid | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def data(self) -> MapData | None:
        """The maps shown."""
        return self._data

    def shape(self) -> tuple[int, int, int]:
        return self._data.values.shape if self._data is not None else (0, 0, 0)

    def count_cells(self) -> int:
        return int(self._data.values.size) if self._data is not None else 0

    def name_cell(self, place: int) -> str:
        assert self._data is not None
        cell = split_cell(self.shape(), place)
        return name_cell(self._data, cell, self.spoken_title, self.title_of(cell[0]))

    def title_of(self, index: int) -> str:
        """Return the title of a map, "" for the only one."""
        titles = self._data.titles if self._data is not None and len(self._data.values) > 1 else ()
        return titles[index] if index < len(titles) else ""

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(*self._grid.rect(*split_cell(self.shape(), place))) if self._grid is not None else QRectF()

    def find_cell(self, at: QPointF) -> int | None:
        cell = self.cell_at(at)
        return join_cell(self.shape(), cell) if cell is not None else None

    def cell_at(self, at: QPointF) -> MapCell | None:
        """Return the map, row and column under a point."""
        return self._grid.hit(at.x(), at.y()) if self._grid is not None else None


def describe_cell(data: MapData, cell: MapCell) -> str:
    """Return the names of a cell's row and column, and its number with all its digits, or that it is masked."""
    index, row, column = cell
    pair = f"{data.row_labels[row] or '∅'} → {data.column_labels[column] or '∅'}"
    masked = data.find_masked(index)
    if masked is not None and masked[row, column]:
        return f"{pair}: masked"
    value = data.values[index, row, column]
    return f"{pair}: {str(value).replace('-', '−') if np.isfinite(value) else write_cell_text(float(value), 4)}"


def choose_longest(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that may be the widest; the layout needs no others."""
    return tuple(sorted(labels, key=len, reverse=True)[:64])

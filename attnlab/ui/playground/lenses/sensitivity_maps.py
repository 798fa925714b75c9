"""The maps of the sensitivity lens: derivatives as signed cells that can be pointed at and chosen."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.figures.stage_data import choose_exponent
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale
from attnlab.ui.playground.lenses.positions_map import MapFigure

AROUND, ROW, LEAST, MOST_HEIGHT = 84, 30, 150, 420
"""Pixels at 100 %: the title, labels and colour bar of a map, one of its rows, and the ends of its height."""
WIDE, LOW_ROW = 16, 12
"""A map of more columns than this, and than twice its rows, has no room beside others, and low rows."""
LABELS, COLUMN, WIDEST, MOST_GROWTH = 60, 60, 420, 2.0
"""The width of a map's labels and of a column, and the largest of both together, in pixels at 100 %. A map that is
wider, and higher than it must be, grows with its type, at most so much."""
_ANY_HEIGHT = 16_777_215
"""Qt's limit where a widget has no other, in pixels."""
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def is_wide(rows: int, columns: int) -> bool:
    """Return whether a table has too many columns to be legible beside others."""
    return columns > max(WIDE, 2 * rows)


@guarded
class DerivativeMap(MapFigure):
    """Derivatives [n, rows, columns]; a click, or Enter on a cell that the arrow keys walked to, chooses it."""

    cell_chosen = Signal(object)
    """Emitted with the MapCell."""
    leaves_height = False
    """Whether the map is no higher than its width lets it grow, because another map can use the height."""

    def __init__(self, title: str, spoken: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self.spoken_title = spoken
        self.setAccessibleName(spoken[:1].upper() + spoken[1:])
        self.setMouseTracking(True)

    @property
    def zoom(self) -> float:
        growth = min(self._growth_in_width(self._count_columns()), self.height() / max(self.minimumHeight(), 1))
        return scale() * max(growth, 1.0)

    def _count_columns(self) -> int:
        return self.shape()[2] if self.data is not None else 0

    def _growth_in_width(self, columns: int) -> float:
        """Return how much larger the type may be for the width."""
        usual = px(min(LABELS + COLUMN * columns, WIDEST))
        return min(max(self.width() / usual, 1.0), MOST_GROWTH)

    def set_title(self, title: str) -> None:
        """Set the title above the map, "" for none."""
        self._title = title

    def show_derivatives(
        self,
        values: "np.ndarray[tuple[int, ...], np.dtype[np.floating]]",
        rows: Sequence[str],
        columns: Sequence[str],
        masked: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]] | None" = None,
    ) -> None:
        """Show derivatives on a signed scale, as high as their rows need; small ones in a power of ten."""
        titles = [str(head) for head in range(len(values))] if len(values) > 1 else []
        scale, exponent = find_scale(values, "signed"), choose_exponent(values)
        data = MapData(values, "signed", scale, masked, rows, columns, titles, exponent=exponent)
        self.is_wide = is_wide(*values.shape[1:])
        self.fit_height(*values.shape[1:])
        self.show_map(data)

    def restyle(self) -> None:
        super().restyle()
        if self._data is not None:
            self.fit_height(*self._data.values.shape[1:])

    def fit_height(self, rows: int, columns: int) -> None:
        """Set the least height for a table of a size, and the most."""
        row = LOW_ROW if is_wide(rows, columns) else ROW
        self.setMinimumHeight(px(max(min(AROUND + rows * row, MOST_HEIGHT), LEAST)))
        self._limit_height(columns)

    def _limit_height(self, columns: int) -> None:
        most = round(self.minimumHeight() * self._growth_in_width(columns)) if self.leaves_height else _ANY_HEIGHT
        self.setMaximumHeight(most)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._limit_height(self._count_columns())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and cell is not None:
            self.cell_chosen.emit(cell)
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _CHOOSING and self.current_cell is not None:
            self.cell_chosen.emit(self._walked)
        else:
            super().keyPressEvent(event)

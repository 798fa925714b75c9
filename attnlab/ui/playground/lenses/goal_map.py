"""The map of weights in the goal lens: a click holds a weight, a drag up or down says what it should be."""

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_painter import draw_outlines
from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.lenses.sensitivity_maps import DerivativeMap
from attnlab.ui.playground.weight_drag import WeightDrag


@guarded
class GoalMap(DerivativeMap):
    """Weights [1, T_q, T_k] of one head; the cells with a goal are outlined."""

    cell_dragged = Signal(object, float)
    """Emitted with the MapCell and its wanted weight while it is dragged."""
    cell_dropped = Signal()
    """Emitted when the drag ends."""

    def __init__(self, title: str, spoken: str, parent: QWidget | None = None) -> None:
        super().__init__(title, spoken, parent)
        self._marks: list[tuple[int, int]] = []
        self._pressed: tuple[tuple[int, int, int], WeightDrag] | None = None
        self.setToolTip("")

    def show_weights(self, data: MapData, marks: list[tuple[int, int]]) -> None:
        """Show weights, and outline the rows and columns ``marks``."""
        self._marks = marks
        self.fit_height(*data.values.shape[1:])
        self.show_map(data)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and cell is not None and self._data is not None:
            value = float(np.nan_to_num(self._data.values[cell]))
            self._pressed = cell, WeightDrag(event.position(), value, signed=self._data.kind == "signed")
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._pressed is None:
            return
        cell, drag = self._pressed
        if (wanted := drag.move(event.position())) is not None:
            self.cell_dragged.emit(cell, wanted)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        if pressed is not None and pressed[1].wanted is not None:
            self.cell_dropped.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._grid is not None and self._data is not None and self._marks:
            painter = QPainter(self)
            ink = self._palette.ink
            draw_outlines(painter, self._grid, [Outline(0, row, column, ink, 2.0) for row, column in self._marks])
            painter.end()

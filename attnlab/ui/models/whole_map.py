"""The whole map of a long text, small, and one row of it: both choose the part that is shown large."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.map_data import MapData
from attnlab.figures.text import Pen
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.models.map_window import Window
from attnlab.ui.models.model_values import Floats
from attnlab.ui.widgets.maps.drawn import Drawn
from attnlab.ui.widgets.maps.map_sheet import Lattice, MapSheet


@guarded
class WholeMap(MapSheet):
    """The whole map of a long text, small; a frame marks what is shown large, and follows the mouse."""

    moved = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._window = Window()
        self.setAccessibleName("Whole map")
        self.setToolTip("Click or drag to choose what is shown large")

    def title_of(self, index: int) -> str:
        return "whole map"

    def show_window(self, window: Window) -> None:
        """Draw the frame around another part."""
        self._window = window
        self.update()

    def _take(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.buttons() & Qt.MouseButton.LeftButton:
            self.moved.emit(cell[1], cell[2])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._take(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._take(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Do nothing: the frame moved when the button was pressed."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.grid is None or self.data is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first = QRectF(*self.grid.rect(0, self._window.query, self._window.key))
        last = QRectF(*self.grid.rect(0, self._window.last_query, self._window.last_key))
        painter.setPen(QPen(QColor(self._palette.accent), 2))
        painter.drawRoundedRect(first.united(last), 2, 2)
        painter.end()

    def show_whole(self, data: MapData, window: Window) -> None:
        """Show a map, with a frame around a part."""
        self.show_maps(replace(data, has_numbers=False), Lattice(("",), ("whole map",)))
        self.show_window(window)


@guarded
class RowProfile(HasCells, Drawn):
    """The weights of one query on all keys, as lines on a square-root scale; emits the key that is clicked."""

    key_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._weights: Floats = np.zeros(0)
        self._keys: Sequence[str] = ()
        self._muted: frozenset[int] = frozenset()
        self._first, self._last, self._cursor = 0, 0, 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Row over the whole text")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_row(self, weights: Floats, keys: Sequence[str], muted: Sequence[int], first: int, last: int) -> None:
        """Show the weights [T_k] of a query; keys ``first`` to ``last`` are those shown large."""
        self._weights, self._keys, self._muted = weights, keys, frozenset(muted)
        self._first, self._last = first, last
        self._cursor = min(self._cursor, max(len(keys) - 1, 0))
        self.setFixedHeight(self.sizeHint().height())
        self._arrange()

    def sizeHint(self) -> QSize:
        return QSize(px(200), px(74))

    def count_cells(self) -> int:
        return len(self._keys)

    def name_cell(self, place: int) -> str:
        return f"{self._keys[place].strip()}, token {place}, {self._weights[place]:.4f}"

    def locate_cell(self, place: int) -> QRectF:
        step = self.width() / max(len(self._keys), 1)
        return QRectF(place * step, 0, step, self.height() - px(16))

    def find_cell(self, at: QPointF) -> int | None:
        place = int(at.x() * len(self._keys) // max(self.width(), 1))
        return place if 0 <= place < len(self._keys) else None

    @property
    def current_cell(self) -> int | None:
        return self._cursor if len(self._keys) else None

    def tool_tip(self, at: QPointF) -> str:
        place = self.find_cell(at)
        return self.name_cell(place) if place is not None else ""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = self.find_cell(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self._cursor = place
            self.key_chosen.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or not len(self._keys):
            super().keyPressEvent(event)
            return
        self._cursor = min(max(self._cursor + step, 0), len(self._keys) - 1)
        self.key_chosen.emit(self._cursor)
        self.tell_cell()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, p, floor = QPainter(self), self._palette, self.height() - px(16)
        count = len(self._keys)
        painter.fillRect(self.rect(), QColor(p.surface))
        if count:
            part = self.locate_cell(self._first).united(self.locate_cell(self._last))
            shade = QColor(p.accent)
            shade.setAlphaF(0.14)
            painter.fillRect(part, shade)
            text = [place for place in range(count) if place not in self._muted]
            most = float(np.sqrt(self._weights[text].max(initial=0.0))) or 1.0
            wide = max(self.width() / count, 1.0)
            for place in range(count):
                high = min(float(np.sqrt(self._weights[place])) / most, 1.0) * (floor - 2)
                colour = p.muted if place in self._muted else p.attention
                painter.fillRect(QRectF(self.locate_cell(place).x(), floor - high, wide, high), QColor(colour))
            painter.fillRect(QRectF(0, floor, self.width(), 1), QColor(p.hairline))
            pen = Pen(painter, font("caption"))
            painter.setPen(QColor(p.muted))
            pen.draw(0, floor + px(8), "0", 0.0)
            pen.draw(self.width(), floor + px(8), str(count - 1), 1.0)
            pen.draw(self.width() / 2, floor + px(8), "√ scale", 0.5)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, px(4))
        painter.end()

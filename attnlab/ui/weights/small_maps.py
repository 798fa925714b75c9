"""Small pictures of matrices, side by side, each with its name and shape below."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.base.spoken_text import speak_number
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.weights.trial import Small
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.maps.map_widget import PointedMaps
from attnlab.ui.widgets.maps.spoken_maps import MapCell, join_cell, split_cell

_SIDE, _THIN, _LARGEST = 88, 8, 14
"""Pixels of a picture's longer side, of a bias, and the greatest size of a cell."""


@guarded
class SmallMap(PointedMaps):
    """One matrix, as large as the limits of its cells and its longer side allow; the arrow keys walk its cells."""

    plain_arrows = True

    def __init__(self, small: Small, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.small = small
        self._shape = " × ".join(map(str, small.shape))
        self.setAccessibleName(f"{small.name}, {self._shape}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def tool_tip(self, at: QPointF) -> str:
        return f"{self.small.name}, {self._shape}; the colours range over ±{self.small.scale.limit:.4g}"

    def shape(self) -> MapCell:
        rows, columns = self.small.values.shape
        return 1, rows, columns

    def count_cells(self) -> int:
        return int(self.small.values.size)

    def name_cell(self, place: int) -> str:
        """Return a cell in words; in a picture with fewer cells than the matrix it is the largest of several."""
        _, row, column = split_cell(self.shape(), place)
        rows, columns = self.small.shape if len(self.small.shape) == 2 else (1, *self.small.shape)
        value = speak_number(float(self.small.values[row, column]))
        if (rows, columns) == self.small.values.shape:
            where = f"row {row}, column {column}" if len(self.small.shape) == 2 else f"column {column}"
            return f"{self.small.name}, {where}, {value}"
        shares = (row / self.shape()[1] * rows, column / self.shape()[2] * columns)
        return f"{self.small.name}, largest from row {shares[0]:.0f}, column {shares[1]:.0f} on, {value}"

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(*self._make_grid().rect(*split_cell(self.shape(), place)))

    def cell_at(self, at: QPointF) -> MapCell | None:
        return self._make_grid().hit(at.x(), at.y())

    def find_cell(self, at: QPointF) -> int | None:
        cell = self.cell_at(at)
        return join_cell(self.shape(), cell) if cell is not None else None

    def cell_text(self, cell: MapCell) -> str:
        return self.name_cell(join_cell(self.shape(), cell))

    def _make_grid(self) -> Grid:
        width, height = self._measure_map()
        rows, columns = self.small.values.shape
        top = self._measure_height() - height
        return Grid(0.0, top, width / columns, height / rows, rows, columns, 1, 1, (0, 0), 0.0, 0.0)

    def _measure_map(self) -> tuple[float, float]:
        """Return width and height of the picture: the matrix's proportions, but never too thin to see."""
        rows, columns = self.small.shape if len(self.small.shape) == 2 else (1, *self.small.shape)
        side, thin = px(_SIDE), px(_THIN)
        cell = min(side / max(rows, columns), px(_LARGEST))
        return max(columns * cell, thin), max(rows * cell, thin)

    def _measure_height(self) -> int:
        return px(_SIDE if len(self.small.shape) == 2 else _THIN)

    def sizeHint(self) -> QSize:
        texts = max(text_width(self.small.name, font("caption_strong")), text_width(self._shape, font("caption")))
        return QSize(round(max(px(_SIDE), texts)), self._measure_height() + px(32))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), palette_of(self)
        width, height = self._measure_map()
        tall, grid = self._measure_height(), self._make_grid()
        data = MapData(self.small.values[None], "signed", self.small.scale, None, (), ())
        draw_cells(painter, grid, data, palette)
        painter.setPen(QColor(palette.hairline))
        if not grid.framed:
            painter.drawRect(QRectF(QPointF(0, tall - height), QPointF(width, tall)).adjusted(0, 0, -1, -1))
        painter.setPen(QColor(palette.ink))
        draw_text(painter, 0, tall + px(12), self.small.name, font("caption_strong"))
        painter.setPen(QColor(palette.muted))
        draw_text(painter, 0, tall + px(27), self._shape, font("caption"))
        if self.hasFocus() and self.ringed:
            draw_focus_ring(painter, QRectF(0, tall - height, width, height).adjusted(1, 1, -1, -1), palette, 2)
        if self._walked is not None and self._pointed == self._walked:
            draw_outlines(painter, grid, [Outline(*self._walked, palette.ink, 1.5)])
        painter.end()


class SmallMaps(QWidget):
    """Several of them, in as many rows as needed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, px(12))
        self.maps: list[SmallMap] = []
        self.setAccessibleName("Preview of the matrices")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_matrices(self, matrices: Sequence[Small]) -> None:
        """Replace the matrices."""
        for each in self.maps:
            self._flow.removeWidget(each)
            each.hide()
            each.deleteLater()
        self.maps = [SmallMap(small, self) for small in matrices]
        for each in self.maps:
            self._flow.addWidget(each)
            each.show()
        self.updateGeometry()

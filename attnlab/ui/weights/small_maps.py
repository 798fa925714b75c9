"""Small pictures of matrices, side by side, each with its name and shape below."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData, draw_cells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.weights.trial import Small
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import draw_text, text_width

_SIDE, _THIN, _LARGEST = 88, 8, 14
"""Pixels of a picture's longer side, of a bias, and the greatest size of a cell."""


@guarded
class SmallMap(QWidget):
    """One matrix, as large as the limits of its cells and its longer side allow."""

    def __init__(self, small: Small, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.small = small
        self._shape = " × ".join(map(str, small.shape))
        self.setAccessibleName(f"{small.name}, {self._shape}")
        self.setToolTip(plain_tip(f"{small.name}, {self._shape}; the colours range over ±{small.scale.limit:.4g}"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

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
        tall = self._measure_height()
        rows, columns = self.small.values.shape
        grid = Grid(0.0, tall - height, width / columns, height / rows, rows, columns, 1, 1, (0, 0), 0.0, 0.0)
        data = MapData(self.small.values[None], "signed", self.small.scale, None, (), ())
        draw_cells(painter, grid, data, palette)
        painter.setPen(QColor(palette.hairline))
        if not grid.framed:
            painter.drawRect(QRectF(QPointF(0, tall - height), QPointF(width, tall)).adjusted(0, 0, -1, -1))
        painter.setPen(QColor(palette.ink))
        draw_text(painter, 0, tall + px(12), self.small.name, font("caption_strong"))
        painter.setPen(QColor(palette.muted))
        draw_text(painter, 0, tall + px(27), self._shape, font("caption"))
        painter.end()


class SmallMaps(QWidget):
    """Several of them, in as many rows as needed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, px(12))
        self.shown: list[SmallMap] = []
        self.setAccessibleName("Preview of the matrices")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_matrices(self, matrices: Sequence[Small]) -> None:
        """Replace the matrices."""
        for each in self.shown:
            self._flow.removeWidget(each)
            each.hide()
            each.deleteLater()
        self.shown = [SmallMap(small, self) for small in matrices]
        for each in self.shown:
            self._flow.addWidget(each)
            each.show()
        self.updateGeometry()

"""Painting of the preset gallery: the picture of a preset's weights, its tile, and the headings."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_data import MapData
from attnlab.figures.map_painter import draw_cells
from attnlab.figures.palette import Palette
from attnlab.figures.scales import Scale
from attnlab.figures.subscripts import cut_text, draw_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.broken_text import break_text

NAME = Qt.ItemDataRole.UserRole
"""The role that stores the name of an item's preset; a heading has none."""
THUMB = 64
LEAST_WIDTH, HEADING_HEIGHT = 280, 36
EDGE = 4
"""The space around a tile; that above its title and below its text is as high."""
TEXT_LEFT, TEXT_RIGHT, TITLE_HEIGHT = THUMB + 20, 8, 18
_MOST_LINES = 99
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """The weights of a preset [h, T_q, T_k], and its masked cells."""

    weights: NDArray[np.floating]
    masked: NDArray[np.bool_] | None


def thumbnail(name: str) -> Thumbnail:
    """Compute the picture of a preset; called in the worker thread."""
    from attnlab.attention.examples.presets import preset
    from attnlab.compute.engine import compute

    trace = compute(preset(name))
    stage = next(stage for stage in ("dropped", "zeroed", "weights") if stage in trace)  # the weights as applied
    return Thumbnail(trace.array(stage), trace.find_shown_mask(stage))


def draw_thumbnail(data: Thumbnail, palette: Palette, ratio: float) -> QPixmap:
    """Return a square picture of all heads."""
    pixmap = QPixmap(round(THUMB * ratio), round(THUMB * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    count, rows, columns = data.weights.shape
    grid = _centre(arrange((0, 0, THUMB, THUMB), rows, columns, count, Limits(THUMB, THUMB, 0, 0), True, ratio), ratio)
    finite = data.weights[np.isfinite(data.weights)]
    largest = float(finite.max()) if finite.size else 1.0
    painter = QPainter(pixmap)
    maps = MapData(data.weights, "probability", Scale(min(1.0, max(1.6 * largest, 1e-9))), data.masked, (), ())
    draw_cells(painter, grid, maps, palette)
    painter.end()
    return pixmap


def _centre(grid: Grid, ratio: float) -> Grid:
    """Return the grid centred in the picture, on whole pixels of the screen."""
    x, y = (THUMB - grid.width) / 2, (THUMB - grid.height) / 2
    return replace(grid, x=round(x * ratio) / ratio, y=round(y * ratio) / ratio)


@guarded
class TileDelegate(QStyledItemDelegate):
    """Draws one preset: picture, title, and what to notice; or a heading on a row of its own."""

    lowers_indices = True

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view
        self._texts: tuple[str, ...] | None = None
        model = view.model()
        for changed in (model.rowsInserted, model.rowsRemoved, model.dataChanged, model.modelReset):
            changed.connect(self._forget_texts)

    def _forget_texts(self) -> None:
        self._texts = None

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, text: str) -> None:
        painter.setPen(QColor(palette_of(self._view).muted))
        painter.setFont(font("section"))
        room = QRectF(option.rect).adjusted(12, 0, 0, -px(4))
        painter.drawText(room, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, text)

    def _paint_tile(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        p, rect = palette_of(self._view), QRectF(option.rect).adjusted(EDGE, EDGE, -EDGE, -EDGE)
        marked = bool(option.state & QStyle.StateFlag.State_Selected)
        pointed = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setPen(QColor(p.accent) if marked else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.control if marked or pointed else p.surface))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawRoundedRect(rect, 8, 8)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        picture = index.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(picture, QIcon):
            picture.paint(painter, int(rect.x() + 8), int(rect.y() + 8), THUMB, THUMB)
        left = rect.x() + TEXT_LEFT
        self._write(
            painter, QRectF(left, rect.y() + EDGE, rect.right() - left - TEXT_RIGHT, rect.height() - EDGE), index
        )

    def _write(self, painter: QPainter, room: QRectF, index: _Index) -> None:
        palette = palette_of(self._view)
        painter.setPen(QColor(palette.ink))
        face = font("title")
        title = cut_text(index.data(Qt.ItemDataRole.DisplayRole), face, room.width())
        draw_text(painter, room.x(), room.y() + QFontMetricsF(face).height() / 2, title, face)
        painter.setPen(QColor(palette.muted))
        face, y = font("caption"), room.y() + px(TITLE_HEIGHT)
        high = QFontMetricsF(face).height()
        for line in break_text(index.data(Qt.ItemDataRole.ToolTipRole), face, room.width(), _MOST_LINES):
            draw_text(painter, room.x(), y + high / 2, line, face)
            y += high

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        painter.save()
        if index.data(NAME) is None:
            self._paint_heading(painter, option, index.data(Qt.ItemDataRole.DisplayRole))
        else:
            self._paint_tile(painter, option, index)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        bar = self._view.verticalScrollBar().sizeHint().width()  # reserved even while the bar is hidden
        width = self._view.contentsRect().width() - bar - 1  # a row that is full to the last pixel would wrap
        if index.data(NAME) is None:
            return QSize(width, px(HEADING_HEIGHT))
        wide = width // max(1, width // px(LEAST_WIDTH))
        room = wide - 2 * EDGE - TEXT_LEFT - TEXT_RIGHT
        if self._texts is None:
            self._texts = self._list_texts()
        high = px(TITLE_HEIGHT) + _measure_tallest(self._texts, font("caption").toString(), room) + 4 * EDGE
        return QSize(wide, max(high, THUMB + 24))

    def _list_texts(self) -> tuple[str, ...]:
        model = self._view.model()
        tiles = [index for row in range(model.rowCount()) if (index := model.index(row, 0)).data(NAME) is not None]
        return tuple(index.data(Qt.ItemDataRole.ToolTipRole) or "" for index in tiles)


@lru_cache(maxsize=32)
def _measure_tallest(texts: tuple[str, ...], key: str, width: int) -> int:
    """Return the height of the tallest of some texts in lines of a width, in pixels; ``key`` names the font."""
    (caption := QFont()).fromString(key)
    lines = max((len(break_text(text, caption, width, _MOST_LINES)) for text in texts), default=0)
    return math.ceil(lines * QFontMetricsF(caption).height())

"""The preset gallery: every worked example with a picture of its weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from attnlab.figures.layout import Limits, arrange
from attnlab.figures.map_painter import MapData, draw_cells
from attnlab.figures.palette import Palette
from attnlab.ui.theme import font, px
from attnlab.ui.widgets.popup import Popup

TILE = QSize(224, 84)
THUMB = 64


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """The weights of a preset [h, T_q, T_k], and what is masked."""

    weights: NDArray[np.floating]
    masked: NDArray[np.bool_] | None


def thumbnail(name: str) -> Thumbnail:
    """Compute the picture of a preset; for the worker thread."""
    from attnlab.attention.presets import preset
    from attnlab.compute.engine import compute

    trace = compute(preset(name))
    return Thumbnail(trace.array("weights"), trace.shown_mask("weights"))


def draw_thumbnail(data: Thumbnail, palette: Palette, ratio: float) -> QPixmap:
    """Return a square picture of all heads."""
    pixmap = QPixmap(round(THUMB * ratio), round(THUMB * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    count, rows, columns = data.weights.shape
    grid = arrange((0, 0, THUMB, THUMB), rows, columns, count, Limits(THUMB, THUMB, 0, 0), True, ratio)
    painter = QPainter(pixmap)
    maps = MapData(
        data.weights, "probability", min(1.0, max(1.6 * float(data.weights.max()), 1e-9)), data.masked, (), ()
    )
    draw_cells(painter, grid, maps, palette)
    painter.end()
    return pixmap


class _Tile(QStyledItemDelegate):
    """Draws one preset: picture, title, and what to look for."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette = palette

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        p, rect = self._palette, QRectF(option.rect).adjusted(4, 4, -4, -4)
        current = bool(option.state & QStyle.StateFlag.State_Selected)
        pointed = bool(option.state & QStyle.StateFlag.State_MouseOver)
        picture = index.data(Qt.ItemDataRole.DecorationRole)
        title, about = index.data(Qt.ItemDataRole.DisplayRole), index.data(Qt.ItemDataRole.ToolTipRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(p.accent) if current else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.control if current or pointed else p.surface))
        painter.drawRoundedRect(rect, 8, 8)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if isinstance(picture, QIcon):
            picture.paint(painter, int(rect.x() + 8), int(rect.y() + 6), THUMB, THUMB)
        left = rect.x() + THUMB + 20
        painter.setPen(QColor(p.ink))
        painter.setFont(font("title"))
        painter.drawText(QRectF(left, rect.y() + 6, rect.right() - left - 4, px(18)), 0, title)
        painter.setPen(QColor(p.muted))
        painter.setFont(font("caption"))
        room = QRectF(left, rect.y() + 7 + px(18), rect.right() - left - 8, rect.height() - 10 - px(18))
        painter.drawText(room, Qt.TextFlag.TextWordWrap, about)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(px(300), px(84))


class PresetGallery(Popup):
    """A popup with all presets; pictures come in as they are computed."""

    preset_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thumbnails: dict[str, Thumbnail] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        self.list = QListWidget()
        self.list.setAccessibleName("Presets")
        self.list.setViewMode(QListWidget.ViewMode.IconMode)
        self.list.setMovement(QListWidget.Movement.Static)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setMouseTracking(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.itemClicked.connect(self._on_item_clicked)
        column.addWidget(self.list)
        self.resize(px(632), px(450))

    def fill(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """List presets: name, title, and one line about each."""
        self.list.clear()
        for name, title, about in entries:
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setToolTip(about)
            self.list.addItem(item)
        self._draw()

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        super().set_palette(palette)
        self.list.setItemDelegate(_Tile(palette, self.list))
        self._draw()

    @Slot(object, object)
    def on_thumbnail(self, name: str, data: Thumbnail) -> None:
        """Take a preset's picture."""
        self._thumbnails[name] = data
        self._draw()

    def missing(self) -> list[str]:
        """Return the names of the presets without a picture."""
        names = [str(self.list.item(i).data(Qt.ItemDataRole.UserRole)) for i in range(self.list.count())]
        return [name for name in names if name not in self._thumbnails]

    def popup(self, at: QPoint, current: str, request: Callable[[str], None]) -> None:
        """Show the gallery with the current preset marked, asking for the pictures that are missing."""
        for name in self.missing():
            request(name)
        for row in range(self.list.count()):
            if self.list.item(row).data(Qt.ItemDataRole.UserRole) == current:
                self.list.setCurrentRow(row)
        self.move(at)
        self.show()
        self.list.setFocus()

    def _draw(self) -> None:
        for row in range(self.list.count()):
            item = self.list.item(row)
            data = self._thumbnails.get(item.data(Qt.ItemDataRole.UserRole))
            if data is not None:
                item.setIcon(QIcon(draw_thumbnail(data, self._palette, self.devicePixelRatioF())))

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.hide()
            self.preset_chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    @Slot(QListWidgetItem)
    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self._choose(item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentItem())
        else:
            super().keyPressEvent(event)

"""All heads at once: a small map each, in the lines of their layers or sorted by a score."""

import math
from collections.abc import Collection, Sequence

from PySide6.QtCore import QLineF, QPoint, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from attnlab.base.counted import format_percent
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.map_labels import measure_titles
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.widgets.maps.map_sheet import Lattice, MapSheet

_Key = Qt.Key
LEAST = 240
"""The least height, in pixels at 100 %."""
LINE = 46
"""The least height of a sorted map that is as wide as its title, with the title, in pixels at 100 %."""


@guarded
class HeadsOverview(MapSheet):
    """Emits the place of the head that was clicked, walked to or is to be switched; draws a ring around the chosen."""

    head_chosen = Signal(int)
    switch_requested = Signal(int)
    menu_requested = Signal(int, QPoint)
    title_gap = 8.0
    """Room for the ring around a map below it, and above it between map and title."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen, self._off = 0, frozenset[int]()
        self._titles: Sequence[str] = ()
        self._on_words: tuple[float, ...] = ()
        self._has_bars = False
        self.setAccessibleName("All heads")
        self.map_clicked.connect(self.head_chosen)

    def restyle(self) -> None:
        """Set the room for the ring below a title."""
        self.title_space = float(px(4))
        super().restyle()

    def show_heads(
        self,
        data: MapData,
        lattice: Lattice | None,
        chosen: int,
        off: Collection[int],
        on_words: Sequence[float] = (),
    ) -> None:
        """Show the maps of all heads; ``chosen`` and ``off`` are places among them.

        ``on_words`` is the share of the weight of each head that is on words, drawn as a bar below its map if there is
        no title of another.
        """
        self._titles, self._on_words, self._has_bars = data.titles, tuple(on_words), lattice is not None
        self.show_maps(data, lattice)
        self.show_marks(chosen, off)

    def _arrange(self) -> None:
        self.setMinimumHeight(max(px(LEAST), self._measure_titled()))
        super()._arrange()

    def _count_abreast(self) -> int:
        """Return how many sorted heads have room for their titles side by side."""
        wide = measure_titles(self._titles, face("tiny", self.zoom))
        return min(max(int(self._area().width() / max(wide, 1.0)), 1), len(self._titles))

    def _measure_titled(self) -> int:
        """Return the height in pixels at which sorted heads are as wide as their titles; 0 for those in lines."""
        if self._has_bars or not self._titles:
            return 0
        lines, around = -(-len(self._titles) // self._count_abreast()), self.height() - self._area().height()
        return math.ceil(around + lines * px(LINE))

    def _fit(self, area: QRectF, abreast: int = 0) -> Grid:
        """Arrange sorted heads in the lines that give the largest maps."""
        grids = (super(HeadsOverview, self)._fit(area, n) for n in range(1, self._count_abreast() + 1))
        return max(grids, key=lambda grid: (grid.title_height > 0, grid.cell_width * grid.cell_height))

    def show_marks(self, chosen: int, off: Collection[int]) -> None:
        """Draw the ring around another head, and crosses over those that are off."""
        self._chosen, self._off = chosen, frozenset(off)
        off_too = ", switched off" if chosen in self._off else ""
        self.setAccessibleDescription(f"{self.title_of(chosen)}{off_too}; arrow keys choose, Delete switches off")
        self.update()

    def tool_tip(self, at: object) -> str:
        cell = self.cell_at(at)  # type: ignore[arg-type]
        if cell is None:
            return ""
        state = "switched off; Delete switches it on" if cell[0] in self._off else "Delete switches it off"
        share = f"{format_percent(self._on_words[cell[0]], 0)} of its weight is on words\n" if self._on_words else ""
        return f"{self.title_of(cell[0])}: {self.cell_text(cell)}\n{share}{state}"

    def keyPressEvent(self, event: QKeyEvent) -> None:
        grid, count = self.grid, self.shape()[0]
        if grid is None or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().keyPressEvent(event)
            return
        steps = {_Key.Key_Left: -1, _Key.Key_Right: 1, _Key.Key_Up: -grid.per_row, _Key.Key_Down: grid.per_row}
        step = steps.get(_Key(event.key()))
        if step is not None:
            if 0 <= self._chosen + step < count:
                self.head_chosen.emit(self._chosen + step)
                announce(self.title_of(self._chosen), self)
        elif event.key() in (_Key.Key_Delete, _Key.Key_Backspace):
            self.switch_requested.emit(self._chosen)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        cell = self.cell_at(event.pos().toPointF()) if mouse else None
        place = cell[0] if cell is not None else self._chosen
        at = event.globalPos() if mouse else self.mapToGlobal(self._rect(self._chosen).center().toPoint())
        self.menu_requested.emit(place, at)

    def _rect(self, place: int) -> QRectF:
        assert self.grid is not None
        return QRectF(*self.grid.rect(place, None, None))

    def _draw_static(self, data: MapData, grid: Grid) -> QPixmap:
        picture = super()._draw_static(data, grid)
        painter, p, gap = QPainter(picture), self._palette, grid.gap[0] * grid.cell_height
        high = min(max(px(2), 2), gap - 1)
        for place, share in enumerate(self._on_words if self._has_bars and high >= 1 else ()):
            rect = self._rect(place)
            track = QRectF(rect.left(), rect.bottom() + 1, rect.width(), high)
            painter.fillRect(track, QColor(p.control))
            painter.fillRect(
                QRectF(track.topLeft(), QSizeF(share * track.width(), track.height())), QColor(p.attention)
            )
        painter.end()
        return picture

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.grid is None or self.data is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place in self._off:
            rect = self._rect(place)
            veil = QColor(self._palette.surface)
            veil.setAlphaF(0.55)
            painter.fillRect(rect, veil)
            painter.setPen(QPen(QColor(self._palette.bad), 1.5))
            painter.drawLine(QLineF(rect.topLeft(), rect.bottomRight()))
            painter.drawLine(QLineF(rect.topRight(), rect.bottomLeft()))
        if self._chosen < self.shape()[0]:
            below = px(5) if self._on_words and self._has_bars else 0  # around the bar too, not through the next title
            rect = self._rect(self._chosen).adjusted(-px(2), -px(2), px(2), below)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._palette.accent), 2))
            painter.drawRoundedRect(rect, px(4), px(4))
        painter.end()

"""What every widget that paints maps has: their data, where their cells lie, and a tool tip for each number."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QHelpEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData
from attnlab.figures.palette import LIGHT
from attnlab.ui.theme import plain_tip


class MapWidget(QWidget):
    """Lays maps [n, rows, columns] out anew whenever its size or the screen's changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._data: MapData | None = None
        self._grid: Grid | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def data(self) -> MapData | None:
        """The maps shown."""
        return self._data

    def cell_at(self, position: QPointF) -> tuple[int, int, int] | None:
        """Return the map, row and column under a point."""
        return self._grid.hit(position.x(), position.y()) if self._grid is not None else None

    def tool_tip(self, at: QPointF) -> str:
        """Return what the tool tip says at a point: row, column and number, "" outside."""
        cell = self.cell_at(at)
        return self.cell_text(cell) if cell is not None else ""

    def cell_text(self, cell: tuple[int, int, int]) -> str:
        """Return the names of a cell's row and column, and its number."""
        raise NotImplementedError

    def _arrange(self) -> None:
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self.tool_tip(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(text) if text else "", self)
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._arrange()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()


def longest(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that need most room, which is all that the layout asks of them."""
    return tuple(sorted(labels, key=len, reverse=True)[:64])

"""What every card of the canvas has: a trace and a view to show, maps in a grid, a ground with a title, a zoom."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter
from PySide6.QtWidgets import QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData
from attnlab.figures.palette import LIGHT, Palette
from attnlab.figures.text import Pen
from attnlab.ui.playground.still import Still, face

if TYPE_CHECKING:
    from attnlab.attention.trace import Trace
    from attnlab.document.document import View


class CanvasCard(QWidget):
    """A card; what it shows and how it is laid out, ``_arrange``, is its own."""

    panned = Signal(QPointF)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._trace: Trace | None = None
        self._view: View | None = None
        self._data: MapData | None = None
        self._grid: Grid | None = None
        self._zoom = 1.0
        self.still = Still(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setObjectName(f"card-{name}")

    @property
    def data(self) -> MapData | None:
        """The maps on the card; None while they are not computed or not revealed yet."""
        return self._data

    @property
    def grid(self) -> Grid | None:
        """Where the cells lie."""
        return self._grid

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        self.update()

    def set_zoom(self, zoom: float) -> None:
        """Enlarge type and spaces; the size of type of the program is part of ``zoom``."""
        self._zoom = zoom
        self._arrange()

    def _arrange(self) -> None:
        raise NotImplementedError

    def _paint_ground(self, painter: QPainter, title: str, role: str) -> float:
        """Paint the ground, the mark of a role and the title; return where the title ends."""
        z, p = self._zoom, self._palette
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.surface))
        painter.drawRoundedRect(QRectF(self.rect()), 12, 12)
        painter.setBrush(QColor(p.role(role)))
        painter.drawRoundedRect(QRectF(12 * z, 14 * z, 8 * z, 8 * z), 2 * z, 2 * z)
        if self.hasFocus():
            painter.setPen(QColor(p.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)
        pen = Pen(painter, face("title", z))
        painter.setPen(QColor(p.ink))
        shown = pen.elided(title, self.width() - 38 * z)
        pen.draw(26 * z, 18 * z, shown)
        return 26 * z + pen.width(shown)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

"""What every card of the canvas has: a trace and a view to show, maps in a grid, a ground with a title, a zoom."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter
from PySide6.QtWidgets import QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData
from attnlab.figures.palette import LIGHT, Palette
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.paint_cache import Kept, Still

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

HEADER, INSIDE = 58.0, 4
"""How far down a header reaches at zoom 1 (a formula with a sum reaches into the maps), and how far inside the card it
begins, where the round corners are behind it."""


@guarded
class CanvasCard(QWidget):
    """A card; what it shows and how it is laid out, ``_lay_out``, is its own."""

    panned = Signal(QPointF)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._trace: Trace | None = None
        self._view: View | None = None
        self._data: MapData | None = None
        self._laid: Grid | None = None
        self._stale = False
        self._zoom = 1.0
        self.still, self._headers = Still(self), Kept()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setObjectName(f"card-{name}")

    @property
    def data(self) -> MapData | None:
        """The maps on the card; None while they are not computed or not revealed yet."""
        return self._data

    @property
    def grid(self) -> Grid | None:
        """Where the cells lie; None without maps. Laid out when first asked for after a change, however many came."""
        if self._stale:
            self._stale, self._laid = False, self._lay_out()
        return self._laid

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        self.update()

    def set_zoom(self, zoom: float) -> None:
        """Enlarge type and spaces; the size of type of the program is part of ``zoom``."""
        self._zoom = zoom
        self._arrange()

    def forget(self) -> None:
        """Keep no pictures but those that are shown."""
        self.still.forget()
        self._headers.forget()

    def _arrange(self) -> None:
        """Lay the maps out anew before they are painted."""
        self._stale = True
        self.update()

    def _lay_out(self) -> Grid | None:
        raise NotImplementedError

    def _paint_ground(self, painter: QPainter, depends_on: tuple[object, ...]) -> None:
        """Paint the ground and the header, which is kept for as long as the card is as wide and all of this is the
        same: a row of cards that comes or goes makes the others lower or higher, no more."""
        z, p = self._zoom, self._palette
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.surface))
        painter.drawRoundedRect(QRectF(self.rect()), 12, 12)
        size = QSize(self.width() - 2 * INSIDE, math.ceil(HEADER * z) - INSIDE)
        ratio = painter.device().devicePixelRatioF()
        header = self._headers.picture(
            (size, ratio, z, p, *depends_on), size, ratio, self._paint_words, QColor(p.surface)
        )
        painter.drawPixmap(INSIDE, INSIDE, header)
        if self.hasFocus():
            painter.setPen(QColor(p.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)

    def _paint_words(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-INSIDE, -INSIDE)
        self._paint_header(painter)

    def _paint_header(self, painter: QPainter) -> None:
        raise NotImplementedError

    def _paint_title(self, painter: QPainter, title: str, role: str) -> float:
        """Paint the mark of a role and the title; return where the title ends."""
        z, p = self._zoom, self._palette
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.role(role)))
        painter.drawRoundedRect(QRectF(12 * z, 14 * z, 8 * z, 8 * z), 2 * z, 2 * z)
        pen = Pen(painter, face("title", z))
        painter.setPen(QColor(p.ink))
        shown = pen.elided(title, self.width() - 38 * z)
        pen.draw(26 * z, 18 * z, shown)
        return 26 * z + pen.width(shown)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

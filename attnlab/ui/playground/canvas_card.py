"""Base of every card on the canvas: trace and view, maps in a grid, background with a title, zoom."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter
from PySide6.QtWidgets import QWidget

from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import MapData
from attnlab.figures.palette import Palette
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of
from attnlab.ui.playground.paint_cache import Kept, Still

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

HEADER, INSIDE = 58.0, 4
"""The header's height at zoom 1 (a formula with a sum overlaps the maps), and its distance from the card's edge, which
clears the round corners."""


@guarded
class CanvasCard(QWidget):
    """A card; subclasses choose what it shows and how it is laid out (``_lay_out``)."""

    panned = Signal(QPointF)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """The maps on the card; None while they are not computed or not revealed."""
        return self._data

    @property
    def grid(self) -> Grid | None:
        """The positions of the cells, or None without maps. Laid out on first use after any number of changes."""
        if self._stale:
            self._stale, self._laid = False, self._lay_out()
        return self._laid

    @property
    def _palette(self) -> Palette:
        return palette_of(self)

    def set_zoom(self, zoom: float) -> None:
        """Scale fonts and spaces; ``zoom`` includes the program's font size."""
        self._zoom = zoom
        self._arrange()

    def forget(self) -> None:
        """Drop the cached pictures that are not visible."""
        self.still.forget()
        self._headers.forget()

    def _arrange(self) -> None:
        """Lay the maps out again before they are next painted."""
        self._stale = True
        self.update()

    def _lay_out(self) -> Grid | None:
        raise NotImplementedError

    def _paint_ground(self, painter: QPainter, depends_on: tuple[object, ...]) -> None:
        """Paint the background and the header from a cache, which depends on ``depends_on`` and the card's width but
        not on its height, so adding a row of cards repaints no header."""
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
        """Paint the mark of a role and the title; return the x at which the title ends."""
        z, p = self._zoom, self._palette
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.role(role)))
        painter.drawRoundedRect(QRectF(12 * z, 14 * z, 8 * z, 8 * z), 2 * z, 2 * z)
        pen = Pen(painter, face("title", z))
        painter.setPen(QColor(p.ink))
        shown = pen.elide(title, self.width() - 38 * z)
        pen.draw(26 * z, 18 * z, shown)
        return 26 * z + pen.width(shown)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

"""Base of every card on the canvas: trace and view, maps in a grid, background with a title, zoom."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from attnlab.figures.colour_bar import BAR_HEIGHT, draw_colour_strip, write_colour_ends
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import draw_text, spans
from attnlab.figures.text import Pen
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring
from attnlab.ui.base.themed import palette_of
from attnlab.ui.playground.canvas_lengths import HEADER
from attnlab.ui.playground.paint_cache import Kept, Still
from attnlab.ui.widgets.maps.spoken_maps import join_cell, split_cell
from attnlab.ui.widgets.surface import RADIUS, draw_card

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

INSIDE = 4
"""The header's distance from the card's edge, which clears the round corners."""
STRIP_WIDTH = 44.0
"""The width of the colour bar in the header, at zoom 1."""
BAR_TIP = "The colours of these numbers: click to choose their scale"
TITLE_MIDDLE = 22.0
"""How far the middle of the title lies below the card's upper edge, at zoom 1."""


@guarded
class CanvasCard(HasCells, QWidget):
    """A card; subclasses choose what it shows and how it is laid out (``_lay_out``)."""

    panned = Signal(QPointF)
    colours_asked = Signal(str, QPoint)
    """The user asks for the menu of the colours of a stage, at a point of the screen."""
    reached = Signal()
    """The keyboard came to this card, which must be visible."""

    def __init__(self, name: str, stage: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace: Trace | None = None
        self._view: View | None = None
        self._data: MapData | None = None
        self._laid: Grid | None = None
        self._stale = False
        self._zoom = 1.0
        self._folded = ""
        self._stage_name = stage
        self.bar_rect = QRectF()
        """The rectangle of the colour bar with its ends; empty if there is no room for it."""
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

    def fold(self, words: str, reason: str) -> None:
        """Show only the title and a few words, as this card repeats another one, with the reason as its tip.

        Without words it shows its maps again.
        """
        if words != self._folded:
            self._folded = words
            self.setToolTip(reason)
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus if words else Qt.FocusPolicy.StrongFocus)
            self._describe_again()
            self._arrange()

    def _describe_again(self) -> None:
        """Set the name of the card for screen readers."""
        raise NotImplementedError

    @property
    def folded(self) -> str:
        """What the card says in place of its maps; "" if it shows them."""
        return self._folded

    def count_cells(self) -> int:
        return int(self._data.values.size) if self._data is not None and not self._folded else 0

    def locate_cell(self, place: int) -> QRectF:
        if self._data is None or self.grid is None:
            return QRectF()
        return QRectF(*self.grid.rect(*split_cell(self._data.values.shape, place)))

    def find_cell(self, at: QPointF) -> int | None:
        hit = self.grid.hit(at.x(), at.y()) if self.grid is not None else None
        return join_cell(self._data.values.shape, hit) if hit is not None and self._data is not None else None

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
        draw_card(painter, QRectF(self.rect()), p)
        size = QSize(self.width() - 2 * INSIDE, math.ceil(min(HEADER * z, self.height() - INSIDE)) - INSIDE)
        ratio = painter.device().devicePixelRatioF()
        header = self._headers.picture(
            (size, ratio, z, p, *depends_on), size, ratio, self._paint_words, QColor(p.surface)
        )
        painter.drawPixmap(INSIDE, INSIDE, header)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, RADIUS)

    def _paint_words(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-INSIDE, -INSIDE)
        self._paint_header(painter)

    def _paint_header(self, painter: QPainter) -> None:
        raise NotImplementedError

    def _paint_title(self, painter: QPainter, title: str, role: str, *, is_hollow: bool = False) -> float:
        """Paint the mark of a role, hollow for a gradient, and the title; return the x at which the title ends."""
        z, p = self._zoom, self._palette
        middle = self._title_middle()
        mark = QRectF(12 * z, middle - 4 * z, 8 * z, 8 * z)
        if is_hollow:
            mark = mark.adjusted(z, z, -z, -z)
        painter.setPen(QPen(QColor(p.role(role)), 2 * z) if is_hollow else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if is_hollow else QColor(p.role(role)))
        painter.drawRoundedRect(mark, 2 * z, 2 * z)
        pen = Pen(painter, face("title", z))
        painter.setPen(QColor(p.ink))
        shown = pen.elide(title, self.width() - 38 * z)
        if len(spans(shown)) > 1:
            return draw_text(painter, 26 * z, middle, shown, face("title", z))
        pen.draw(26 * z, middle, shown)
        return 26 * z + pen.width(shown)

    def _title_middle(self) -> float:
        """Return how far the middle of the title lies below the upper edge."""
        return self.height() / 2 if self._folded else TITLE_MIDDLE * self._zoom

    def _paint_fold(self, painter: QPainter, left: float) -> None:
        """Write what a folded card says, right of its title."""
        pen = Pen(painter, face("map", self._zoom))
        painter.setPen(QColor(self._palette.muted))
        pen.draw(left, self._title_middle(), shorten_fold(self._folded, pen, self.width() - left - 12 * self._zoom))

    def _paint_bar(self, painter: QPainter, data: MapData, right: float, left: float = 0.0) -> None:
        """Paint the colour bar of maps between its ends in the header, up to the x ``right``, if it begins after
        ``left`` and there is a range between the ends.
        """
        z = self._zoom
        pen = Pen(painter, face("map", z))
        low, high = write_colour_ends(data)
        self.bar_rect = QRectF()
        if low == high or right - left < pen.width(low) + pen.width(high) + (STRIP_WIDTH + 10) * z:
            return
        middle = self._title_middle()
        painter.setPen(QColor(self._palette.muted))
        pen.draw(right, middle, high, 1.0)
        x = right - pen.width(high) - (5 + STRIP_WIDTH) * z
        strip = QRectF(x, middle - BAR_HEIGHT / 2, STRIP_WIDTH * z, BAR_HEIGHT)
        draw_colour_strip(painter, strip, data.kind, self._palette)
        pen.draw(x - 5 * z, middle, low, 1.0)
        start = x - 5 * z - pen.width(low)
        self.bar_rect = QRectF(start, middle - 10 * z, right - start, 20 * z)

    def _is_on_bar(self, position: QPointF) -> bool:
        return self._data is not None and not self._folded and self.bar_rect.contains(position)

    def _ask_colours(self, position: QPointF) -> None:
        """Ask for the menu of colours below a point of the card."""
        self.colours_asked.emit(self._stage_name, self.mapToGlobal(position.toPoint()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.reached.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()


def shorten_fold(words: str, pen: Pen, room: float) -> str:
    """Return what a folded card says in a width in pixels: a narrow one says "= context"."""
    return words if pen.width(words) <= room else pen.elide(words.replace("same as the ", "= "), room)

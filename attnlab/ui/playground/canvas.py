"""The canvas: every stage as a card, laid out as the flow and joined by wires. Wheel zooms, drag pans."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from attnlab.attention import axes
from attnlab.attention.stages import STAGES, Stage, sources
from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.playground.card import StageCard
from attnlab.ui.playground.fade import Fade
from attnlab.ui.playground.heads_card import HeadsCard
from attnlab.ui.playground.shadow import draw_shadow
from attnlab.ui.theme import scale

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace
    from attnlab.document.document import View

MARGIN, GAP, ROW_GAP = 16.0, 12.0, 28.0
WIDEST_ROW, USUAL_ROWS = 5, 3
LEAST_CARD, LEAST_HEIGHT, LEAST_ROW = 112.0, 420.0, 160.0
"""Cards have room for at least this: their width, the usual rows together, each of more rows than usual. In a canvas
that is too small for it all is drawn smaller, so that it fits."""
LEAST_SEEN = 64.0
"""On cards drawn lower than this nothing could be read: what does not fit then is dragged into sight."""
ZOOM_RANGE = (0.5, 12.0)


@dataclass(frozen=True, slots=True)
class Wire:
    """A line from one card to another in the colour of what flows."""

    source: str
    target: str
    role: str


@lru_cache(maxsize=2)
def rows_of(e: "Experiment") -> list[list[Stage]]:
    """Return the stages in the rows of the canvas: before the maps of query by key, these, and what follows.

    What is done to queries and keys once they are there has a row of its own, as have maps that are too many for one.
    """
    present = [stage for stage in STAGES if stage.present(e)]
    maps = [i for i, stage in enumerate(present) if stage.is_map]
    first, values = maps[0], next(i for i, stage in enumerate(present) if stage.name == "values") + 1
    before = [present[:values], present[values:first]]
    among = present[first : maps[-1] + 1]
    half = len(among) if len(among) <= WIDEST_ROW else (len(among) + 1) // 2
    return [row for row in (*before, among[:half], among[half:], present[maps[-1] + 1 :]) if row]


class Canvas(QWidget):
    """Owns the cards and the zoom; passes what happens on cards on."""

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)
    cell_moved = Signal(object)
    alone_requested = Signal(object)
    head_clicked = Signal(object)
    head_ablated = Signal(int)
    mask_painted = Signal(object, int)
    """The brush came over a cell; and the number of its stroke, from press to release, in which a cell comes once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards = {stage.name: StageCard(stage, self) for stage in STAGES}
        self.heads = HeadsCard(self)
        self.heads.head_clicked.connect(self.head_clicked)
        self.heads.head_ablated.connect(self.head_ablated)
        self._all: dict[str, StageCard | HeadsCard] = {**self.cards, "heads": self.heads}
        for each in self._all.values():
            each.hide()
            each.panned.connect(self.pan)
            each.still.lie_on(self.ground)
        for card in self.cards.values():
            card.cell_hovered.connect(self.cell_hovered)
            card.cell_clicked.connect(self.cell_clicked)
            card.cell_moved.connect(self.cell_moved)
            card.title_double_clicked.connect(self._on_title_double_clicked)
            card.brushed.connect(self._on_brushed)
            card.stroke_ended.connect(self._on_stroke_ended)
        self._palette = LIGHT
        self._trace: Trace | None = None
        self._view: View | None = None
        self._zoom, self._offset = 1.0, QPointF(0, 0)
        self._scale = 1.0
        self._places: dict[str, QRectF] = {}
        self._ground, self._ground_drawn = QPixmap(), False
        self._pressed: QPointF | None = None
        self._painting = False
        self._strokes, self._brushing, self._outdated = 0, False, False
        self.fade = Fade(self, tuple(self.cards.values()))
        self.setMinimumSize(240, 200)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName("Canvas: the stages of the computation")

    @property
    def zoom(self) -> float:
        """The present enlargement; 1 shows everything."""
        return self._zoom

    @property
    def painted(self) -> bool:
        """Whether every card that is shown has been painted at least once with its numbers."""
        return all(card.painted for card in self.cards.values() if not card.isHidden())

    @property
    def painting(self) -> bool:
        """Whether the left button paints the mask."""
        return self._painting

    def set_painting(self, on: bool) -> None:
        """Let the left button paint the mask on every map of query by key; panning there is the middle button's."""
        self._painting = on
        for card in self.cards.values():
            card.set_painting(on)

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        for card in self._all.values():
            card.set_palette(palette)
        self._place()

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show another trace."""
        before = self._trace
        self._trace, self._view = trace, view
        for name, card in self.cards.items():
            if name in trace:
                card.show_trace(trace, view)
        self.heads.show_trace(trace, view)
        self._outdated |= before is None or self._shape(before) != self._shape(trace)
        if self._outdated and not self._brushing:  # a mask may add a card, but none moves away under the brush
            self._place()

    def show_view(self, view: "View") -> None:
        """Show the same trace as another view asks."""
        before, self._view = self._view, view
        if self._trace is None:
            return
        for name, card in self.cards.items():
            if name in self._trace:
                card.show_view(view)
        self.heads.show_view(view)
        if before is not None and before.at != view.at:
            self.fade.begin()
        if before is None or before.alone != view.alone:
            self.fit()

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare every card with another trace from now on, or with none."""
        for card in self._all.values():
            card.show_pinned(pinned)

    @staticmethod
    def _shape(trace: "Trace") -> tuple[object, ...]:
        e = trace.experiment
        return trace.all_stages, e.T_q, e.T_k, e.d_model, e.d_k, e.d_v, e.d_out, e.n_heads

    @Slot()
    def fit(self) -> None:
        """Show everything again."""
        self._zoom, self._offset = 1.0, QPointF(0, 0)
        self._place()

    @Slot(QPointF)
    def pan(self, by: QPointF) -> None:
        """Move the cards."""
        self._offset += by
        self._place()

    def zoom_at(self, factor: float, point: QPointF) -> None:
        """Enlarge about a point, which stays where it is."""
        zoom = min(max(self._zoom * factor, ZOOM_RANGE[0]), ZOOM_RANGE[1])
        self._offset = point - (point - self._offset) * (zoom / self._zoom)
        self._zoom = zoom
        self._place()

    def _layout(self) -> dict[str, QRectF]:
        """Return where each card lies at zoom 1; "heads" is the overview."""
        assert self._trace is not None
        size = (QSizeF(self.size()) / self._shrunk()).expandedTo(self._least())
        alone = self._view.alone if self._view is not None else None
        if alone is not None:
            return {alone: QRectF(0, 0, size.width(), size.height()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)}
        rows = rows_of(self._trace.experiment)
        height = (size.height() - 2 * MARGIN - (len(rows) - 1) * ROW_GAP) / len(rows)
        places = {}
        for line, stages in enumerate(rows):
            names = [stage.name for stage in stages]
            wishes = [self._wish(stage) for stage in stages]
            if line == len(rows) - 1:
                names, wishes = (
                    ["heads", *names],
                    [2.2 if self._trace.experiment.n_heads == 1 else 1.5 * max(wishes), *wishes],
                )
            free = size.width() - 2 * MARGIN - (len(names) - 1) * GAP
            x = MARGIN
            for name, wish in zip(names, wishes, strict=True):
                width = free * wish / sum(wishes)
                places[name] = QRectF(x, MARGIN + line * (height + ROW_GAP), width, height)
                x += width + GAP
        return places

    def _least(self) -> QSizeF:
        """Return the room that the cards need at zoom 1."""
        assert self._trace is not None
        if self._view is not None and self._view.alone is not None:
            return QSizeF(1, 1)
        rows = rows_of(self._trace.experiment)
        widest = max(map(len, rows))
        high = 2 * MARGIN + (len(rows) - 1) * ROW_GAP + len(rows) * LEAST_ROW
        wide = 2 * MARGIN + (widest - 1) * GAP + widest * LEAST_CARD
        return QSizeF(wide, high if len(rows) > USUAL_ROWS else LEAST_HEIGHT)

    def _shrunk(self) -> float:
        """Return by how much everything is drawn smaller so that all cards fit."""
        assert self._trace is not None
        if self._view is not None and self._view.alone is not None:
            return 1.0
        least, rows = self._least(), len(rows_of(self._trace.experiment))
        row = (least.height() - 2 * MARGIN - (rows - 1) * ROW_GAP) / rows
        fitting = min(1.0, self.width() / least.width(), self.height() / least.height())
        return max(fitting, LEAST_SEEN / row)

    def _wish(self, stage: Stage) -> float:
        """Return how wide a card wants to be against the others: wide matrices somewhat more, never too much."""
        assert self._trace is not None
        e = self._trace.experiment
        rows, columns = (axes.size(e, axis) for axis in stage.axes[-2:])
        several = self._view is not None and self._view.head == "all" and e.n_heads > 1 and stage.has_heads
        return min(max(columns / rows, 1.2 if several else 0.8), 1.6)

    def _place(self) -> None:
        """Move every card to where zoom and offset put it, and draw the ground anew."""
        if self._trace is None:
            return
        self._places, self._outdated = {}, False
        z = self._scale = self._zoom * self._shrunk()
        for name, rect in self._layout().items():
            self._places[name] = QRectF(
                rect.x() * z + self._offset.x(), rect.y() * z + self._offset.y(), rect.width() * z, rect.height() * z
            )
        for name, card in self._all.items():
            place = self._places.get(name)
            if place is None or (name != "heads" and name not in self._trace):
                card.hide()
                continue
            card.setGeometry(place.toRect())
            card.set_zoom(z * scale())
            card.show()
        self._ground_drawn = False
        self.update()

    def wires(self) -> list[Wire]:
        """Return the wires between the cards that are shown."""
        if self._trace is None:
            return []
        e = self._trace.experiment
        return [
            Wire(source.name, stage.name, source.role)
            for stage in STAGES
            if stage.name in self._trace and stage.name in self._places
            for source in sources(stage, e)
            if source.name in self._places
        ]

    def ground(self) -> QPixmap:
        """Return what lies under the cards: their shadows and the wires."""
        if not self._ground_drawn:
            self._draw_ground()
            self._ground_drawn = True
        return self._ground

    def _draw_ground(self) -> None:
        ratio = self.devicePixelRatioF()
        size = self.size() * ratio
        if (self._ground.size(), self._ground.devicePixelRatio()) != (size, ratio):  # memory taken anew is slow
            self._ground = QPixmap(size)
            self._ground.setDevicePixelRatio(ratio)
        self._ground.fill(QColor(self._palette.ground))
        painter = QPainter(self._ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for wire in self.wires():
            painter.setPen(
                QPen(QColor(self._palette.role(wire.role) if wire.role != "neutral" else self._palette.hatch), 1.6)
            )
            painter.drawPath(self._path(wire))
        for rect in self._places.values():
            draw_shadow(painter, rect.toRect())
        painter.end()

    def _path(self, wire: Wire) -> QPainterPath:
        """Return a wire: straight to a neighbour, else out of the bottom and in at the top, in the gap between rows."""
        a, b = self._places[wire.source], self._places[wire.target]
        if abs(a.top() - b.top()) < 1:
            if a.right() + 2 * GAP * self._scale >= b.left() > a.left():
                y = a.center().y()
                return _line(QPointF(a.right(), y), QPointF(b.left(), y))
            return QPainterPath()
        start, end = QPointF(a.center().x(), a.bottom()), QPointF(b.center().x(), b.top())
        shift = {"key": 8.0, "value": 8.0}.get(wire.role, 0.0) * self._scale
        end += QPointF(shift, 0)
        if b.top() - a.bottom() < 2 * ROW_GAP * self._scale:
            return _curve(start, end)
        aside = self._places_right(a, b)
        path = _curve(start, QPointF(aside, a.bottom() + ROW_GAP * self._scale))
        path.lineTo(aside, b.top() - ROW_GAP * self._scale)
        path.connectPath(_curve(QPointF(aside, b.top() - ROW_GAP * self._scale), end))
        return path

    def _places_right(self, above: QRectF, below: QRectF) -> float:
        """Return an x right of every card between two rows."""
        between = [r for r in self._places.values() if above.bottom() < r.center().y() < below.top()]
        return max((r.right() for r in between), default=above.right()) + MARGIN * self._scale / 2

    @Slot(str)
    def _on_title_double_clicked(self, name: str) -> None:
        alone = self._view.alone if self._view is not None else None
        self.alone_requested.emit(None if alone == name else name)

    @Slot(object, bool)
    def _on_brushed(self, cell: object, first: bool) -> None:
        self._brushing = True
        self._strokes += first
        self.mask_painted.emit(cell, self._strokes)

    @Slot()
    def _on_stroke_ended(self) -> None:
        self._brushing = False
        if self._outdated:
            self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ground = self.ground()
        ratio = ground.devicePixelRatio()
        rect = event.rect()
        source = QRect(rect.topLeft() * ratio, rect.size() * ratio)
        painter.drawPixmap(QRectF(rect), ground, QRectF(source))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta().y() or event.angleDelta().x()
        self.zoom_at(1.0015**delta, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.globalPosition()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            moved = event.globalPosition() - self._pressed
            self._pressed = event.globalPosition()
            self.pan(moved)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()


def _line(start: QPointF, end: QPointF) -> QPainterPath:
    path = QPainterPath(start)
    path.lineTo(end)
    return path


def _curve(start: QPointF, end: QPointF) -> QPainterPath:
    """Return an S from one point down to another."""
    path = QPainterPath(start)
    middle = (start.y() + end.y()) / 2
    path.cubicTo(QPointF(start.x(), middle), QPointF(end.x(), middle), end)
    return path

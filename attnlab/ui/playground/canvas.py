"""The canvas: every stage as a card, in the order of the computation, joined by wires. Wheel zooms, drag pans."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from attnlab.attention.stages.flow import Link
from attnlab.attention.stages.table import STAGES
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import scale
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.canvas_layout import HEADS, lay_out_cards
from attnlab.ui.playground.card import StageCard
from attnlab.ui.playground.fade import Fade
from attnlab.ui.playground.heads_card import HeadsCard
from attnlab.ui.playground.shadow import draw_shadow
from attnlab.ui.playground.wires import draw_wires, wires

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

ZOOM_RANGE = (0.5, 12.0)


@guarded
class Canvas(FollowsTheme, QWidget):
    """Owns the cards and the zoom; forwards the cards' signals."""

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)
    cell_moved = Signal(object)
    alone_requested = Signal(object)
    head_clicked = Signal(object)
    head_ablated = Signal(int)
    mask_painted = Signal(object, int)
    """The brush crossed a cell, and the number of its stroke, from press to release; each cell once per stroke."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards = {stage.name: StageCard(stage, self) for stage in STAGES}
        self.heads = HeadsCard(self)
        self.heads.head_clicked.connect(self.head_clicked)
        self.heads.head_ablated.connect(self.head_ablated)
        self._all: dict[str, StageCard | HeadsCard] = {**self.cards, HEADS: self.heads}
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
        """The current magnification; 1 shows everything."""
        return self._zoom

    @property
    def painted(self) -> bool:
        """Whether every visible card has been painted at least once with its numbers."""
        return all(card.painted for card in self.cards.values() if not card.isHidden())

    @property
    def painting(self) -> bool:
        """Whether the left button paints the mask."""
        return self._painting

    def set_painting(self, on: bool) -> None:
        """Let the left button paint the mask on every map of query by key; the middle button pans."""
        self._painting = on
        for card in self.cards.values():
            card.set_painting(on)

    def restyle(self) -> None:
        """Place the cards for the size of type, and draw the ground again."""
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
        if self._outdated and not self._brushing:  # a mask may add a card, but none moves under the brush
            self._place()

    def show_view(self, view: "View") -> None:
        """Show the same trace with another view."""
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
        """Compare every card with another trace, or with none."""
        for card in self._all.values():
            card.show_pinned(pinned)

    @staticmethod
    def _shape(trace: "Trace") -> tuple[object, ...]:
        e = trace.experiment
        return trace.all_stages, e.T_q, e.T_k, e.d_model, e.d_k, e.d_v, e.d_out, e.n_heads

    @Slot()
    def fit(self) -> None:
        """Zoom out to show everything."""
        self._zoom, self._offset = 1.0, QPointF(0, 0)
        self._place()

    @Slot(QPointF)
    def pan(self, by: QPointF) -> None:
        """Move the cards."""
        self._offset += by
        self._place()

    def zoom_at(self, factor: float, point: QPointF) -> None:
        """Zoom about a point, which stays fixed."""
        zoom = min(max(self._zoom * factor, ZOOM_RANGE[0]), ZOOM_RANGE[1])
        self._offset = point - (point - self._offset) * (zoom / self._zoom)
        self._zoom = zoom
        self._place()

    def _place(self) -> None:
        """Move every card to its place for the zoom and the offset, and redraw the ground."""
        if self._trace is None or self._view is None:
            return
        self._outdated = False
        places, shrunk = lay_out_cards(self._trace.experiment, self._view, QSizeF(self.size()))
        z, x, y = self._zoom * shrunk, self._offset.x(), self._offset.y()
        self._scale, zoom = z, z * scale()
        self._places = {
            name: QRectF(rect.x() * z + x, rect.y() * z + y, rect.width() * z, rect.height() * z)
            for name, rect in places.items()
        }
        for name, card in self._all.items():
            place = self._places.get(name)
            if place is None or (name != HEADS and name not in self._trace):
                card.hide()
                continue
            card.setGeometry(place.toRect())
            card.set_zoom(zoom)
            card.show()
        self._ground_drawn = False
        self.update()

    def wires(self) -> list[Link]:
        """Return the wires between the visible cards."""
        return wires(self._trace, self._places) if self._trace is not None else []

    def ground(self) -> QPixmap:
        """Return the picture below the cards: their shadows and the wires."""
        if not self._ground_drawn:
            self._draw_ground()
            self._ground_drawn = True
        return self._ground

    def _draw_ground(self) -> None:
        ratio = self.devicePixelRatioF()
        size = self.size() * ratio
        if (self._ground.size(), self._ground.devicePixelRatio()) != (size, ratio):  # allocating anew is slow
            self._ground = QPixmap(size)
            self._ground.setDevicePixelRatio(ratio)
        palette = palette_of(self)
        self._ground.fill(QColor(palette.ground))
        painter = QPainter(self._ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_wires(painter, self.wires(), self._places, self._scale, palette)
        for rect in self._places.values():
            draw_shadow(painter, rect.toRect())
        painter.end()

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

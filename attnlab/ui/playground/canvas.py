"""The canvas: every stage as a card, in the order of the computation, joined by wires.

The wheel scrolls a canvas that is longer than its room, and zooms one that is not; Ctrl and the wheel always zoom.
"""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from attnlab.attention.stages.flow import Link
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.playground.canvas_form import CanvasPlan
from attnlab.ui.playground.canvas_ground import CanvasGround
from attnlab.ui.playground.canvas_needs import CanvasNeeds
from attnlab.ui.playground.canvas_plan import plan_canvas
from attnlab.ui.playground.canvas_scroll_bar import CanvasScrollBar
from attnlab.ui.playground.card import StageCard
from attnlab.ui.playground.card_levels import level_cards
from attnlab.ui.playground.card_needs import (
    FOLD_TIPS,
    FOLD_WORDS,
    HEADS,
    collect_needs,
    count_decimals,
    find_folded,
    find_form,
    list_cards,
)
from attnlab.ui.playground.fade import Fade
from attnlab.ui.playground.heads_card import HeadsCard
from attnlab.ui.playground.viewport import Viewport
from attnlab.ui.playground.wires import Room, wires

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

LEAST_PICTURES = 560
"""The least width at 100 % type for maps without numbers: two cards with the maps of several heads."""


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
    colours_asked = Signal(str, QPoint)
    card_menu_wanted = Signal(object, QPoint)
    """Emitted with a card and the point on it that was clicked with the right button."""
    weight_dragged = Signal(object, float, QPoint)
    weight_dropped = Signal(object, float)

    is_backward = False  # whether it shows the loss and the gradients instead of the stages up to the output
    collect = staticmethod(collect_needs)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heads = HeadsCard(self)  # first, as Tab follows the order of creation
        self.cards = {stage.name: StageCard(stage, self) for stage in list_cards(self.is_backward)}
        self.heads.head_clicked.connect(self.head_clicked)
        self.heads.head_ablated.connect(self.head_ablated)
        self._all: dict[str, StageCard | HeadsCard] = {**self.cards, HEADS: self.heads}
        for name, each in self._all.items():
            each.hide()
            each.panned.connect(self.pan)
            each.colours_asked.connect(self.colours_asked)
            each.reached.connect(partial(self.show_card, name))
            each.still.lie_on(self.ground)
        for card in self.cards.values():
            card.cell_hovered.connect(self.cell_hovered)
            card.cell_clicked.connect(self.cell_clicked)
            card.cell_moved.connect(self.cell_moved)
            card.weight_dragged.connect(self.weight_dragged)
            card.weight_dropped.connect(self.weight_dropped)
            card.title_double_clicked.connect(self._on_title_double_clicked)
            card.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            card.customContextMenuRequested.connect(partial(self.card_menu_wanted.emit, card))
            card.brushed.connect(self._on_brushed)
            card.stroke_ended.connect(self._on_stroke_ended)
        self._trace: Trace | None = None
        self._view: View | None = None
        self._late: tuple[Trace, View] | None = None
        """What is shown once the canvas is seen again."""
        self._viewport = Viewport()
        self._scale = 1.0
        self._needs = CanvasNeeds(self.collect, self.cards)
        self.plan: CanvasPlan | None = None
        """The places of the cards, which are drawn magnified by the zoom."""
        self._pinned = False
        self.scroll_bar = CanvasScrollBar(Qt.Orientation.Vertical, self)
        self.sideways_bar = CanvasScrollBar(Qt.Orientation.Horizontal, self)
        for bar in (self.scroll_bar, self.sideways_bar):
            bar.valueChanged.connect(self._on_scrolled)
        self._places: dict[str, QRectF] = {}
        self._ground = CanvasGround(self)
        self._pressed: QPointF | None = None
        self._painting, self._brushing, self._strokes = False, False, 0
        self._arranged: tuple[Hashable, str | None] | None = None
        self._followed: tuple[object, object] = (None, None)
        self._kept = ""  # the card to keep in view until the user scrolls
        self.fade = Fade(self, tuple(self.cards.values()))
        self.setMinimumSize(240, 200)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName("Canvas: the stages of the computation")

    @property
    def zoom(self) -> float:
        """The current magnification; 1 is the planned size."""
        return self._viewport.zoom

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
        """Show another trace; while a lens is in the place of the canvas, only when it is seen again."""
        self._late = (trace, view) if self._can_wait(trace) else None
        if self._late is not None:
            return
        before = self._trace
        self._trace, self._view = trace, view
        for name, card in self.cards.items():
            if name in trace:
                card.show_trace(trace, view)
        self.heads.show_trace(trace, view)
        self._needs.count_digits(trace, before)
        self._arrange()
        self._follow(view)

    def show_view(self, view: "View") -> None:
        """Show the same trace with another view."""
        if self._late is not None:
            self._late = self._late[0], view
            return
        before, self._view = self._view, view
        if self._trace is None:
            return
        for name, card in self.cards.items():
            if name in self._trace:
                card.show_view(view)
        self.heads.show_view(view)
        self._arrange()
        self._follow(view)
        if before is not None and before.at != view.at:
            self.fade.begin()

    def _can_wait(self, trace: "Trace") -> bool:
        """Whether nobody sees or hears the cards, whose places stay the same."""
        alike = self._trace is not None and find_form(self._trace) == find_form(trace)
        return alike and self.isHidden() and not QAccessible.isActive()

    def _arrange(self) -> None:
        """Place the cards again if they need other places; a mask may add a card, but none moves under the brush."""
        assert self._trace is not None
        assert self._view is not None
        view = self._view
        asked = self._needs.key(self._trace, view, self._pinned)
        if (asked, view.alone) == self._arranged or self._brushing:
            return
        other = self._arranged is None or self._arranged[1] != view.alone
        self._arranged = asked, view.alone
        if other:
            self.fit()
            return
        self._place_within()

    def _place_within(self) -> None:
        """Place the cards, and scroll back if they end before the lower or the right edge."""
        self._place()
        before = QPointF(self._viewport.offset)
        if self.zoom == 1:
            self._stay_within()
        if self._viewport.offset != before:
            self._place()

    def _follow(self, view: "View") -> None:
        """Scroll to the card of a walk's new step, or of a newly held cell."""
        cell = view.cell if view.pinned else None
        stage = view.at.stage if view.at is not None else cell.stage if cell is not None else ""
        if (view.at, cell) != self._followed:
            self._followed = view.at, cell
            name = "masked" if stage == self.covered == "scaled" else stage
            self.show_card(name)
            self._kept = name

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare every card with another trace, or with none."""
        for card in self._all.values():
            card.show_pinned(pinned)
        self._pinned = pinned is not None
        if self._trace is not None and self._view is not None:
            self._arrange()

    @Slot()
    def fit(self) -> None:
        """Reset the zoom and scroll to the top."""
        self._kept = ""
        self._viewport.reset()
        self._place()

    @Slot(QPointF)
    def pan(self, by: QPointF) -> None:
        """Move the cards; those that fit stay in the canvas, and larger ones fill it."""
        self._kept = ""
        self._viewport.offset += by
        self._stay_within()
        self._place()

    def zoom_at(self, factor: float, point: QPointF) -> None:
        """Zoom about a point, which stays fixed."""
        self._viewport.zoom_at(factor, point)
        self._stay_within()
        self._place()

    def _stay_within(self) -> None:
        """Correct the offset, so that nothing that was dragged away is lost."""
        if self.plan is not None:
            self._viewport.stay_within(self.size().toSizeF(), QSizeF(self.plan.width, self.plan.height))

    def _place(self) -> None:
        """Move every card to its place for the zoom and the offset, and redraw the ground."""
        if self._trace is None or self._view is None:
            return
        plan = self.plan = self._make_plan()
        self._scale = self.zoom * plan.zoom
        hidden, find_place = self.covered, self._viewport.find_place
        self._places = {name: find_place(rect) for name, rect in plan.places.items() if name != hidden}
        folded = not self._pinned and self._view.alone is None and not self.is_backward
        folds = find_folded(self._trace.experiment, self._view.at) if folded else {}
        decimals = count_decimals(plan.decimals, self._pinned and self._view.look == "difference")
        for name, card in self._all.items():
            place = self._places.get(name)
            if place is None:
                card.hide()
                continue
            card.setGeometry(place.toRect())
            card.set_zoom(self._scale)
            card.fold(*((FOLD_WORDS[name], FOLD_TIPS[name]) if name in folds else ("", "")))
            if isinstance(card, StageCard):
                several, shares = plan.per_line.get(name, 0), plan.shares and name == "masked"
                card.set_numbers(name in plan.numbered, several, shares)
            card.show()
        shown = [card for card in self.cards.values() if not card.isHidden()]
        level_cards(shown)
        decimals = min((card.fit_decimals(decimals) for card in shown), default=decimals)
        for card in shown:
            card.set_decimals(decimals)
        offset = self._viewport.offset.toPoint()
        self.scroll_bar.show_extent(round(plan.height * self.zoom), offset.y())
        self.sideways_bar.show_extent(round(plan.width * self.zoom), offset.x())
        self._ground.is_old = True
        self.update()

    def _make_plan(self) -> CanvasPlan:
        assert self._trace is not None
        assert self._view is not None
        alone = self._view.alone if self._view.alone in self._all else None
        needs = self._needs.find(self._trace, self._view, self._pinned or alone is not None)
        return plan_canvas(needs, float(self.width()), float(self.height()), scale(), alone)

    @property
    def covered(self) -> str:
        """The stage whose numbers another card shows too and that has no card, "" for none."""
        if self.plan is None or not self.plan.shares:
            return ""
        return "scaled" if self.cards["masked"].data is not None else "masked"

    @Slot()
    def _on_scrolled(self) -> None:
        if not self.sideways_bar.isHidden():
            self._viewport.offset.setX(-self.sideways_bar.value())
        if not self.scroll_bar.isHidden():
            self._viewport.offset.setY(-self.scroll_bar.value())
        self._kept = ""
        self._place()

    def suits(self, width: int, height: int) -> bool | None:
        """Whether all cards would fit a size without scrolling; if no numbers must stay legible, whether maps would be
        wide enough. None before the first trace.

        Neither the step of a walk, nor a card that fills the canvas, nor a pinned state matters: none may move what is
        beside it.
        """
        trace, view = self._late or (self._trace, self._view)
        if trace is None or view is None:
            return None
        needs = self._needs.find(trace, replace(view, at=None), pinned=False)
        if not needs.are_legible:
            return width >= px(LEAST_PICTURES)
        return plan_canvas(needs, float(width), float(height), scale()).height <= height + 1

    @property
    def is_longer(self) -> bool:
        """Whether the cards, not magnified, are longer than the canvas."""
        return self.plan is not None and self.plan.height > self.height() + 1

    @property
    def is_wider(self) -> bool:
        """Whether a card, not magnified, is wider than the canvas."""
        return self.plan is not None and self.plan.width > self.width() + 1

    @Slot(str)
    def show_card(self, name: str) -> None:
        """Scroll until a card is visible, as far as possible."""
        place = self._places.get(name)
        if place is not None:
            self.scroll_bar.show_place(place)
            self.sideways_bar.show_place(place)

    def wires(self) -> list[Link]:
        """Return the wires between the visible cards."""
        if self._trace is None:
            return []
        other = {"scaled": "masked", "masked": "scaled"}.get(self.covered, "")
        return wires(self._trace, self._places, {self.covered: other} if other else {})

    def ground(self) -> QPixmap:
        """Return the picture below the cards: their shadows and the wires."""
        if self._ground.is_old:
            self._ground.draw(self.wires(), Room(self._places, self.zoom, self.scroll_bar.find_edge()))
        return self._ground.picture

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
        if self._trace is not None and self._view is not None:
            self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, ground, rect = QPainter(self), self.ground(), event.rect()
        ratio = ground.devicePixelRatio()
        painter.drawPixmap(QRectF(rect), ground, QRectF(QRect(rect.topLeft() * ratio, rect.size() * ratio)))
        painter.end()

    def showEvent(self, event: QShowEvent) -> None:
        if self._late is not None:
            self.show_trace(*self._late)

    def resizeEvent(self, event: QResizeEvent) -> None:
        kept = self._kept
        self._place_within()
        if kept:
            self.show_card(kept)
            self._kept = kept

    def wheelEvent(self, event: QWheelEvent) -> None:
        across, down = event.angleDelta().toTuple()
        delta, modifiers = down or across, event.modifiers()
        sideways = abs(across) > abs(down) or bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        bar, is_needed = (self.sideways_bar, self.is_wider) if sideways else (self.scroll_bar, self.is_longer)
        if is_needed and not modifiers & Qt.KeyboardModifier.ControlModifier:
            bar.turn_wheel(delta)
            event.accept()
            return
        self.zoom_at(1.0015**delta, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.globalPosition()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            before, self._pressed = self._pressed, event.globalPosition()
            self.pan(self._pressed - before)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

"""The heads card: the weights of every head and their mean; a click chooses what every card shows."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_painter import MapData, Outline, draw_cells, draw_outlines, draw_titles
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.playground.canvas_card import CanvasCard
from attnlab.ui.playground.stage_maps import make_overview
from attnlab.ui.widgets.tokens.token_chips import draw_eye

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

HINT = "One head. Increase Heads to see the maps side by side; click one to show that head, or the mean, on every card."

NO_DIFFERENCE = "No difference: the maps have different sizes."


@guarded
class HeadsCard(CanvasCard):
    """Shows one small map for each head; emits the chosen head, "mean" or "all"."""

    head_clicked = Signal(object)
    head_ablated = Signal(int)
    """The user asks to ablate a head, or to restore an ablated one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("heads", parent)
        self._pinned: Trace | None = None
        self._hovered: int | None = None
        self._pressed: int | None = None
        self.setMouseTracking(True)

    @property
    def ablated(self) -> tuple[int, ...]:
        """The heads that are ablated."""
        return self._trace.experiment.config.ablated if self._trace is not None else ()

    @property
    def choices(self) -> tuple[int | str, ...]:
        """The meaning of each small map: the heads, and with several their mean."""
        n = self._trace.experiment.n_heads if self._trace is not None else 0
        return (*range(n), "mean") if n > 1 else tuple(range(n))

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show the weights of another trace."""
        self._trace, self._view = trace, None
        self.show_view(view)

    def show_view(self, view: "View") -> None:
        """Mark the heads that a view shows; none while the weights are not revealed."""
        before, self._view = self._view, view
        if before is None or (before.at, before.look) != (view.at, view.look):
            self._data = self._collect_maps(view)
            self._arrange()
        if before is None or (before.head, before.at, before.look) != (view.head, view.at, view.look):
            assert self._trace is not None
            off = "".join(f", head {head} off" for head in self.ablated)
            why = f". {NO_DIFFERENCE}" if self._is_incomparable() else ""
            partly = ", not all computed yet" if self._data is not None and self._data.unknown is not None else ""
            self.setAccessibleName(f"Heads: {self._trace.experiment.n_heads}, showing {view.head}{off}{partly}{why}")
            self.update()

    def _collect_maps(self, view: "View") -> MapData | None:
        assert self._trace is not None
        return make_overview(self._trace, self._pinned, view) if self._is_revealed(view) else None

    def _is_revealed(self, view: "View | None") -> bool:
        assert self._trace is not None
        return view is None or view.step is None or self._trace.all_stages.index("weights") < view.step

    def _is_incomparable(self) -> bool:
        """Whether a difference is requested but not defined."""
        assert self._trace is not None
        shown = self._view is not None and self._view.look == "difference" and self._pinned is not None
        return self._data is None and shown and self._is_revealed(self._view)

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare with another trace, or with none."""
        self._pinned = pinned
        if self._view is not None:
            view, self._view = self._view, None
            self.show_view(view)

    def choice_at(self, position: QPointF) -> int | str | None:
        """Return the choice whose small map is under a point."""
        if self.grid is None:
            return None
        for index, choice in enumerate(self.choices):
            if QRectF(*self.grid.rect(index, None, None)).contains(position):
                return choice
        return None

    def control_at(self, position: QPointF) -> int | None:
        """Return the head that a click at a point ablates or restores."""
        return next((head for head in self._heads() if self.control_rect(head).contains(position)), None)

    def control_rect(self, head: int) -> QRectF:
        """Return the rectangle of a head's control: at the right of its title, and never too small to click."""
        area, side = self._whole(head), max(px(14), self._title_height())
        return QRectF(area.right() - side, area.top(), side, side)

    def _heads(self) -> range:
        """Return the heads that can be ablated; a single one cannot."""
        n = self._trace.experiment.n_heads if self._trace is not None else 0
        return range(n if self.grid is not None and n > 1 else 0)

    def _title_height(self) -> float:
        return 14 * self._zoom

    def _whole(self, index: int) -> QRectF:
        """Return the rectangle of a small map with its title."""
        assert self.grid is not None
        return QRectF(*self.grid.rect(index, None, None)).adjusted(0, -self._title_height(), 0, 0)

    def _find_controls(self) -> list[int]:
        """Return the heads whose control is drawn: the ablated ones, and those under the pointer or in focus."""
        head = self._view.head if self._view is not None and self.hasFocus() else None
        return [each for each in self._heads() if each in self.ablated or each in (head, self._hovered)]

    def _lay_out(self) -> Grid | None:
        if self._data is None:
            return None
        z, (count, rows, columns) = self._zoom, self._data.values.shape
        area = QRectF(self.rect()).adjusted(12 * z, 46 * z, -12 * z, -12 * z)
        if count == 1:
            area.setWidth(min(area.width() * 0.4, area.height()))
        side = 16 * z
        title = self._title_height() if count > 1 else 0.0
        limits = Limits(side, side, 0, title, title)
        rect = (area.x(), area.y(), area.width(), area.height())
        return arrange(rect, rows, columns, count, limits, True, self.devicePixelRatioF())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        heads = self._trace.experiment.n_heads if self._trace is not None else 0
        self.still.draw(painter, (self._palette, self._zoom, self.hasFocus(), heads), self._paint_still)
        if self._data is not None and self.grid is not None:
            self._paint_maps(painter)
        elif self._trace is not None and self._is_incomparable():
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("caption", self._zoom))
            room = QRectF(self.rect()).adjusted(12 * self._zoom, 46 * self._zoom, -12 * self._zoom, -12 * self._zoom)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), NO_DIFFERENCE)
        painter.end()

    def _paint_still(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, (self._trace is not None and self._trace.experiment.n_heads,))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_header(self, painter: QPainter) -> None:
        z, p = self._zoom, self._palette
        self._paint_title(painter, "Heads", "neutral")
        pen = Pen(painter, face("caption", z))
        painter.setPen(QColor(p.muted))
        pen.draw(12 * z, 35 * z, pen.elide("the weights of every head", self.width() - 24 * z))
        if self._trace is not None:
            pen.draw(self.width() - 12 * z, 18 * z, str(self._trace.experiment.n_heads), 1.0)

    def _paint_maps(self, painter: QPainter) -> None:
        assert self._data is not None
        assert self.grid is not None
        draw_cells(painter, self.grid, self._data, self._palette)
        controls, off = self._find_controls(), self.ablated
        for head in off:
            painter.fillRect(QRectF(*self.grid.rect(head, None, None)), _fade_colour(self._palette.surface))
        kept = {head: self.control_rect(head).width() for head in controls}
        draw_titles(painter, self.grid, self._data, self._palette, face("tiny", self._zoom), kept=kept, struck=off)
        for head in controls:
            self._paint_control(painter, head)
        if self.grid.count == 1:
            left = self.grid.x + self.grid.width + 16
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("caption", self._zoom))
            room = QRectF(left, self.grid.y, self.width() - left - 12, self.height() - self.grid.y - 8)
            painter.drawText(room, Qt.TextFlag.TextWordWrap, HINT)
        elif self._view is not None and self._view.head in self.choices:
            index = self.choices.index(self._view.head)
            draw_outlines(painter, self.grid, [Outline(index, None, None, self._palette.accent, 2.5)])

    def _paint_control(self, painter: QPainter, head: int) -> None:
        pointed = head == self._hovered
        draw_eye(
            painter,
            self.control_rect(head),
            self._palette.ink if pointed else self._palette.muted,
            shut=head in self.ablated,
        )

    def _hover(self, position: QPointF | None) -> None:
        """Store the head under the pointer, and show its control."""
        found = (head for head in self._heads() if position is not None and self._whole(head).contains(position))
        hovered = next(found, None)
        if hovered != self._hovered:
            self._hovered = hovered
            self.update()

    def _tip(self, position: QPointF) -> str:
        head = self.control_at(position)
        if head is None:
            return ""
        out = head in self.ablated
        return f"Switch head {head} on  (Delete)" if out else f"Switch head {head} off: its context becomes 0  (Delete)"

    def _choose(self, choice: int | str) -> None:
        current = self._view.head if self._view is not None else None
        self.head_clicked.emit("all" if choice == current else choice)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self.control_at(event.position())
        choice = self.choice_at(event.position())
        if self._pressed is None and choice is not None and len(self.choices) > 1:
            self._choose(choice)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is not None and pressed == self.control_at(event.position()):
            self.head_ablated.emit(pressed)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        head = self._view.head if self._view is not None else None
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_X) and head in self._heads():
            self.head_ablated.emit(head)
            return
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or len(self.choices) < 2 or self._view is None:
            super().keyPressEvent(event)
            return
        choices = ("all", *self.choices)
        self.head_clicked.emit(choices[(choices.index(self._view.head) + step) % len(choices)])


def _fade_colour(surface: str) -> QColor:
    """Return the colour that covers the map of an ablated head."""
    colour = QColor(surface)
    colour.setAlphaF(0.7)
    return colour

"""The heads card: the weights of every head and their mean; a click chooses what every card shows."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.attention.measures.statistics import weights_statistics
from attnlab.attention.stages.table import kind_of
from attnlab.figures.colour_bar import write_colour_ends
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import draw_labels, draw_titles
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.text import Pen, find_key, measure_text
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.playground.canvas_card import BAR_TIP, CanvasCard
from attnlab.ui.playground.canvas_lengths import HEADER, PADDING, TITLE
from attnlab.ui.playground.card_grid import SMALL_LABEL, label_face
from attnlab.ui.playground.head_tiles import HeadTiles, place_tiles
from attnlab.ui.playground.stage_maps import make_overview
from attnlab.ui.widgets.maps.spoken_maps import MapCell, join_cell, move_cell, name_cell
from attnlab.ui.widgets.tokens.token_chips import draw_eye

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

MOST_MEASURED = 100_000
"""The entropy of more weights is not computed, because it would delay the picture after an edit."""
ABOUT = "the weights of every head; click one to show it on every card"
NO_DIFFERENCE = "No difference: the maps have different sizes."


@guarded
class HeadsCard(CanvasCard):
    """Shows one small map for each head; emits the chosen head, "mean" or "all"."""

    head_clicked = Signal(object)
    head_ablated = Signal(int)
    """The user asks to ablate a head, or to restore an ablated one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("heads", "weights", parent)
        self._pinned: Trace | None = None
        self._mean: MapData | None = None
        self.effects: tuple[str, ...] = ()
        """How many of its keys each head attends to in effect, such as "3.1 of 10"; empty where that is not known."""
        self._tiles: HeadTiles | None = None
        self._hovered: int | None = None
        self._pressed: int | None = None
        self._walked: MapCell | None = None
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
        if before is None or _select_parts(before) != _select_parts(view):
            maps = self._collect_maps(view)
            self._data, self._mean = maps if maps is not None else (None, None)
            self.effects = self._write_effects(view)
            self._arrange()
        if before is None or (before.head, before.at, before.look) != (view.head, view.at, view.look):
            self._describe_again()
            self.update()

    def _describe_again(self) -> None:
        if self._trace is None or self._view is None:
            return
        if self._folded:
            self.setAccessibleName(f"Heads: {self._folded}. {self.toolTip()}")
            return
        off = "".join(f", head {head} off" for head in self.ablated)
        why = f". {NO_DIFFERENCE}" if self._is_incomparable() else ""
        partly = ", not all computed yet" if self._data is not None and self._data.unknown is not None else ""
        shown = f"showing {self._view.head}{off}{partly}{why}"
        self.setAccessibleName(f"Heads: {self._trace.experiment.n_heads}, {shown}")

    def _collect_maps(self, view: "View") -> tuple[MapData, MapData] | None:
        assert self._trace is not None
        return make_overview(self._trace, self._pinned, view) if self._is_revealed(view) else None

    def _write_effects(self, view: "View") -> tuple[str, ...]:
        """Return ``effects`` for a view: e to the mean entropy of the rows of each head."""
        shown = self._pinned if view.look == "pinned" and self._pinned is not None else self._trace
        compared = view.look == "difference" and self._pinned is not None
        if shown is None or self._data is None or self._data.unknown is not None or compared:
            return ()
        weights = shown.array("weights")
        if weights.size > MOST_MEASURED or kind_of(shown.stage("weights"), shown.experiment) != "probability":
            return ()
        entropies = weights_statistics(weights).mean("entropy")
        return tuple(f"{math.exp(each):.1f} of {weights.shape[-1]}" for each in entropies)

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

    def count_cells(self) -> int:
        return self.tiles.count_cells() if self.tiles is not None else 0

    def name_cell(self, place: int) -> str:
        assert self.tiles is not None
        _, data, cell, index = self.tiles.find_map(place)
        choice = self.choices[index]
        out = ", off" if choice in self.ablated else ""
        return name_cell(data, cell, "weights", f"head {choice}{out}" if choice != "mean" else "mean of the heads")

    def locate_cell(self, place: int) -> QRectF:
        if self.tiles is None:
            return QRectF()
        grid, _, cell, _ = self.tiles.find_map(place)
        return QRectF(*grid.rect(*cell))

    def find_cell(self, at: QPointF) -> int | None:
        return self.tiles.find_cell(at) if self.tiles is not None else None

    @property
    def current_cell(self) -> int | None:
        shape = self._shape()
        if self._walked is None or any(at >= most for at, most in zip(self._walked, shape, strict=True)):
            return None
        return join_cell(shape, self._walked)

    def _shape(self) -> tuple[int, int, int]:
        """Return the number of maps with the mean, and their rows and columns."""
        return self.tiles.shape if self.tiles is not None else (0, 0, 0)

    @property
    def tiles(self) -> HeadTiles | None:
        """The small maps with their places; None while they are not computed or the card is folded."""
        return self._tiles if self.grid is not None else None

    def choice_at(self, position: QPointF) -> int | str | None:
        """Return the choice whose small map is under a point."""
        if self.grid is None:
            return None
        return next((choice for choice in self.choices if self.map_rect(choice).contains(position)), None)

    def map_rect(self, choice: int | str) -> QRectF:
        """Return the rectangle of the map of a head, or of the mean."""
        return self.tiles.map_rect(choice) if self.tiles is not None else QRectF()

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
        return TITLE * self._zoom

    def _whole(self, index: int) -> QRectF:
        """Return the rectangle of a small map with its title and the labels below that."""
        assert self.tiles is not None
        return self.map_rect(index).adjusted(0, -self._title_height() - self.tiles.space_above(index), 0, 0)

    def _find_controls(self) -> list[int]:
        """Return the heads whose control is drawn: the ablated ones, and those under the pointer or in focus."""
        head = self._view.head if self._view is not None and self.hasFocus() else None
        return [each for each in self._heads() if each in self.ablated or each in (head, self._hovered)]

    def _lay_out(self) -> Grid | None:
        self._tiles = None
        if self._data is None or self._mean is None or self._folded:
            return None
        area = QRectF(self.rect()).adjusted(PADDING * self._zoom, HEADER * self._zoom, 0, 0)
        area.adjust(0, 0, -PADDING * self._zoom, -PADDING * self._zoom)
        self._tiles = place_tiles(self._data, self._mean, area, self._zoom, self.devicePixelRatioF())
        return self._tiles.grid

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.still.draw(painter, self._still_depends_on(), self._paint_still)
        if self.tiles is not None:
            self._paint_maps(painter, self.tiles)
        elif self._trace is not None and self._is_incomparable() and not self._folded:
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("map", self._zoom))
            room = QRectF(self.rect()).adjusted(
                12 * self._zoom, HEADER * self._zoom, -12 * self._zoom, -12 * self._zoom
            )
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), NO_DIFFERENCE)
        painter.end()

    def _still_depends_on(self) -> tuple[object, ...]:
        labels = (self._data.row_labels, self._data.column_labels) if self._data is not None else ()
        heads = self._trace.experiment.n_heads if self._trace is not None else 0
        looks = (self._palette, self._zoom, self.hasFocus(), heads, self._folded, bool(self.effects))
        grids = (self.tiles.grid, self.tiles.mean_grid) if self.tiles is not None else (None, None)
        return (*looks, *grids, *labels)

    def _paint_still(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(
            painter, (self._trace is not None and self._trace.experiment.n_heads, self._folded, bool(self.effects))
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self.tiles is None:
            return
        for grid, data in self.tiles.parts:
            level = grid.column_space == self.tiles.grid.column_space  # room for labels as large as those of the heads
            font = label_face(self.tiles.grid if level else grid, self._zoom)
            draw_labels(painter, grid, data, self._palette, font, (None, None))

    def _paint_header(self, painter: QPainter) -> None:
        z, p = self._zoom, self._palette
        left = self._paint_title(painter, "Heads", "neutral") + 8 * z
        if self._folded:
            self._paint_fold(painter, left)
            return
        pen = Pen(painter, face("map", z))
        painter.setPen(QColor(p.muted))
        about = (
            f"{ABOUT}; n of {self._mean.values.shape[2]}: effective tokens" if self.effects and self._mean else ABOUT
        )
        pen.draw(left, self._title_middle(), pen.elide(about, self.width() - left - 160 * z))

    def _paint_maps(self, painter: QPainter, tiles: HeadTiles) -> None:
        off, controls = self.ablated, self._find_controls()
        kept = {head: self.control_rect(head).width() for head in controls}
        for grid, data in tiles.parts:
            draw_cells(painter, grid, data, self._palette)
        for head in off:
            painter.fillRect(tiles.map_rect(head), _fade_colour(self._palette.surface))
        draw_titles(painter, tiles.grid, tiles.heads, self._palette, face("map", self._zoom), kept=kept, struck=off)
        self._paint_effects(painter, tiles)
        self._paint_mean_title(painter, tiles)
        self._paint_bar(painter, tiles.heads, self.width() - PADDING * self._zoom)
        for head in controls:
            self._paint_control(painter, head)
        if self._view is not None and self._view.head in self.choices:
            chosen = self._view.head
            frame = Outline(0 if chosen == "mean" else int(chosen), None, None, self._palette.accent, 2.5)
            draw_outlines(painter, tiles.mean_grid if chosen == "mean" else tiles.grid, [frame])
        if self._walked is not None and self.hasFocus() and (place := self.current_cell) is not None:
            grid, _, cell, _ = tiles.find_map(place)
            draw_outlines(painter, grid, [Outline(*cell, self._palette.ink, 1.5)])

    def _paint_effects(self, painter: QPainter, tiles: HeadTiles) -> None:
        """Write how many tokens each head attends to in effect, right of its title, if all have room."""
        key = find_key(face(SMALL_LABEL, self._zoom))
        titles = max(measure_text(title, find_key(face("map", self._zoom))) for title in tiles.heads.titles)
        room = tiles.grid.columns * tiles.grid.cell_width - titles - 8 * self._zoom
        if not self.effects or max(measure_text(text, key) for text in self.effects) > room:
            return
        pen, controls = Pen(painter, face(SMALL_LABEL, self._zoom)), self._find_controls()
        painter.setPen(QColor(self._palette.muted))
        for head, text in enumerate(self.effects):
            if head not in controls:
                rect = tiles.map_rect(head)
                pen.draw(rect.right(), rect.y() - tiles.space_above(head) - 2, text, 1.0, 1.0)

    def _paint_mean_title(self, painter: QPainter, tiles: HeadTiles) -> None:
        """Write the title of the mean, with its scale unless that is the one of the heads."""
        pen = Pen(painter, face("map", self._zoom))
        painter.setPen(QColor(self._palette.muted))
        low, high = write_colour_ends(tiles.mean)
        rect = tiles.map_rect("mean")
        own = f"  {low} … {high}" if tiles.mean.scale != tiles.heads.scale and low != high else ""
        text = pen.elide(f"mean{own}", rect.width() + tiles.mean_grid.label_width)
        pen.draw(rect.x(), rect.y() - tiles.mean_grid.column_space - 2, text, 0.0, 1.0)

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
            tip = self.toolTip() if self._folded else self._tip(QPointF(event.pos()))
            if self._is_on_bar(QPointF(event.pos())):
                tip = BAR_TIP
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self.control_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and self._is_on_bar(event.position()):
            self._ask_colours(self.bar_rect.bottomLeft())
            return
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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._data is None or self._folded:
            event.ignore()
            return
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        self._ask_colours(QPointF(self.bar_rect.bottomLeft() if by_key else event.pos()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        head = self._view.head if self._view is not None else None
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_X) and head in self._heads():
            self.head_ablated.emit(head)
            return
        walked = move_cell(event, self._walked, self._shape(), plain=False)
        if walked is not None:
            starts = self._walked is None and head in self.choices
            self._walked = (self.choices.index(head), *walked[1:]) if starts else walked
            self.update()
            self.tell_cell()
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


def _select_parts(view: "View") -> tuple[object, ...]:
    """Return the parts of a view that the maps depend on."""
    return view.at, view.look, view.colouring("weights")

"""One stage as a card: title, formula, shape, maps, labels, colour bar, and the cells of the selection."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QHelpEvent, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.attention.axes import TOKENS
from attnlab.attention.explain import Cell
from attnlab.attention.stages import Stage, about
from attnlab.figures.empty_cells import draw_veil
from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import (
    Outline,
    draw_cells,
    draw_colour_ends,
    draw_colour_strip,
    draw_labels,
    draw_numbers,
    draw_outlines,
    draw_titles,
)  # fmt: skip
from attnlab.figures.text import Pen
from attnlab.ui.formula import draw_formula
from attnlab.ui.playground.canvas_card import Brush, CanvasCard
from attnlab.ui.playground.card_layout import LABEL_SIZE, STRIP_MIDDLE, Room, fit, foot_height, kept_free
from attnlab.ui.playground.frames import Strong, frames
from attnlab.ui.playground.looks import Look, cell_text, come_to_be, figures, is_same, look_at, shortened
from attnlab.ui.playground.still import face
from attnlab.ui.theme import plain_tip

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attnlab.attention.trace import Trace
    from attnlab.document.document import View

_MOVES = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
DRAG_START_PX = 4
PADDING = 8.0
MASK_AXES = ("query", "key")
PAINTING = "painting the mask"
_WRAP = int(Qt.TextFlag.TextWordWrap)


class StageCard(CanvasCard):
    """Shows one stage of a trace; pointing, clicking and keys are announced, never acted on here."""

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)
    cell_moved = Signal(object)
    """An arrow key chose a cell: unlike a second click it never lets go of it."""
    title_double_clicked = Signal(str)
    brushed = Signal(object, bool)
    """The brush came over a cell for the first time in its stroke; and whether the cell is the first of the stroke."""
    stroke_ended = Signal()

    def __init__(self, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(stage.name, parent)
        self.stage = stage
        self._heads: tuple[int | None, ...] = (None,)
        self._framed: tuple[list[Outline], Strong] = ([], (None, None))
        self._tipped = False
        self._pressed: QPointF | None = None
        self._panning = False
        self._painting = False
        self._pinned: Trace | None = None
        self._reason = self._strip = ""
        self._brush: Brush | None = None
        self._fresh: NDArray[np.bool_] | None = None
        self._veil, self.painted = 0.0, 0
        self.setMouseTracking(True)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show a stage of a trace as the view asks: one head, the mean, or all; nothing before its step."""
        before, self._trace = self._trace, trace
        if before is None or not is_same(self.stage, before, trace):
            self._view = None
        self.show_view(view)

    def show_view(self, view: "View") -> None:
        """Show the same trace as another view asks; where only the selected cell is another, just its frames."""
        before, self._view = self._view, view
        if before is None or _asks(before) != _asks(view):
            shown = self._data
            self._look()
            self._fresh = come_to_be(shown, self._data) if before is not None and before.at != view.at else None
            self.setAccessibleName(self._described())
            self._arrange()
        framed, self._framed = self._framed, self._outlines()
        if framed != self._framed:
            self.update()
        if before is None or (before.cell, before.at) != (view.cell, view.at):
            self._tell_cell(view.cell)

    @property
    def fresh(self) -> bool:
        """Whether the last step of a walk brought numbers here."""
        return self._fresh is not None

    def set_veil(self, strength: float) -> None:
        """Cover the numbers that the last step brought, from 1, wholly, to 0."""
        if strength != self._veil:
            self._veil = strength
            self.update()

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare with another trace from now on, or with none."""
        self._pinned = pinned
        if self._view is not None and self._trace is not None and self.stage.name in self._trace:
            view, self._view = self._view, None
            self.show_view(view)

    def _tell_cell(self, cell: Cell | None) -> None:
        """Let a screen reader say the selected cell of this card, and take a tip away that Escape let go of."""
        own = cell is not None and cell.stage == self.stage.name and cell.head in self._heads
        shown = own and cell is not None and self._has(cell.row, cell.column)
        self.setAccessibleDescription(self.hover_text(cell) if shown and cell is not None else "")
        if cell is None and self._tipped:
            self._tipped = False
            QToolTip.hideText()

    def _has(self, row: int | None, column: int | None) -> bool:
        """Whether the maps that are shown reach so far: those of a pinned state may be of another size."""
        _, rows, columns = self._data.values.shape if self._data is not None else (0, 0, 0)
        return bool((row or 0) < rows and (column or 0) < columns)

    def set_painting(self, on: bool) -> None:
        """Make the left button a brush, or no longer, where the cells are those of a mask."""
        on = on and self.stage.axes[-2:] == MASK_AXES
        if on == self._painting:
            return
        self._end_stroke()
        self._painting = on
        self.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)
        self.setAccessibleName(self._described())
        self.update()

    def _brush_to(self, position: QPointF) -> None:
        """Announce the cells that the brush comes over on its way to a point."""
        brush = self._brush
        for index, row, column in brush.move(self.grid, position) if brush and self.grid else ():
            if brush and brush is self._brush:  # whoever hears of a cell may end the stroke
                first, brush.used = not brush.used, True
                self.brushed.emit(Cell(self.stage.name, row, column, self._heads[index]), first)

    def _end_stroke(self) -> None:
        if self._brush is not None:
            self._brush = None
            self.stroke_ended.emit()

    def cell_at(self, position: QPointF) -> Cell | None:
        """Return the cell under a point of the card."""
        hit = self.grid.hit(position.x(), position.y()) if self.grid else None
        if hit is None:
            return None
        index, row, column = hit
        return Cell(self.stage.name, row, column, self._heads[index])

    def cell_rect(self, row: int, column: int, index: int = 0) -> QRectF:
        """Return where a cell of the map at ``index`` lies, in pixels of the card."""
        assert self.grid is not None
        return QRectF(*self.grid.rect(index, row, column))

    def _revealed(self) -> bool:
        if self._trace is None or self._view is None or self.stage.name not in self._trace:
            return False
        step = self._view.step
        return step is None or self._trace.all_stages.index(self.stage.name) < step

    def _look(self) -> None:
        """Take the maps that the view asks for, and the line of figures under them."""
        assert self._trace is not None
        assert self._view is not None
        look = look_at(self._trace, self._pinned, self.stage, self._view) if self._revealed() else Look(None)
        self._data, self._heads, self._reason = look.data, look.heads, look.reason
        self._strip = ""
        if self._view.strips and look.data is not None and look.data.unknown is None:
            self._strip = figures(self._trace, self._pinned, self.stage, self._view, look.data)

    def _described(self) -> str:
        if self._data is None or self._trace is None:
            return f"{self.stage.title}: {self._reason or 'not computed yet'}"
        count, rows, columns = self._data.values.shape
        heads = f"{count} heads, " if count > 1 else ""
        painting = " Painting the mask: Space paints the held cell." if self._painting else ""
        figures = f" {self._strip}." if self._strip else ""
        what = about(self.stage, self._trace.experiment)
        partly = "" if self._data.unknown is None else ", not all computed yet"
        return f"{self.stage.title}: {heads}{rows} by {columns}{partly}. {what}{figures}{painting}"

    def shape_text(self) -> str:
        """Return the shape as the header shows it: ``8 × 6×6``, or ``6×6`` without heads."""
        if self._trace is None or self.stage.name not in self._trace:
            return ""
        shape = self._trace.array(self.stage.name).shape
        text = f"{shape[-2]}×{shape[-1]}"
        return f"{shape[0]} × {text}" if len(shape) == 3 and shape[0] > 1 else text

    def _area(self) -> QRectF:
        z = self._zoom
        return QRectF(self.rect()).adjusted(PADDING * z, 48 * z, -PADDING * z, -2 * z - self._foot())

    def _foot(self) -> float:
        return foot_height(self._zoom, self._view is not None and self._view.strips)

    def _lay_out(self) -> Grid | None:
        if self._data is None:
            return None
        area, axes = self._area(), self.stage.axes[-2:]
        rect = (area.x(), area.y(), area.width(), area.height())
        data, across = self._data, self._data.group_labels or self._data.column_labels
        down, over = (axis in TOKENS for axis in axes)
        ratio, group = self.devicePixelRatioF(), data.column_group or 1
        room = Room(rect, self._zoom, self._alone_factor(), ratio, down, over, group)
        return fit(data.values.shape, tuple(data.row_labels), tuple(across), room)

    def _alone_factor(self) -> float:
        return 2.6 if self._view is not None and self._view.alone == self.stage.name else 1.0

    def _outlines(self) -> tuple[list[Outline], Strong]:
        """Return the frames on this card, and the row and column whose labels stand out."""
        if self._view is None or self._trace is None or self._data is None:
            return [], (None, None)
        return frames(self._trace, self._view, self.stage, self._heads, self._data.values.shape, self._palette)

    def _paint_header(self, painter: QPainter) -> None:
        z, p = self._zoom, self._palette
        room = self.width() - 20 * z - self._paint_title(painter, self.stage.title, self.stage.role)
        pen = Pen(painter, face("caption", z))
        shape = self.shape_text()
        texts = (*([PAINTING] if self._painting else []), shape, shape.split(" × ")[-1])
        text = next((text for text in texts if pen.width(text) <= room), "")
        painter.setPen(QColor(p.accent if text == PAINTING else p.muted))
        pen.draw(self.width() - 12 * z, 18 * z, text, 1.0)
        painter.setPen(QColor(p.muted))
        if formula := self._formula():
            draw_formula(painter, QPointF(12 * z, 28 * z), formula, 13 * z, p.muted, self.width() - 24 * z)

    def _formula(self) -> str:
        known = self._trace is not None and self.stage.name in self._trace
        return self.stage.formula(self._trace.experiment) if known and self._trace is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setClipRect(event.rect())  # numbers and labels outside are not even looked at
        outlines, strong = self._outlines()
        self.still.draw(painter, self._still_depends_on(strong), lambda own: self._paint_still(own, strong))
        if self._data is not None and self.grid is not None:
            draw_cells(painter, self.grid, self._data, self._palette)
            draw_numbers(painter, self.grid, self._data, self._palette, *self._number_fonts())
            if self._veil and self._fresh is not None:
                draw_veil(painter, self.grid, self._fresh, self._palette.surface, self._veil)
            draw_outlines(painter, self.grid, outlines)
            if self._data.unknown is None:  # or the largest number would be known before it is computed
                draw_colour_ends(painter, self._colour_bar(), self._data, self._palette, face("tiny", self._zoom))
            self._paint_strip(painter)
        elif self._reason:
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("caption", self._zoom))
            painter.drawText(self._area(), int(Qt.AlignmentFlag.AlignCenter) | _WRAP, self._reason)
        painter.end()
        self.painted += 1

    def _paint_strip(self, painter: QPainter) -> None:
        """Write the line of figures under the colour bar, as much of it as there is room for."""
        if self._strip:
            pen = Pen(painter, face("tiny", self._zoom))
            painter.setPen(QColor(self._palette.muted))
            text = shortened(self._strip, pen, self.width() - 2 * PADDING * self._zoom)
            pen.draw(PADDING * self._zoom, self.height() - STRIP_MIDDLE * self._zoom, text)

    def _number_fonts(self) -> tuple[QFont, ...]:
        """Return the fonts numbers may have, largest first: alone on the canvas a card may have large ones."""
        zoom = min(self._zoom, 1.6)
        large = tuple(face("number", zoom * k) for k in (1.8, 1.4, 1.0)) if self._alone_factor() > 1 else ()
        return (*large, face("cell", zoom), face("tiny", zoom))

    def _still_depends_on(self, strong: tuple[int | None, int | None]) -> tuple[object, ...]:
        data = self._data
        labels = (data.row_labels, data.group_labels or data.column_labels, data.titles) if data is not None else ()
        mode = (self._palette, self._zoom, self.hasFocus(), self._foot(), data and data.kind)
        return (*mode, *self._header_depends_on(), self.grid, labels, strong)

    def _header_depends_on(self) -> tuple[object, ...]:
        return self._painting, self.shape_text(), self._formula()

    def _paint_still(self, painter: QPainter, strong: tuple[int | None, int | None]) -> None:
        """Paint ground, header, labels and the colours of the bar."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, self._header_depends_on())
        if self._painting and not self.hasFocus():  # whose own frame is whole
            painter.setPen(QPen(QColor(self._palette.accent), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self._data is not None and self.grid is not None:
            label_font = face("caption", self._zoom * LABEL_SIZE)
            draw_labels(painter, self.grid, self._data, self._palette, label_font, strong)
            kept = kept_free(self.grid, self.width() - 4 * self._zoom)
            draw_titles(painter, self.grid, self._data, self._palette, face("tiny", self._zoom), kept=kept)
            draw_colour_strip(painter, self._colour_bar(), self._data.kind, self._palette)

    def _colour_bar(self) -> QRectF:
        assert self.grid is not None
        z = self._zoom
        width = min(max(self.grid.width, 72 * z), self.width() - self.grid.x - 12 * z)
        return QRectF(self.grid.x, self.height() - self._foot(), width, 16 * z)

    def _held(self) -> Cell | None:
        """Return the cell of this card that is held, None without one."""
        cell = self._view.cell if self._view is not None and self._view.pinned else None
        return cell if cell is not None and cell.stage == self.stage.name else None

    def _clamped(self, row: int, column: int) -> tuple[int, int]:
        assert self._data is not None
        _, rows, columns = self._data.values.shape
        return min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)

    def hover_text(self, cell: Cell) -> str:
        """Return what a tooltip says of a cell: its exact value and where it lies."""
        assert self._data is not None
        return cell_text(self._data, self._heads.index(cell.head), cell.row, cell.column)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            cell = self.cell_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(self.hover_text(cell)) if cell else "", self)
            self._tipped = cell is not None
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._painting and event.button() == Qt.MouseButton.LeftButton:
            self._end_stroke()
            self._brush = Brush()
            self._brush_to(event.position())
            return
        self._pressed = event.globalPosition()
        self._panning = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._brush is not None and not event.buttons() & Qt.MouseButton.LeftButton:
            self._end_stroke()  # its release went elsewhere
        if self._brush is not None:
            self._brush_to(event.position())
        elif self._pressed is not None and event.buttons() & (Qt.MouseButton.LeftButton | Qt.MouseButton.MiddleButton):
            moved = event.globalPosition() - self._pressed
            if self._panning or moved.manhattanLength() >= DRAG_START_PX:
                self._panning = True
                self._pressed = event.globalPosition()
                self.panned.emit(moved)
            return
        self.cell_hovered.emit(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._brush is not None and event.button() == Qt.MouseButton.LeftButton:
            self._end_stroke()
            return
        if self._pressed is not None and not self._panning and event.button() == Qt.MouseButton.LeftButton:
            cell = self.cell_at(event.position())
            if cell is not None:
                self.cell_clicked.emit(cell)
        self._pressed, self._panning = None, False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.position().y() < 44 * self._zoom and self._data is not None:
            self.title_double_clicked.emit(self.stage.name)
        elif self._painting:
            self.mousePressEvent(event)  # the second of two quick strokes

    def leaveEvent(self, event: QEvent) -> None:
        self.cell_hovered.emit(None)

    def hideEvent(self, event: QHideEvent) -> None:
        self._end_stroke()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = _MOVES.get(Qt.Key(event.key()))
        if self._data is not None and self._view is not None and move is not None:
            cell = self._view.cell
            if self._held() is None and move[0] == 0:  # they walk the steps, until a cell of this card is held
                event.ignore()
                return
            if cell is None or cell.stage != self.stage.name:
                self.cell_moved.emit(Cell(self.stage.name, 0, 0, self._heads[0]))
                return
            row, column = self._clamped(cell.row + move[0], cell.column + move[1])
            self.cell_moved.emit(Cell(self.stage.name, row, column, cell.head))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._data is not None:
            self.title_double_clicked.emit(self.stage.name)
        elif self._painting and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_M) and self._held() is not None:
            self.brushed.emit(self._held(), True)
            self.stroke_ended.emit()
        else:
            super().keyPressEvent(event)


def _asks(view: "View") -> tuple[object, ...]:
    """Return what of a view decides what a card shows."""
    return view.head, view.alone, view.at, view.look, view.strips

"""The painting of a stage's card: title, formula, shape, maps, labels, colour bar, and the selected cells."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from attnlab.attention.axes import TOKENS
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.table import Stage
from attnlab.figures.empty_cells import draw_veil
from attnlab.figures.layout import Grid
from attnlab.figures.map_painter import (
    MapData,
    Outline,
    draw_cells,
    draw_colour_ends,
    draw_colour_strip,
    draw_labels,
    draw_numbers,
    draw_outlines,
    draw_titles,
)
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.formula import draw_formula
from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.canvas_card import CanvasCard
from attnlab.ui.playground.card_frames import Strong, frames
from attnlab.ui.playground.card_words import describe_card, shape_text
from attnlab.ui.playground.stage_maps import (
    Look,
    cell_text,
    find_new_cells,
    is_same,
    look_at,
    shorten_figures,
    write_figures,
)
from attnlab.ui.widgets.maps.map_layout import (
    LABEL_SIZE,
    STRIP_MIDDLE,
    Room,
    compute_foot_height,
    fit,
    measure_title_room,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

PADDING = 8.0
PAINTING = "painting the mask"
_WRAP = int(Qt.TextFlag.TextWordWrap)


@guarded
class StageFace(CanvasCard):
    """Shows one stage of a trace with a view; subclasses handle the user's actions."""

    def __init__(self, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(stage.name, parent)
        self.stage = stage
        self._heads: tuple[int | None, ...] = (None,)
        self._bar = QRectF()
        self._framed: tuple[list[Outline], Strong] = ([], (None, None))
        self._painting = False
        self._pinned: Trace | None = None
        self._reason = self._strip = ""
        self._titled: tuple[str, str] | None = None
        self._fresh: NDArray[np.bool_] | None = None
        self._veil, self.painted = 0.0, 0

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show a stage of a trace with a view: one head, the mean, or all; nothing before its step."""
        before, self._trace = self._trace, trace
        self._titled = None
        if before is None or not is_same(self.stage, before, trace):
            self._view = None
        self.show_view(view)

    def show_view(self, view: "View") -> None:
        """Show the same trace with another view; if only the selected cell differs, just its frames are updated."""
        before, self._view = self._view, view
        if before is None or _select_parts(before) != _select_parts(view):
            shown = self._data
            self._look()
            self._fresh = find_new_cells(shown, self._data) if before is not None and before.at != view.at else None
            self.setAccessibleName(self._describe())
            self._arrange()
        framed, self._framed = self._framed, self._outlines()
        if framed != self._framed:
            self.update()
        if before is None or (before.cell, before.at) != (view.cell, view.at):
            self._tell_cell(view.cell)

    @property
    def fresh(self) -> bool:
        """Whether the last step of a walk computed numbers here."""
        return self._fresh is not None

    def set_veil(self, strength: float) -> None:
        """Cover the numbers of the last step, from 1 (fully) to 0."""
        if strength != self._veil:
            self._veil = strength
            self.update()

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare with another trace, or with none."""
        self._pinned = pinned
        if self._view is not None and self._trace is not None and self.stage.name in self._trace:
            view, self._view = self._view, None
            self.show_view(view)

    def _tell_cell(self, cell: Cell | None) -> None:
        """Update the description of the selected cell for screen readers."""
        own = cell is not None and cell.stage == self.stage.name and cell.head in self._heads
        shown = own and cell is not None and self._has_cell(cell.row, cell.column)
        self.setAccessibleDescription(self.hover_text(cell) if shown and cell is not None else "")

    def _has_cell(self, row: int | None, column: int | None) -> bool:
        """Whether the visible maps have this row and column: those of a pinned state may have another size."""
        _, rows, columns = self._data.values.shape if self._data is not None else (0, 0, 0)
        return bool((row or 0) < rows and (column or 0) < columns)

    def hover_text(self, cell: Cell) -> str:
        """Return a cell's tool tip: its exact value and its row and column."""
        assert self._data is not None
        return cell_text(self._data, self._heads.index(cell.head), cell.row, cell.column)

    def cell_rect(self, row: int, column: int, index: int = 0) -> QRectF:
        """Return the rectangle of a cell of the map at ``index``, in pixels of the card."""
        assert self.grid is not None
        return QRectF(*self.grid.rect(index, row, column))

    def _is_revealed(self) -> bool:
        if self._trace is None or self._view is None or self.stage.name not in self._trace:
            return False
        step = self._view.step
        return step is None or self._trace.all_stages.index(self.stage.name) < step

    def _look(self) -> None:
        """Select the maps for the view, and the line of figures below them."""
        assert self._trace is not None
        assert self._view is not None
        look = look_at(self._trace, self._pinned, self.stage, self._view) if self._is_revealed() else Look(None)
        self._data, self._heads, self._reason = look.data, look.heads, look.reason
        self._strip = ""
        if self._view.strips and look.data is not None and look.data.unknown is None:
            self._strip = write_figures(self._trace, self._pinned, self.stage, self._view, look.data)

    def _describe(self) -> str:
        if self._data is None or self._trace is None:
            return f"{self.stage.title}: {self._reason or 'not computed yet'}"
        return describe_card(self._trace, self.stage, self._data, self._strip, painting=self._painting)

    def _shape_and_formula(self) -> tuple[str, str]:
        """Return the shape and the formula in the header, computed once per trace."""
        if self._titled is None:
            self._titled = "", ""
            if self._trace is not None and self.stage.name in self._trace:
                formula = self.stage.formula(self._trace.experiment)
                self._titled = shape_text(self._trace, self.stage.name), formula
        return self._titled

    def shape_text(self) -> str:
        """Return the shape as in the header."""
        return self._shape_and_formula()[0]

    def _foot_height(self) -> float:
        return compute_foot_height(self._zoom, self._view is not None and self._view.strips)

    def _area(self, foot: float) -> QRectF:
        """Return the rectangle for the maps above a foot."""
        z = self._zoom
        return QRectF(self.rect()).adjusted(PADDING * z, 48 * z, -PADDING * z, -2 * z - foot)

    def _alone_factor(self) -> float:
        return 2.6 if self._view is not None and self._view.alone == self.stage.name else 1.0

    def _lay_out(self) -> Grid | None:
        """Lay the maps out, and the colour bar below them."""
        if self._data is None:
            return None
        z, data, foot = self._zoom, self._data, self._foot_height()
        area, across = self._area(foot), data.group_labels or data.column_labels
        rect = (area.x(), area.y(), area.width(), area.height())
        down, over = (axis in TOKENS for axis in self.stage.axes[-2:])
        ratio, group = self.devicePixelRatioF(), data.column_group or 1
        room = Room(rect, z, self._alone_factor(), ratio, down, over, group)
        grid = fit(data.values.shape, tuple(data.row_labels), tuple(across), room)
        wide = min(max(grid.width, 72 * z), self.width() - grid.x - 12 * z)
        self._bar = QRectF(grid.x, self.height() - foot, wide, 16 * z)
        return grid

    def _outlines(self) -> tuple[list[Outline], Strong]:
        """Return the frames on this card, and the row and column with emphasised labels."""
        if self._view is None or self._trace is None or self._data is None:
            return [], (None, None)
        return frames(self._trace, self._view, self.stage, self._heads, self._data.values.shape, self._palette)

    def _paint_header(self, painter: QPainter) -> None:
        z, p = self._zoom, self._palette
        shape, formula = self._shape_and_formula()
        room = self.width() - 20 * z - self._paint_title(painter, self.stage.title, self.stage.role)
        pen = Pen(painter, face("caption", z))
        texts = (*([PAINTING] if self._painting else []), shape, shape.replace(" × ", "×"))
        text = next((text for text in texts if pen.width(text) <= room), "")
        painter.setPen(QColor(p.accent if text == PAINTING else p.muted))
        pen.draw(self.width() - 12 * z, 18 * z, text, 1.0)
        painter.setPen(QColor(p.muted))
        if formula:
            draw_formula(painter, QPointF(12 * z, 28 * z), formula, 13 * z, p.muted, self.width() - 24 * z)

    def _paint_strip(self, painter: QPainter) -> None:
        """Write the line of figures under the colour bar, shortened to fit."""
        if self._strip:
            pen = Pen(painter, face("tiny", self._zoom))
            painter.setPen(QColor(self._palette.muted))
            text = shorten_figures(self._strip, pen, self.width() - 2 * PADDING * self._zoom)
            pen.draw(PADDING * self._zoom, self.height() - STRIP_MIDDLE * self._zoom, text)

    def _number_fonts(self) -> tuple[QFont, ...]:
        """Return the fonts for numbers, largest first: a card alone on the canvas may use large ones."""
        zoom = min(self._zoom, 1.6)
        large = tuple(face("number", zoom * k) for k in (1.8, 1.4, 1.0)) if self._alone_factor() > 1 else ()
        return (*large, face("cell", zoom), face("tiny", zoom))

    def _header_depends_on(self) -> tuple[object, ...]:
        return self._painting, *self._shape_and_formula()

    def _still_depends_on(self, grid: Grid | None, strong: Strong) -> tuple[object, ...]:
        header = (self._palette, self._zoom, self.hasFocus(), *self._header_depends_on())
        if self._data is None or grid is None:
            return header
        data, below = self._data, (self._bar.y(), self._data.kind)
        return (*header, *below, grid, strong, data.row_labels, data.group_labels or data.column_labels, data.titles)

    def _paint_still(self, painter: QPainter, grid: Grid | None, strong: Strong) -> None:
        """Paint the background, header, labels and the colours of the bar."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, self._header_depends_on())
        if self._painting and not self.hasFocus():  # the focus frame needs no second frame
            painter.setPen(QPen(QColor(self._palette.accent), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self._data is not None and grid is not None:
            draw_labels(painter, grid, self._data, self._palette, face("caption", self._zoom * LABEL_SIZE), strong)
            kept = measure_title_room(grid, self.width() - 4 * self._zoom)
            draw_titles(painter, grid, self._data, self._palette, face("tiny", self._zoom), kept=kept)
            draw_colour_strip(painter, self._bar, self._data.kind, self._palette)

    def _paint_maps(self, painter: QPainter, grid: Grid, data: MapData, outlines: list[Outline]) -> None:
        """Paint the parts that an edit of a number changes: cells, numbers, frames, and the ends of the colour bar."""
        draw_cells(painter, grid, data, self._palette)
        draw_numbers(painter, grid, data, self._palette, *self._number_fonts())
        if self._veil and self._fresh is not None:
            draw_veil(painter, grid, self._fresh, self._palette.surface, self._veil)
        draw_outlines(painter, grid, outlines)
        if data.unknown is None:  # otherwise the ends would reveal the largest number too early
            draw_colour_ends(painter, self._bar, data, self._palette, face("tiny", self._zoom))
        self._paint_strip(painter)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setClipRect(event.rect())  # numbers and labels outside are skipped
        grid, (outlines, strong) = self.grid, self._outlines()
        self.still.draw(painter, self._still_depends_on(grid, strong), lambda own: self._paint_still(own, grid, strong))
        if self._data is not None and grid is not None:
            self._paint_maps(painter, grid, self._data, outlines)
        elif self._reason:
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("caption", self._zoom))
            painter.drawText(self._area(self._foot_height()), int(Qt.AlignmentFlag.AlignCenter) | _WRAP, self._reason)
        painter.end()
        self.painted += 1


def _select_parts(view: "View") -> tuple[object, ...]:
    """Return the parts of a view that a card depends on."""
    return view.head, view.alone, view.at, view.look, view.strips

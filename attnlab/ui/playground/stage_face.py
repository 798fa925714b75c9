"""The painting of a stage's card: its maps with labels and numbers, and the selected cells."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from attnlab.attention.axes import TOKENS
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.table import Stage, sources
from attnlab.base.spoken_text import COVERED
from attnlab.figures.cell_numbers import count_decimals, draw_numbers
from attnlab.figures.empty_cells import draw_covers, draw_veil
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import draw_labels, draw_titles
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import scale
from attnlab.ui.playground.canvas_lengths import HEADER, PADDING, STRIP
from attnlab.ui.playground.card_frames import Strong, frames
from attnlab.ui.playground.card_grid import CardRoom, fit_card, label_face, measure_title_room
from attnlab.ui.playground.card_words import describe_card
from attnlab.ui.playground.stage_header import StageHeader
from attnlab.ui.playground.stage_maps import (
    Look,
    cell_text,
    find_new_cells,
    is_same,
    look_at,
    shorten_figures,
    with_source,
    write_figures,
)
from attnlab.ui.widgets.maps.spoken_maps import join_cell, name_cell, split_cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

GIVEN = ("inputs", "memory")
"""The stages whose numbers are given, and not computed."""
_WRAP = int(Qt.TextFlag.TextWordWrap)


@guarded
class StageFace(StageHeader):
    """Shows one stage of a trace with a view; subclasses handle the user's actions."""

    def __init__(self, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(stage, parent)
        self._heads: tuple[int | None, ...] = (None,)
        self._numbered, self._per_line, self._decimals = True, 0, 4
        self._framed: tuple[list[Outline], Strong] = ([], (None, None))
        self._pinned: Trace | None = None
        self._reason = self._strip = ""
        self._fresh: NDArray[np.bool_] | None = None
        self._veil, self.painted = 0.0, 0
        self._told: int | None = None
        self._least_top = 0.0

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show a stage of a trace with a view: one head, the mean, or all; nothing before its step."""
        before, self._trace = self._trace, trace
        self._title_texts = None
        shown = (self.stage, *(sources(self.stage, trace.experiment)[:1] if self._shares else ()))
        if before is None or not all(is_same(stage, before, trace) for stage in shown):
            self._view = None
        self.show_view(view)

    def show_view(self, view: "View") -> None:
        """Show the same trace with another view; if only the selected cell differs, just its frames are updated."""
        before, self._view = self._view, view
        if before is None or _select_parts(before) != _select_parts(view):
            shown = self._data
            self._look()
            self._fresh = find_new_cells(shown, self._data) if before is not None and before.at != view.at else None
            self._describe_again()
            self._arrange()
        framed, self._framed = self._framed, self._outlines()
        if framed != self._framed:
            self.update()
        if before is None or (before.cell, before.at) != (view.cell, view.at):
            self._tell_cell(view.cell)

    def set_numbers(self, numbered: bool, per_line: int, shares: bool) -> None:
        """Set whether the plan of the canvas has room for numbers here, in how many maps a line if there are several,
        and whether this card also shows the numbers of its source in its masked cells."""
        if (numbered, per_line, shares) == (self._numbered, self._per_line, self._shares):
            return
        self._numbered, self._per_line = numbered, per_line
        if shares != self._shares:
            self._shares, self._title_texts = shares, None
            if self._view is not None and self._trace is not None and self.stage.name in self._trace:
                self._look()
            self._describe_again()
        self._arrange()

    def measure_top(self) -> tuple[int, float]:
        """Return the rows and the height of the column labels of one map, as it would be alone; zeros without one."""
        grid = self._lay_out(0.0)
        return (0, 0.0) if grid is None or grid.count > 1 else (grid.rows, grid.label_height)

    def set_least_top(self, least: float) -> None:
        """Set the least height of the column labels, in pixels."""
        if least != self._least_top:
            self._least_top = least
            self._arrange()

    def set_decimals(self, decimals: int) -> None:
        """Set how many decimals numbers have, as on all cards."""
        if decimals != self._decimals:
            self._decimals = decimals
            self.update()

    def fit_decimals(self, most: int) -> int:
        """Return how many decimals numbers may have for these to fit: ``most`` where the plan has room for them, and
        where there are none."""
        if self._numbered or self._data is None or self.grid is None or self.stage.name in GIVEN:
            return most
        return count_decimals(self.grid, self._data, *self._number_fonts(), most=most) or most

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
        told, self._told = self._told, self.current_cell
        if told != self._told:
            self.tell_cell()

    def _has_cell(self, row: int | None, column: int | None) -> bool:
        """Whether the visible maps have this row and column: those of a pinned state may have another size."""
        if self._data is None:
            return False
        _, rows, columns = self._data.values.shape
        return bool((row or 0) < rows and (column or 0) < columns)

    def name_cell(self, place: int, *, now: bool = False) -> str:
        """Return a cell in words; with ``now``, as one whose value has changed."""
        assert self._data is not None
        assert self._trace is not None
        cell = split_cell(self._data.values.shape, place)
        head = self._heads[cell[0]]
        shown = f"head {head}" if head is not None else "mean" if self._data.titles == ("mean",) else ""
        title = self.title.lower() if self._shares else f"{self.title[:1].lower()}{self.title[1:]}"
        tokens = self.stage.axes[-2] in TOKENS, self.stage.axes[-1] in TOKENS
        return name_cell(
            self._data,
            cell,
            title.replace(", ", " and "),
            self._name_state(cell[0]),
            shown if self._trace.experiment.n_heads > 1 else "",
            tokens=tokens,
            covered=self._asked,
            now=now,
        )

    def _name_state(self, index: int) -> str:
        """Return which state a map shows, "" if it is the present one alone."""
        look = self._view.look if self._view is not None else "present"
        if look == "both":
            is_paired = len(self._heads) > 1 and self._heads[::2] == self._heads[1::2]
            return ("pinned", "present")[index % 2] if is_paired else ""
        return "" if look == "present" else look

    @property
    def current_cell(self) -> int | None:
        cell = self._view.cell if self._view is not None and self._view.pinned else None
        if cell is None or self._data is None or self._folded or cell.stage != self.stage.name:
            return None
        if cell.head not in self._heads or not self._has_cell(cell.row, cell.column):
            return None
        return join_cell(self._data.values.shape, (self._find_map(cell.head), cell.row, cell.column))

    @property
    def _asked(self) -> tuple[tuple[int, int], ...]:
        """The cells [row, column] that a question covers."""
        at = self._view.at if self._view is not None else None
        return at.asked if at is not None and at.stage == self.stage.name else ()

    def hover_text(self, cell: Cell) -> str:
        """Return a cell's tool tip: its exact value and its row and column."""
        assert self._data is not None
        if (cell.row, cell.column) in self._asked:  # nor does it say whether the mask hides it
            return f"{self._data.row_labels[cell.row]} → {self._data.column_labels[cell.column]}: {COVERED}"
        return cell_text(self._data, self._find_map(cell.head), cell.row, cell.column)

    def write_held(self) -> str:
        """Return the exact value of the held cell, or the word that stands for it; "" if no cell here is held."""
        if self.current_cell is None or self._view is None or self._view.cell is None:
            return ""
        return self.hover_text(self._view.cell).rpartition(": ")[2]

    def _find_map(self, head: int | None) -> int:
        """Return the index of the map of a head: the present one if a pinned one stands before it."""
        return len(self._heads) - 1 - self._heads[::-1].index(head)

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
        self._title_texts = None
        if self._shares and self._data is not None:
            self._data = with_source(self._data, self._trace, self.stage, self._view)
        self._strip = ""
        if self._view.strips and look.data is not None and look.data.unknown is None:
            self._strip = write_figures(self._trace, self._pinned, self.stage, self._view, look.data)

    def _describe_again(self) -> None:
        self.setAccessibleName(self._describe())

    def _describe(self) -> str:
        if self._folded:
            return f"{self.stage.title}: {self._folded}. {self.toolTip()}"
        if self._data is None or self._trace is None:
            return f"{self.title}: {self._reason or 'not computed yet'}"
        told = describe_card(self._trace, self.stage, self._data, self._strip, painting=self._painting)
        return told.replace(self.stage.title, self.title, 1)

    def _area(self) -> QRectF:
        """Return the rectangle for the maps."""
        z = self._zoom
        strip = STRIP * z if self._view is not None and self._view.strips else 0.0
        return QRectF(self.rect()).adjusted(PADDING * z, HEADER * z, -PADDING * z, -PADDING * z - strip)

    def _lay_out(self, least_top: float | None = None) -> Grid | None:
        if self._data is None or self._folded:
            return None
        data, area = self._data, self._area()
        across = data.group_labels or data.column_labels
        rect = (area.x(), area.y(), area.width(), area.height())
        down, over = (axis in TOKENS for axis in self.stage.axes[-2:])
        group = data.column_group or 1
        paired = self._view is not None and self._view.look == "both" and len(data.values) == 2
        ratio, numbered = self.devicePixelRatioF(), (self._numbered, paired, self._per_line)
        least = self._least_top if least_top is None else least_top
        room = CardRoom(rect, self._zoom, ratio, down, over, group, *numbered, least)
        return fit_card(data.values.shape, tuple(data.row_labels), tuple(across), room)

    def _outlines(self) -> tuple[list[Outline], Strong]:
        """Return the frames on this card, and the row and column with emphasised labels."""
        if self._view is None or self._trace is None or self._data is None:
            return [], (None, None)
        return frames(self._trace, self._view, self.stage, self._heads, self._data.values.shape, self._palette)

    def _paint_strip(self, painter: QPainter) -> None:
        """Write the line of figures below the maps, shortened to fit."""
        if self._strip:
            z, pen = self._zoom, Pen(painter, face("map", self._zoom))
            painter.setPen(QColor(self._palette.muted))
            text = shorten_figures(self._strip, pen, self.width() - 2 * PADDING * z)
            pen.draw(PADDING * z, self.height() - (STRIP / 2 + 6) * z, text)

    def _number_fonts(self) -> tuple[QFont, ...]:
        """Return the fonts for numbers, largest first; the smaller ones are for numbers longer than planned, and for
        cells that were too small for numbers until they were magnified."""
        zooms = (self._zoom, min(self._zoom, 1.5 * scale()), min(self._zoom, scale()))
        return *(face("map", zoom) for zoom in zooms), face("cell", zooms[-1])

    def _own_decimals(self, data: MapData) -> int:
        """Return the decimals of the numbers: those of the plan, or for given numbers only as many as they have.

        In a comparison all have those of the plan.
        """
        if self.stage.name not in GIVEN or self._pinned is not None:
            return self._decimals
        with np.errstate(over="ignore", invalid="ignore"):
            exact = (n for n in range(2, self._decimals) if (data.values == data.values.round(n)).all())
            return next(exact, self._decimals)

    def _still_depends_on(self, grid: Grid | None, strong: Strong) -> tuple[object, ...]:
        header = (self._palette, self._zoom, self.hasFocus(), *self._header_depends_on())
        if self._data is None or grid is None:
            return header
        data = self._data
        return (*header, grid, strong, data.row_labels, data.group_labels or data.column_labels, data.titles)

    def _paint_still(self, painter: QPainter, grid: Grid | None, strong: Strong) -> None:
        """Paint the background, header and labels."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, self._header_depends_on())
        if self._painting and not self.hasFocus():  # the focus frame needs no second frame
            painter.setPen(QPen(QColor(self._palette.accent), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self._data is not None and grid is not None:
            draw_labels(painter, grid, self._data, self._palette, label_face(grid, self._zoom), strong)
            kept = measure_title_room(grid, self.width() - 4 * self._zoom)
            draw_titles(painter, grid, self._data, self._palette, face("map", self._zoom), kept=kept)

    def _paint_maps(self, painter: QPainter, grid: Grid, data: MapData, outlines: list[Outline]) -> None:
        """Paint the parts that an edit of a number changes: cells, numbers, frames, and the ends of the colour bar."""
        draw_cells(painter, grid, data, self._palette)
        fonts, decimals = self._number_fonts(), self._own_decimals(data)
        draw_numbers(painter, grid, data, self._palette, *fonts, decimals=decimals, rounded=self._numbered)
        if self._veil and self._fresh is not None:
            draw_veil(painter, grid, self._fresh, self._palette.surface, self._veil)
        asked = [(index, row, column) for index in range(grid.count) for row, column in self._asked]
        draw_covers(painter, grid, asked, face("map", self._zoom), self._palette)
        draw_outlines(painter, grid, outlines)
        if data.unknown is None:  # otherwise the ends would reveal the largest number too early
            self._paint_scale(painter, data)
        self._paint_strip(painter)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setClipRect(event.rect())  # numbers and labels outside are skipped
        grid, (outlines, strong) = self.grid, self._outlines()
        self.still.draw(painter, self._still_depends_on(grid, strong), lambda own: self._paint_still(own, grid, strong))
        if self._data is not None and grid is not None:
            self._paint_maps(painter, grid, self._data, outlines)
        elif self._reason and not self._folded:
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("map", self._zoom))
            painter.drawText(self._area(), int(Qt.AlignmentFlag.AlignCenter) | _WRAP, self._reason)
        painter.end()
        self.painted += 1


def _select_parts(view: "View") -> tuple[object, ...]:
    """Return the parts of a view that a card depends on."""
    return view.head, view.alone, view.at, view.look, view.strips, view.colours

"""A read-only table of a matrix with fixed headers: layout, scrolling, selection, hover."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from attnlab.base.spoken_text import speak_number
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.matrix.matrix_grid import GROUP_GAP, Grid
from attnlab.ui.widgets.matrix.matrix_paint import Look, MatrixPainter
from attnlab.ui.widgets.matrix.matrix_places import cell_name
from attnlab.ui.widgets.matrix.matrix_selection import Block, Selection
from attnlab.ui.widgets.numbers.number_format import as_written, format_for_reading

_SHOWN_ROWS, _SHOWN_COLUMNS = 12, 4
_WIDEST_LABEL_SHARE = 0.3
_HINTED_WIDTH = 400

_FEW_CELLS = 64
"""Up to this number, changed cells are repainted one by one if nothing else has changed."""


@guarded
class MatrixView(HasCells, FollowsTheme, QAbstractScrollArea):
    """Shows a matrix; the owner and subclasses select in it.

    ``spoken_title`` is what it holds: the first words of each cell's name for screen readers.
    """

    spoken_title = ""

    selection_changed = Signal(object)  # (row, column, rows, columns), or None when there are no cells
    cell_hovered = Signal(object)  # (row, column), or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: NDArray[np.floating] = np.zeros((0, 0))
        self._limit = 1.0
        self._row_labels: tuple[str, ...] = ()
        self._column_labels: tuple[str, ...] = ()
        self._label_width = 0.0
        self._group = 0
        self._editable = True
        self._refused = False
        self._selection: Selection | None = None
        self._highlights: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._hovered: tuple[int, int] | None = None
        self._updates_bars = False
        self._painter = MatrixPainter(palette_of(self), self.font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName("Matrix")
        self.said_edit = False
        """Whether the last new number was announced, as the only one that changed."""

    # Calls of the owner

    def set_matrix(
        self,
        values: NDArray[np.floating],
        row_labels: Sequence[str],
        column_labels: Sequence[str],
        *,
        group: int = 0,
        editable: bool = True,
    ) -> None:
        """Show values [rows, columns]; ``group`` columns belong to each head (0: no heads).

        Selection, scroll position and an open editor stay if they still fit. Values that are not finite are shown
        as such. Writable values are copied. Raises ValueError if labels and values disagree.
        """
        fresh = _make_read_only(values)
        if fresh.ndim != 2 or fresh.shape != (len(row_labels), len(column_labels)):
            raise ValueError(f"values {list(fresh.shape)} need as many labels: {len(row_labels)}, {len(column_labels)}")
        reshaped = fresh.shape != self._values.shape or group != self._group
        limit, labels = _largest(fresh) or 1.0, (tuple(row_labels), tuple(column_labels))
        alike = not reshaped and limit == self._limit and labels == (self._row_labels, self._column_labels)
        changed = np.argwhere(fresh != self._values).tolist() if alike else []
        at = self._selection if QAccessible.isActive() and self.hasFocus() else None
        edited = at is not None and [at.row, at.column] in changed
        self._values, self._group, self._editable, self._limit = fresh, group, editable, limit
        self.said_edit = False
        self._take_labels(*labels)
        if alike and len(changed) <= _FEW_CELLS:
            self._on_arranged()
            self._describe()
            grid = self.grid()
            for row, column in changed:
                self.viewport().update(grid.cell(row, column))
            self.said_edit = edited and len(changed) == 1
            if edited and self.current_cell is not None:
                announce(self.name_cell(self.current_cell), self, "number")
            return
        if reshaped:
            self._on_reshaped()
            self._fit_selection()
            self.updateGeometry()
        self._lay_out()
        self._describe()
        self.viewport().update()

    def set_highlight(self, rows: Collection[int], columns: Collection[int], role: str) -> None:
        """Outline the linked selection of a role in its colour, in place of its previous outline.

        Rows alone, or columns alone, are outlined whole; rows and columns together mean the cells where they cross.
        """
        before = self._highlights.pop(role, None)
        if rows or columns:
            self._highlights[role] = tuple(sorted(set(rows))), tuple(sorted(set(columns)))
        if before != self._highlights.get(role):
            self.viewport().update()

    def selection(self) -> Block:
        """Return row, column, rows, columns of the selected block; zeros when there are no cells."""
        return self._selection.block() if self._selection else (0, 0, 0, 0)

    def select(self, row: int, column: int, rows: int = 1, columns: int = 1) -> None:
        """Select a block, clamped to the matrix; its top left becomes the current cell."""
        self._change_selection(Selection.of((row, column, rows, columns)))

    def grid(self) -> Grid:
        """Return the present geometry of the cells in the viewport."""
        size = self.viewport().size()
        height = self._painter.minimum_cell()[1]
        caption = self._painter.caption_height() if self._group else 0
        header = self._header_width(size.width())
        return Grid(
            len(self._row_labels),
            len(self._column_labels),
            self._group,
            header,
            caption + height - 2,
            caption,
            self._cell_width(size.width() - header),
            height,
            self.horizontalScrollBar().value(),
            self.verticalScrollBar().value(),
            size.width(),
            size.height(),
        )

    def tool_tip(self, point: QPoint) -> str:
        """Return the exact value of the cell at a point, or the whole label of a header."""
        hit = self.grid().hit(point)
        if hit.region == "cell":
            return f"{self._name(hit.row, hit.column)}\n{format_for_reading(self._values[hit.row, hit.column])}"
        if hit.region == "row":
            return self._row_labels[hit.row]
        return self._column_labels[hit.column] if hit.region == "column" else ""

    # Screen readers

    def count_cells(self) -> int:
        return int(self._values.size)

    def name_cell(self, place: int) -> str:
        row, column = divmod(place, self._values.shape[1])
        where, value = self._name(row, column), speak_number(float(self._values[row, column]))
        return f"{self.spoken_title}, {where[:1].lower()}{where[1:]}, {value}".removeprefix(", ")

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(self.grid().cell(*divmod(place, self._values.shape[1])))

    def find_cell(self, at: QPointF) -> int | None:
        hit = self.grid().hit(at.toPoint())
        return hit.row * self._values.shape[1] + hit.column if hit.region == "cell" else None

    @property
    def current_cell(self) -> int | None:
        at = self._selection
        return at.end_row * self._values.shape[1] + at.end_column if at is not None else None

    def cells_area(self) -> QWidget:
        return self.viewport()

    # Overridden by subclasses

    def _on_reshaped(self) -> None:
        """React to a change of the rows, columns or heads."""

    def _on_arranged(self) -> None:
        """React to new values, another layout or scrolling."""

    def _has_attention(self) -> bool:
        """Return whether keys go here, so that the ring is drawn in full."""
        return self.hasFocus()

    # Layout

    def _take_labels(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
        if rows != self._row_labels:
            self._label_width = self._painter.label_width(rows)
        self._row_labels, self._column_labels = rows, columns

    def _header_width(self, width: int) -> int:
        return round(min(max(self._label_width + 12, 32), max(64, width * _WIDEST_LABEL_SHARE)))

    def _cell_width(self, room: int) -> int:
        """Return the width at which all columns fit the room, or else as many as possible without cutting one."""
        columns, usual = len(self._column_labels), self._painter.minimum_cell()[0]
        shared = (room - self._gaps(columns)) // max(columns, 1)
        if shared >= self._painter.narrow_cell():
            return shared
        whole = max(min(columns, room // usual), 1)
        while whole > 1 and whole * usual + self._gaps(whole) > room:
            whole -= 1
        return max(usual, (room - self._gaps(whole)) // whole)

    def _gaps(self, columns: int) -> int:
        """Return the total gap between heads among the first columns."""
        return (columns - 1) // self._group * GROUP_GAP if self._group and columns else 0

    def _lay_out(self) -> None:
        """Set the ranges of the scroll bars; hide a bar that is not needed."""
        grid = self.grid()
        most = self.maximumViewportSize()
        least_width = self._least_width(most.width())
        height = grid.header_height + grid.rows * grid.cell_height
        fits = least_width <= most.width() and height <= most.height()
        body, content = grid.body(), grid.content_size()
        for bar, wanted, page, step in (
            (self.horizontalScrollBar(), content[0], body.width(), grid.cell_width),
            (self.verticalScrollBar(), content[1], body.height(), grid.cell_height),
        ):
            bar.setRange(0, 0 if fits else max(0, wanted - page))
            bar.setPageStep(max(page, 1))
            bar.setSingleStep(step)
        self._update_bars()
        self._on_arranged()

    def _update_bars(self) -> None:
        """Show the bars that have something to scroll, and hide the others, at once: Qt does it later, and until then
        a bar of which the handle fills the groove may be painted.
        """
        bars = self.horizontalScrollBar(), self.verticalScrollBar()
        for _ in bars if not self._updates_bars and self.isVisible() else ():
            if all(bar.isVisibleTo(self) == (bar.maximum() > 0) for bar in bars):
                return
            self._updates_bars = True
            self.setVerticalScrollBarPolicy(self.verticalScrollBarPolicy())  # places the bars; one may bring the other
            self._updates_bars = False

    def is_wider_than(self, width: int) -> bool:
        """Return whether all columns need more than a width in pixels, so that there is a scroll bar below them."""
        return self._least_width(width) > width

    def _least_width(self, viewport_width: int) -> int:
        columns = len(self._column_labels)
        return self._header_width(viewport_width) + columns * self._painter.narrow_cell() + self._gaps(columns)

    def _show_cell(self, row: int, column: int) -> None:
        x, y = self.grid().scroll_to(row, column)
        self.horizontalScrollBar().setValue(x)
        self.verticalScrollBar().setValue(y)

    def restyle(self) -> None:
        """Paint with the present colours and font, and repeat the layout."""
        self._painter = MatrixPainter(palette_of(self), self.font())
        self._label_width = self._painter.label_width(self._row_labels)
        self._lay_out()
        self.viewport().update()

    # Selection

    def _change_selection(self, wanted: Selection, *, show: bool = True) -> None:
        if not self._values.size:
            return
        before = self.selection()
        self._selection = wanted.clamp(*self._values.shape)
        if show:
            self._show_cell(self._selection.end_row, self._selection.end_column)
        self.viewport().update()
        self._describe()
        self.tell_cell()
        if self.selection() != before:
            self.selection_changed.emit(self.selection())

    def _fit_selection(self) -> None:
        """Clamp the selection to the table; in a new table the first cell is current."""
        before = self._selection
        if not self._values.size:
            self._selection = None
        else:
            self._selection = (before or Selection.at(0, 0)).clamp(*self._values.shape)
        if before and (self._selection is None or self._selection.block() != before.block()):
            self.selection_changed.emit(self._selection and self._selection.block())

    def _block_values(self, block: Block) -> NDArray[np.float64]:
        row, column, rows, columns = block
        return as_written(self._values[row : row + rows, column : column + columns])

    def _name(self, row: int, column: int) -> str:
        return cell_name(self._row_labels, self._column_labels, row, column)

    def _describe(self) -> None:
        """Tell screen readers the current cell."""
        at, text = self._selection, "no numbers"
        if at is not None:
            number = format_for_reading(self._values[at.row, at.column])
            text = f"{self._name(at.row, at.column)}: {number}"
        self.setAccessibleDescription(text)

    def _hover(self, point: QPoint | None) -> None:
        hit = self.grid().hit(point) if point is not None else None
        cell = (hit.row, hit.column) if hit and hit.region == "cell" else None
        shape = Qt.CursorShape.SizeHorCursor if cell and self._editable else Qt.CursorShape.ArrowCursor
        if self.viewport().cursor().shape() != shape:
            self.viewport().setCursor(shape)
        if cell != self._hovered:
            self._hovered = cell
            self.cell_hovered.emit(cell)

    # Qt's overrides

    def sizeHint(self) -> QSize:
        """Ask for the whole of a small matrix and a part of a large one."""
        grid = self.grid()
        width = (
            self._header_width(_HINTED_WIDTH)
            + min(max(grid.columns, 1), _SHOWN_COLUMNS) * self._painter.minimum_cell()[0]
        )
        bar = self.horizontalScrollBar().sizeHint().height() + 4 if self.is_wider_than(self.width()) else 0
        return QSize(width, grid.header_height + min(max(grid.rows, 1), _SHOWN_ROWS) * grid.cell_height + bar)

    def minimumSizeHint(self) -> QSize:
        """Ask for one cell and its headers."""
        width, height = self._painter.minimum_cell()
        return QSize(64 + width, self.grid().header_height + height)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show exact values as tool tips, and react to the mouse leaving."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            hit = self.grid().hit(event.pos())
            area = self.grid().cell(hit.row, hit.column) if hit.region == "cell" else self.viewport().rect()
            QToolTip.showText(event.globalPos(), plain_tip(self.tool_tip(event.pos())), self.viewport(), area)
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(None)
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the visible part."""
        rows, columns = range(len(self._row_labels)), range(len(self._column_labels))
        highlights = {role: (some or rows, few or columns) for role, (some, few) in self._highlights.items()}
        painter = QPainter(self.viewport())
        self._painter.paint(
            painter,
            Look(
                self.grid(),
                self._values,
                self._limit,
                self._row_labels,
                self._column_labels,
                self._selection,
                self._has_attention(),
                self._refused,
                highlights,
                event.rect(),
            ),
        )
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the new size."""
        self._lay_out()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Repaint, and keep an open editor on its cell."""
        self._on_arranged()
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring in full."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show the ring faintly."""
        super().focusOutEvent(event)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        """Repeat the layout when the owner sets a font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.restyle()


def _make_read_only(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return read-only floating numbers: the given array if it is read-only, else a copy."""
    given = np.asarray(values)
    if not np.issubdtype(given.dtype, np.floating):
        given = given.astype(float)
    elif given.flags.writeable:
        given = given.copy()
    given.flags.writeable = False
    return given


def _largest(values: NDArray[np.floating]) -> float:
    """Return the largest finite magnitude, 0 if there is none; a matrix of millions is read twice, never copied."""
    with np.errstate(invalid="ignore"):
        ends = np.array([values.min(initial=0), values.max(initial=0)], np.float64)
        if not np.isfinite(ends).all():
            finite = values[np.isfinite(values)]
            ends = np.array([finite.min(initial=0), finite.max(initial=0)], np.float64)
    return float(np.abs(ends).max())

"""The geometry of the cells and headers of a matrix table in its viewport, in pixels."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect

GAP = 1
"""Between cells."""
GROUP_GAP = 12
"""Between two heads' columns."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The part of the table under a point: region is cell, row, column, group, corner or outside."""

    region: str
    row: int = -1
    column: int = -1


@dataclass(frozen=True, slots=True)
class Grid:
    """One arrangement of rows × columns cells in a viewport, scrolled by (scroll_x, scroll_y)."""

    rows: int
    columns: int
    group: int
    header_width: int
    header_height: int
    caption_height: int
    cell_width: int
    cell_height: int
    scroll_x: int = 0
    scroll_y: int = 0
    width: int = 0
    height: int = 0

    def content_size(self) -> tuple[int, int]:
        """Return width and height of all cells, without headers."""
        return self._offset(self.columns - 1) + self.cell_width if self.columns else 0, self.rows * self.cell_height

    def body(self) -> QRect:
        """Return the part of the viewport with cells."""
        return QRect(
            self.header_width, self.header_height, self.width - self.header_width, self.height - self.header_height
        )

    def column_x(self, column: int) -> int:
        """Return a column's left edge."""
        return self.header_width - self.scroll_x + self._offset(column)

    def columns_right_of_it(self) -> bool:
        """Return whether a column is cut off or hidden at the right edge."""
        return bool(self.columns) and self.cell(0, self.columns - 1).right() >= self.width

    def row_y(self, row: int) -> int:
        """Return a row's upper edge."""
        return self.header_height - self.scroll_y + row * self.cell_height

    def cell(self, row: int, column: int) -> QRect:
        """Return a cell's rectangle, without its gap."""
        return QRect(self.column_x(column), self.row_y(row), self.cell_width - GAP, self.cell_height - GAP)

    def block(self, row: int, column: int, rows: int, columns: int) -> QRect:
        """Return the rectangle around a block of at least one cell."""
        return self.cell(row, column).united(self.cell(row + rows - 1, column + columns - 1))

    def find_visible_rows(self) -> range:
        """Return the rows that are visible, at least in part."""
        last = (self.scroll_y + self.height - self.header_height) // self.cell_height + 1
        return range(min(self.scroll_y // self.cell_height, self.rows), max(0, min(last, self.rows)))

    def find_visible_columns(self) -> range:
        """Return the columns that are visible, at least in part."""
        if not self.columns:
            return range(0)
        last = self._column_at(self.scroll_x + self.width - self.header_width)
        return range(self._column_at(self.scroll_x), max(0, min(last + 1, self.columns)))

    def find_exposed_rows(self, area: QRect) -> range:
        """Return the visible rows that touch an area of the viewport."""
        rows = self.find_visible_rows()
        touched = [
            row for row in rows if self.row_y(row) <= area.bottom() and self.row_y(row) + self.cell_height > area.top()
        ]
        return range(touched[0], touched[-1] + 1) if touched else range(0)

    def find_exposed_columns(self, area: QRect) -> range:
        """Return the visible columns that touch an area of the viewport."""
        touched = [
            column
            for column in self.find_visible_columns()
            if self.column_x(column) <= area.right() and self.column_x(column) + self.cell_width > area.left()
        ]
        return range(touched[0], touched[-1] + 1) if touched else range(0)

    def nearest(self, point: QPoint) -> tuple[int, int]:
        """Return the cell under a point or nearest to it, visible or not."""
        row = (point.y() - self.header_height + self.scroll_y) // self.cell_height
        column = self._column_at(point.x() - self.header_width + self.scroll_x)
        return min(max(row, 0), self.rows - 1), min(max(column, 0), self.columns - 1)

    def hit(self, point: QPoint) -> Hit:
        """Return the part under a point; gaps belong to the cell before them."""
        if not (self.rows and self.columns) or not QRect(0, 0, self.width, self.height).contains(point):
            return Hit("outside")
        row, column = self.nearest(point)
        below = point.y() >= self.row_y(self.rows - 1) + self.cell_height
        beyond = point.x() >= self.column_x(self.columns - 1) + self.cell_width
        left, above = point.x() < self.header_width, point.y() < self.header_height
        if left and above:
            return Hit("corner")
        if left:
            return Hit("outside") if below else Hit("row", row, 0)
        if above:
            region = "group" if point.y() < self.caption_height else "column"
            return Hit("outside") if beyond else Hit(region, 0, column)
        return Hit("outside") if below or beyond else Hit("cell", row, column)

    def scroll_to(self, row: int, column: int) -> tuple[int, int]:
        """Return the nearest scroll position at which a cell is wholly visible."""
        x, y = self._offset(column), row * self.cell_height
        body = self.body()
        return (
            min(x, max(self.scroll_x, x + self.cell_width - body.width())),
            min(y, max(self.scroll_y, y + self.cell_height - body.height())),
        )

    def group_columns(self, column: int) -> tuple[int, int]:
        """Return the first column and the number of columns of the head that a column belongs to."""
        if not self.group:
            return column, 1
        first = column // self.group * self.group
        return first, min(self.group, self.columns - first)

    def _offset(self, column: int) -> int:
        return column * self.cell_width + (column // self.group * GROUP_GAP if self.group else 0)

    def _column_at(self, x: int) -> int:
        if not self.group:
            return x // self.cell_width
        group, rest = divmod(x, self.group * self.cell_width + GROUP_GAP)
        return group * self.group + min(rest // self.cell_width, self.group - 1)

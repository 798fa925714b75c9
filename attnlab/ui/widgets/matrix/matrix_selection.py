"""The selection in a matrix table: the current cell and the block from it to the opposite corner."""

from dataclasses import dataclass

Block = tuple[int, int, int, int]
"""Row, column, rows, columns."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The current cell and the opposite corner of the block; one cell when both are the same."""

    row: int
    column: int
    end_row: int
    end_column: int

    @classmethod
    def at(cls, row: int, column: int) -> "Selection":
        """Select one cell."""
        return cls(row, column, row, column)

    @classmethod
    def of(cls, block: Block) -> "Selection":
        """Select a block; its top left is the current cell."""
        row, column, rows, columns = block
        return cls(row, column, row + max(rows, 1) - 1, column + max(columns, 1) - 1)

    def block(self) -> Block:
        """Return row, column, rows, columns."""
        top, bottom = sorted((self.row, self.end_row))
        left, right = sorted((self.column, self.end_column))
        return top, left, bottom - top + 1, right - left + 1

    def is_one_cell(self) -> bool:
        """Return whether the block is the current cell alone."""
        return (self.row, self.column) == (self.end_row, self.end_column)

    def contains(self, row: int, column: int) -> bool:
        """Return whether the cell is in the block."""
        top, left, rows, columns = self.block()
        return top <= row < top + rows and left <= column < left + columns

    def move(self, rows: int, columns: int) -> "Selection":
        """Move the current cell; the block shrinks to it. May lie outside until clamped."""
        return Selection.at(self.row + rows, self.column + columns)

    def extend(self, rows: int, columns: int) -> "Selection":
        """Move the end corner. May lie outside until clamped."""
        return self.extend_to(self.end_row + rows, self.end_column + columns)

    def extend_to(self, row: int, column: int) -> "Selection":
        """Put the end corner on a cell."""
        return Selection(self.row, self.column, row, column)

    def clamp(self, rows: int, columns: int) -> "Selection":
        """Return the selection clamped to a matrix of that shape, which must have a cell."""

        def within(index: int, size: int) -> int:
            return min(max(index, 0), size - 1)

        return Selection(
            within(self.row, rows),
            within(self.column, columns),
            within(self.end_row, rows),
            within(self.end_column, columns),
        )

    def next_cell(self, direction: int, shape: tuple[int, int]) -> "Selection | None":
        """Return the next (1) or previous (-1) cell in reading order, None past the table's end."""
        rows, columns = shape
        index = self.row * columns + self.column + direction
        return Selection.at(*divmod(index, columns)) if 0 <= index < rows * columns else None

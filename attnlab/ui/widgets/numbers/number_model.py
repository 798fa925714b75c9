"""The model of a table of numbers: its columns, the order of its rows, and the lines per row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from attnlab.base.spoken_text import speak_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: texts, or numbers [rows] formatted by ``write``; ``tints`` [rows], 0 to 1, colour its cells.

    ``is_whole``: its texts are never shortened, as a part of one does not say which it is.
    """

    title: str
    values: Sequence[str] | NDArray[Any]
    write: Callable[[float], str] = str
    about: str = ""
    tints: NDArray[np.float64] | None = None
    is_whole: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts, which are aligned left."""
        return not isinstance(self.values, np.ndarray)

    def text(self, row: int) -> str:
        """Return the text shown in a cell."""
        return self.write(float(self.values[row])) if isinstance(self.values, np.ndarray) else self.values[row]

    def exact(self, row: int) -> str:
        """Return the text copied from a cell: a text on one line, or a number with every digit."""
        return str(self.values[row]) if isinstance(self.values, np.ndarray) else " ".join(self.values[row].split())

    def order(self, descending: bool) -> NDArray[np.intp]:
        """Return the rows sorted by this column; equal ones keep their order, NaN comes last."""
        if not isinstance(self.values, np.ndarray):
            keys = [value.casefold() for value in self.values]
            return np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=descending), dtype=np.intp)
        values = self.values.astype(np.float64)
        return np.argsort(-values if descending else values, kind="stable")


@guarded
class NumberModel(QAbstractTableModel):
    """Stores the columns and the order of the rows; a change replaces all, and no object is kept per cell.

    A row has ``lines``: with two, the first half of the columns is above the second. A column of Qt's is then a section
    with this many of our columns below one another.
    """

    sorted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.order: NDArray[np.intp] = np.arange(0)
        self.lines = 1
        self._by: tuple[int, bool] = (-1, False)

    def set_columns(self, columns: tuple[Column, ...]) -> None:
        """Show other columns, sorted as before unless their titles have changed."""
        same = [c.title for c in columns] == [c.title for c in self.columns]
        resized = not same or len(columns[0].values) != len(self.order)
        if resized:
            self.beginResetModel()
        self.columns = columns
        if not same:
            self._by = (-1, False)
        self._arrange()
        if resized:
            self.endResetModel()
        else:
            self.refresh()

    def fold(self, lines: int) -> None:
        """Set the number of lines per row."""
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def list_stacked(self, section: int) -> list[Column]:
        """Return the columns of a section, from top to bottom."""
        return list(self.columns[section :: self.columnCount()])

    def refresh(self) -> None:
        """Repaint every cell."""
        if len(self.order):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.order) - 1, self.columnCount() - 1))

    def turn(self, column: int) -> None:
        """Sort by a column; the second time reverse the order, and the third time restore the original order."""
        by, descending = self._by
        self.sort_by(*((column, False) if by != column else (-1, False) if descending else (column, True)))

    def sort_by(self, column: int, descending: bool) -> None:
        """Sort the rows by a column; −1 restores the given order."""
        self._by = (column, descending)
        self._arrange()
        self.refresh()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)
        self.sorted.emit()

    def is_ascending(self, column: int) -> bool:
        """Return whether the rows are sorted by a column in ascending order."""
        return self._by == (column, False)

    def _arrange(self) -> None:
        column, descending = self._by
        if 0 <= column < len(self.columns):
            self.order = self.columns[column].order(descending)
        else:
            self.order = np.arange(len(self.columns[0].values) if self.columns else 0)

    def _title(self, column: Column) -> str:
        by, descending = self._by
        return column.title + (" ↓" if descending else " ↑") * (by >= 0 and column is self.columns[by])

    def _alignment(self, section: int) -> Qt.AlignmentFlag:
        """Return the alignment of a section's cells; numbers are never left-aligned, next to another column's end."""
        stacked = self.list_stacked(section)
        return _LEFT if all(c.is_text for c in stacked[: 1 if section == 0 else None]) else _RIGHT

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else -(-len(self.columns) // self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        stacked, row = self.list_stacked(index.column()), int(self.order[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return "\n".join(column.text(row) for column in stacked)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole and any(column.is_text for column in stacked):
            return plain_tip("\n".join(column.text(row) for column in stacked if column.is_text))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            first = self.columns[0]
            name = [first.text(row)] if first.is_text and first not in stacked else []
            return speak_text(", ".join([*name, *(f"{column.title}: {column.text(row)}" for column in stacked)]))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        stacked = self.list_stacked(section)
        if role == Qt.ItemDataRole.DisplayRole:
            titles = [self._title(column) for column in stacked]
            return "\n".join(titles + [""] * (self.lines - len(titles)))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            about = [column.about or column.title for column in stacked]
            if len(about) > 1:
                about = [f"{c.title}: {c.about}" if c.about else c.title for c in stacked]
            return plain_tip("\n".join(about) + ".\nClick to sort, again to reverse, a third time to undo.")
        return None

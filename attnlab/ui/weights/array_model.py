"""Models of arrays for lists and tables; a checkpoint has thousands, so texts are only made when shown."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QPalette

from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.weights.long_choice import APART

NONE = "none"
HEADINGS = ("Name", "Shape", "Format")
_Index = QModelIndex | QPersistentModelIndex
_Role = Qt.ItemDataRole
_ROOT = QModelIndex()


@guarded
class ArrayModel(QAbstractTableModel):
    """One line per array: name, shape and format, with the array's name as user data."""

    def __init__(self, arrays: Sequence[NamedArray] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._arrays = tuple(arrays)

    def show_arrays(self, arrays: Sequence[NamedArray]) -> None:
        """Replace the arrays."""
        self.beginResetModel()
        self._arrays = tuple(arrays)
        self.endResetModel()

    def find_array(self, row: int) -> NamedArray | None:
        """Return the array of a line."""
        return self._arrays[row] if 0 <= row < len(self._arrays) else None

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._arrays)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole) -> object:
        across = orientation == Qt.Orientation.Horizontal
        return HEADINGS[section] if across and role == _Role.DisplayRole else None

    def data(self, index: _Index, role: int = _Role.DisplayRole) -> object:
        array = self.find_array(index.row())
        if array is None:
            return None
        if role == _Role.DisplayRole:
            return (shorten_name(array.name), array.size, array.dtype)[index.column()]
        if role == _Role.UserRole:
            return array.name
        if role == _Role.ToolTipRole:
            return describe_array(array)
        if role == _Role.ForegroundRole and array.reason:
            return QGuiApplication.palette().brush(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
        return None


@guarded
class ArrayChoice(QAbstractTableModel):
    """None, then the arrays to choose from in one column: those of a layer first, by their names within the layer."""

    def __init__(self, arrays: Sequence[NamedArray], layer: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._start = f"{layer}." if layer else ""
        self._arrays = sorted(arrays, key=lambda each: not each.name.startswith(self._start))
        self._rows = {array.name: row for row, array in enumerate(self._arrays, 1)}

    def find_row(self, name: str) -> int:
        """Return the line of an array; 0, "none", for an array that is not listed."""
        return self._rows.get(name, 0)

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._arrays) + 1

    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: _Index, role: int = _Role.DisplayRole) -> object:
        if index.row() == 0:
            return NONE if role == _Role.DisplayRole else None
        if not 0 < index.row() <= len(self._arrays):
            return None
        array = self._arrays[index.row() - 1]
        if role == _Role.DisplayRole:
            return f"{shorten_name(array.name.removeprefix(self._start))}{APART}{array.size}"
        if role == _Role.UserRole:
            return array.name
        return describe_array(array) if role == _Role.ToolTipRole else None


def describe_array(array: NamedArray) -> str:
    """Return the tool tip of an array."""
    why = f"\nIt cannot be used: {array.reason}." if array.reason else ""
    return plain_tip(f"{shorten_name(array.name)} {array.size} {array.dtype}{why}")

"""A calm table of numbers: sorted by a click on a header, copied with every digit, activated row by row."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QContextMenuEvent, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.theme import font, mixed, plain_tip, px, restyle, text_on

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WIDEST_PX = 220
_STRONGEST_TINT = 0.55


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: texts, or numbers [rows] that ``write`` puts in words; ``tints`` [rows], 0 to 1, colour its cells."""

    title: str
    values: Sequence[str] | NDArray[Any]
    write: Callable[[float], str] = str
    about: str = ""
    tints: NDArray[np.float64] | None = None

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts, which stand at the left."""
        return not isinstance(self.values, np.ndarray)

    def text(self, row: int) -> str:
        """Return what is shown of a cell."""
        return self.write(float(self.values[row])) if isinstance(self.values, np.ndarray) else self.values[row]

    def exact(self, row: int) -> str:
        """Return what is copied of a cell: a text on one line, a number with every digit."""
        return str(self.values[row]) if isinstance(self.values, np.ndarray) else " ".join(self.values[row].split())

    def order(self, descending: bool) -> NDArray[np.intp]:
        """Return the rows in the order of this column; equal ones keep theirs, NaN comes last."""
        if not isinstance(self.values, np.ndarray):
            keys = [value.casefold() for value in self.values]
            return np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=descending), dtype=np.intp)
        values = self.values.astype(np.float64)
        return np.argsort(-values if descending else values, kind="stable")


class _Model(QAbstractTableModel):
    """Holds the columns and the order of the rows; one change replaces all, and there is nothing for each cell."""

    sorted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.palette = LIGHT
        self.order: NDArray[np.intp] = np.arange(0)
        self._by: tuple[int, bool] = (-1, False)

    def set_columns(self, columns: tuple[Column, ...]) -> None:
        """Show other columns in the order chosen before; titles that changed are sorted by no longer."""
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

    def refresh(self) -> None:
        """Have every cell painted anew."""
        if len(self.order):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.order) - 1, len(self.columns) - 1))

    def _arrange(self) -> None:
        column, descending = self._by
        if 0 <= column < len(self.columns):
            self.order = self.columns[column].order(descending)
        else:
            self.order = np.arange(len(self.columns[0].values) if self.columns else 0)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column, row = self.columns[index.column()], int(self.order[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column.is_text else _RIGHT
        if role == Qt.ItemDataRole.ToolTipRole and column.is_text:
            return plain_tip(column.text(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{column.title}: {column.text(row)}"
        if role == Qt.ItemDataRole.BackgroundRole and column.tints is not None and column.tints[row] > 0:
            share = min(float(column.tints[row]), 1.0) * _STRONGEST_TINT
            return QColor(mixed(self.palette.surface, self.palette.diverging[2], share))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title + (" ↓" if self._by[1] else " ↑") * (section == self._by[0])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column.is_text else _RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{column.about or column.title}. Click to sort, again to turn, a third time to undo.")
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._by = (column, order == Qt.SortOrder.DescendingOrder)
        self._arrange()
        self.refresh()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)
        self.sorted.emit()


class NumberTable(QWidget):
    """A heading with a Copy button above a table; ``row_activated`` has the row's index in the columns given.

    Rows are known by their keys: what is selected stays so when the numbers change and when they are sorted.
    """

    row_activated = Signal(int)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _Model(self)
        self._keys: tuple[Hashable, ...] = ()
        self._selected: tuple[set[Hashable], Hashable, int] = (set(), None, 0)
        self.title = QLabel(title)
        self.title.setProperty("role", "section")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self._copy = QPushButton("Copy")
        self._copy.setAccessibleName(f"Copy {title}")
        self._copy.setToolTip("Copy the rows that are selected, or all, with every digit, for a spreadsheet (Ctrl+C)")
        self._copy.clicked.connect(self.copy)
        self.view = _View(self._model, self)
        self.view.setAccessibleName(title)
        self.view.copy_asked.connect(self.copy)
        self.view.activated.connect(self._on_activated)
        self.view.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.view.selectionModel().currentChanged.connect(self._on_selection_changed)
        self._model.sorted.connect(self._on_sorted)
        self.setFocusProxy(self.view)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        self.set_palette(LIGHT)

    def set_columns(self, columns: Sequence[Column], keys: Sequence[Hashable] | None = None) -> None:
        """Show columns of equal length; ``keys`` name the rows, by default by their index."""
        columns = tuple(columns)
        count = len(columns[0].values) if columns else 0
        before = self._model.columnCount()
        titles = [column.title for column in self._model.columns]
        place = self.view.verticalScrollBar().value()
        selected = self._selected
        self._keys = tuple(range(count)) if keys is None else tuple(keys)
        self._model.set_columns(columns)
        if [column.title for column in columns] != titles:
            self.view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.view.fit_columns(afresh=len(columns) != before)
        self._select(selected)
        self.view.verticalScrollBar().setValue(place)

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours, and the present size of type, from now on."""
        self._model.palette = palette
        self.title.setFont(font("section"))
        self.view.set_palette(palette)

    def selected_rows(self) -> list[int]:
        """Return the rows that are selected, as indices in the columns given, from top to bottom."""
        chosen = self.view.selectionModel().selection()
        blocks = [chosen.at(i) for i in range(chosen.count())]
        places = sorted({place for block in blocks for place in range(block.top(), block.bottom() + 1)})
        return [int(row) for row in self._model.order[places]] if places else []

    def shown_rows(self) -> list[int]:
        """Return all rows, as indices in the columns given, from top to bottom."""
        rows: list[int] = self._model.order.tolist()
        return rows

    def text(self) -> str:
        """Return the rows that are selected, or all, under their headers, separated by tabs, with every digit."""
        rows = self.selected_rows() or self.shown_rows()
        lines = [[column.title for column in self._model.columns]]
        lines += [[column.exact(row) for column in self._model.columns] for row in rows]
        return "\n".join("\t".join(line) for line in lines) + "\n"

    @Slot()
    def copy(self) -> None:
        """Put :meth:`text` on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _select(self, selected: tuple[set[Hashable], Hashable, int]) -> None:
        """Select rows by their keys, as few ranges as there are."""
        keys, current, column = selected
        shown = [self._keys[row] for row in self.shown_rows()] if keys or current is not None else []
        places = [place for place, key in enumerate(shown) if key in keys]
        ranges, last = QItemSelection(), self._model.columnCount() - 1
        for first, end in _runs(places):
            ranges.select(self._model.index(first, 0), self._model.index(end, last))
        model = self.view.selectionModel()
        model.blockSignals(True)
        model.select(ranges, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if current is not None and current in shown:
            index = self._model.index(shown.index(current), min(column, last))
            model.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        model.blockSignals(False)
        self._remember()
        self.view.viewport().update()

    def _remember(self) -> None:
        current = self.view.currentIndex()
        key = self._keys[self._model.order[current.row()]] if current.isValid() else None
        self._selected = ({self._keys[row] for row in self.selected_rows()}, key, max(current.column(), 0))

    @Slot()
    def _on_sorted(self) -> None:
        self.view.fit_columns(afresh=False)
        self._select(self._selected)

    @Slot()
    def _on_selection_changed(self) -> None:
        self._remember()

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        self.row_activated.emit(int(self._model.order[index.row()]))


class _Cells(QStyledItemDelegate):
    """Paints cells flat: under a style sheet of its own a table forgets the colours its model gives."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.palette = LIGHT

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        text = index.data(Qt.ItemDataRole.DisplayRole)
        return QSize(QFontMetrics(font("number")).horizontalAdvance(text) + 2 * px(8), px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        tint = index.data(Qt.ItemDataRole.BackgroundRole)
        if tint is not None:
            painter.fillRect(rect, tint)
        ground = tint.name() if tint is not None else self.palette.surface
        if selected:
            ground = mixed(ground, self.palette.accent, 0.18)
            painter.fillRect(rect, QColor(ground))
        face = font("number")
        painter.setFont(face)
        painter.setPen(QColor(text_on(ground) if tint is not None else self.palette.ink))
        room = rect.adjusted(px(8), 0, -px(8), 0)
        text = index.data(Qt.ItemDataRole.DisplayRole)
        cut = QFontMetrics(face).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, index.data(Qt.ItemDataRole.TextAlignmentRole), cut)


class _View(QTableView):
    """The table itself: rows are selected, a header or the menu sorts, Tab leaves."""

    copy_asked = Signal()

    def __init__(self, model: _Model, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._cells = _Cells(self)
        self.setItemDelegate(self._cells)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(0)  # rows in sight decide how wide a column is: there may be thousands
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def set_palette(self, palette: Palette) -> None:
        """Take colours, and the fonts of the present size of type."""
        self.setFont(font("number"))
        self.horizontalHeader().setFont(font("caption_strong"))
        self.verticalHeader().setDefaultSectionSize(px(24))
        self._cells.palette = palette
        restyle(
            self,
            f"""QTableView {{ background: {palette.surface}; color: {palette.ink}; border: 2px solid transparent;
                border-radius: 6px; }}
            QTableView:focus {{ border-color: {palette.accent}; }}
            QHeaderView {{ background: {palette.surface}; border: 0; }}
            QHeaderView::up-arrow, QHeaderView::down-arrow {{ image: none; width: 0; }}
            QHeaderView::section {{ background: {palette.surface}; color: {palette.muted}; border: 0;
                border-bottom: 1px solid {palette.hairline}; padding: {px(4)}px {px(8)}px; }}
            QHeaderView::section:hover {{ color: {palette.ink}; background: {palette.control}; }}""",
        )
        self.fit_columns(afresh=True)

    def fit_columns(self, afresh: bool) -> None:
        """Give every column the width of what is in sight; unless ``afresh``, none becomes narrower."""
        header = self.horizontalHeader()
        for column in range(header.count()):
            wanted = max(self.sizeHintForColumn(column), header.sectionSizeHint(column)) + px(4)
            wanted = min(wanted, px(_WIDEST_PX))
            if afresh or wanted > header.sectionSize(column):
                header.resizeSection(column, wanted)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy")
        copy.triggered.connect(self.copy_asked)
        menu.addSeparator()
        for section in range(self.horizontalHeader().count()):
            title = str(self.model().headerData(section, Qt.Orientation.Horizontal)).rstrip(" ↑↓")
            action = menu.addAction(f"Sort by {title}")
            action.triggered.connect(lambda _=False, section=section: self._sort_by(section))
        menu.popup(event.globalPos())

    def _sort_by(self, section: int) -> None:
        header = self.horizontalHeader()
        turned = header.sortIndicatorSection() == section and header.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        self.sortByColumn(section, Qt.SortOrder.DescendingOrder if turned else Qt.SortOrder.AscendingOrder)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
            event.accept()
            return
        super().keyPressEvent(event)


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of neighbours in ascending places."""
    if not places:
        return []
    array = np.array(places)
    breaks = np.flatnonzero(np.diff(array) != 1)
    return list(zip(array[np.r_[0, breaks + 1]].tolist(), array[np.r_[breaks, -1]].tolist(), strict=True))

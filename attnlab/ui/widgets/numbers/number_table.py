"""A table of numbers: click a header to sort, copy with every digit, activate a row."""

import csv
import io
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from attnlab.base.counted import format_count
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.theme import font
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.numbers.number_model import Column, NumberModel
from attnlab.ui.widgets.numbers.number_view import NumberView

SPACING_PX = 4
"""The space between the title and the table."""


class NumberTable(QWidget):
    """A heading with a Copy button above a table; ``row_activated`` carries the row's index in the given columns.

    Rows are identified by keys: the selection stays when the numbers change or are sorted.
    """

    row_activated = Signal(int)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = NumberModel(self)
        self._keys: tuple[Hashable, ...] = ()
        self._selected: tuple[set[Hashable], Hashable, int] = (set(), None, 0)
        self.title = ElidedLabel()
        self.title.setText(title)
        self.title.setProperty("role", "section")
        self._copy = QPushButton("Copy")
        self._copy.setAccessibleName(f"Copy {title}")
        self._copy.setToolTip("Copy the selected rows, or all, with every digit, for a spreadsheet (Ctrl+C)")
        self._copy.clicked.connect(self.copy)
        self.view = NumberView(self._model, self)
        self.view.setAccessibleName(title)
        self.view.copy_asked.connect(self.copy)
        self.view.folded.connect(self._on_folded)
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
        column.setSpacing(SPACING_PX)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        self.title.setFont(font("section"))

    def set_columns(self, columns: Sequence[Column], keys: Sequence[Hashable] | None = None) -> None:
        """Show columns of equal length; ``keys`` identify the rows, by default their indices."""
        columns = tuple(columns)
        count = len(columns[0].values) if columns else 0
        before = len(self._model.columns)
        place = self.view.verticalScrollBar().value()
        selected = self._selected
        self._keys = tuple(range(count)) if keys is None else tuple(keys)
        self._model.set_columns(columns)
        self.view.fit_columns(afresh=len(columns) != before)
        self._select(selected)
        self.view.verticalScrollBar().setValue(place)

    def keep_to_rows(self, most: int) -> None:
        """Become no higher than the rows need, at most ``most`` of them; more are scrolled."""
        self.view.most_rows = most

    def measure_height(self) -> int:
        """Return the height, in pixels, with which all rows are visible under titles of one line."""
        head = max(self.title.sizeHint().height(), self._copy.sizeHint().height())
        return head + SPACING_PX + self.view.measure_full_height()

    def measure_width(self) -> int:
        """Return the width, in pixels, with which each row has one line."""
        return self.view.measure_full_width()

    def list_selected_rows(self) -> list[int]:
        """Return the selected rows, as indices in the given columns, from top to bottom."""
        chosen = self.view.selectionModel().selection()
        blocks = [chosen.at(i) for i in range(chosen.count())]
        places = sorted({place for block in blocks for place in range(block.top(), block.bottom() + 1)})
        return [int(row) for row in self._model.order[places]] if places else []

    def list_rows(self) -> list[int]:
        """Return all rows, as indices in the given columns, from top to bottom."""
        rows: list[int] = self._model.order.tolist()
        return rows

    def text(self) -> str:
        """Return the selected rows, or all, under their headers, separated by tabs, with every digit."""
        rows = self.list_selected_rows() or self.list_rows()
        lines = [[column.title for column in self._model.columns]]
        lines += [[column.exact(row) for column in self._model.columns] for row in rows]
        return "\n".join("\t".join(line) for line in lines) + "\n"

    def as_csv(self) -> str:
        """Return all rows under their headers as CSV, with every digit."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.title for column in self._model.columns])
        writer.writerows([column.exact(row) for column in self._model.columns] for row in self.list_rows())
        return text.getvalue()

    def offer_saving(self, then: Callable[[str, str], object]) -> None:
        """Let the menu offer to save the table: ``then`` gets its title and its rows as CSV."""
        self.view.can_save = True
        self.view.save_asked.connect(lambda: then(self.title.text(), self.as_csv()))
        self._copy.setToolTip(f"{self._copy.toolTip()}; the menu of the table saves all as CSV")

    @Slot()
    def copy(self) -> None:
        """Copy :meth:`text` to the clipboard; the button says so until the rows change."""
        QGuiApplication.clipboard().setText(self.text())
        self._copy.setText("Copied")
        announce(f"Copied {format_count(len(self.list_selected_rows() or self.list_rows()), 'row')}", self)

    def _select(self, selected: tuple[set[Hashable], Hashable, int]) -> None:
        """Select rows by their keys, in as few ranges as possible."""
        keys, current, column = selected
        shown = [self._keys[row] for row in self.list_rows()] if keys or current is not None else []
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
        """Keep the selection for the next numbers, and offer to copy again."""
        self._copy.setText("Copy")
        current = self.view.currentIndex()
        key = self._keys[self._model.order[current.row()]] if current.isValid() else None
        self._selected = ({self._keys[row] for row in self.list_selected_rows()}, key, max(current.column(), 0))

    @Slot()
    def _on_sorted(self) -> None:
        self.view.fit_columns(afresh=False)
        self._select(self._selected)

    @Slot()
    def _on_folded(self) -> None:
        self._select(self._selected)

    @Slot()
    def _on_selection_changed(self) -> None:
        self._remember()

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        self.row_activated.emit(int(self._model.order[index.row()]))


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of neighbours in ascending places."""
    if not places:
        return []
    array = np.array(places)
    breaks = np.flatnonzero(np.diff(array) != 1)
    return list(zip(array[np.r_[0, breaks + 1]].tolist(), array[np.r_[breaks, -1]].tolist(), strict=True))

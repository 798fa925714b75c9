"""The arrays of a file as a list with a filter; the chosen array can be used for any weight."""

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QLabel, QTableView, QVBoxLayout, QWidget

from attnlab.files.weights.named_array import NamedArray
from attnlab.ui.base.dialog_parts import button
from attnlab.ui.base.theme import px
from attnlab.ui.weights.array_model import ArrayModel, describe_array
from attnlab.ui.weights.mapping_rows import FIELDS
from attnlab.ui.widgets.fields.form_parts import combo
from attnlab.ui.widgets.fields.undo_fields import TextField


class ArrayList(QWidget):
    """Lists arrays; ``taken`` carries the weight's field and the array that the user wants for it."""

    taken = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = ArrayModel(parent=self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._model)
        self._sorted.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._sorted.setFilterKeyColumn(-1)
        self.filter, self.count = TextField(), QLabel()
        self.filter.setPlaceholderText("Filter by name, shape or format")
        self.filter.setAccessibleName("Filter of the arrays")
        self.filter.setToolTip("Show only the arrays with this text in their line")
        self.filter.setClearButtonEnabled(True)
        self.count.setProperty("role", "caption")
        self.table = self._make_table()
        self.field = combo([(field, field) for field in FIELDS])
        self.field.setAccessibleName("Weight to use the array for")
        self.field.setToolTip("The weight that the chosen array becomes")
        self.use = button("Use for", "Use the chosen array for this weight")
        self._lay_out()
        self.filter.textChanged.connect(self._on_filtered)
        self.table.selectionModel().currentRowChanged.connect(self._on_current)
        self.table.doubleClicked.connect(self._on_use)
        self.use.clicked.connect(self._on_use)

    def show_arrays(self, arrays: Iterable[NamedArray]) -> None:
        """Replace the arrays."""
        self._model.show_arrays(list(arrays))
        for column in (1, 2):
            self.table.resizeColumnToContents(column)  # the rest of the width is for the names
            self.table.setColumnWidth(column, self.table.columnWidth(column) + px(8))
        self._on_filtered()
        self._on_current()

    def find_chosen(self) -> NamedArray | None:
        """Return the chosen array."""
        at = self._sorted.mapToSource(self.table.currentIndex())
        return self._model.find_array(at.row()) if at.isValid() else None

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self._sorted)
        table.setAccessibleName("Arrays of the file")
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.setTabKeyNavigation(False)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(px(26))
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(px(48))
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        return table

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.addWidget(self.count, 1)
        foot.addWidget(self.use)
        foot.addWidget(self.field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(8))
        column.addWidget(self.filter)
        column.addWidget(self.table, 1)
        column.addLayout(foot)

    @Slot()
    def _on_filtered(self) -> None:
        self._sorted.setFilterFixedString(self.filter.text().strip())
        there, all_ = self._sorted.rowCount(), self._model.rowCount()
        self.count.setText(f"{there} of {all_} arrays" if there < all_ else f"{all_} array{'s' if all_ != 1 else ''}")

    @Slot()
    def _on_current(self, *_: QModelIndex) -> None:
        array = self.find_chosen()
        self.use.setEnabled(array is not None and not array.reason)
        if array is not None and array.reason:
            self.use.setToolTip(describe_array(array))
        else:
            self.use.setToolTip("Use the chosen array for this weight")

    @Slot()
    def _on_use(self) -> None:
        array = self.find_chosen()
        if array is not None and not array.reason:
            self.taken.emit(self.field.currentData(), array)

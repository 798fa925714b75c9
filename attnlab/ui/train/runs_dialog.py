"""The table of all runs that are kept, and what can be done with the one that is chosen."""

import math
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from attnlab.attention.arithmetic import short
from attnlab.training.store import Summary
from attnlab.ui.predict.parts import button
from attnlab.ui.theme import px
from attnlab.ui.train.run_words import state, when
from attnlab.ui.train.runs_panel import RunsPanel

COLUMNS = ("Name", "Task", "Model", "Seed", "Steps", "Loss", "Right", "Time", "Kept")
NAME, STEPS = COLUMNS.index("Name"), COLUMNS.index("Steps")
FOLDER, ORDER = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class Cell(QTableWidgetItem):
    """Says a text and is sorted by a value."""

    def __init__(self, text: str, order: str | float, folder: Path) -> None:
        super().__init__(text)
        self.setData(FOLDER, str(folder))
        self.order = order
        if not isinstance(order, str):
            self.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def __lt__(self, other: QTableWidgetItem) -> bool:
        if isinstance(other, Cell) and isinstance(other.order, type(self.order)):
            return bool(self.order < other.order)  # type: ignore[operator]
        return super().__lt__(other)


class RunsDialog(QDialog):
    """Shows the runs that the panel knows; what is asked of one is done there. A double click on a name renames."""

    def __init__(self, panel: RunsPanel, parent: QWidget) -> None:
        super().__init__(parent)
        self._panel = panel
        self.setWindowTitle("Runs")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.table = QTableWidget(0, len(COLUMNS))
        self.table.setHorizontalHeaderLabels(COLUMNS)
        self.table.setAccessibleName("Runs")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.itemSelectionChanged.connect(self._enable)
        self.table.itemChanged.connect(self._on_item_changed)
        self.table.activated.connect(self._on_activated)
        self.open_button = button("Open", "Show the run that is chosen: settings, curves and moments; it can go on")
        self.open_button.setProperty("primary", "true")
        self.over_button = button("Lay over", "Show its curves over those of the run that is open, or no longer")
        self.compare_button = button("Side by side", "Show its maps beside those of the run that is open")
        self.folder_button = button("Show folder", "Show where it lies")
        self.delete_button = button("Delete…", "Delete it for good")
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setProperty("role", "caption")
        self.note.setWordWrap(True)
        self._lay_out()
        panel.changed.connect(self.show_runs)
        self.show_runs()
        self.table.sortByColumn(COLUMNS.index("Kept"), Qt.SortOrder.DescendingOrder)
        self.resize(min(px(900), parent.width() - px(40)), min(px(480), parent.height() - px(40)))

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        for each in (self.delete_button, self.folder_button):
            foot.addWidget(each)
        foot.addStretch(1)
        for each in (self.over_button, self.compare_button, self.open_button):
            foot.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(16), px(16), px(16))
        column.setSpacing(px(12))
        column.addWidget(self.table, 1)
        column.addWidget(self.note)
        column.addLayout(foot)
        self.open_button.clicked.connect(self._on_open)
        self.over_button.clicked.connect(lambda: self._with_chosen(self._panel.toggle))
        self.compare_button.clicked.connect(self._on_compare)
        self.folder_button.clicked.connect(lambda: self._with_chosen(self._panel.reveal))
        self.delete_button.clicked.connect(lambda: self._with_chosen(self._panel.delete))

    @property
    def chosen(self) -> Path | None:
        """The folder of the run that is chosen."""
        items = self.table.selectedItems()
        return Path(items[0].data(FOLDER)) if items else None

    @Slot()
    def show_runs(self) -> None:
        """Show the runs there are now; the one that is chosen stays so."""
        if self.table.state() == QAbstractItemView.State.EditingState:
            return  # a name is being typed
        chosen = self.chosen
        self.table.blockSignals(True)
        self.table.setSortingEnabled(False)
        self.table.setRowCount(len(self._panel.found))
        for row, found in enumerate(self._panel.found):
            for column, cell in enumerate(_cells(found)):
                if column != NAME:
                    cell.setFlags(cell.flags() & ~Qt.ItemFlag.ItemIsEditable)
                self.table.setItem(row, column, cell)
        self.table.setSortingEnabled(True)
        self.table.resizeColumnsToContents()
        for row in range(self.table.rowCount()):
            item = self.table.item(row, NAME)
            if item is not None and chosen is not None and item.data(FOLDER) == str(chosen):
                self.table.selectRow(row)
        self.table.blockSignals(False)
        self._enable()

    @Slot()
    def _enable(self) -> None:
        folder = self.chosen
        other = folder is not None and not self._panel.is_open(folder)
        for each in (self.open_button, self.over_button, self.compare_button, self.delete_button):
            each.setEnabled(other)
        self.folder_button.setEnabled(folder is not None)
        over = folder is not None and self._panel.laid_over(folder) is not None
        self.over_button.setText("Hide curves" if over else "Lay over")
        found = next((each for each in self._panel.found if each.folder == folder), None)
        here = " This is the run that is open." if found is not None and not other else ""
        count = f"{len(self._panel.found)} runs are kept." if len(self._panel.found) != 1 else "One run is kept."
        self.note.setText(f"{found.name}: {state(found)}.{here}" if found is not None else count)

    def _with_chosen(self, do: object) -> None:
        if self.chosen is not None and callable(do):
            do(self.chosen)

    @Slot()
    def _on_open(self) -> None:
        self._with_chosen(self._panel.open)
        self.accept()

    @Slot()
    def _on_compare(self) -> None:
        self._with_chosen(self._panel.compare_requested.emit)
        self.accept()

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        if index.column() != NAME and self.open_button.isEnabled():
            self._on_open()

    @Slot(QTableWidgetItem)
    def _on_item_changed(self, item: QTableWidgetItem) -> None:
        name = " ".join(item.text().split())
        if item.column() == NAME and name:
            self._panel.keeper.rename(Path(item.data(FOLDER)), name)
        else:
            self._panel.keeper.refresh()


def _cells(found: Summary) -> list[Cell]:
    from attnlab.training.models import KINDS
    from attnlab.training.tasks import TASKS

    spec = found.spec
    assert spec is not None
    right = "" if math.isnan(found.right) else f"{100 * found.right:.1f} %"
    steps = f"{found.step:,}" if found.step >= spec.train.steps else f"{found.step:,} of {spec.train.steps:,}"
    texts: list[tuple[str, str | float]] = [
        (found.name, found.name.casefold()),
        (TASKS[spec.task].title, spec.task),
        (KINDS[spec.model.kind].title, spec.model.kind),
        (str(spec.train.seed), float(spec.train.seed)),
        (steps, float(found.step)),
        ("" if math.isnan(found.loss) else short(found.loss), math.inf if math.isnan(found.loss) else found.loss),
        (right, -1.0 if math.isnan(found.right) else found.right),
        (f"{found.seconds:.0f} s" if found.seconds < 100 else f"{found.seconds / 60:.0f} min", found.seconds),
        (when(found.saved), found.saved),
    ]
    return [Cell(text, order, found.folder) for text, order in texts]

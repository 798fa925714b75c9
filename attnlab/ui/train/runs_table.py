"""The table of runs in the program's style: texts at the left, numbers at the right, and keys that open and delete."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem

from attnlab.base.counted import format_percent
from attnlab.training.results import format_loss
from attnlab.training.store import Summary
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.run_words import format_reached, format_time, format_title
from attnlab.ui.widgets.table_style import dress_table

COLUMNS = ("Name", "Task", "Model", "Seed", "Steps", "Loss", "Correct", "Time", "Saved")
NAME, STEPS, KEPT = map(COLUMNS.index, ("Name", "Steps", "Saved"))
NUMBERS = tuple(map(COLUMNS.index, ("Seed", "Steps", "Loss", "Correct", "Time", "Saved")))
ABOUT = {
    "Steps": "The number of steps taken",
    "Loss": "The last loss on held-out examples",
    "Correct": "The share of held-out tokens predicted correctly at the end",
    "Time": "The duration of the training",
    "Saved": "The time of the last save",
}
FOLDER = Qt.ItemDataRole.UserRole
FOLDED = tuple(map(COLUMNS.index, ("Task", "Model", "Saved")))
"""The columns whose texts take two lines where the table is too narrow for all columns."""
JOINED = {COLUMNS.index("Task"): "Model", COLUMNS.index("Seed"): "Model", COLUMNS.index("Time"): "Steps"}
"""Columns that are hidden where folded ones still are too wide, and the column whose cells then have their texts."""
NARROWEST_NAME, NARROWEST_FOLDED, NARROWEST_JOINED = 176, 104, 88
"""Widths of the name, in pixels at 100 %, with plain, folded and joined columns; then the table scrolls."""
MIDDLE = Qt.AlignmentFlag.AlignVCenter


class Cell(QTableWidgetItem):
    """Shows a text and is sorted by a value; ``joined`` is its text where it also tells that of hidden columns."""

    def __init__(self, text: str, order: str | float, folder: Path) -> None:
        super().__init__(text)
        self.setData(FOLDER, str(folder))
        self.order, self.plain, self.joined = order, text, text

    def __lt__(self, other: QTableWidgetItem) -> bool:
        if isinstance(other, Cell) and isinstance(other.order, type(self.order)):
            return bool(self.order < other.order)  # type: ignore[operator]
        return super().__lt__(other)


@guarded
class RunsTable(FollowsTheme, QTableWidget):
    """One run per row. Enter or a double click asks to open the chosen one, Delete to delete it, F2 edits its name."""

    open_asked = Signal()
    delete_asked = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(COLUMNS))
        self.setAccessibleName("Runs")
        self.setAccessibleDescription("Enter opens the chosen run, F2 renames it, Delete deletes it")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # branches of a run differ at their ends
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.sortIndicatorChanged.connect(self._write_head)
        self.itemDoubleClicked.connect(lambda _: self.open_asked.emit())
        self._write_head()

    @property
    def chosen(self) -> Path | None:
        """The folder of the chosen run."""
        items = self.selectedItems()
        return Path(items[0].data(FOLDER)) if items else None

    @property
    def is_typed_in(self) -> bool:
        """Whether a name is being edited."""
        return self.state() == QAbstractItemView.State.EditingState

    def show_runs(self, runs: Sequence[Summary]) -> None:
        """Show runs; the choice and the order are kept."""
        chosen = self.chosen
        self.blockSignals(True)
        self.setSortingEnabled(False)
        self.setRowCount(len(runs))
        for row, found in enumerate(runs):
            for column, cell in enumerate(_make_cells(found)):
                self._dress_cell(cell, column, found)
                self.setItem(row, column, cell)
        self.setSortingEnabled(True)
        self._fit()
        if chosen is not None:
            self.choose(chosen)
        self.blockSignals(False)

    def choose(self, folder: Path) -> None:
        """Choose the run of a folder, if it is listed."""
        for row in range(self.rowCount()):
            item = self.item(row, NAME)
            if item is not None and item.data(FOLDER) == str(folder):
                self.selectRow(row)

    @Slot()
    def rename(self) -> None:
        """Edit the name of the chosen run."""
        if items := self.selectedItems():
            name = self.item(items[0].row(), NAME)
            if name is not None:
                self.setCurrentItem(name)
                self.editItem(name)

    def restyle(self) -> None:
        """Set fonts, colours and widths."""
        dress_table(self)
        self._write_head()
        self._fit()

    def _dress_cell(self, cell: Cell, column: int, found: Summary) -> None:
        if column == NAME:
            cell.setToolTip(plain_tip(f"{cell.text()}\n{found.folder.name}"))
        else:
            cell.setFlags(cell.flags() & ~Qt.ItemFlag.ItemIsEditable)
        if column in NUMBERS:
            cell.setFont(font("number"))
            cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | MIDDLE)

    @Slot()
    def _write_head(self) -> None:
        """Write the titles, with an arrow at the sorted column; Qt would draw the arrow over the title."""
        header = self.horizontalHeader()
        arrow = " ↓" if header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder else " ↑"
        palette = palette_of(self)
        for column, title in enumerate(COLUMNS):
            by = self.isSortingEnabled() and column == header.sortIndicatorSection()
            item = QTableWidgetItem(title + arrow * by)
            side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
            item.setTextAlignment(side | MIDDLE)
            item.setFont(font("caption_strong"))
            item.setForeground(QColor(palette.accent if by else palette.muted))
            item.setToolTip(f"{ABOUT[title]}. Click to sort by it" if title in ABOUT else "Click to sort by it")
            self.setHorizontalHeaderItem(column, item)

    def _fit(self) -> None:
        """Give every column the width it needs, and the name the rest; fold texts where the table is too narrow, and
        join columns where that is not enough."""
        self.setWordWrap(False)
        self._join(False)
        self.resizeColumnsToContents()
        least = NARROWEST_NAME
        if self._measure_others() + px(least) > self.viewport().width():
            least = NARROWEST_FOLDED
            self.setWordWrap(True)
            for column in FOLDED:
                self._fold(column)
        if self._measure_others() + px(least) > self.viewport().width():
            least = NARROWEST_JOINED
            self._join(True)
            for column in (*FOLDED, STEPS):
                self._fold(column)
            for column in (STEPS, *FOLDED):
                self._unfold(column, self.viewport().width() - self._measure_others() - px(least))
        self.setColumnWidth(NAME, max(px(least), self.viewport().width() - self._measure_others()))
        for row in range(self.rowCount()):
            high = self._measure_lines(row) + 2 * px(6) if self.wordWrap() else 0
            self.setRowHeight(row, max(px(30), high))

    def _join(self, on: bool) -> None:
        """Hide the columns whose texts others can tell too, or show all."""
        blocked = self.blockSignals(True)  # a changed cell would rename its run
        for column, into in JOINED.items():
            self.setColumnHidden(column, on)
            for row in range(self.rowCount()):
                cell = self.item(row, COLUMNS.index(into))
                if isinstance(cell, Cell):
                    cell.setText(cell.joined if on else cell.plain)
        self.blockSignals(blocked)

    def _measure_lines(self, row: int) -> int:
        """Return the height of the highest text of a row; Qt's own hint leaves out the padding beside texts."""
        highest = 0
        padding = self._measure_padding(row)
        for column in (NAME, *FOLDED, STEPS):
            item = self.item(row, column)
            text = "" if item is None else item.text()
            inner = self.columnWidth(column) - padding
            lines = self.fontMetrics().boundingRect(0, 0, inner, 0, Qt.TextFlag.TextWordWrap, text)
            highest = max(highest, lines.height())
        return highest

    def _measure_padding(self, row: int) -> int:
        """Return what the style adds to the width of a text, measured at a name, which never is joined."""
        item = self.item(row, NAME)
        text = "" if item is None else item.text()
        hint = self.sizeHintForIndex(self.model().index(row, NAME)).width()
        return hint - self.fontMetrics().horizontalAdvance(text)

    def _measure_others(self) -> int:
        return sum(self.columnWidth(column) for column in range(len(COLUMNS)) if column != NAME)

    def _fold(self, column: int) -> None:
        """Make a column as narrow as its texts allow, each of their lines in two."""
        items = [item for row in range(self.rowCount()) if (item := self.item(row, column)) is not None]
        lines = [line for item in items for line in item.text().splitlines()]
        measure = self.fontMetrics().horizontalAdvance
        folded = max((_measure_two_lines(line, measure) for line in lines), default=0)
        spare = self._measure_padding(0) if items else 0
        rounding = 2  # Qt breaks a line that fits to the pixel
        self.setColumnWidth(column, max(folded + spare + rounding, self.horizontalHeader().sectionSizeHint(column)))

    def _unfold(self, column: int, most: int) -> None:
        """Make a column as wide as its lines ask for, or by at most so many pixels wider."""
        texts = [item.text() for row in range(self.rowCount()) if (item := self.item(row, column)) is not None]
        lines = [self.fontMetrics().horizontalAdvance(line) for text in texts for line in text.splitlines()]
        wanted = max(lines, default=0) + (self._measure_padding(0) + 2 if texts else 0)
        now = self.columnWidth(column)
        self.setColumnWidth(column, max(now, min(wanted, now + most)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.is_typed_in:  # Enter, which ends editing, arrives here too
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_asked.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_asked.emit()
        elif event.key() == Qt.Key.Key_F2:
            self.rename()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _measure_two_lines(text: str, measure: Callable[[str], int]) -> int:
    """Return the least width of a text in two lines, broken between words."""
    words = text.split()
    return min(
        max(measure(" ".join(words[:at])), measure(" ".join(words[at:]))) for at in range(1, max(len(words), 1) + 1)
    )


def _make_cells(found: Summary) -> list[Cell]:
    from attnlab.training.models import KINDS
    from attnlab.training.tasks import TASKS

    spec, name = found.spec, format_title(found)
    assert spec is not None
    right = "" if math.isnan(found.right) else format_percent(found.right)
    texts: list[tuple[str, str | float]] = [
        (name, name.casefold()),
        (TASKS[spec.task].title, spec.task),
        (KINDS[spec.model.kind].title, spec.model.kind),
        (str(spec.train.seed), float(spec.train.seed)),
        (format_reached(found.step, spec.train.steps), float(found.step)),
        (format_loss(found.loss), math.inf if math.isnan(found.loss) else found.loss),
        (right, -1.0 if math.isnan(found.right) else found.right),
        (f"{found.seconds:.0f} s" if found.seconds < 100 else f"{found.seconds / 60:.0f} min", found.seconds),
        (format_time(found.saved), found.saved),
    ]
    cells = [Cell(text, order, found.folder) for text, order in texts]
    told = {title: cell.plain for title, cell in zip(COLUMNS, cells, strict=True)}
    cells[COLUMNS.index("Model")].joined = f"{told['Task']}, seed {told['Seed']}\n{told['Model']}"
    cells[STEPS].joined = f"{told['Steps']}\n{told['Time']}"
    return cells

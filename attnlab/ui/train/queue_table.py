"""The table of a queue's results, with the least and the largest of each column in its last rows."""

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem

from attnlab.base.counted import format_percent
from attnlab.training.best_heads import MOST_EXAMPLES
from attnlab.training.results import Result, find_best, format_loss, format_share, list_patterns
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.table_style import dress_table

COLUMNS = ("Run", "Steps", "Loss", "Correct", "Exact match")
ABOUT = {
    "Steps": "The number of steps taken",
    "Loss": "The last loss on held-out examples",
    "Correct": "The share of held-out tokens predicted correctly, each after the right ones before it",
    "Exact match": "The share of held-out examples of which every token is right",
}
PATTERN = (
    f"The highest score of a head for this pattern, and the head.\nIt is the mean over at most {MOST_EXAMPLES} "
    "held-out examples, not the score on your input."
)
LEAST, LARGEST = "least", "largest"


class QueueTable(FollowsTheme, QTableWidget):
    """One run per row; the last two rows have the range of the numbers above them."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Results of the runs")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)

    def show_results(self, results: Sequence[Result]) -> None:
        """Show results; the chosen row stays."""
        patterns, row = list_patterns(results), self.currentRow()
        titles = [*COLUMNS, *(f"{name[:1].upper()}{name[1:]}" for name in patterns)]
        rows = [_list_texts(result, patterns) for result in results]
        if len(results) > 1:
            rows += _list_ranges(results, patterns)
        self.setColumnCount(len(titles))
        self.setRowCount(len(rows))
        for column, title in enumerate(titles):
            self._put(-1, column, title, ABOUT.get(title, "" if title == "Run" else PATTERN))
            for number, texts in enumerate(rows):
                self._put(number, column, texts[column], "")
        self.restyle()
        self.setCurrentCell(row, 0)

    def _put(self, row: int, column: int, text: str, tip: str) -> None:
        item = QTableWidgetItem(text)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        item.setToolTip(tip)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, text or "none")
        if row < 0:
            self.setHorizontalHeaderItem(column, item)
            return
        if column:
            item.setFont(font("number"))
        self.setItem(row, column, item)

    def restyle(self) -> None:
        """Set fonts, colours, widths, and the height of all rows."""
        dress_table(self)
        self.resizeColumnsToContents()
        rows = self.rowCount() * px(30) + self.horizontalHeader().sizeHint().height()
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(rows + bar + 6)


def _list_texts(result: Result, patterns: Sequence[str]) -> list[str]:
    found = [find_best(result, pattern) for pattern in patterns]
    shares = map(format_share, (result.right, result.exact))
    bests = ["" if best is None else f"{best.score:.2f}  {best.head}" for best in found]
    return [result.name, f"{result.step:,}", format_loss(result.loss), *shares, *bests]


def _list_ranges(results: Sequence[Result], patterns: Sequence[str]) -> list[list[str]]:
    """Return the least and the largest number of each column, "" where there is none."""
    found = [[best for result in results if (best := find_best(result, pattern))] for pattern in patterns]
    columns: list[tuple[list[float], Callable[[float], str]]] = [
        ([result.loss for result in results], format_loss),
        ([result.right for result in results], format_percent),
        ([result.exact for result in results], format_percent),
        *(([best.score for best in bests], "{:.2f}".format) for bests in found),
    ]
    finite = [([x for x in column if math.isfinite(x)], write) for column, write in columns]
    return [
        [title, "", *(write(choose(column)) if column else "" for column, write in finite)]
        for title, choose in ((LEAST, min), (LARGEST, max))
    ]

"""Tables of several texts: the strongest target of every token in every layer, and the mean scores of every head."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from attnlab.figures.palette import mix
from attnlab.pretrained.many_texts import TextTargets, number_repeated
from attnlab.pretrained.patterns import HeadPatterns
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.models.patterns_card import SCORES
from attnlab.ui.models.token_names import show_token
from attnlab.ui.widgets.table_style import dress_table
from attnlab.ui.widgets.tokens.token_chips import visible

SCORE_COLUMNS = {"entropy": ("entropy", "−Σ a ln a in nats, mean over queries (Clark et al. 2019)")} | {
    "distance": ("distance", "Σ a |i − j| in tokens, mean over queries (Vig and Belinkov 2019)")
}
SCORE_COLUMNS |= SCORES
LEAST = 84
"""The least width of a column, in pixels at 100 %."""
Index = QModelIndex | QPersistentModelIndex
PLACE, SHARE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class _Cell(QTableWidgetItem):
    """Sorted by its share."""

    def __init__(self, text: str, place: tuple[int, int, int], share: float) -> None:
        super().__init__(text)
        self.setData(PLACE, place)
        self.setData(SHARE, share)
        self.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)

    def __lt__(self, other: QTableWidgetItem) -> bool:
        return bool(self.data(SHARE) < other.data(SHARE))


@guarded
class Tints(QStyledItemDelegate):
    """Paints the colour of a cell below its text; style sheets would leave it out."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tint = index.data(Qt.ItemDataRole.BackgroundRole)
        if tint is not None:
            painter.fillRect(option.rect, tint)
        super().paint(painter, option, index)


@guarded
class TextsTable(FollowsTheme, QTableWidget):
    """Emits the place of the cell that is opened, by a double click or Enter: (text, layer, head or token)."""

    opened = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__(0, 0)
        self.setAccessibleName(name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setItemDelegate(Tints(self))
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.cellDoubleClicked.connect(self._open)

    def show_targets(self, texts: Sequence[TextTargets], head: int, *, plain: bool) -> None:
        """Show a line for every token and a column for every layer, with the text above its tokens."""
        n_layers = max(len(each.keys) for each in texts)
        self._begin(["", *(f"L{layer}" for layer in range(n_layers))])
        for place, each in enumerate(texts):
            row = self.rowCount()
            self.insertRow(row)
            title = _Cell(each.text, (place, -1, -1), 0.0)
            title.setFont(font("strong"))
            self.setItem(row, 0, title)
            for column in range(1, n_layers + 1):  # below the title, for those who hear the table
                below = _Cell(each.text, (place, -1, -1), 0.0)
                below.setSizeHint(QSize(0, 0))  # nobody sees it, so no column is as wide as the text
                self.setItem(row, column, below)
            self.setSpan(row, 0, 1, n_layers + 1)
            for token, name in enumerate(each.query_tokens):
                row = self.rowCount()
                self.insertRow(row)
                shown = show_token(name) + number_repeated(each.query_tokens, token)
                self.setItem(row, 0, _Cell(shown, (place, -1, token), 0.0))
                for layer in range(n_layers):
                    target, weight = each.find(layer, head, token, plain=plain)
                    self.setItem(
                        row,
                        layer + 1,
                        _Cell(f"{visible(target)}  {weight:.2f}" if target else "–", (place, layer, token), weight),
                    )
        self._end()

    def show_scores(self, rows: Sequence[HeadPatterns]) -> None:
        """Show a line for every head and a column for every score; a click on a title sorts by it."""
        by, order = self.horizontalHeader().sortIndicatorSection(), self.horizontalHeader().sortIndicatorOrder()
        was_sorted = self.isSortingEnabled()
        self._begin(["head", *(title for title, _ in SCORE_COLUMNS.values())])
        for column, (name, (_, about)) in enumerate(SCORE_COLUMNS.items(), start=1):
            if (title := self.horizontalHeaderItem(column)) is not None:
                measured = "" if name == "induction" else "The mean over these texts. "  # that is on random tokens
                title.setToolTip(f"{about}.\n{measured}Click to sort by it")
        self.setRowCount(len(rows))
        for line, row in enumerate(rows):
            place = -1, row.layer, row.head
            self.setItem(line, 0, _Cell(f"L{row.layer} H{row.head}", place, float(line)))
            for column, name in enumerate(SCORE_COLUMNS, start=1):
                value = getattr(row, name)
                cell = _Cell(f"{value:.3f}", place, value)
                cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(line, column, cell)
        self.setSortingEnabled(True)
        self.sortByColumn(by, order) if was_sorted else self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self._end()

    def restyle(self) -> None:
        """Set fonts, colours and widths."""
        dress_table(self)
        self._end()

    def _begin(self, titles: Sequence[str]) -> None:
        self.setSortingEnabled(False)
        self.clearSpans()
        self.setRowCount(0)
        self.setColumnCount(len(titles))
        self.setHorizontalHeaderLabels(list(titles))

    def _end(self) -> None:
        self._tint()
        self.resizeColumnsToContents()
        for column in range(self.columnCount()):
            self.setColumnWidth(column, max(self.columnWidth(column), px(LEAST)))

    def _tint(self) -> None:
        """Colour the cells of weights and of shares by their size; entropies and distances are no shares."""
        palette = palette_of(self)
        for row in range(self.rowCount()):
            for column in range(1, self.columnCount()):
                cell, title = self.item(row, column), self.horizontalHeaderItem(column)
                if cell is None or title is None or title.text() in ("entropy", "distance"):
                    continue
                share = min(max(float(cell.data(SHARE)), 0.0), 1.0)
                cell.setBackground(QBrush(QColor(mix(palette.surface, palette.attention, 0.45 * share))))

    def _open(self, row: int, column: int) -> None:
        cell = self.item(row, column) or self.item(row, 0)
        if cell is not None:
            self.opened.emit(tuple(cell.data(PLACE)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentRow() >= 0:
            self._open(self.currentRow(), self.currentColumn())
        else:
            super().keyPressEvent(event)

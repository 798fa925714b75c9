"""The cells and headers of a table of numbers, with enough lines per row to show all columns."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionHeader,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from attnlab.figures.palette import Palette, mix
from attnlab.figures.subscripts import cut_text, draw_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import font, px, text_on
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.numbers.number_model import Column, NumberModel

_WIDEST_PX, _NARROWEST_TEXT_PX = 220, 64
_BORDER_PX, _BETWEEN_PX = 2, 8
"""Margin on each side of a text."""
_LEAST_HIGH_PX = 96
_STRONGEST_TINT = 0.55
_MEASURED = 64
"""The number of rows, from the first visible one, that determine a column's width: there may be thousands."""


@guarded
class _Cells(QStyledItemDelegate):
    """Paints cells itself: under a style sheet, a table ignores the colours of its model."""

    lowers_indices = True

    def __init__(self, model: NumberModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        palette, rect = palette_of(option.widget), option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        model, row = self._model, int(self._model.order[index.row()])
        aligned = index.data(Qt.ItemDataRole.TextAlignmentRole)
        above, high = _row_margin(model.lines), (rect.height() - 2 * _row_margin(model.lines)) // model.lines
        painter.setFont(font("number"))
        if selected:
            painter.fillRect(rect, QColor(mix(palette.surface, palette.accent, 0.18)))
        for line, column in enumerate(model.list_stacked(index.column())):
            place = QRect(rect.x(), rect.y() + above + line * high, rect.width(), high)
            tint = _tint(column, row, palette)
            ground = palette.surface if tint is None else mix(tint, palette.accent, 0.18) if selected else tint
            if tint is not None:
                painter.fillRect(place, QColor(ground))
            painter.setPen(QColor(text_on(ground) if tint is not None else _line_colour(line, palette)))
            _paint_text(painter, place, column.text(row), aligned)
        if model.lines > 1:
            painter.fillRect(rect.x(), rect.bottom(), rect.width(), 1, QColor(palette.hairline))


def _line_colour(line: int, palette: Palette) -> str:
    """Return the colour of a line of a row or of the titles: the first one is darker, so that the two pair up."""
    return palette.muted if line else palette.ink


def _tint(column: Column, row: int, palette: Palette) -> str | None:
    """Return the colour of a cell, None for the table's colour."""
    if column.tints is None or column.tints[row] <= 0:
        return None
    return mix(palette.surface, palette.diverging[2], min(float(column.tints[row]), 1.0) * _STRONGEST_TINT)


def _paint_text(painter: QPainter, place: QRect, text: str, aligned: Qt.AlignmentFlag) -> None:
    room = place.adjusted(px(_BETWEEN_PX), 0, -px(_BETWEEN_PX), 0)
    text = cut_text(text, painter.font(), room.width())
    if aligned & Qt.AlignmentFlag.AlignLeft:
        draw_text(painter, room.x(), room.y() + room.height() / 2, text, painter.font())
    else:
        painter.drawText(room, aligned, text)


@guarded
class _Header(QHeaderView):
    """The titles of the columns, in as many lines as the rows; emits the column that is clicked."""

    column_clicked = Signal(int)

    def __init__(self, model: NumberModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._model = model
        self._line = 0
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.sectionClicked.connect(self._on_section_clicked)

    @Slot(int)
    def _on_section_clicked(self, section: int) -> None:
        column = section + self._line * self._model.columnCount()
        if column < len(self._model.columns):
            self.column_clicked.emit(column)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        super().initStyleOptionForIndex(option, section)
        if self._model.lines > 1:
            option.text = ""  # drawn line by line

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        super().paintSection(painter, rect, section)
        painter.restore()
        if self._model.lines == 1:
            return
        horizontal = Qt.Orientation.Horizontal
        aligned = self._model.headerData(section, horizontal, Qt.ItemDataRole.TextAlignmentRole)
        painter.setFont(font("caption_strong"))
        inside = rect.adjusted(0, px(4), 0, -px(4))
        high = inside.height() / self._model.lines
        for line, title in enumerate(self._model.headerData(section, horizontal).split("\n")):
            place = QRect(rect.x(), round(inside.y() + line * high), rect.width(), round(high))
            painter.setPen(QColor(_line_colour(line, palette_of(self))))
            _paint_text(painter, place, title, aligned)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = (event.position().y() - px(4)) / max(self.height() - 2 * px(4), 1)
        self._line = min(max(int(inside * self._model.lines), 0), self._model.lines - 1)
        super().mouseReleaseEvent(event)


@guarded
class NumberView(FollowsTheme, KeepsKeys, QTableView):
    """The table: it selects whole rows, a header or the menu sorts, Tab leaves."""

    copy_asked = Signal()
    save_asked = Signal()
    folded = Signal()
    """Emitted when the number of lines per row has changed, which clears the selection."""

    def __init__(self, model: NumberModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._resetting = False
        self.can_save = False
        """Whether the menu offers to save the table."""
        self.most_rows: int | None = None
        """If set, the view is as high as its rows need, up to this many."""
        self._wanted: list[int] = []
        self._given: list[int] = []
        self._header = _Header(model, self)
        self._header.column_clicked.connect(model.turn)
        self.setHorizontalHeader(self._header)
        self.setModel(model)
        model.modelAboutToBeReset.connect(self._on_reset_begun)
        model.modelReset.connect(self._on_reset_done)
        self._cells = _Cells(model, self)
        self.setItemDelegate(self._cells)
        self.setProperty("numbers", True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setSortingEnabled(True)  # or a click on a header would select; the model sorts by columns
        self._header.setSortIndicatorShown(False)

    def restyle(self) -> None:
        """Use the present size of type."""
        self.setFont(font("number"))
        for titles in (self._header, self._header.viewport()):  # a style sheet gives the latter a font of its own
            titles.setFont(font("caption_strong"))
        self.setMinimumHeight(px(_LEAST_HIGH_PX))
        self.fit_columns(afresh=True)

    def fit_columns(self, afresh: bool) -> None:
        """Fit every column to its visible rows; unless ``afresh``, none becomes narrower."""
        wanted = [self._choose_width(column) for column in self._model.columns]
        self._wanted = wanted if afresh else [max(pair) for pair in zip(wanted, self._wanted, strict=True)]
        self._fit()

    def _choose_width(self, column: Column) -> int:
        first = max(self.rowAt(0), 0)
        rows = self._model.order[first : first + _MEASURED].tolist()
        metrics = QFontMetrics(font("number"))
        widths = [metrics.horizontalAdvance(column.text(row)) + 2 for row in rows]  # for rounding
        return min(max([_head_width(column), *(width + 2 * px(_BETWEEN_PX) for width in widths)]), px(_WIDEST_PX))

    def _fit(self) -> None:
        """Use the fewest lines per row that show all columns; widths set by the user stay until the number changes."""
        if self.isVisible() and not self._resetting:
            lines, widths = _fold_columns(self._model.columns, self._wanted, self._room, self._most_lines())
            self.verticalHeader().setDefaultSectionSize(_row_height(lines))
            if lines != self._model.lines:
                self._given = []
                self._model.fold(lines)
                self.folded.emit()
            if self.most_rows is None:
                self.setMinimumHeight(self._measure_least_height())
            else:
                self.setFixedHeight(self._measure_height(min(len(self._model.order), self.most_rows), lines))
            if widths != self._given:
                self._given = widths
                for section, width in enumerate(widths):
                    self._header.resizeSection(section, width)

    def _room(self, lines: int) -> int:
        """Return the width for the cells, in pixels, with a given number of lines per row.

        It depends on the size of the table alone. If it depended on the scroll bar, which appears with one number of
        lines and disappears with another, the layout would alternate for ever.
        """
        rows = len(self._model.order)
        height = self.height() if self.most_rows is None else self._measure_height(self.most_rows, lines)
        bar = self.verticalScrollBar().sizeHint().width() if self._measure_height(rows, lines) > height else 0
        return self.maximumViewportSize().width() - bar

    def _measure_height(self, rows: int, lines: int) -> int:
        """Return the height of the titles and of some rows, in pixels."""
        titles = lines * QFontMetrics(font("caption_strong")).lineSpacing() + 2 * px(4) + 5
        return titles + rows * _row_height(lines) + 2 * _BORDER_PX + px(2)

    def _measure_least_height(self) -> int:
        """Return the height with which two whole rows are visible; it depends on the width alone, see ``_room``."""
        beside = self.maximumViewportSize().width() - self.verticalScrollBar().sizeHint().width()
        lines, _ = _fold_columns(self._model.columns, self._wanted, lambda _: beside, 2)
        return max(px(_LEAST_HIGH_PX), self._measure_height(min(len(self._model.order), 2), lines))

    def measure_full_height(self) -> int:
        """Return the height of all rows under titles of one line, in pixels."""
        return self._measure_height(len(self._model.order), 1)

    def measure_full_width(self) -> int:
        """Return the width with which each row has one line, in pixels."""
        return sum(self._wanted) + self.verticalScrollBar().sizeHint().width() + 2 * _BORDER_PX

    def _most_lines(self) -> int:
        """Return the greatest number of lines with which the titles leave a whole row visible, at least two."""
        one = px(20) + QFontMetrics(font("caption_strong")).lineSpacing()
        return max((self.height() - 4 * px(4)) // one, 2)

    @Slot()
    def _on_scrolled(self) -> None:
        if not self._resetting:
            self.fit_columns(afresh=False)

    @Slot()
    def _on_reset_begun(self) -> None:
        self._resetting = True  # a reset resizes the view, and there are no columns to fit

    @Slot()
    def _on_reset_done(self) -> None:
        self._resetting = False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy")
        copy.triggered.connect(self.copy_asked)
        if self.can_save:
            save = menu.addAction("Save as CSV…")
            save.triggered.connect(self.save_asked)
        menu.addSeparator()
        for place, column in enumerate(self._model.columns):
            action = menu.addAction(f"Sort by {column.title}")
            action.triggered.connect(lambda _=False, place=place: self._sort_by(place))
        menu.popup(event.globalPos())

    def _sort_by(self, column: int) -> None:
        self._model.sort_by(column, self._model.is_ascending(column))

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.matches(QKeySequence.StandardKey.Copy)  # on the canvas it is for a number of a map

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
            event.accept()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()


def _row_height(lines: int) -> int:
    """Return the height of a row with a given number of lines."""
    return px(24) if lines == 1 else lines * px(20) + 2 * _row_margin(lines)


def _row_margin(lines: int) -> int:
    """Return the space above and below the lines of a row, which separates it from its neighbours."""
    return px(4) if lines > 1 else 0


def _head_width(column: Column) -> int:
    """Return the width of a title with its arrow, so that sorting does not widen the column."""
    return QFontMetrics(font("caption_strong")).horizontalAdvance(f"{column.title} ↓") + 2 * px(_BETWEEN_PX)


def _fold_columns(
    columns: Sequence[Column], wanted: Sequence[int], room: Callable[[int], int], most: int
) -> tuple[int, list[int]]:
    """Return the fewest lines, up to ``most``, in which columns of these widths fit, and their sections' widths in px.

    ``room`` returns the available width for a number of lines. Texts are shortened before numbers move to another line;
    numbers and whole texts are never shortened.
    """
    least = [
        max(_head_width(column), min(width, px(_NARROWEST_TEXT_PX)))
        if column.is_text and not column.is_whole
        else width
        for column, width in zip(columns, wanted, strict=True)
    ]
    for lines in range(1, most + 1):
        sections = max(-(-len(columns) // lines), 1)
        narrow, wide = ([max(each[s::sections], default=0) for s in range(sections)] for each in (least, wanted))
        if sum(narrow) <= room(lines):
            break
    return lines, _share_width(narrow, wide, room(lines))


def _share_width(narrow: Sequence[int], wide: Sequence[int], room: int) -> list[int]:
    """Return the wide widths, each reduced towards its narrow width while there is too little room."""
    over, widths = sum(wide) - room, []
    for least, most in zip(narrow, wide, strict=True):
        widths.append(max(least, most - max(over, 0)))
        over -= most - widths[-1]
    return widths

"""A list whose rows are bars, not a plot: labels left, values right; one is current, masked ones are labelled so."""

import math
from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from attnlab.base.number_text import four_decimals
from attnlab.base.spoken_text import HIDDEN, speak_number, speak_token
from attnlab.figures.palette import mix
from attnlab.figures.tiles import make_hatching
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.line_pen import LinePen, find_pen
from attnlab.ui.base.theme import draw_focus_ring, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.drawn_list import DrawnList
from attnlab.ui.widgets.tip_beside import show_beside
from attnlab.ui.widgets.tokens.token_chips import visible

MOST_ROWS = 12
_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -MOST_ROWS,
    Qt.Key.Key_PageDown: MOST_ROWS,
    Qt.Key.Key_Home: -(10**9),
    Qt.Key.Key_End: 10**9,
}


def lengths(values: Sequence[float], masked: Sequence[bool]) -> list[tuple[float, float]]:
    """Return the start and end of each bar, from 0 to 1 of the width; masked and non-finite ones have length 0.

    The range of the values fills the width. Negative values extend left of a zero that all rows share.
    """
    finite = [v if math.isfinite(v) and not hidden else 0.0 for v, hidden in zip(values, masked, strict=True)]
    low, high = min([*finite, 0.0]), max([*finite, 0.0])
    widest = max(high, -low)
    if widest == 0:
        return [(0.0, 0.0)] * len(finite)
    low, high, finite = low / widest, high / widest, [v / widest for v in finite]  # 1e308 − −1e308 is infinite
    zero = -low / (high - low)
    ends = [min(zero + v / (high - low), 1.0) for v in finite]  # rounding could exceed 1
    return [(min(zero, end), max(zero, end)) for end in ends]


@guarded
class BarList(DrawnList):
    """Shows values as bars and emits the one clicked; only visible rows are drawn."""

    bar_clicked = Signal(int)
    type_role, strong_role = "text", "strong"
    """The fonts of rows, and of the current one."""
    most_rows = MOST_ROWS
    """The most rows that are seen without scrolling."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Bars", parent)
        self._labels: tuple[str, ...] = ()
        self._values: tuple[float, ...] = ()
        self._masked: tuple[bool, ...] = ()
        self._lengths: list[tuple[float, float]] = []
        self._current: int | None = None
        self._cursor = 0
        self._role = "attention"
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._lay_out()

    def set_role(self, role: str) -> None:
        """Colour the bars by a role: query, key, value, attention or neutral."""
        self._role = role
        self.viewport().update()

    def set_bars(
        self,
        labels: Sequence[str],
        values: Sequence[float],
        masked: Sequence[bool] | None = None,
        current: int | None = None,
        title: str = "",
    ) -> None:
        """Show one bar for each label; ``title`` names the list for screen readers.

        Raises ValueError if labels, values and masked differ in length.
        """
        hidden = tuple(masked) if masked is not None else (False,) * len(labels)
        if not len(labels) == len(values) == len(hidden):
            raise ValueError(f"{len(labels)} labels, {len(values)} values and {len(hidden)} masks differ in number")
        resized = len(labels) != len(self._labels)
        self._labels, self._masked = tuple(labels), hidden
        self._values = tuple(float(value) for value in values)
        self._lengths = lengths(self._values, hidden)
        moved, self._current = current != self._current, current
        self._cursor = min(self._cursor if current is None else current, max(len(labels) - 1, 0))
        self.setAccessibleName(title or "Bars")
        if resized:
            self._hovered = None
            self._lay_out()
        if (resized or moved) and current is not None:
            self._show(current)
        self._describe()
        self.viewport().update()

    def row_rect(self, index: int) -> QRect:
        """Return the rectangle of a row in the viewport."""
        top = index * self._row_height() - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._row_height())

    def row_text(self, index: int) -> str:
        """Return the text at the right of a row."""
        return "masked" if self._masked[index] else four_decimals(self._values[index])

    def note_text(self, index: int) -> str:
        """Return the muted number between the label and the bar of a row; "" for none."""
        return ""

    def measure_notes(self) -> int:
        """Return the width of the notes, from the first rows and the current one."""
        some, pen = {*range(min(len(self._labels), 64))}, find_pen(self.type_role)
        if self._current is not None:
            some.add(self._current)
        return math.ceil(max((pen.measure(self.note_text(row)) for row in some), default=0))

    def measure_values(self) -> int:
        """Return the width of the texts at the right; it is that of usual numbers, so that no bar jumps."""
        pen = find_pen(self.strong_role)
        return math.ceil(max(pen.measure("−0.0000"), pen.measure("masked")))

    def _row_height(self) -> int:
        return px(22)

    def count_cells(self) -> int:
        return len(self._labels)

    def name_cell(self, place: int) -> str:
        return f"{self.accessibleName()}, {speak_token(self._labels[place])}, {self.speak_value(place)}"

    def speak_value(self, index: int) -> str:
        """Return the value of a row in words."""
        return HIDDEN if self._masked[index] else speak_number(self._values[index])

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(self.row_rect(place))

    @property
    def current_cell(self) -> int | None:
        return self._cursor if self._labels else None

    def item_at(self, point: QPoint) -> int | None:
        row = (point.y() + self.verticalScrollBar().value()) // self._row_height()
        return row if 0 <= row < len(self._labels) else None

    def _show(self, row: int) -> None:
        """Scroll a row into view, assuming the requested height, which the layout may not have given yet."""
        bar, high = self.verticalScrollBar(), self._row_height()
        bar.setValue(max(min(bar.value(), row * high), (row + 1) * high - self.maximumHeight()))

    def _lay_out(self) -> None:
        always, never = Qt.ScrollBarPolicy.ScrollBarAlwaysOn, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        rows, high = len(self._labels), self._row_height()
        scrolls = rows > self.most_rows
        height = high * self.most_rows + high // 2 if scrolls else high * rows
        self.setVerticalScrollBarPolicy(always if scrolls else never)
        self.setFixedHeight(height)
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, rows * high - height))
        bar.setSingleStep(high)
        bar.setPageStep(height)

    def _columns(self) -> tuple[int, int, int]:
        """Return the widths of the labels, of the values and of the gap."""
        gap, width = px(8), self.viewport().width()
        pen, values = find_pen(self.strong_role), self.measure_values()
        widest = math.ceil(max((pen.measure(visible(label[:40])) for label in self._labels[:64]), default=0)) + 2
        return min(widest, max(px(48), round(width * 0.3))), values, gap

    def _describe(self) -> None:
        if not self._labels:
            self.setAccessibleDescription("")
            return
        at = self._cursor
        self.setAccessibleDescription(
            f"{self._labels[at] or 'empty'}: {self.row_text(at)}, {at + 1} of {len(self._labels)}"
        )

    def _click(self, row: int) -> None:
        self._cursor = row
        self._describe()
        self.viewport().update()
        self.bar_clicked.emit(row)

    def sizeHint(self) -> QSize:
        return QSize(px(240), self.height())

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        label = escape(visible(self._labels[at][:2000]))
        exact = "masked" if self._masked[at] else repr(self._values[at]).replace("-", "−")
        show_beside(f"<qt>{label}<br>{exact}</qt>", self.viewport(), self.row_rect(at))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row = self.item_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self._click(row)

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() in _STEPS

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if not self._labels:
            event.ignore()
        elif key in _STEPS:
            self._cursor = min(max(self._cursor + _STEPS[key], 0), len(self._labels) - 1)
            self._show(self._cursor)
            self._describe()
            self.tell_cell()
            self.viewport().update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._click(self._cursor)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self._labels:
            self._show(self._cursor)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._lay_out()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns, high, offset = self._columns(), self._row_height(), self.verticalScrollBar().value()
        notes = self.measure_notes()
        pens = find_pen(self.type_role), find_pen(self.strong_role)
        first = max((event.rect().top() + offset) // high, 0)
        last = min((event.rect().bottom() + offset) // high, len(self._labels) - 1)
        for row in range(first, last + 1):
            self._paint_row(painter, row, columns, notes, pens)
        painter.end()

    def _paint_row(
        self, painter: QPainter, row: int, columns: tuple[int, int, int], notes: int, pens: tuple[LinePen, LinePen]
    ) -> None:
        p, place, current = palette_of(self), QRectF(self.row_rect(row)), row == self._current
        label_width, value_width, gap = columns
        pen = pens[current]
        room = QRectF(place.x() + label_width + gap, place.y(), 0, place.height())
        room.setRight(place.right() - value_width - gap)
        noted = QRectF(room.x(), room.y(), notes, room.height())
        if notes and room.width() - notes - gap >= px(16):
            room.setLeft(noted.right() + gap)
        elif notes:  # numbers before bars
            room.setWidth(0)
        if row == self._hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mix(p.surface, p.control, 0.7)))
            painter.drawRoundedRect(place, px(4), px(4))
        painter.setPen(QColor(p.muted if self._masked[row] else p.ink))
        pen.draw(painter, place, pen.elide(visible(self._labels[row][:400]), label_width))
        if self._masked[row] or not math.isfinite(self._values[row]):
            painter.setPen(QColor(p.muted))
        pen.draw(painter, place, self.row_text(row), right=True)
        if notes:
            painter.setPen(QColor(p.muted))
            pens[0].draw(painter, noted, self.note_text(row), right=True)
        self._paint_bar(painter, row, room, current)
        if row == self._cursor and self.hasFocus():
            draw_focus_ring(painter, place, p, px(4))

    def _paint_bar(self, painter: QPainter, row: int, room: QRectF, current: bool) -> None:
        if room.width() <= 0:
            return
        p = palette_of(self)
        if self._masked[row]:
            self._paint_masked(painter, room)
            return
        start, end = self._lengths[row]
        colour = p.role(self._role)
        thick = px(12)
        bar = QRectF(room.x() + start * room.width(), room.center().y() - thick / 2, 0, thick)
        bar.setWidth(max((end - start) * room.width(), 1.0))  # 0 is drawn as a line
        empty = not math.isfinite(self._values[row])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.hatch if empty else colour if current else p.make_paler(colour)))
        painter.drawRoundedRect(bar, min(2, bar.width() / 2), 2)

    def _paint_masked(self, painter: QPainter, room: QRectF) -> None:
        """Hatch the place of a bar that the mask hides."""
        thick = px(12)
        place = QRectF(room.x(), room.center().y() - thick / 2, room.width(), thick)
        painter.setBrushOrigin(place.topLeft())
        painter.fillRect(place, make_hatching(palette_of(self)))

"""Columns of the likeliest tokens at each place, with bars; scrolls sideways if there are too many."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.figures.palette import Palette
from attnlab.figures.text import Pen
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import draw_icon
from attnlab.ui.base.theme import draw_focus_ring, font, mix, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.answer_words import Bar, Column
from attnlab.ui.widgets.drawn_list import DrawnList

HEAD, ROW, GAP, AIR = 22, 18, 6, 9
"""Pixels at 100 %: the line with the wanted token, a line of a candidate, between the parts of a line, and between two
columns."""
WIDEST_LABEL, LEAST_BAR, WIDEST = 84, 16, 190
"""The widest label, the shortest full bar beside its label, and the widest column, in pixels at 100 %."""
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -(10**6), Qt.Key.Key_End: 10**6}
_ARROW = "→"
BELOW = 0.86
"""The size of the type where the bars are below their labels."""


@guarded
class AnswerColumns(FollowsTheme, DrawnList):
    """Shows columns. Where they do not fit side by side, the bars move below their labels; then the columns scroll."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._columns: tuple[Column, ...] = ()
        self._cursor = 0
        self._label = self._text = self._wide = 0.0
        self._below = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns shown."""
        return self._columns

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns; the scrolled part stays."""
        self._columns = tuple(columns)
        self._cursor = min(self._cursor, max(len(self._columns) - 1, 0))
        self._hovered = None if self._hovered is not None and self._hovered >= len(self._columns) else self._hovered
        self._lay_out()
        self.viewport().update()

    def show_place(self, index: int) -> None:
        """Scroll to a column, and let the keyboard continue from it."""
        if 0 <= index < len(self._columns):
            self._cursor = index
            bar, left = self.horizontalScrollBar(), round(index * self._wide)
            bar.setValue(max(min(bar.value(), left), round(left + self._wide) - self.viewport().width()))
            self.viewport().update()

    def restyle(self) -> None:
        """Lay out the columns for the size of type."""
        self._lay_out()

    @property
    def is_below(self) -> bool:
        """Whether the bars are below their labels."""
        return self._below

    def _lay_out(self) -> None:
        """Compute the widths; a changing number must not move anything, so numbers have room for 100 %."""
        n, room = max(len(self._columns), 1), float(self.viewport().width())
        below, beside = self._measure_least(BELOW), self._measure_least(1.0)
        self._below = n * beside > room >= n * below
        least = self._measure_least(BELOW) if self._below else self._measure_least(1.0)
        self._wide = max(least, min(room / n, px(WIDEST)))
        total = round(n * self._wide)
        scrolls = total > room + 1
        policy = Qt.ScrollBarPolicy
        self.setHorizontalScrollBarPolicy(policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff)
        bar = self.horizontalScrollBar()
        bar.setRange(0, max(0, total - round(room)))
        bar.setSingleStep(max(round(self._wide), 1))
        bar.setPageStep(max(round(room), 1))
        lines = max((len(column.bars) for column in self._columns), default=3)
        self.setFixedHeight(px(HEAD) + lines * px(ROW) + (bar.sizeHint().height() if scrolls else 0))

    def _measure_least(self, zoom: float) -> float:
        """Measure the labels and texts at a size of type; return the least width of a column."""
        measure = QFontMetricsF(font("strong", zoom)).horizontalAdvance
        bars = [bar for column in self._columns for bar in column.bars]
        self._text = max(measure(text) for text in ("100 %", *(bar.text for bar in bars)))
        label = min(max((measure(bar.label) for bar in bars), default=0.0), px(WIDEST_LABEL))
        self._label = max(label, measure("m"))
        title = QFontMetricsF(font("title", zoom)).horizontalAdvance
        head = max((self._measure_head(column, title) for column in self._columns), default=0.0)
        beside = px(LEAST_BAR) + px(GAP) if zoom == 1.0 else 0
        return max(self._label + self._text + px(GAP) + beside, head) + px(AIR)

    def _measure_head(self, column: Column, measure: Callable[[str], float]) -> float:
        arrow = measure(_ARROW) + px(GAP) if column.wanted else 0.0
        words = [min(measure(word), px(WIDEST_LABEL)) for word in (column.read, column.wanted)]
        return float(sum(words) + arrow + px(GAP) + px(14))

    @property
    def _zoom(self) -> float:
        return BELOW if self._below else 1.0

    def column_rect(self, index: int) -> QRect:
        """Return the rectangle of a column in the viewport."""
        left = round(index * self._wide)
        right = round((index + 1) * self._wide)
        return QRect(left - self.horizontalScrollBar().value(), 0, right - left, self.viewport().height())

    def count_cells(self) -> int:
        return len(self._columns)

    def name_cell(self, place: int) -> str:
        return f"{self.accessibleName()}, {self._columns[place].spoken}"

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(self.column_rect(place))

    @property
    def current_cell(self) -> int | None:
        return self._cursor if self._columns else None

    def item_at(self, point: QPoint) -> int | None:
        at = int((point.x() + self.horizontalScrollBar().value()) // max(self._wide, 1.0))
        return at if 0 <= at < len(self._columns) else None

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        QToolTip.showText(event.globalPos(), plain_tip(self._columns[at].tip), self.viewport(), self.column_rect(at))

    def sizeHint(self) -> QSize:
        return QSize(px(320), self.height())

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() in _STEPS

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if self._columns and key in _STEPS:
            self.show_place(min(max(self._cursor + _STEPS[key], 0), len(self._columns) - 1))
            self.tell_cell()
        else:
            event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, column in enumerate(self._columns):
            rect = self.column_rect(index)
            if rect.intersects(event.rect()):
                self._paint_column(painter, column, rect, first=index == 0)
                if index == self._cursor and self.hasFocus():
                    draw_focus_ring(painter, QRectF(rect).adjusted(1, 1, -1, -1), palette_of(self), px(4))
        painter.end()

    def _paint_column(self, painter: QPainter, column: Column, rect: QRect, *, first: bool) -> None:
        p = palette_of(self)
        if not first:
            painter.setPen(QColor(p.hairline))
            x = rect.x() + 0.5
            painter.drawLine(QPointF(x, px(3)), QPointF(x, px(HEAD) + len(column.bars) * px(ROW) - px(3)))
        left = rect.x() + px(AIR) / 2
        right = rect.x() + rect.width() - px(AIR) / 2
        self._paint_head(painter, column, left, right, p)
        for line, bar in enumerate(column.bars):
            top = px(HEAD) + line * px(ROW)
            self._paint_bar(painter, bar, QRectF(left, top, right - left, px(ROW)), p)

    def _paint_head(self, painter: QPainter, column: Column, left: float, right: float, p: Palette) -> None:
        pen, middle = Pen(painter, font("text", self._zoom)), px(HEAD) / 2
        painter.setPen(QColor(p.muted))
        read = pen.elide(column.read, px(WIDEST_LABEL), middle=True) if column.read else ""
        pen.draw(left, middle, read)
        left += pen.width(read) + px(GAP) / 2
        if column.wanted:
            pen.draw(left, middle, _ARROW)
            left += pen.width(_ARROW) + px(GAP) / 2
            painter.setPen(QColor(p.ink))
            bold = Pen(painter, font("title", self._zoom))
            bold.draw(left, middle, bold.elide(column.wanted, px(WIDEST_LABEL), middle=True))
        if column.right is not None:
            side = px(13)
            mark = QRectF(right - side, middle - side / 2, side, side)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.good if column.right else p.bad))
            painter.drawEllipse(mark)
            inset = side * 0.18
            draw_icon(
                painter, mark.adjusted(inset, inset, -inset, -inset), "check" if column.right else "close", p.surface
            )

    def _paint_bar(self, painter: QPainter, bar: Bar, place: QRectF, p: Palette) -> None:
        strong = bar.tone == "good"
        pen = Pen(painter, font("strong" if strong else "text", self._zoom))
        middle = place.center().y() - (px(2) if self._below else 0)
        painter.setPen(QColor(p.ink))
        room = place.width() - self._text - px(GAP) if self._below or bar.share < 0 else self._label
        pen.draw(place.x(), middle, pen.elide(bar.label, room, middle=True))
        painter.setPen(QColor(p.ink if strong or bar.share < 0 else p.muted))
        pen.draw(place.right(), middle, bar.text, 1.0)
        if bar.share < 0:
            return
        if self._below:
            track = QRectF(place.x(), place.bottom() - px(4), place.width(), px(2))
        else:
            track = QRectF(place.x() + self._label + px(GAP), middle - px(5), 0, px(10))
            track.setRight(place.right() - self._text - px(GAP))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(p.control))
        painter.drawRoundedRect(track, 2, 2)
        filled = QRectF(track)
        filled.setWidth(max(min(bar.share, 1.0) * track.width(), 1.0))
        tones = {"good": p.good, "bad": p.bad}
        painter.setBrush(QColor(tones.get(bar.tone, mix(p.muted, p.surface, 0.35))))
        painter.drawRoundedRect(filled, min(2.0, filled.width() / 2), 2)

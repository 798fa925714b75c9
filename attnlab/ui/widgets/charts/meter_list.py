"""Rows of a label, a bar from 0 to 1 with a tick for a second value, and a text; for scores and probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.palette import mix
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.tip_beside import show_beside
from attnlab.ui.widgets.walked_list import DOWN, WalkedList

LEAST_BAR, SHORT_LABEL = 24, 60
"""A label of up to ``SHORT_LABEL`` pixels at 100 % is whole if a bar of ``LEAST_BAR`` pixels remains beside it."""


@dataclass(frozen=True, slots=True)
class Meter:
    """A row: ``value`` and ``mark`` are places on the bar from 0 to 1; no tick is drawn for a mark below 0."""

    label: str
    value: float
    text: str
    mark: float = -1.0
    strong: bool = False
    spoken: str = ""
    tip: str = ""


@guarded
class MeterList(FollowsTheme, WalkedList):
    """Shows meters and emits the index of the one that is clicked.

    ``most`` whole rows are seen, or with ``grows`` as many as its room holds, and at least ``most`` if there are.
    """

    meter_clicked = Signal(int)
    keys = DOWN
    usual_width = 220
    label_share = 0.55
    """The share of the width without the texts that labels may take."""

    def __init__(self, name: str, most: int = 12, parent: QWidget | None = None, *, grows: bool = False) -> None:
        super().__init__(name, parent)
        self._grows = grows
        if grows:
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._above = False
        self._meters: tuple[Meter, ...] = ()
        self._most, self._role = most, "attention"

    @property
    def meters(self) -> tuple[Meter, ...]:
        """The rows."""
        return self._meters

    def show_meters(self, meters: Sequence[Meter], role: str = "attention", *, above: bool = False) -> None:
        """Show other rows, in the colour of a role; labels that are sentences are ``above`` their bars."""
        self._meters, self._role, self._above = tuple(meters), role, above
        self._cursor = min(self._cursor, max(len(self._meters) - 1, 0))
        self._hovered = None
        self._lay_out()
        self.viewport().update()

    def restyle(self) -> None:
        """Lay out the rows for the size of type."""
        self._lay_out()

    def _row_height(self) -> int:
        return px(40) if self._above else px(22)

    def _lay_out(self) -> None:
        rows, high = len(self._meters), self._row_height()
        least = height = high * min(rows, self._most)
        if self._grows:
            height = max(least, min(self.height(), high * rows))
            self.setMinimumHeight(least)
            self.setMaximumHeight(high * rows)
        else:
            self.setFixedHeight(height)
        scrolls = rows * high > height
        rest = height % high if scrolls else 0
        height -= rest
        self.setViewportMargins(0, 0, 0, rest)  # only whole rows are seen
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff)
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, rows * high - height))
        bar.setSingleStep(high)
        bar.setPageStep(max(height, 1))

    def row_rect(self, index: int) -> QRect:
        """Return the rectangle of a row in the viewport."""
        high = self._row_height()
        return QRect(0, index * high - self.verticalScrollBar().value(), self.viewport().width(), high)

    def count_cells(self) -> int:
        return len(self._meters)

    def name_cell(self, place: int) -> str:
        meter = self._meters[place]
        return f"{self.accessibleName()}, {meter.label}, {meter.spoken or meter.text}"

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(self.row_rect(place))

    def item_at(self, point: QPoint) -> int | None:
        row = (point.y() + self.verticalScrollBar().value()) // self._row_height()
        return row if 0 <= row < len(self._meters) else None

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        meter = self._meters[at]
        lines = [meter.label, meter.spoken or meter.text, *([meter.tip] if meter.tip else [])]
        show_beside(f"<qt>{'<br>'.join(map(escape, lines))}</qt>", self.viewport(), self.row_rect(at))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._meters and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.meter_clicked.emit(self._cursor)
        else:
            super().keyPressEvent(event)

    def walk_to(self, index: int) -> None:
        self._cursor = index
        bar, high = self.verticalScrollBar(), self._row_height()
        bar.setValue(max(min(bar.value(), index * high), (index + 1) * high - bar.pageStep()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row = self.item_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self._cursor = row
            self.meter_clicked.emit(row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, width = QFontMetrics(font("strong")), self.viewport().width()
        texts = max((metrics.horizontalAdvance(each.text) for each in self._meters), default=0)
        widest = max((metrics.horizontalAdvance(each.label[:40]) for each in self._meters[:200]), default=0) + 2
        room = width - texts
        room = max(round(room * self.label_share), min(room - px(LEAST_BAR + 20), px(SHORT_LABEL)))
        labels = 0 if self._above else min(widest, room)
        for row in range(len(self._meters)):
            if self.row_rect(row).intersects(event.rect()):
                self._paint_row(painter, row, labels, texts)
        painter.end()

    def _paint_row(self, painter: QPainter, row: int, labels: int, texts: int) -> None:
        p, meter, place = palette_of(self), self._meters[row], self.row_rect(row)
        painter.setPen(Qt.PenStyle.NoPen)
        if row == self._hovered:
            painter.setBrush(QColor(mix(p.surface, p.control, 0.7)))
            painter.drawRoundedRect(QRectF(place), px(4), px(4))
        line = QRect(place.x(), place.y() + px(18), place.width(), place.height() - px(18)) if self._above else place
        left_edge = place.x() + (labels + px(10) if labels else 0)
        track = QRectF(left_edge, line.center().y() - px(5), 0, px(10))
        track.setRight(place.right() - texts - px(10))
        painter.setBrush(QColor(p.control))
        painter.drawRoundedRect(track, 3, 3)
        filled = QRectF(track)
        filled.setWidth(max(min(max(meter.value, 0.0), 1.0) * track.width(), 1.0))
        colour = p.role(self._role)
        painter.setBrush(QColor(colour if meter.strong else p.make_paler(colour)))
        painter.drawRoundedRect(filled, min(3, filled.width() / 2), 3)
        if meter.mark >= 0:
            painter.setBrush(QColor(p.ink))
            at = track.x() + min(meter.mark, 1.0) * track.width()
            painter.drawRoundedRect(QRectF(at - 1, track.y() - px(3), 2, track.height() + px(6)), 1, 1)
        painter.setFont(font("strong" if meter.strong else "text"))
        painter.setPen(QColor(p.ink))
        middle = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
        left, right = int(Qt.AlignmentFlag.AlignLeft), int(Qt.AlignmentFlag.AlignRight)
        painter.drawText(line, middle | right, meter.text)
        if self._above:
            painter.setFont(font("caption"))
            painter.setPen(QColor(p.muted))
        room = QRect(place.x(), place.y(), place.width() if self._above else labels + px(4), place.height())
        room.setHeight(px(20) if self._above else place.height())
        label = painter.fontMetrics().elidedText(
            meter.label[:400], Qt.TextElideMode.ElideMiddle, room.width() if self._above else labels
        )
        painter.drawText(room, middle | left, label)
        if row == self._cursor and self.hasFocus():
            draw_focus_ring(painter, QRectF(place), p, px(4))

"""An answer in one line, for small windows: what the model says at each place, with a tick or a cross."""

import math
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent

from attnlab.figures.palette import Palette
from attnlab.figures.text import Face, Pen, measure_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.train.answer_row import MARK, AnswerRow, draw_mark

HIGH, AIR, GAP, WIDEST = 28, 8, 2, 120
"""Pixels at 100 %: the height, between two places, between a token and its mark, and the widest token."""
MORE = "…"


@guarded
class AnswerLine(AnswerRow):
    """Shows the first choice of each place. What does not fit is reached by the wheel and the arrow keys."""

    def lay_out(self) -> None:
        measure = partial(measure_text, key=Face(font("strong")).called)
        label = min(max((measure(column.short) for column in self._columns), default=0.0), px(WIDEST))
        marks = any(column.right is not None for column in self._columns)
        self._wide = label + (px(GAP) + px(MARK) if marks else 0) + px(AIR)
        self.setFixedHeight(px(HIGH))
        self.updateGeometry()
        self.set_total(round(len(self._columns) * self._wide))

    def sizeHint(self) -> QSize:
        return QSize(round(len(self._columns) * self._wide), self.height())

    def paint_columns(self, painter: QPainter, visible: Sequence[tuple[int, QRect]], palette: Palette) -> None:
        pen = Pen(painter, font("strong"))
        painter.setPen(QColor(palette.ink))
        for index, rect in visible:
            column, left, middle = self._columns[index], rect.x() + px(AIR) / 2, rect.center().y() + 0.5
            short = pen.elide(column.short, px(WIDEST), middle=True)
            pen.draw(left, middle, short)
            if column.right is not None:
                draw_mark(painter, column.right, left + pen.width(short) + px(GAP) + px(MARK), middle, palette)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        bar = self.horizontalScrollBar()
        if bar.value() < bar.maximum():
            painter, palette = QPainter(self.viewport()), palette_of(self)
            pen, room = Pen(painter, font("strong")), self.viewport().rect()
            air = px(AIR) // 2
            free = room.width() - math.ceil(pen.width(MORE)) - air
            ends = [self.column_rect(index).right() + 1 for index in range(len(self._columns))]
            cut = max((end for end in ends if 0 < end <= free), default=free)  # no place is seen in part
            painter.fillRect(room.adjusted(cut, 0, 0, 0), QColor(palette.surface))
            painter.setPen(QColor(palette.muted))
            pen.draw(cut + air, room.center().y() + 0.5, MORE)
            painter.end()

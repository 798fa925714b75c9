"""Columns of the likeliest tokens at each place, with bars; scrolls sideways if there are too many."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from attnlab.base.counted import format_percent
from attnlab.figures.palette import Palette, mix
from attnlab.figures.text import Face, Pen, measure_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.train.answer_row import MARK, AnswerRow, draw_mark
from attnlab.ui.train.answer_words import Column

HEAD, ROW, GAP, AIR = 22, 18, 6, 9
"""Pixels at 100 %: the line with the wanted token, a line of a candidate, between the parts of a line, and between two
columns."""
HIGH = HEAD + 3 * ROW
"""The height of columns of three candidates, without a scroll bar."""
WIDEST_LABEL, LEAST_BAR, WIDEST = 84, 16, 190
"""The widest label, the shortest full bar beside its label, and the widest column, in pixels at 100 %."""
_ARROW = "→"
BELOW = 0.86
"""The size of the type where the bars are below their labels."""


@dataclass(frozen=True, slots=True)
class _Faces:
    """The fonts of a row, at one size of type."""

    text: Face
    strong: Face
    title: Face


@guarded
class AnswerColumns(AnswerRow):
    """Shows columns. Where they do not fit side by side, the bars move below their labels; then the columns scroll."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        self._faces = {zoom: _make_faces(zoom) for zoom in (1.0, BELOW)}
        self._label = self._text = 0.0
        self._below = False
        super().__init__(name, parent)

    @property
    def is_below(self) -> bool:
        """Whether the bars are below their labels."""
        return self._below

    def restyle(self) -> None:
        """Measure the columns for the size of type."""
        self._faces = {zoom: _make_faces(zoom) for zoom in (1.0, BELOW)}
        super().restyle()

    def lay_out(self) -> None:
        """Compute the widths; a changing number must not move anything, so numbers have room for 100 %."""
        n, room = max(len(self._columns), 1), float(self.viewport().width())
        below, beside = self._measure_least(BELOW), self._measure_least(1.0)
        self._below = n * beside > room >= n * below
        least = self._measure_least(BELOW) if self._below else beside
        self._wide = max(least, min(room / n, px(WIDEST)))
        total = round(n * self._wide)
        scrolls = total > room + 1
        policy = Qt.ScrollBarPolicy
        self.setHorizontalScrollBarPolicy(policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff)
        self.set_total(total)
        lines = max((len(column.bars) for column in self._columns), default=3)
        bar = self.horizontalScrollBar().sizeHint().height() if scrolls else 0
        self.setFixedHeight(px(HEAD) + lines * px(ROW) + bar)

    def _measure_least(self, zoom: float) -> float:
        """Measure the labels and texts at a size of type; return the least width of a column."""
        faces, widest = self._faces[zoom], px(WIDEST_LABEL)
        measure = partial(measure_text, key=faces.strong.called)
        bars = [bar for column in self._columns for bar in column.bars]
        self._text = max(map(measure, {format_percent(1, 0), *(bar.text for bar in bars)}))
        label = min(max(map(measure, {bar.label for bar in bars}), default=0.0), widest)
        self._label = max(label, measure("m"))
        title = partial(measure_text, key=faces.title.called)
        head = max((_measure_head(column, title, widest) for column in self._columns), default=0.0)
        beside = px(LEAST_BAR) + px(GAP) if zoom == 1.0 else 0
        heads = head + title(_ARROW) + 2 * px(GAP) + px(MARK + 1)
        return max(self._label + self._text + px(GAP) + beside, heads) + px(AIR)

    def paint_columns(self, painter: QPainter, visible: Sequence[tuple[int, QRect]], palette: Palette) -> None:
        """Paint lines, bars and texts one after another: changing pens and fonts is the slowest part."""
        inside = [
            (self._columns[index], QRectF(rect).adjusted(px(AIR) / 2, 0, -px(AIR) / 2, 0)) for index, rect in visible
        ]
        painter.setPen(QColor(palette.hairline))
        for index, rect in visible:
            if index:
                bottom = px(HEAD) + len(self._columns[index].bars) * px(ROW) - px(3)
                painter.drawLine(QPointF(rect.x() + 0.5, px(3)), QPointF(rect.x() + 0.5, bottom))
        faces = self._faces[BELOW if self._below else 1.0]
        self._paint_bars(painter, inside, palette)
        self._paint_heads(painter, inside, faces, palette)
        self._paint_texts(painter, inside, faces, palette)

    def _paint_heads(
        self, painter: QPainter, inside: Sequence[tuple[Column, QRectF]], faces: _Faces, palette: Palette
    ) -> None:
        middle, gap, widest = px(HEAD) / 2, px(GAP) / 2, px(WIDEST_LABEL)
        pen, starts = Pen(painter, faces.text), []
        painter.setPen(QColor(palette.muted))
        for column, place in inside:
            read = pen.elide(column.read, widest, middle=True) if column.read else ""
            pen.draw(place.x(), middle, read)
            left = place.x() + pen.width(read) + gap
            if column.wanted:
                pen.draw(left, middle, _ARROW)
            starts.append(left + pen.width(_ARROW) + gap)
        bold = Pen(painter, faces.title)
        painter.setPen(QColor(palette.ink))
        for (column, _), left in zip(inside, starts, strict=True):
            if column.wanted:
                bold.draw(left, middle, bold.elide(column.wanted, widest, middle=True))
        for column, place in inside:
            if column.right is not None:
                draw_mark(painter, column.right, place.right(), middle, palette)

    def _paint_texts(
        self, painter: QPainter, inside: Sequence[tuple[Column, QRectF]], faces: _Faces, palette: Palette
    ) -> None:
        head, row, up, gap = px(HEAD), px(ROW), px(2) if self._below else 0, px(GAP)
        ink, muted = QColor(palette.ink), QColor(palette.muted)
        for strong in (False, True):
            pen = Pen(painter, faces.strong if strong else faces.text)
            lines = [
                (bar, place, head + (line + 0.5) * row - up)
                for column, place in inside
                for line, bar in enumerate(column.bars)
                if (bar.tone == "good") is strong
            ]
            painter.setPen(ink)
            for bar, place, middle in lines:
                room = place.width() - self._text - gap if self._below or bar.share < 0 else self._label
                pen.draw(place.x(), middle, pen.elide(bar.label, room, middle=True))
                if strong or bar.share < 0:
                    pen.draw(place.right(), middle, bar.text, 1.0)
            painter.setPen(muted)
            for bar, place, middle in lines:
                if not strong and bar.share >= 0:
                    pen.draw(place.right(), middle, bar.text, 1.0)

    def _paint_bars(self, painter: QPainter, inside: Sequence[tuple[Column, QRectF]], palette: Palette) -> None:
        head, row, left, right = px(HEAD), px(ROW), self._label + px(GAP), self._text + px(GAP)
        plain = QColor(mix(palette.muted, palette.surface, 0.35))
        tones, track_colour = {"good": QColor(palette.good), "bad": QColor(palette.bad)}, QColor(palette.control)
        painter.setPen(Qt.PenStyle.NoPen)
        for column, place in inside:
            for line, bar in enumerate(column.bars):
                if bar.share < 0:
                    continue
                if self._below:
                    track = QRectF(place.x(), head + (line + 1) * row - px(4), place.width(), px(2))
                else:
                    middle = head + (line + 0.5) * row
                    track = QRectF(place.x() + left, middle - px(5), place.width() - left - right, px(10))
                painter.setBrush(track_colour)
                painter.drawRoundedRect(track, 2, 2)
                track.setWidth(max(min(bar.share, 1.0) * track.width(), 1.0))
                painter.setBrush(tones.get(bar.tone, plain))
                painter.drawRoundedRect(track, min(2.0, track.width() / 2), 2)


def _make_faces(zoom: float) -> _Faces:
    return _Faces(*(Face(font(role, zoom)) for role in ("text", "strong", "title")))


def _measure_head(column: Column, measure: Callable[[str], float], widest: float) -> float:
    """Return the width of the token read and the one wanted."""
    return min(measure(column.read), widest) + min(measure(column.wanted), widest)

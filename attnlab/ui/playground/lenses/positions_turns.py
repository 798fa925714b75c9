"""The picture of RoPE: one pair of columns as two arrows on a circle, and once more with both moved on."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale
from attnlab.ui.base.themed import FollowsTheme, palette_of

MOST_PAIRS = 8
"""The number of pairs of columns whose turns are drawn small."""
_MOST_DOTS = 24
_NARROW = 50
"""An angle of so many degrees has no room for its number between the arrows."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns of a query or a key: the angle before its rotation, in radians, and its position."""

    angle: float
    position: int


@dataclass(frozen=True, slots=True)
class Turns:
    """The pair of a query and of a key, how far both move on, and the angle per position of each pair of columns."""

    query: Pair
    key: Pair
    further: int
    rates: tuple[float, ...]
    pair: int

    def find_angle(self, which: Pair, further: int = 0) -> float:
        """Return the angle after the rotation, in radians."""
        return which.angle + (which.position + further) * self.rates[self.pair]

    @property
    def between(self) -> float:
        """The angle from the key to the query in degrees, from 0 to 360."""
        return math.degrees(self.find_angle(self.query) - self.find_angle(self.key)) % 360

    def find_turn(self, pair: int) -> float:
        """Return the turn of a pair over the distance of the two positions, in degrees without whole turns."""
        return abs(math.degrees((self.query.position - self.key.position) * self.rates[pair])) % 360


@guarded
class TurnsPicture(FollowsTheme, QWidget):
    """Draws both circles, and a small one for each pair; emits the pair whose small circle was clicked."""

    spoken_role = QAccessible.Role.Graphic

    pair_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns: Turns | None = None
        self._tokens = ("", "")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Rotated query and key")

    def restyle(self) -> None:
        """Set the least size."""
        self.setMinimumSize(px(260), px(276))

    def show_turns(self, turns: Turns, tokens: tuple[str, str]) -> None:
        """Show other turns, of the query and the key of two tokens."""
        self._turns, self._tokens = turns, tokens
        places = [
            f"query at {turns.query.position + by}, key at {turns.key.position + by}" for by in (0, turns.further)
        ]
        told = f"{' and '.join(places)}: each time {turns.between:.0f}° apart"
        self.setAccessibleName(f"Rotated query and key: {told}")
        self.setAccessibleDescription(told)
        self.update()

    def find_small(self, pair: int) -> QRectF:
        """Return the place of the small circle of a pair."""
        assert self._turns is not None
        count = min(len(self._turns.rates), MOST_PAIRS)
        wide = min(self.width() / count, px(92))
        left = (self.width() - wide * count) / 2
        side = px(30)
        return QRectF(left + wide * pair + (wide - side) / 2, self.height() - px(52), side, side)

    def _paint_circle(self, painter: QPainter, middle: QPointF, radius: float, further: int) -> None:
        turns, palette = self._turns, palette_of(self)
        assert turns is not None
        painter.setPen(QPen(QColor(palette.hatch), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(middle, radius, radius)
        key = turns.find_angle(turns.key, further)
        wedge = QColor(palette.attention)
        wedge.setAlpha(45)
        inner = radius * 0.46
        square = QRectF(middle.x() - inner, middle.y() - inner, 2 * inner, 2 * inner)
        painter.setBrush(wedge)
        painter.setPen(QPen(QColor(palette.attention), 1.5 * scale()))
        painter.drawPie(square, round(math.degrees(key) % 360 * 16), round(turns.between * 16))
        for which, colour in ((turns.key, palette.key), (turns.query, palette.query)):
            self._paint_arrow(painter, middle, radius, which, further, colour)
        half = key + math.radians(turns.between) / 2 + (math.pi if turns.between > 360 - _NARROW else 0)
        is_narrow = not _NARROW < turns.between < 360 - _NARROW  # the text is opposite, clear of both arrows
        at = middle + QPointF(math.cos(half), -math.sin(half)) * (-20 * scale() if is_narrow else inner + 16 * scale())
        painter.setPen(QColor(palette.attention_ink))
        Pen(painter, face("strong", scale())).draw(at.x(), at.y(), f"{turns.between:.0f}°", 0.5)

    def _paint_arrow(
        self, painter: QPainter, middle: QPointF, radius: float, which: Pair, further: int, colour: str
    ) -> None:
        """Draw an arrow, and a dot on the rim for each position that it has passed."""
        turns, ink = self._turns, QColor(colour)
        assert turns is not None
        last = which.position + further
        painter.setPen(Qt.PenStyle.NoPen)
        faint = QColor(colour)
        faint.setAlpha(110)
        for position in range(max(0, last - _MOST_DOTS), last + 1):
            angle = which.angle + position * turns.rates[turns.pair]
            painter.setBrush(ink if position == last else faint)
            size = (3.6 if position == last else 2.4) * scale()
            painter.drawEllipse(middle + QPointF(math.cos(angle), -math.sin(angle)) * radius, size, size)
        angle = turns.find_angle(which, further)
        along = QPointF(math.cos(angle), -math.sin(angle))
        across, tip = QPointF(-along.y(), along.x()), middle + along * (radius * 0.9)
        head = 8 * scale()
        painter.setPen(QPen(ink, 2.2 * scale()))
        painter.drawLine(middle, tip - along * head)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawPolygon(
            QPolygonF([tip, tip - along * head + across * head / 2, tip - along * head - across * head / 2])
        )

    def _paint_legend(self, painter: QPainter, middle: float, top: float, width: float, further: int) -> None:
        turns, palette = self._turns, palette_of(self)
        assert turns is not None
        pen = Pen(painter, face("caption_strong", scale()))
        rows = (("query", turns.query, palette.query_ink, 0), ("key", turns.key, palette.key_ink, 1))
        for line, (name, which, colour, token) in enumerate(rows):
            painter.setPen(QColor(colour))
            text = f"{name} “{self._tokens[token] or '∅'}” at {which.position + further}"
            pen.draw(middle, top + line * 15 * scale(), pen.elide(text, width), 0.5)

    def _paint_small(self, painter: QPainter, pair: int) -> None:
        turns, palette, circle = self._turns, palette_of(self), self.find_small(pair)
        assert turns is not None
        chosen = pair == turns.pair
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.accent if chosen else palette.hatch), 2 if chosen else 1))
        painter.drawEllipse(circle)
        turn = turns.find_turn(pair)
        wedge = QColor(palette.attention)
        wedge.setAlpha(60)
        painter.setBrush(wedge)
        painter.setPen(QPen(QColor(palette.attention), 1.2 * scale()))
        inset = circle.adjusted(4, 4, -4, -4)
        painter.drawPie(inset, 90 * 16, -max(round(turn * 16), 1))
        painter.setPen(QColor(palette.ink if chosen else palette.muted))
        pen = Pen(painter, face("caption_strong" if chosen else "caption", scale()))
        pen.draw(circle.center().x(), circle.bottom() + 10 * scale(), _write_degrees(turn), 0.5)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._turns is None:
            return
        painter, turns, palette = QPainter(self), self._turns, palette_of(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        foot = 92 * scale()
        high, half = self.height() - foot - 40 * scale(), self.width() / 2
        radius = max(min(high / 2 - 8 * scale(), half / 2 - 20 * scale(), 150 * scale()), 20 * scale())
        apart = min(half / 2, radius + 60 * scale())
        middle = QPointF(half, radius + 8 * scale())
        for side, further in ((-1, 0), (1, turns.further)):
            at = middle + QPointF(side * apart, 0)
            self._paint_circle(painter, at, radius, further)
            self._paint_legend(painter, at.x(), at.y() + radius + 18 * scale(), 2 * apart - 8, further)
        painter.setPen(QColor(palette.muted))
        Pen(painter, face("display", scale())).draw(middle.x(), middle.y(), "=", 0.5)
        count = min(len(turns.rates), MOST_PAIRS)
        distance = abs(turns.query.position - turns.key.position)
        more = f" (the first {count} of {len(turns.rates)})" if count < len(turns.rates) else ""
        text = f"Over {distance} position{'s' * (distance != 1)} each pair of columns turns by{more}"
        pen = Pen(painter, face("caption", scale()))
        pen.draw(half, self.find_small(0).top() - 14 * scale(), pen.elide(text, self.width()), 0.5)
        for pair in range(count):
            self._paint_small(painter, pair)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._turns is None:
            return
        for pair in range(min(len(self._turns.rates), MOST_PAIRS)):
            if self.find_small(pair).adjusted(-6, -6, 6, 22).contains(event.position()):
                self.pair_clicked.emit(pair)


def _write_degrees(angle: float) -> str:
    return f"{angle:.0f}°" if angle >= 9.5 else f"{angle:.2g}°" if angle >= 0.01 or angle == 0 else "< 0.01°"

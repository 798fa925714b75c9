"""The wires of the canvas: the data flow from card to card, each in its colour."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from attnlab.attention.stages.flow import Link, stage_links
from attnlab.figures.palette import Palette
from attnlab.ui.playground.canvas_lengths import GAP, MARGIN, ROW_GAP

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

WIDTH = 1.6
ASIDE = {"key": 8.0, "value": 8.0}
"""The distance right of a card's middle at which wires of these roles arrive, to keep two wires apart."""

Places = Mapping[str, QRectF]


class Room(NamedTuple):
    """The places of the cards, how much the gaps between them are magnified, and the x that no wire may pass."""

    places: Places
    zoom: float
    right: float


def wires(trace: "Trace", places: Places, covered: Mapping[str, str]) -> list[Link]:
    """Return the wires between the cards of a trace that have a place; the wires of a covered card join its cover."""
    names = [name for name in (*places, *covered) if name in trace]
    links = (
        Link(covered.get(link.source, link.source), covered.get(link.target, link.target), link.role)
        for link in stage_links(trace.experiment, names)
    )
    return [link for link in links if link.source != link.target]


def draw_wires(painter: QPainter, drawn: Iterable[Link], room: Room, palette: Palette) -> None:
    """Draw wires between cards, with the painter's antialiasing."""
    for wire in drawn:
        painter.setPen(QPen(QColor(palette.role(wire.role) if wire.role != "neutral" else palette.hatch), WIDTH))
        painter.drawPath(find_path(wire, room))


def find_path(wire: Link, room: Room) -> QPainterPath:
    """Return a wire: straight to a neighbour, else out of the bottom and in at the top, in the gap between rows."""
    places, zoom, right = room
    a, b = places[wire.source], places[wire.target]
    if abs(a.top() - b.top()) < 1:
        if a.right() + 2 * GAP * zoom >= b.left() > a.left():
            y = a.center().y()
            return _line(QPointF(a.right(), y), QPointF(b.left(), y))
        return QPainterPath()
    start = QPointF(a.center().x(), a.bottom())
    end = QPointF(b.center().x() + ASIDE.get(wire.role, 0.0) * zoom, b.top())
    if b.top() - a.bottom() < 2 * ROW_GAP * zoom:
        return _curve(start, end)
    edge = _right_of(places, a, b)
    aside = min(edge + MARGIN * zoom / 2, max((edge + right) / 2, edge))
    path = _curve(start, QPointF(aside, a.bottom() + ROW_GAP * zoom))
    path.lineTo(aside, b.top() - ROW_GAP * zoom)
    path.connectPath(_curve(QPointF(aside, b.top() - ROW_GAP * zoom), end))
    return path


def _right_of(places: Places, above: QRectF, below: QRectF) -> float:
    """Return the x at which the rightmost card between two rows ends."""
    between = [r for r in places.values() if above.bottom() < r.center().y() < below.top()]
    return max((r.right() for r in between), default=above.right())


def _line(start: QPointF, end: QPointF) -> QPainterPath:
    path = QPainterPath(start)
    path.lineTo(end)
    return path


def _curve(start: QPointF, end: QPointF) -> QPainterPath:
    """Return an S from one point down to another."""
    path = QPainterPath(start)
    middle = (start.y() + end.y()) / 2
    path.cubicTo(QPointF(start.x(), middle), QPointF(end.x(), middle), end)
    return path

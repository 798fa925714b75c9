"""The canvas as a figure: a card for each stage, in rows that stay legible, and wires between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from attnlab.figures.palette import Palette
from attnlab.figures.panels.figure_panel import Panel, lay_out_panel
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.panels.figure_wires import PLAIN, TRACK, Point, Routes, Span, Wire, count_lanes

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.panels.figure_source import Pair

EDGE = 6.0
"""Space around all cards."""
LEAST_CARD = 132.0
"""The least width of a card without overlapping labels and scales; a row with narrower cards is split."""
WIDEST = 1.6
"""The maximum width of a card in a short row, relative to one of the longest row."""
_CORNER, _BEND, _LINE = 6.0, 5.0, 1.4
_HEAD = 5.0, 2.6
"""The length and half the width of an arrowhead."""

Rect = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The layout of a canvas: positions of panels and cards, the wires between them, and the total height."""

    panels: tuple[tuple[float, float, Panel], ...]
    cards: tuple[Rect, ...]
    wires: tuple[Wire, ...]
    height: float


def lay_out_canvas(
    trace: "Trace | Pair", spec: FigureSpec, width: float, ratio: float, top: float, height: float | None
) -> Flow:
    """Return the layout of all stages below ``top``, in a figure of the given width and optional height."""
    from attnlab.attention.stages.flow import stage_links

    rows = break_rows(find_canvas_rows(trace), width)
    links = list(stage_links(trace.experiment, trace.all_stages))
    lanes = count_lanes({name: Span(i, j, 0, 0) for i, row in enumerate(rows) for j, name in enumerate(row)}, links)
    right = width - EDGE - (PLAIN / 2 + TRACK * (lanes - 1) if lanes else 0.0)
    spans = {name: span for i, row in enumerate(rows) for name, span in _find_spans(trace, rows, i, right).items()}
    routes = Routes(spans, links, right + PLAIN / 2)
    spaces = [routes.space_above(i) for i in range(len(rows))]
    free = None if height is None else (height - top - 2 * EDGE - sum(spaces)) / len(rows)
    panels, cards, tops, heights = [], [], [], []
    y = top + EDGE
    for row, space in zip(rows, spaces, strict=True):
        y += space
        made = [lay_out_panel(trace, name, spec, spans[name].right - spans[name].left, ratio, free) for name in row]
        high = max(each.layout.height for each in made)
        tops.append(y)
        heights.append(high)
        panels += [(spans[name].left, y, each) for name, each in zip(row, made, strict=True)]
        cards += [(spans[name].left, y, spans[name].right - spans[name].left, high) for name in row]
        y += high
    return Flow(tuple(panels), tuple(cards), routes.wires(tops, heights), y + EDGE)


def find_canvas_rows(trace: "Trace | Pair") -> list[list[str]]:
    """Return the names of all stages in the rows of the canvas."""
    from attnlab.attention.stages.flow import stage_rows

    return [[stage.name for stage in row] for row in stage_rows([trace.stage(name) for name in trace.all_stages])]


def break_rows(rows: list[list[str]], width: float) -> list[list[str]]:
    """Return rows split into about equal parts, so that cards are legible in a figure of this width."""
    most = max(1, int((width - 2 * EDGE + PLAIN) // (LEAST_CARD + PLAIN)))
    parts = []
    for row in rows:
        lines = math.ceil(len(row) / most)
        ends = [math.ceil(len(row) * i / lines) for i in range(lines + 1)]
        parts += [row[a:b] for a, b in pairwise(ends)]
    return parts


def draw_flow(painter: QPainter, cards: tuple[Rect, ...], wires: tuple[Wire, ...], palette: Palette) -> None:
    """Draw the outlines of the cards, and the wires in the colours of their roles."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(palette.hairline), 1.0))
    for card in cards:
        painter.drawRoundedRect(QRectF(*card), _CORNER, _CORNER)
    for role, start in dict.fromkeys((wire.role, wire.points[0]) for wire in wires):
        colour = QColor(palette.role(role) if role != "neutral" else palette.muted)
        bundle = [wire.points for wire in wires if wire.points[0] == start]
        line = QPainterPath()
        for i, points in enumerate(bundle):
            line.addPath(_make_path(_find_own_part(points, bundle[:i])))
        painter.setPen(QPen(colour, _LINE, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for points in bundle:
            painter.drawPolygon(_make_head(*points[-2:]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _find_own_part(points: tuple[Point, ...], drawn: Sequence[tuple[Point, ...]]) -> tuple[Point, ...]:
    """Return the part of a wire that is not drawn yet; drawing shared parts twice would darken their edges."""
    best = points
    for other in drawn:
        same = next((i for i, (a, b) in enumerate(zip(points, other, strict=False)) if a != b), 0)
        if same == 0:
            continue
        fork, ours, theirs = points[same - 1], points[same], other[same]
        together = _move_towards(fork, ours, 1.0) == _move_towards(fork, theirs, 1.0)
        last = min(ours, theirs, key=lambda end: math.dist(fork, end)) if together else fork
        before = fork if together else points[max(same - 2, 0)]
        if math.dist(last, before) > _BEND:
            rest = points[same:] if together else points[same - 1 :]
            best = min(best, (_move_towards(last, before, _BEND), *rest), key=_measure)
    return best


def _measure(points: Sequence[Point]) -> float:
    return sum(math.dist(a, b) for a, b in pairwise(points))


def _make_path(points: tuple[Point, ...]) -> QPainterPath:
    """Return a path with rounded bends that ends inside the arrowhead."""
    path = QPainterPath(QPointF(*points[0]))
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_BEND, math.dist(before, at) / 2, math.dist(at, after) / 2)
        path.lineTo(QPointF(*_move_towards(at, before, radius)))
        path.quadTo(QPointF(*at), QPointF(*_move_towards(at, after, radius)))
    path.lineTo(QPointF(*_move_towards(points[-1], points[-2], _HEAD[0] - 1)))
    return path


def _make_head(before: Point, tip: Point) -> QPolygonF:
    x, y = _move_towards(tip, before, _HEAD[0])
    across = (y - tip[1]) / _HEAD[0] * _HEAD[1], (tip[0] - x) / _HEAD[0] * _HEAD[1]
    return QPolygonF([QPointF(*tip), QPointF(x + across[0], y + across[1]), QPointF(x - across[0], y - across[1])])


def _move_towards(start: Point, end: Point, length: float) -> Point:
    part = length / math.dist(start, end)
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


def _find_spans(trace: "Trace | Pair", rows: list[list[str]], line: int, right: float) -> dict[str, Span]:
    """Return the spans of a row's cards: wide matrices get more, up to twice as much; a short row is centred."""
    row = rows[line]
    longest = (right - EDGE + PLAIN) / max(map(len, rows)) - PLAIN
    room = min(right - EDGE, len(row) * WIDEST * longest + (len(row) - 1) * PLAIN)
    wishes = [min(max(columns / lines, 0.8), 1.6) for lines, columns in (trace.array(name).shape[-2:] for name in row)]
    free = room - (len(row) - 1) * PLAIN
    if free * min(wishes) / sum(wishes) < LEAST_CARD:
        wishes = [1.0] * len(row)
    unit = free / sum(wishes)
    x, spans = EDGE + (right - EDGE - room) / 2, {}
    for place, (name, wish) in enumerate(zip(row, wishes, strict=True)):
        spans[name] = Span(line, place, x, x + unit * wish)
        x += unit * wish + PLAIN
    return spans

"""Draws a chart on a slide: few curves with their names at their ends, and single measurements with their values."""

import math
from itertools import pairwise
from operator import itemgetter

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from attnlab.base.counted import format_whole
from attnlab.base.number_text import trim_exponent
from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_content import Chart, ChartLine
from attnlab.figures.slides.slide_layout import Box
from attnlab.figures.slides.slide_text import make_face

MOST_TICKS = 6


class _Axes:
    """The place of the plot, and where a point of a chart lies on it."""

    def __init__(self, box: Box, chart: Chart, size: float) -> None:
        metrics = QFontMetricsF(make_face(size))
        top, bottom = 2.1 * size, 1.7 * size
        height = max(box.height - top - bottom, size)
        self.ticks = _choose_y_ticks(chart, max(min(int(height / (1.7 * size)), MOST_TICKS), 2))
        left = max(metrics.horizontalAdvance(format_tick(tick)) for tick in self.ticks) + 0.6 * size
        names = [line.name for line in chart.lines if not line.points]
        bold = QFontMetricsF(make_face(size, bold=True))
        right = max((bold.horizontalAdvance(name) for name in names), default=0.0) + 0.8 * size
        self.plot = Box(box.x + left, box.y + top, box.width - left - right, height)
        self._log_x, self._log_y = chart.log_x, chart.log_y
        xs = chart.x_range or [x for line in chart.lines for x in line.xs] or [1.0]
        self._xs = self._scale_x(min(xs)), self._scale_x(max(xs))
        self._ys = self._scale_y(self.ticks[0]), self._scale_y(self.ticks[-1])

    def _scale_x(self, x: float) -> float:
        return math.log(max(x, 1e-300)) if self._log_x else x

    def _scale_y(self, y: float) -> float:
        return math.log(max(y, 1e-300)) if self._log_y else y

    def find_x(self, x: float) -> float:
        """Return where a number lies across."""
        low, high = self._xs
        return self.plot.x + (self._scale_x(x) - low) / ((high - low) or 1.0) * self.plot.width

    def find_y(self, y: float) -> float:
        """Return where a number lies down; beyond the ends of the scale, at its end."""
        low, high = self._ys
        share = min(max((self._scale_y(y) - low) / ((high - low) or 1.0), 0.0), 1.0)
        return self.plot.bottom - share * self.plot.height


def draw_chart(painter: QPainter, box: Box, chart: Chart, size: float, palette: Palette) -> None:
    """Draw a chart into a box with type of a size in pixels."""
    axes = _Axes(box, chart, size)
    names = _place_names(chart, axes, size)
    has_room = all(middle <= axes.plot.bottom for middle, _ in names)
    _draw_axes(painter, box, chart, axes, size, palette, has_room=has_room)
    for middle, line in names:
        _draw_curve(painter, line, axes, size, palette)
        if chart.x_range is not None:
            _draw_dot(painter, QPointF(axes.find_x(line.xs[-1]), axes.find_y(line.ys[-1])), line, size, palette)
        painter.setFont(make_face(size, bold=True))
        painter.setPen(QColor(_find_ink(line, palette)))
        name = QRectF(axes.plot.right + 0.8 * size, middle - size, box.right - axes.plot.right, 2 * size)
        painter.drawText(name, int(Qt.AlignmentFlag.AlignVCenter), line.name)
    _draw_points(painter, chart, axes, size, palette)


def _place_names(chart: Chart, axes: _Axes, size: float) -> list[tuple[float, ChartLine]]:
    """Return the curves and the middles of their names: at their ends, or below the name above."""
    ends = sorted(
        ((axes.find_y(line.ys[-1]), line) for line in chart.lines if not line.points and line.ys), key=itemgetter(0)
    )
    placed, last = [], -math.inf
    for y, line in ends:
        last = max(y, last + 1.15 * size)
        placed.append((last, line))
    return placed


def _find_ink(line: ChartLine, palette: Palette) -> str:
    return palette.role_ink(line.role)


def _draw_axes(
    painter: QPainter, box: Box, chart: Chart, axes: _Axes, size: float, palette: Palette, *, has_room: bool
) -> None:
    """Draw the axes; ``has_room`` says that no name of a curve is in the way of the label behind the ticks."""
    painter.setFont(make_face(size, bold=True))
    painter.setPen(QColor(palette.ink))
    painter.drawText(QRectF(box.x, box.y, box.width, 1.5 * size), int(Qt.AlignmentFlag.AlignVCenter), chart.title)
    plot = axes.plot
    painter.setFont(make_face(size))
    for tick in axes.ticks:
        y = axes.find_y(tick)
        painter.setPen(QPen(QColor(palette.hairline), max(size / 14, 1)))
        painter.drawLine(QPointF(plot.x, y), QPointF(plot.right, y))
        painter.setPen(QColor(palette.muted))
        rect = QRectF(box.x, y - size, plot.x - box.x - 0.4 * size, 2 * size)
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), format_tick(tick))
    painter.setPen(QColor(palette.muted))
    ticks, label = _place_below(box.right if has_room else 0.0, chart, axes, QFontMetricsF(make_face(size)), size)
    painter.drawText(QPointF(label, plot.bottom + 1.4 * size), chart.x_label)
    for x, text in ticks:
        painter.drawText(QPointF(x, plot.bottom + 1.4 * size), text)


def _place_below(
    right: float, chart: Chart, axes: _Axes, metrics: QFontMetricsF, size: float
) -> tuple[list[tuple[float, str]], float]:
    """Return the left edges and texts of the ticks across, every first, second, third … as has room, and the left edge
    of the axis label: behind the last tick if it ends before ``right``, or in its place.
    """
    texts = [format_tick(tick) for tick in chart.x_ticks]
    widths = [metrics.horizontalAdvance(text) for text in texts]
    placed = [axes.find_x(x) - width / 2 for x, width in zip(chart.x_ticks, widths, strict=True)]
    ends = [x + width + 0.8 * size for x, width in zip(placed, widths, strict=True)]
    width, label = metrics.horizontalAdvance(chart.x_label), max((axes.plot.right, *ends[-1:]))
    if label + width > right:
        label = axes.plot.right - width
    for step in range(1, len(texts) + 1):
        chosen = [i for i in range(0, len(texts), step) if ends[i] <= label]
        if all(ends[i] <= placed[j] for i, j in pairwise(chosen)):
            return [(placed[i], texts[i]) for i in chosen], label
    return [], label


def _draw_curve(painter: QPainter, line: ChartLine, axes: _Axes, size: float, palette: Palette) -> None:
    style = Qt.PenStyle.DashLine if line.dashed else Qt.PenStyle.SolidLine
    painter.setPen(QPen(QColor(palette.role(line.role)), size / 7, style))
    points = [QPointF(axes.find_x(x), axes.find_y(y)) for x, y in zip(line.xs, line.ys, strict=True)]
    painter.drawPolyline(QPolygonF(points))


def _draw_dot(painter: QPainter, at: QPointF, line: ChartLine, size: float, palette: Palette) -> None:
    painter.setPen(QPen(QColor(palette.ground), size / 8))
    painter.setBrush(QColor(palette.role(line.role)))
    painter.drawEllipse(at, 0.42 * size, 0.42 * size)


def _draw_points(painter: QPainter, chart: Chart, axes: _Axes, size: float, palette: Palette) -> None:
    """Draw measurements as dots with a rim, and their values beside them, where they cover least of the curves."""
    face = make_face(size, bold=True)
    metrics = QFontMetricsF(face)
    measured = [
        (line, f"{line.name} {format_value(y)}".strip(), QPointF(axes.find_x(x), axes.find_y(y)))
        for line in chart.lines
        if line.points
        for x, y in zip(line.xs, line.ys, strict=True)
    ]
    taken = [QRectF(at.x() - size / 2, at.y() - size / 2, size, size) for _, _, at in measured]
    traces = [_sample(line, axes) for line in chart.lines if not line.points]
    painter.setFont(face)
    for line, text, at in measured:
        _draw_dot(painter, at, line, size, palette)
        places = _list_places(at, metrics.horizontalAdvance(text), 1.2 * size, size, axes.plot)
        place = min(places, key=lambda each: _count_covered(each, traces, taken))  # the first of equally good ones
        taken.append(place)
        behind = QColor(palette.ground)
        behind.setAlphaF(0.85)
        painter.fillRect(place, behind)
        painter.setPen(QColor(_find_ink(line, palette)))
        painter.drawText(QPointF(place.x(), place.y() + metrics.capHeight() + 0.2 * size), text)


def _list_places(at: QPointF, width: float, height: float, size: float, plot: Box) -> list[QRectF]:
    """Return places for the value of a dot: above and below at its left and right, near ones first, in the plot."""
    within = QRectF(plot.x, plot.y - 0.4 * size, plot.width, plot.height + 0.4 * size)
    places = []
    for away in (0.3, 1.0, 1.8, 2.8):
        for y in (at.y() - away * size - height, at.y() + away * size):
            for x in (at.x() - 0.8 * size - width, at.x() + 0.8 * size, at.x() - width / 2):
                places.append(QRectF(x, y, width, height))
    return [place for place in places if within.contains(place)] or places


def _sample(line: ChartLine, axes: _Axes) -> list[QPointF]:
    """Return points along a curve, so close that none of its parts fits between them."""
    corners = [QPointF(axes.find_x(x), axes.find_y(y)) for x, y in zip(line.xs, line.ys, strict=True)]
    points = corners[:1]
    for start, end in pairwise(corners):
        steps = max(int(math.hypot(end.x() - start.x(), end.y() - start.y()) / 4), 1)
        points += [start + (end - start) * (i / steps) for i in range(1, steps + 1)]
    return points


def _count_covered(place: QRectF, traces: list[list[QPointF]], taken: list[QRectF]) -> int:
    """Return how many points of curves a place covers; other values and dots count as much as a whole curve."""
    grown = place.adjusted(-4, -4, 4, 4)
    points = sum(grown.contains(point) for trace in traces for point in trace)
    return points + 1000 * sum(place.intersects(other) for other in taken)


def _choose_y_ticks(chart: Chart, most: int) -> list[float]:
    """Return round numbers that reach from the smallest to the largest value, about ``most`` steps apart."""
    ys = [y for line in chart.lines for y in line.ys if math.isfinite(y) and (y > 0 or not chart.log_y)] or [0.0, 1.0]
    low, high = min(ys), max(ys)
    if chart.log_y:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        step = max(1, math.ceil((last - first) / most))
        return [10.0**power for power in range(first, max(last, first + 1) + step, step)]
    low = min(low, 0.0)
    unit = 10.0 ** math.floor(math.log10((high - low) or 1.0))
    factors = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
    size = next(unit * f for f in factors if f == 10 or (high - low) / (unit * f) <= most)
    return [i * size for i in range(math.floor(low / size + 1e-6), math.ceil(high / size - 1e-6) + 1)]


def format_tick(value: float) -> str:
    """Return a number of an axis: as short as possible, with a true minus sign."""
    if 1e3 <= abs(value) < 1e6 and value == round(value):
        return format_whole(value)
    plain = value == 0 or 1e-3 <= abs(value) < 1e6
    return (f"{value:g}" if plain else trim_exponent(f"{value:.0e}")).replace("-", "−")


def format_value(value: float) -> str:
    """Return a measured value with three significant digits, or as a whole number from 1000 on."""
    if not math.isfinite(value):
        return "–"
    return format_whole(value) if abs(value) >= 1000 else f"{value:.3g}".replace("-", "−")

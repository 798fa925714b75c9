"""Paints the parts of a line chart: axes, levels, marks, curves, and the labels at the ends of curves."""

import math
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from attnlab.figures.palette import Palette, mix
from attnlab.figures.text import Pen
from attnlab.ui.base.theme import font, px
from attnlab.ui.widgets.charts.chart_scale import (
    Scale,
    cut,
    decimate,
    ends_above,
    move_beside,
    polylines,
    spread,
    tick_text,
    ticks,
    whole_ticks,
)
from attnlab.ui.widgets.charts.lines import Level, Line, Upright

FAINT = 0.35
"""How far faint lines are mixed with the background."""


def find_ticks(scale: Scale) -> list[float]:
    """Return the values of y that have a line and a label: as many as the height has room for, two at least."""
    return ticks(scale.low, scale.high, scale.log, max(2, int(scale.area.height() / px(34))))


def format_tick(value: float, unit: str) -> str:
    """Return the label of a value of y, with its unit."""
    return f"{tick_text(value)}{unit}"


def count_labels(height: float) -> int:
    """Return how many labels can stand below one another at the ends of curves, in an area of this height."""
    return int((height + px(6)) / QFontMetricsF(font("tiny")).height())


def draw_axes(painter: QPainter, scale: Scale, palette: Palette, unit: str, width: int) -> None:
    """Draw the labels of both axes, in a chart of this width in pixels, and a line for each label of y."""
    area, pen = scale.area, Pen(painter, font("tiny"))
    for value in find_ticks(scale):
        y = round(scale.y(value)) + 0.5
        painter.setPen(QColor(palette.hairline))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(palette.muted))
        pen.draw(area.left() - px(5), y, format_tick(value, unit), 1.0)
    free = -math.inf
    for value in whole_ticks(scale.left_value, scale.right_value, max(2, int(area.width() / px(64)))):
        text = tick_text(value)
        wide = pen.width(text)
        left = min(max(scale.x(value) - wide / 2, 0.0), width - wide)
        if left >= free:
            pen.draw(left, area.bottom() + px(4), text, 0.0, 0.0)
            free = left + wide + px(8)


def draw_levels(
    painter: QPainter, scale: Scale, levels: Iterable[Level], lines: Iterable[Line], palette: Palette
) -> None:
    """Draw values to compare with: dashed lines with their names at the right, clear of curves' ends and each other."""
    area, pen, high = scale.area, Pen(painter, font("tiny")), QFontMetricsF(font("tiny")).height()
    ends = [(float(line.x[-1]), float(line.y[-1])) for line in lines if len(line.x)]
    levels, taken = tuple(levels), list[QRectF]()
    for level in levels:
        y = scale.y(level.y)
        if area.top() <= y <= area.bottom():
            painter.setPen(QPen(QColor(palette.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(area.left(), round(y) + 0.5), QPointF(area.right(), round(y) + 0.5))
            others = [(scale.right_value, other.y) for other in levels if other is not level]
            below, width = ends_above(y, px(16), [*ends, *others], scale), pen.width(level.name)
            box = QRectF(area.right() - width, round(y) + (2 if below else -1 - high), width, high)
            taken.append(move_beside(box, taken, px(8)))
            pen.draw(taken[-1].x(), taken[-1].y(), level.name, 0.0, 0.0)


def draw_marks(painter: QPainter, scale: Scale, marks: Iterable[Upright], palette: Palette) -> None:
    """Draw the vertical lines and the names above them, clear of the curves.

    A name that would overlap its neighbour's appears in the tool tip only.
    """
    area, pen, free = scale.area, Pen(painter, font("tiny")), -math.inf
    painter.setPen(QPen(QColor(palette.attention), 1))
    for mark in sorted(marks, key=lambda each: each.x):
        x, width = round(scale.x(mark.x)) + 0.5, pen.width(mark.name)
        if not area.left() <= x <= area.right() + 1:
            continue
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        left = min(max(x - width / 2, area.left()), area.right() - width)
        if left >= free:
            pen.draw(left, area.top(), mark.name, 0.0, 1.0)
            free = left + width + px(4)


def draw_labels(painter: QPainter, scale: Scale, lines: Iterable[Line], palette: Palette) -> None:
    """Draw the labels of curves at their ends, apart where they would overlap, as many as there is room for."""
    pen, high = Pen(painter, font("tiny")), QFontMetricsF(font("tiny")).height()
    seen = ((cut(line.x, line.y, scale.left_value, scale.right_value)[1], line) for line in lines)
    ends = [(scale.y(float(y[-1])), line) for y, line in seen if line.label and len(y)]
    ends = sorted((each for each in ends if math.isfinite(each[0])), key=lambda each: each[0])
    ends = ends[: count_labels(scale.area.height())]
    top, bottom = scale.area.top() - px(3), scale.area.bottom() + px(3)
    for (_, line), y in zip(ends, spread([y for y, _ in ends], high, top, bottom), strict=True):
        painter.setPen(QColor(getattr(palette, line.colour)))
        pen.draw(scale.area.right() + px(6), y, line.label)


def draw_lines(painter: QPainter, scale: Scale, lines: Sequence[Line], palette: Palette, ratio: float) -> None:
    """Draw curves, on a screen of this many pixels per logical one."""
    for line in lines:
        colour: str = getattr(palette, line.colour)
        style = Qt.PenStyle.DashLine if line.is_dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(QColor(mix(colour, palette.surface, FAINT) if line.faint else colour), line.width, style))
        x, y = cut(line.x, line.y, scale.left_value, scale.right_value, 1)
        x, y = decimate(x, y, scale.left_value, scale.right_value, int(scale.area.width() * ratio))
        for polyline in polylines(x, y, scale):
            painter.drawPolyline(polyline)

"""Draws turns on circles: two arrows with the same angle between them, the scores, and the turn of every pair."""

import math
from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_content import Arrow, Circle, Circles, Dial
from attnlab.figures.slides.slide_layout import Box
from attnlab.figures.slides.slide_text import make_face

NUMBERS_SHARE = 0.22


@dataclass(frozen=True, slots=True)
class CirclesLook:
    """How far the second circle has walked, in words, None for all the way; whether labels and numbers are shown."""

    turned: float | None = None
    labels: bool = True
    numbers: bool = True


def find_circle(walk: tuple[Circle, ...], turned: float | None) -> Circle:
    """Return the circle of a walk after some words, which need not be whole: between two words it turns."""
    last = len(walk) - 1
    at = float(last) if turned is None else min(max(turned, 0.0), float(last))
    before = int(at)
    if before == at:
        return walk[before]
    here, there, share = walk[before], walk[before + 1], at - before

    def turn(one: Arrow, other: Arrow) -> Arrow:
        return replace(other, angle=one.angle + share * (other.angle - one.angle))

    return replace(there, first=turn(here.first, there.first), second=turn(here.second, there.second))


def draw_circles(
    painter: QPainter, box: Box, picture: Circles, size: float, palette: Palette, look: CirclesLook
) -> tuple[str, ...]:
    """Draw the circles, the numbers and the dials into a box, with type of a size in pixels."""
    foot = 3.6 * size if picture.dials else 0.0
    numbers = max(NUMBERS_SHARE * box.width, _measure_numbers(picture, size)) if picture.numbers else 0.0
    room = Box(box.x, box.y, box.width - numbers - (2 * size if numbers else 0), box.height - foot)
    radius, extents, gap = _fit_circles(picture, room, size)
    x = room.x
    circles = picture.circles if not picture.walk else (picture.circles[0], find_circle(picture.walk, look.turned))
    for index, (circle, (left, right)) in enumerate(zip(circles, extents, strict=True)):
        if index:
            painter.setFont(make_face(2.2 * size, bold=True))
            painter.setPen(QColor(palette.muted))
            between = QRectF(x - gap, room.y, gap, room.height)
            painter.drawText(between, int(Qt.AlignmentFlag.AlignCenter), "=")
        middle = QPointF(x + left, room.y + room.height / 2)
        _draw_circle(painter, middle, radius, circle, size, palette, labels=look.labels)
        x += left + right + gap
    if picture.numbers and look.numbers:
        _draw_numbers(painter, Box(box.right - numbers, room.y, numbers, room.height), picture, size, palette)
    if picture.dials:
        _draw_dials(painter, Box(box.x, room.bottom, box.width, foot), picture, size, palette)
    return ()


def _measure_numbers(picture: Circles, size: float) -> float:
    """Return the width that the numbers with their labels need."""
    plain, bold = QFontMetricsF(make_face(size)), QFontMetricsF(make_face(size, bold=True))
    lines = (plain.horizontalAdvance(label) + bold.horizontalAdvance(number) for label, number, _ in picture.numbers)
    return max(lines) + size


def _fit_circles(picture: Circles, room: Box, size: float) -> tuple[float, list[tuple[float, float]], float]:
    """Return the largest radius with which circles and labels fit, how far each reaches left and right, and the gap."""
    radius = max(0.5 * room.height - 2.2 * size, 2 * size)
    least_gap = 3 * size
    count = len(picture.circles)
    while True:
        extents = [_measure_extent(circle, radius, size) for circle in picture.circles]
        walked = [_measure_extent(circle, radius, size) for circle in picture.walk]
        if walked:
            extents[-1] = max(left for left, _ in walked), max(right for _, right in walked)
        needed = sum(left + right for left, right in extents) + least_gap * (count - 1)
        if needed <= room.width or radius < 3 * size:
            gap = least_gap + max(room.width - needed, 0.0) / count
            return radius, extents, gap
        radius *= 0.96


def _measure_extent(circle: Circle, radius: float, size: float) -> tuple[float, float]:
    metrics = QFontMetricsF(make_face(size, bold=True))
    left = right = radius
    for arrow in (circle.first, circle.second):
        width, across = metrics.horizontalAdvance(arrow.label), math.cos(arrow.angle)
        at = across * (radius + 0.8 * size)
        before = 0.0 if across > 0.2 else width if across < -0.2 else width / 2
        left, right = max(left, before - at), max(right, at + width - before)
    return left, right


def _find_point(middle: QPointF, radius: float, angle: float) -> QPointF:
    return QPointF(middle.x() + radius * math.cos(angle), middle.y() - radius * math.sin(angle))


def _draw_circle(
    painter: QPainter, middle: QPointF, radius: float, circle: Circle, size: float, palette: Palette, *, labels: bool
) -> None:
    """Draw a rim with dots, the wedge between two arrows of equal length, and their labels outside."""
    painter.setPen(QPen(QColor(palette.hairline), max(size / 12, 1)))
    painter.setBrush(QColor(palette.surface))
    painter.drawEllipse(middle, radius, radius)
    start, turn = circle.second.angle, circle.turn
    colour = QColor(palette.attention)
    inner = 0.5 * radius
    square = QRectF(middle.x() - inner, middle.y() - inner, 2 * inner, 2 * inner)
    fill = QColor(colour)
    fill.setAlphaF(0.2)
    painter.setPen(QPen(colour, size / 7))
    painter.setBrush(fill)
    painter.drawPie(square, round(math.degrees(start) * 16), round(math.degrees(turn) * 16))
    for arrow in (circle.first, circle.second):
        _draw_arrow(painter, middle, radius, arrow, size, palette, labels=labels)
    if not labels:
        return
    font = make_face(1.2 * size, bold=True)
    painter.setFont(font)
    painter.setPen(QColor(palette.attention_ink))
    reach = inner + 0.75 * QFontMetricsF(font).horizontalAdvance(circle.text)
    at = _find_point(middle, min(reach, 0.8 * radius), start + turn / 2)
    painter.drawText(QRectF(at.x() - 4 * size, at.y() - size, 8 * size, 2 * size), 0x84, circle.text)


def _draw_arrow(
    painter: QPainter, middle: QPointF, radius: float, arrow: Arrow, size: float, palette: Palette, *, labels: bool
) -> None:
    colour = QColor(palette.role(arrow.role))
    faint = QColor(colour)
    faint.setAlphaF(0.45)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(faint)
    for dot in arrow.dots:
        painter.drawEllipse(_find_point(middle, radius, dot), size / 4, size / 4)
    painter.setBrush(colour)
    painter.drawEllipse(_find_point(middle, radius, arrow.angle), size / 3, size / 3)
    tip, neck = _find_point(middle, 0.88 * radius, arrow.angle), _find_point(middle, 0.88 * radius - size, arrow.angle)
    painter.setPen(QPen(colour, size / 5))
    painter.drawLine(middle, neck)
    across = QPointF(neck.y() - tip.y(), tip.x() - neck.x()) * 0.38
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawPolygon(QPolygonF([tip, neck + across, neck - across]))
    painter.setBrush(QColor(palette.ink))
    painter.drawEllipse(middle, size / 4, size / 4)
    if not labels:
        return
    font = make_face(size, bold=True)
    metrics = QFontMetricsF(font)
    width = metrics.horizontalAdvance(arrow.label)
    at = _find_point(middle, radius + 0.8 * size, arrow.angle)
    x = at.x() - (0 if math.cos(arrow.angle) > 0.2 else width if math.cos(arrow.angle) < -0.2 else width / 2)
    y = at.y() + metrics.capHeight() / 2 * (1 - math.sin(arrow.angle))
    painter.setFont(font)
    painter.setPen(QColor(palette.role_ink(arrow.role)))
    painter.drawText(QPointF(x, y), arrow.label)


def _draw_numbers(painter: QPainter, box: Box, picture: Circles, size: float, palette: Palette) -> None:
    """Write the numbers at the right: the equal ones strong."""
    line = 1.9 * size
    y = box.y + (box.height - line * (len(picture.numbers) + 1)) / 2
    middle = Qt.AlignmentFlag.AlignVCenter
    painter.setFont(make_face(size))
    painter.setPen(QColor(palette.muted))
    painter.drawText(QRectF(box.x, y, box.width, line), int(middle | Qt.AlignmentFlag.AlignLeft), picture.caption)
    for label, number, strong in picture.numbers:
        y += line
        rect = QRectF(box.x, y, box.width, line)
        painter.setPen(QColor(palette.ink if strong else palette.muted))
        painter.setFont(make_face(size))
        painter.drawText(rect, int(middle | Qt.AlignmentFlag.AlignLeft), label)
        painter.setFont(make_face(size, bold=strong))
        painter.drawText(rect, int(middle | Qt.AlignmentFlag.AlignRight), number)


def _draw_dials(painter: QPainter, box: Box, picture: Circles, size: float, palette: Palette) -> None:
    """Draw the turn of every pair as a small clock; the one that is drawn large has a ring."""
    told = 0.2 * box.width
    for line, strong, y in ((picture.told[0], True, 0.9), (picture.told[1], False, 2.2)):
        painter.setFont(make_face(size, bold=strong))
        painter.setPen(QColor(palette.ink if strong else palette.muted))
        rect = QRectF(box.x, box.y + y * size, told, 1.3 * size)
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), line)
    part = (box.width - told) / len(picture.dials)
    radius = min(1.25 * size, 0.2 * part)
    for index, dial in enumerate(picture.dials):
        middle = QPointF(box.x + told + index * part + radius, box.y + 2.2 * size)
        _draw_dial(painter, middle, radius, dial, size, palette)
        painter.setFont(make_face(min(size, part / 4.6), bold=dial.current))
        painter.setPen(QColor(palette.ink if dial.current else palette.muted))
        rect = QRectF(middle.x() + 1.35 * radius, middle.y() - size, part, 2 * size)
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), dial.text)


def _draw_dial(painter: QPainter, middle: QPointF, radius: float, dial: Dial, size: float, palette: Palette) -> None:
    square = QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius)
    rim = QColor(palette.accent if dial.current else palette.hatch)
    painter.setPen(QPen(rim, size / (7 if dial.current else 14)))
    painter.setBrush(QColor(palette.surface))
    painter.drawEllipse(square)
    fill = QColor(palette.attention)
    fill.setAlphaF(0.3)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawPie(square.adjusted(2, 2, -2, -2), 90 * 16, -round(math.degrees(dial.turn) * 16))
    painter.setPen(QPen(QColor(palette.attention), size / 8))
    painter.drawLine(middle, _find_point(middle, 0.85 * radius, math.pi / 2 - dial.turn))

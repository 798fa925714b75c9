"""Draws a lens on a slide: charts, rows of maps, and circles, in type for the last row."""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_chart import draw_chart
from attnlab.figures.slides.lens_content import Arrow, Charts, Circle, Circles, Dial, LensPicture, MapRow, MapRows
from attnlab.figures.slides.slide_layout import Box, Sheet, stack_boxes
from attnlab.figures.slides.slide_maps import Formulas, draw_map
from attnlab.figures.slides.slide_text import make_face

TYPE = 2.5
"""The size of labels, in hundredths of the slide's height: 27 px at 1080."""
MAP_SHARE = 0.42
NUMBERS_SHARE = 0.22


def draw_lens(
    painter: QPainter, box: Box, picture: LensPicture, sheet: Sheet, palette: Palette, formulas: Formulas | None
) -> tuple[str, ...]:
    """Draw a lens into a box; return the parts that did not fit."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    try:
        if isinstance(picture, Charts):
            return _draw_charts(painter, box, picture, sheet, palette, formulas)
        if isinstance(picture, MapRows):
            return _draw_rows(painter, box, picture, sheet, palette, formulas)
        return _draw_circles(painter, box, picture, sheet, palette)
    finally:
        painter.restore()


def find_type(sheet: Sheet) -> float:
    """Return the font size of labels in pixels: at least 24 on a slide of 1080."""
    return TYPE * min(max(sheet.zoom, 0.9), 1.3) * sheet.unit


def _draw_charts(
    painter: QPainter, box: Box, picture: Charts, sheet: Sheet, palette: Palette, formulas: Formulas | None
) -> tuple[str, ...]:
    missing: tuple[str, ...] = ()
    gap = 4 * sheet.unit
    if picture.map is not None:
        left = Box(box.x, box.y, MAP_SHARE * box.width, box.height)
        missing += draw_map(painter, left, picture.map, sheet, palette, formulas)[1]
        box = Box(left.right + gap, box.y, box.width - left.width - gap, box.height)
    count = len(picture.charts)
    if picture.stacked:
        places = stack_boxes(box, count, 0.3 * gap)
    else:
        width = (box.width - gap * (count - 1)) / count
        places = tuple(Box(box.x + i * (width + gap), box.y, width, box.height) for i in range(count))
    for chart, place in zip(picture.charts, places, strict=True):
        draw_chart(painter, place, chart, find_type(sheet), palette)
    return missing


def _draw_rows(
    painter: QPainter, box: Box, picture: MapRows, sheet: Sheet, palette: Palette, formulas: Formulas | None
) -> tuple[str, ...]:
    missing: tuple[str, ...] = ()
    size = find_type(sheet)
    for row, place in zip(picture.rows, stack_boxes(box, len(picture.rows), 2 * sheet.unit), strict=True):
        missing += _draw_row(painter, place, row, size, sheet, palette, formulas)
    return missing


def _draw_row(
    painter: QPainter, box: Box, row: MapRow, size: float, sheet: Sheet, palette: Palette, formulas: Formulas | None
) -> tuple[str, ...]:
    """Draw a heading, the maps, and the result at their right in large type."""
    side, gap = (0.16 * box.width if row.heading or row.result else 0.0), 2 * sheet.unit
    heading = QRectF(box.x, box.y, side - gap, box.height)
    flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)
    painter.setFont(make_face(size, bold=True))
    painter.setPen(QColor(palette.ink))
    painter.drawText(heading, flags, row.heading)
    width = (box.width - 2 * side - gap * len(row.maps)) / len(row.maps)
    missing: tuple[str, ...] = ()
    x = box.x + side
    for each in row.maps:
        missing += draw_map(painter, Box(x, box.y, width, box.height), each, sheet, palette, formulas)[1]
        x += width + gap
    painter.setFont(make_face(size))
    painter.setPen(QColor(palette.muted))
    painter.drawText(QRectF(box.right - side, box.y, side, box.height), flags, row.result)
    return missing


def _draw_circles(painter: QPainter, box: Box, picture: Circles, sheet: Sheet, palette: Palette) -> tuple[str, ...]:
    size = find_type(sheet)
    foot = 3.6 * size if picture.dials else 0.0
    numbers = NUMBERS_SHARE * box.width if picture.numbers else 0.0
    room = Box(box.x, box.y, box.width - numbers - (2 * size if numbers else 0), box.height - foot)
    radius, extents, gap = _fit_circles(picture, room, size)
    x = room.x
    for index, (circle, (left, right)) in enumerate(zip(picture.circles, extents, strict=True)):
        if index:
            painter.setFont(make_face(2.2 * size, bold=True))
            painter.setPen(QColor(palette.muted))
            between = QRectF(x - gap, room.y, gap, room.height)
            painter.drawText(between, int(Qt.AlignmentFlag.AlignCenter), "=")
        middle = QPointF(x + left, room.y + room.height / 2)
        _draw_circle(painter, middle, radius, circle, size, palette)
        x += left + right + gap
    if picture.numbers:
        _draw_numbers(painter, Box(box.right - numbers, room.y, numbers, room.height), picture, size, palette)
    if picture.dials:
        _draw_dials(painter, Box(box.x, room.bottom, box.width, foot), picture, size, palette)
    return ()


def _fit_circles(picture: Circles, room: Box, size: float) -> tuple[float, list[tuple[float, float]], float]:
    """Return the largest radius with which circles and labels fit, how far each reaches left and right, and the gap."""
    radius = max(0.5 * room.height - 2.2 * size, 2 * size)
    least_gap = 3 * size
    count = len(picture.circles)
    while True:
        extents = [_measure_extent(circle, radius, size) for circle in picture.circles]
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
    painter: QPainter, middle: QPointF, radius: float, circle: Circle, size: float, palette: Palette
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
        _draw_arrow(painter, middle, radius, arrow, size, palette)
    font = make_face(1.2 * size, bold=True)
    painter.setFont(font)
    painter.setPen(QColor(palette.attention_ink))
    reach = inner + 0.75 * QFontMetricsF(font).horizontalAdvance(circle.text)
    at = _find_point(middle, min(reach, 0.8 * radius), start + turn / 2)
    painter.drawText(QRectF(at.x() - 4 * size, at.y() - size, 8 * size, 2 * size), 0x84, circle.text)


def _draw_arrow(painter: QPainter, middle: QPointF, radius: float, arrow: Arrow, size: float, palette: Palette) -> None:
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

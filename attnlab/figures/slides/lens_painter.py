"""Draws a lens on a slide: charts, rows of maps, and circles, in type for the last row."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_chart import draw_chart
from attnlab.figures.slides.lens_circles import CirclesLook, draw_circles
from attnlab.figures.slides.lens_content import Bar, Charts, LensPicture, MapRow, MapRows, Plane, Table
from attnlab.figures.slides.lens_plane import draw_plane
from attnlab.figures.slides.lens_table import draw_table
from attnlab.figures.slides.slide_layout import Box, Sheet, stack_boxes
from attnlab.figures.slides.slide_maps import Formulas, draw_map
from attnlab.figures.slides.slide_text import make_face
from attnlab.figures.text import Pen

TYPE = 2.5
"""The size of labels, in hundredths of the slide's height: 27 px at 1080."""
BAR_LINE = 1.5
"""The height of a bar with the space around it, in sizes of type."""
MAP_SHARE = 0.42


def draw_lens(
    painter: QPainter,
    box: Box,
    picture: LensPicture,
    sheet: Sheet,
    palette: Palette,
    formulas: Formulas | None,
    look: CirclesLook,
) -> tuple[str, ...]:
    """Draw a lens into a box; return the parts that did not fit."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    try:
        if isinstance(picture, Charts):
            return _draw_charts(painter, box, picture, sheet, palette, formulas)
        if isinstance(picture, MapRows):
            return _draw_rows(painter, box, picture, sheet, palette, formulas)
        if isinstance(picture, Plane):
            return draw_plane(painter, box, picture, find_type(sheet), palette, answered=look.numbers)
        if isinstance(picture, Table):
            return draw_table(painter, box, picture, find_type(sheet), palette)
        return draw_circles(painter, box, picture, find_type(sheet), palette, look)
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
        missing += draw_map(painter, left, picture.map, sheet, palette, formulas)[1].left_out
        box = Box(left.right + gap, box.y, box.width - left.width - gap, box.height)
    if picture.bars:
        high = BAR_LINE * find_type(sheet) * len(picture.bars)
        _draw_bars(painter, Box(box.x, box.y, box.width, high), picture.bars, find_type(sheet), palette)
        box = Box(box.x, box.y + high + gap, box.width, box.height - high - gap)
    count = len(picture.charts)
    if picture.stacked:
        places = stack_boxes(box, count, 0.3 * gap)
    else:
        width = (box.width - gap * (count - 1)) / count
        places = tuple(Box(box.x + i * (width + gap), box.y, width, box.height) for i in range(count))
    for chart, place in zip(picture.charts, places, strict=True):
        draw_chart(painter, place, chart, find_type(sheet), palette)
    return missing


def _draw_bars(painter: QPainter, box: Box, bars: tuple[Bar, ...], size: float, palette: Palette) -> None:
    """Draw bars below one another, as long as their numbers; the longest fills the room between names and texts."""
    pen, line = Pen(painter, make_face(size)), BAR_LINE * size
    names, texts = (max(map(pen.width, words)) for words in ([b.name for b in bars], [b.text for b in bars]))
    left, room = box.x + names + size, box.width - names - texts - 2 * size
    largest = max(bar.value for bar in bars) or 1.0
    for index, bar in enumerate(bars):
        middle, length = box.y + (index + 0.5) * line, max(room * bar.value / largest, 2.0)
        painter.setPen(QColor(palette.ink))
        pen.draw(left - size, middle, bar.name, 1.0)
        painter.fillRect(QRectF(left, middle - 0.35 * size, length, 0.7 * size), QColor(palette.role(bar.role)))
        pen.draw(left + length + 0.5 * size, middle, bar.text)


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
        missing += draw_map(painter, Box(x, box.y, width, box.height), each, sheet, palette, formulas)[1].left_out
        x += width + gap
    painter.setFont(make_face(size))
    painter.setPen(QColor(palette.muted))
    painter.drawText(QRectF(box.right - side, box.y, side, box.height), flags, row.result)
    return missing

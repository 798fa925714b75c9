"""Draws a lens on a slide: charts, rows of maps, and circles, in type for the last row."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_chart import draw_chart
from attnlab.figures.slides.lens_circles import CirclesLook, draw_circles
from attnlab.figures.slides.lens_content import Charts, LensPicture, MapRow, MapRows, Table
from attnlab.figures.slides.lens_table import draw_table
from attnlab.figures.slides.slide_layout import Box, Sheet, stack_boxes
from attnlab.figures.slides.slide_maps import Formulas, draw_map
from attnlab.figures.slides.slide_text import make_face

TYPE = 2.5
"""The size of labels, in hundredths of the slide's height: 27 px at 1080."""
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

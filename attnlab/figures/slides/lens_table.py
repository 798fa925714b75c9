"""Draws a table on a slide in type for the last row: texts, bars and tinted cells."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_content import Column, Table
from attnlab.figures.slides.slide_layout import Box
from attnlab.figures.slides.slide_text import make_face

ROW, LEAST_ROW = 2.1, 1.5
"""The height of a row and the least one, in font sizes."""
LEAST_SIZE = 0.9
"""The smallest share of the font size: 24 px at 1080."""
GAP, BAR = 1.6, 7.0
"""The space between columns and the least width of a bar, in font sizes."""
TINT = 0.35


def draw_table(painter: QPainter, box: Box, table: Table, size: float, palette: Palette) -> tuple[str, ...]:
    """Draw as many rows as fit, and how many more there are; return the parts that did not fit."""
    for share in (1.0, LEAST_SIZE):
        widths = _measure_widths(table, share * size)
        size_now = share * size
        if sum(widths) + GAP * size_now * (len(widths) - 1) <= box.width:
            break
    missing = () if sum(widths) + GAP * size_now * (len(widths) - 1) <= box.width + 1 else ("a column of the table",)
    count = len(table.columns[0].cells) if table.columns else 0
    told = 1.9 * size_now if table.sentence else 0.0
    room = box.height - told
    most = max(int(room // (LEAST_ROW * size_now)) - 1, 1)
    shown = count if count <= most else most - 1
    high = min(room / (shown + 1 + (shown < count)), ROW * size_now)
    _draw_sentence(painter, box, table.sentence, size_now, palette)
    widths = _stretch(table, widths, box.width - GAP * size_now * (len(widths) - 1))
    x = box.x
    for column, width in zip(table.columns, widths, strict=True):
        _draw_column(painter, Box(x, box.y + told, width, high), column, shown, size_now, palette)
        x += width + GAP * size_now
    line = QRectF(box.x, box.y + told + high - 1, x - GAP * size_now - box.x, max(size / 14, 1))
    painter.fillRect(line, QColor(palette.hatch))
    if shown < count:
        painter.setFont(make_face(size_now))
        painter.setPen(QColor(palette.muted))
        rest = QRectF(box.x, box.y + told + (shown + 1) * high, box.width, high)
        painter.drawText(rest, int(Qt.AlignmentFlag.AlignVCenter), f"and {count - shown} more")
    return missing


def _measure_widths(table: Table, size: float) -> list[float]:
    bold, plain = QFontMetricsF(make_face(size, bold=True)), QFontMetricsF(make_face(size))
    found = []
    for column in table.columns:
        texts = max((plain.horizontalAdvance(text) for text in column.cells), default=0.0)
        bars = BAR * size if column.bars else 0.0
        found.append(max(bold.horizontalAdvance(column.title), texts + bars) + 0.4 * size)
    return found


def _stretch(table: Table, widths: list[float], room: float) -> list[float]:
    """Give columns with bars most of the space that is left, and the others a little."""
    spare = max(room - sum(widths), 0.0)
    barred = [bool(column.bars) for column in table.columns]
    if not any(barred):
        return [width + min(spare / len(widths), 0.25 * width) for width in widths]
    return [width + (spare / sum(barred) if has_bars else 0.0) for width, has_bars in zip(widths, barred, strict=True)]


def _draw_sentence(painter: QPainter, box: Box, sentence: str, size: float, palette: Palette) -> None:
    painter.setFont(make_face(size))
    painter.setPen(QColor(palette.muted))
    text = QFontMetricsF(painter.font()).elidedText(sentence, Qt.TextElideMode.ElideRight, box.width)
    painter.drawText(QRectF(box.x, box.y, box.width, 1.5 * size), int(Qt.AlignmentFlag.AlignVCenter), text)


def _draw_column(painter: QPainter, first: Box, column: Column, shown: int, size: float, palette: Palette) -> None:
    """Draw a heading into a box, and the cells below it."""
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    flags = int(Qt.AlignmentFlag.AlignVCenter | side)
    painter.setFont(make_face(size, bold=True))
    painter.setPen(QColor(palette.ink))
    painter.drawText(QRectF(first.x, first.y, first.width, first.height), flags, column.title)
    for index in range(shown):
        rect = QRectF(first.x, first.y + (index + 1) * first.height, first.width, first.height)
        if column.tints:
            tint = QColor(palette.key)
            tint.setAlphaF(TINT * column.tints[index])
            painter.fillRect(rect.adjusted(-0.3 * size, 1, 0.3 * size, -1), tint)
        if column.bars:
            _draw_bar(painter, rect, column, index, size, palette)
        painter.setFont(make_face(size))
        painter.setPen(QColor(palette.ink))
        painter.drawText(rect, flags, column.cells[index])


def _draw_bar(painter: QPainter, rect: QRectF, column: Column, index: int, size: float, palette: Palette) -> None:
    """Draw the share of a cell as a bar at its left."""
    texts = max(QFontMetricsF(make_face(size)).horizontalAdvance(text) for text in column.cells)
    lane = QRectF(rect.left(), rect.center().y() - 0.3 * size, rect.width() - texts - 0.8 * size, 0.6 * size)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.hairline))
    painter.drawRoundedRect(lane, 0.12 * size, 0.12 * size)
    lane.setWidth(max(column.bars[index] * lane.width(), size / 12))
    painter.setBrush(QColor(palette.make_paler(palette.role(column.role))))
    painter.drawRoundedRect(lane, 0.12 * size, 0.12 * size)

"""Painted rows of the list of lessons: a picture with the progress under it, the title, the minutes, two lines."""

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath
from PySide6.QtWidgets import QStyleOptionViewItem

from attnlab.figures.palette import Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.lessons.list_rows import ROW, Index, Row, RowPainter
from attnlab.ui.lessons.thumbnails import draw_thumbnail
from attnlab.ui.widgets.broken_text import break_text

WIDE_ROW = 340
"""The width from which a lesson's description stands in its row."""
PICTURE, SMALL_PICTURE = (75, 49), (60, 40)
LINE = 3
"""The thickness of the line of progress."""


@guarded
class LessonRowPainter(RowPainter):
    """Paints lessons; all rows are equally high."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if index.data(ROW).section:
            return super().sizeHint(option, index)
        line, small = QFontMetricsF(font("text")).height(), QFontMetricsF(font("caption")).height()
        wide = (option.rect.width() or px(300)) >= px(WIDE_ROW)
        high = px((PICTURE if wide else SMALL_PICTURE)[1]) + px(8)
        texts = line + 2 * small if wide else 2 * line + small
        return QSize(px(120), round(max(high, texts + px(8))))

    def paint_row(self, painter: QPainter, area: QRectF, row: Row, palette: Palette) -> None:
        wide = area.width() >= px(WIDE_ROW)
        width, height = (px(each) for each in (PICTURE if wide else SMALL_PICTURE))
        frame = QRectF(area.left() + px(6), area.center().y() - height / 2, width, height)
        self._paint_picture(painter, frame, row, palette)
        room = QRectF(frame.right() + px(10), frame.top() + px(1), area.right() - frame.right() - px(18), height)
        line, small = QFontMetricsF(font("strong")), QFontMetricsF(font("caption"))
        if wide:
            used = line.height() + 2 * small.height()
        else:
            lines = break_text(row.title, font("strong"), room.width() - self._measure_number(row), 2)
            used = len(lines) * line.height() + small.height()
        room.setTop(max(area.center().y() - used / 2, area.top()))
        y, left = self._paint_title(painter, room, row, palette, stands_alone=wide)
        if wide:
            below = QRectF(left, y + px(1), room.right() - left, room.bottom() - y)
            ink = palette.bad if row.wrong else palette.muted
            self.paint_block(painter, below, row.about, font("caption"), ink, 2)
        else:
            self._paint_state(painter, QRectF(left, y, room.right() - left, small.height()), row, palette, right=False)

    def _paint_title(
        self, painter: QPainter, room: QRectF, row: Row, palette: Palette, *, stands_alone: bool
    ) -> tuple[float, float]:
        """Paint number and title, in a wide row also state and minutes; return the y and x of what follows."""
        left, right = room.left(), 0.0
        if row.number is not None:
            painter.setFont(font("number"))
            painter.setPen(QColor(palette.muted))
            metrics = QFontMetricsF(font("number"))
            painter.drawText(QPointF(left, room.top() + metrics.ascent()), str(row.number))
            left += self._measure_number(row)
        if stands_alone:
            at = QRectF(room.left(), room.top() + px(1), room.width(), px(18))
            right = self._paint_state(painter, at, row, palette, right=True) + px(8)
        at = QRectF(left, room.top(), room.right() - right - left, room.height())
        y = self.paint_block(painter, at, row.title, font("strong"), palette.ink, 1 if stands_alone else 2)
        return y, left

    def _measure_number(self, row: Row) -> float:
        return QFontMetricsF(font("number")).horizontalAdvance("00") + px(8) if row.number is not None else 0.0

    def _paint_state(self, painter: QPainter, at: QRectF, row: Row, palette: Palette, *, right: bool) -> float:
        """Paint how far the lesson is, and its minutes; return their width."""
        metrics, gap = QFontMetricsF(font("caption")), px(10)
        state = f"✓ {row.state}" if row.done else row.state
        parts = [(state, palette.good if row.done else palette.accent), (row.caption, palette.muted)]
        shown = [part for part in parts if part[0]]
        width = sum(metrics.horizontalAdvance(text) for text, _ in shown) + gap * max(len(shown) - 1, 0)
        x = at.right() - width if right else at.left()
        for text, colour in shown:
            self.write(painter, QRectF(x, at.top(), at.width(), at.height()), text, "caption", colour)
            x += metrics.horizontalAdvance(text) + gap
        return width

    def _paint_picture(self, painter: QPainter, frame: QRectF, row: Row, palette: Palette) -> None:
        painter.setPen(QColor(palette.hairline))
        painter.setBrush(QColor(palette.ground))
        painter.drawRoundedRect(frame, 5, 5)
        if row.thumbnail is not None:
            draw_thumbnail(painter, frame.adjusted(px(5), px(4), -px(5), -px(6)), row.thumbnail, palette)
        if row.share <= 0:
            return
        outline = QPainterPath()
        outline.addRoundedRect(frame, 5, 5)
        painter.save()
        painter.setClipPath(outline)
        line = QRectF(frame.left(), frame.bottom() - px(LINE), row.share * frame.width(), px(LINE))
        painter.fillRect(line, QColor(palette.good if row.done else palette.accent))
        painter.restore()

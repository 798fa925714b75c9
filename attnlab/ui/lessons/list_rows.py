"""Rows of a list of lessons or steps, and the painter of rows with a number and a title."""

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from attnlab.base.spoken_text import end_sentence
from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import draw_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.lessons.thumbnails import Thumbnail
from attnlab.ui.widgets.broken_text import break_text

ROW = Qt.ItemDataRole.UserRole
TITLE_LINES = 3
"""The most lines of a title."""
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of a row. A section is a heading between rows; ``now`` marks the current place of a walk.

    A thumbnail may be missing until it is computed; a step that ``asks`` has a badge, and one that is ``done`` a tick.
    ``state`` says how far a lesson is, and ``share`` how much of it is done, 0 to 1.
    """

    title: str
    about: str = ""
    caption: str = ""
    number: int | None = None
    now: bool = False
    section: bool = False
    wrong: bool = False
    thumbnail: Thumbnail | None = None
    asks: bool = False
    done: bool = False
    state: str = ""
    share: float = 0.0

    @property
    def spoken(self) -> str:
        """The row as a screen reader reads it."""
        number = f"{self.number}. " if self.number is not None else ""
        marks = [*(["here"] if self.now else []), *(["done"] if self.done and not self.state else [])]
        marked = f" ({', '.join(marks)})" if marks else ""
        return " ".join(
            filter(None, (end_sentence(f"{number}{self.title}{marked}"), self.about, self.state, self.caption))
        )


@guarded
class RowPainter(QStyledItemDelegate):
    """Paints rows with a number and a title, as high as the title."""

    lowers_indices = True

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: Row = index.data(ROW)
        if row.section:
            return QSize(px(120), round(QFontMetricsF(font("caption")).height()) + px(20))
        width = _find_texts(_find_area(option.rect)).width() - self._measure_left(row)
        lines = break_text(row.title, font("text"), width, TITLE_LINES)
        return QSize(px(120), round(QFontMetricsF(font("text")).height() * max(len(lines), 1)) + px(14))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW)
        palette = palette_of(option.widget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = _find_area(option.rect)
        if row.section:
            self.write(painter, area.adjusted(8, 0, 0, -px(4)), row.title, "section", palette.muted, bottom=True)
            painter.restore()
            return
        paint_ground(painter, area, option, palette)
        self.paint_row(painter, area, row, palette)
        painter.restore()

    def paint_row(self, painter: QPainter, area: QRectF, row: Row, palette: Palette) -> None:
        """Paint a row over its ground."""
        room, left = _find_texts(area), self._measure_left(row)
        if row.number is not None:
            number = QRectF(room.left(), room.top(), left - px(8), QFontMetricsF(font("number")).height())
            painter.setFont(font("number"))
            painter.setPen(QColor(palette.muted))
            painter.drawText(number, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop), str(row.number))
        self.paint_block(painter, room.adjusted(left, 0, 0, 0), row.title, font("text"), palette.ink, TITLE_LINES)

    def _measure_left(self, row: Row) -> int:
        return px(28) if row.number is not None else 0

    def paint_block(self, painter: QPainter, at: QRectF, text: str, face: QFont, colour: str, most: int) -> float:
        """Write at most this many lines; return the y at which they end."""
        painter.setFont(face)
        painter.setPen(QColor(colour))
        metrics, y = QFontMetricsF(face), at.top()
        for line in break_text(text, face, at.width(), most):
            draw_text(painter, at.left(), y + metrics.ascent() - metrics.capHeight() / 2, line, face)
            y += metrics.height()
        return y

    def write(
        self,
        painter: QPainter,
        at: QRectF,
        text: str,
        role: str,
        colour: str,
        *,
        right: bool = False,
        bottom: bool = False,
    ) -> None:
        """Write one line at the left or the right, at the top or the bottom of a rectangle."""
        painter.setFont(font(role))
        painter.setPen(QColor(colour))
        flag = Qt.AlignmentFlag
        across = flag.AlignRight if right else flag.AlignLeft
        painter.drawText(at, int(across | (flag.AlignBottom if bottom else flag.AlignTop)), text)


def _find_area(row: QRect) -> QRectF:
    """Return the part of a row that is painted: its ground."""
    return QRectF(row).adjusted(4, 1, -4, -1)


def _find_texts(area: QRectF) -> QRectF:
    """Return the part of the ground for the texts."""
    return area.adjusted(px(8), px(6), -px(8), -px(6))


def paint_ground(painter: QPainter, area: QRectF, option: QStyleOptionViewItem, palette: Palette) -> None:
    chosen = bool(option.state & QStyle.StateFlag.State_Selected)
    if chosen or option.state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.control if chosen else palette.ground))
        painter.drawRoundedRect(area, 8, 8)
    if option.state & QStyle.StateFlag.State_HasFocus:
        draw_focus_ring(painter, area, palette)

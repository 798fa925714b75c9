"""Painted cards of a lesson's steps: a picture, the number, the title, and a mark on questions."""

from collections.abc import Sequence

from PySide6.QtCore import QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import draw_text
from attnlab.figures.tick import draw_tick
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.lessons.list_rows import ROW, Index, Row
from attnlab.ui.lessons.row_list import RowList
from attnlab.ui.lessons.thumbnails import draw_thumbnail
from attnlab.ui.widgets.broken_text import break_text

COLUMNS, NARROW_COLUMNS, NARROW = 5, 4, 760
"""Cards in a row, and in a list that is narrower than this at 100 %."""
BADGE = 22
"""The width and the height of a badge, in pixels at 100 %: two digits fit."""
EDGE = 4
"""What the frame and rounding take of the width."""
PICTURE, TITLE_LINES, GAP = 0.66, 3, 8
"""The height of a picture in widths of a card, the most lines of a title, and the space around a card."""


@guarded
class StepCardPainter(QStyledItemDelegate):
    """Paints steps as cards, as many in a row as the list has room for."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        cards = option.widget
        assert isinstance(cards, StepCards)
        width = cards.find_room()
        return QSize(find_card_width(width), find_card_height(width))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index | QPersistentModelIndex) -> None:
        row: Row = index.data(ROW)
        palette = palette_of(option.widget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(option.rect).adjusted(px(GAP) / 2, px(GAP) / 2, -px(GAP) / 2, -px(GAP) / 2)
        self._paint_card(painter, card, option, row, palette)
        picture = QRectF(card.left(), card.top(), card.width(), PICTURE * card.width())
        if row.thumbnail is not None:
            above = px(30) if row.asks else px(10)  # the mark of a question would lie on that of a covered cell
            draw_thumbnail(painter, picture.adjusted(px(18), above, -px(18), -px(6)), row.thumbnail, palette)
        self._paint_badges(painter, card, row, palette)
        face = font("caption_strong")
        painter.setPen(QColor(palette.ink))
        metrics, y = QFontMetricsF(face), picture.bottom() + px(6)
        for line in break_text(row.title, face, card.width() - px(16), TITLE_LINES):
            middle = y + metrics.ascent() - metrics.capHeight() / 2
            draw_text(painter, card.left() + px(8), middle, line, face)
            y += metrics.height()
        painter.restore()

    def _paint_card(
        self, painter: QPainter, card: QRectF, option: QStyleOptionViewItem, row: Row, palette: Palette
    ) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        colour = palette.accent if row.now else palette.hatch if hovered or chosen else palette.hairline
        painter.setPen(QPen(QColor(colour), 2 if row.now else 1))
        painter.setBrush(QColor(palette.surface))
        painter.drawRoundedRect(card, 8, 8)
        if option.state & QStyle.StateFlag.State_HasFocus:
            draw_focus_ring(painter, card, palette)

    def _paint_badges(self, painter: QPainter, card: QRectF, row: Row, palette: Palette) -> None:
        """Paint a tick on a done step, else its number, filled where to go on; at the right a question mark."""
        size = px(BADGE)
        number = QRectF(card.left() + px(6), card.top() + px(6), size, size)
        if row.now:
            self._paint_badge(painter, number, str(row.number), palette.accent, palette.on_accent)
        elif row.done:
            self._paint_tick(painter, number, palette)
        else:
            self._paint_badge(painter, number, str(row.number), palette.surface, palette.muted, palette.hairline)
        if row.asks:
            right = QRectF(card.right() - size - px(6), card.top() + px(6), size, size)
            self._paint_badge(painter, right, "?", palette.cover, palette.on_cover)

    def _paint_tick(self, painter: QPainter, rect: QRectF, palette: Palette) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.good))
        painter.drawEllipse(rect)
        draw_tick(painter, rect, palette.surface)

    def _paint_badge(
        self, painter: QPainter, rect: QRectF, text: str, fill: str, ink: str, edge: str | None = None
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen if edge is None else QColor(edge))
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.setFont(font("caption_strong"))
        painter.setPen(QColor(ink))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), text)


@guarded
class StepCards(RowList):
    """The steps of a lesson as cards, as high as all of them: the ``page`` around it scrolls."""

    def __init__(self, page: QScrollArea) -> None:
        super().__init__("Steps of the lesson", StepCardPainter(), cards=True)
        self._page = page
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_rows(self, rows: Sequence[Row], chosen: int = -1) -> None:
        """Show other cards, one of them chosen; no signal is emitted."""
        super().show_rows(rows, chosen)
        self._fit()

    def restyle(self) -> None:
        """Set the height for the size of type."""
        super().restyle()
        self._fit()

    def find_room(self) -> int:
        """Return the width for cards, in pixels: the same whether the page shows its scroll bar or not.

        Cards that took the room of a hidden bar would be higher, and bring it back. The viewport may have another width
        already than the one that the cards are laid out in.
        """
        inside = self._page.widget()
        assert inside is not None
        beside = self._page.width() - inside.width()
        return self.width() - max(self._page.verticalScrollBar().sizeHint().width() - beside, 0)

    def _fit(self) -> None:
        width = self.find_room()
        columns = max(width // find_card_width(width), 1)
        self.setFixedHeight(-(-len(self.rows) // columns) * find_card_height(width) + EDGE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def find_card_height(width: int) -> int:
    """Return the height of a card in a list of a width."""
    lines = TITLE_LINES * QFontMetricsF(font("caption_strong")).height()
    return round(PICTURE * find_card_width(width) + lines + px(2 * GAP + 10))


def find_card_width(width: int) -> int:
    """Return the width of a card in a list of a width."""
    room = width - EDGE
    return max(room // (COLUMNS if width >= px(NARROW) else NARROW_COLUMNS), px(90))

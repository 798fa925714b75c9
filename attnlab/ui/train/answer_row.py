"""Base of the rows of an answer's places: columns of one width, walked by keys, scrolled sideways if too many."""

from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import draw_icon
from attnlab.ui.base.theme import draw_focus_ring, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.answer_words import Column
from attnlab.ui.widgets.walked_list import WalkedList

MARK = 13
"""The side of a tick or a cross, in pixels at 100 %."""


@guarded
class AnswerRow(FollowsTheme, WalkedList):
    """Shows columns; subclasses lay them out, each ``_wide`` pixels wide, and paint one."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._columns: tuple[Column, ...] = ()
        self._wide = 1.0
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def lay_out(self) -> None:
        """Compute the width of a column and the height of the row."""
        raise NotImplementedError

    def paint_columns(self, painter: QPainter, visible: Sequence[tuple[int, QRect]], palette: Palette) -> None:
        """Paint the visible columns, each of an index, into their rectangles."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns shown."""
        return self._columns

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns; the scrolled part stays."""
        self._columns = tuple(columns)
        self._cursor = min(self._cursor, max(len(self._columns) - 1, 0))
        self._hovered = None if self._hovered is not None and self._hovered >= len(self._columns) else self._hovered
        self.lay_out()
        self.viewport().update()

    def show_place(self, index: int) -> None:
        """Scroll to a column, and let the keyboard continue from it."""
        if 0 <= index < len(self._columns):
            self._cursor = index
            bar, left = self.horizontalScrollBar(), round(index * self._wide)
            bar.setValue(max(min(bar.value(), left), round(left + self._wide) - self.viewport().width()))
            self.viewport().update()

    def restyle(self) -> None:
        """Lay out the columns for the size of type."""
        self.lay_out()

    def set_total(self, total: int) -> None:
        """Set the width of all columns, which are scrolled if they do not fit."""
        bar, room = self.horizontalScrollBar(), self.viewport().width()
        bar.setRange(0, max(0, total - room))
        bar.setSingleStep(max(round(self._wide), 1))
        bar.setPageStep(max(room, 1))

    def column_rect(self, index: int) -> QRect:
        """Return the rectangle of a column in the viewport."""
        left = round(index * self._wide)
        right = round((index + 1) * self._wide)
        return QRect(left - self.horizontalScrollBar().value(), 0, right - left, self.viewport().height())

    def count_cells(self) -> int:
        return len(self._columns)

    def name_cell(self, place: int) -> str:
        return f"{self.accessibleName()}, {self._columns[place].spoken}"

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(self.column_rect(place))

    def item_at(self, point: QPoint) -> int | None:
        at = int((point.x() + self.horizontalScrollBar().value()) // max(self._wide, 1.0))
        return at if 0 <= at < len(self._columns) else None

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        QToolTip.showText(event.globalPos(), plain_tip(self._columns[at].tip), self.viewport(), self.column_rect(at))

    def walk_to(self, index: int) -> None:
        self.show_place(index)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self.viewport()), palette_of(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = [(index, self.column_rect(index)) for index in range(len(self._columns))]
        self.paint_columns(painter, [each for each in places if each[1].intersects(event.rect())], palette)
        if self._columns and self.hasFocus():
            ring = QRectF(self.column_rect(self._cursor)).adjusted(1, 1, -1, -1)
            draw_focus_ring(painter, ring, palette, px(4))
        painter.end()


def draw_mark(painter: QPainter, right: bool, x: float, middle: float, palette: Palette) -> None:
    """Draw a tick or a cross in a disc whose right edge is at ``x``."""
    side, ratio = px(MARK), painter.device().devicePixelRatio()
    colour = palette.good if right else palette.bad
    painter.drawPixmap(QPointF(x - side, middle - side / 2), _draw_disc(right, side, ratio, colour, palette.surface))


@lru_cache(maxsize=64)
def _draw_disc(right: bool, side: int, ratio: float, colour: str, sign: str) -> QPixmap:
    """Return the picture of a tick or a cross in a disc ``side`` pixels wide."""
    picture = QPixmap(round(side * ratio), round(side * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter, disc, inset = QPainter(picture), QRectF(0, 0, side, side), side * 0.18
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawEllipse(disc)
    draw_icon(painter, disc.adjusted(inset, inset, -inset, -inset), "check" if right else "close", sign)
    painter.end()
    return picture

"""The layout of the chips of a token strip, and how to draw one."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen

from attnlab.figures.palette import Palette, mix
from attnlab.figures.tiles import make_hatching
from attnlab.ui.base.theme import draw_focus_ring, font, px, text_on
from attnlab.ui.widgets.layouts.flow_layout import flow

PLUS = "+"
INSIDE, EYE, BESIDE_EYE = 9, 15, 3  # margins of a text; an eye and the margin at the other side add up to the same
_LONGEST = 160  # a chip's text is elided beyond this, in pixels at 100 %
_VISIBLE = str.maketrans({"\n": "⏎", "\r": "⏎", "\t": "⇥", "\v": "⏎", "\f": "⏎", "\0": "␀"})


def visible(token: str) -> str:
    """Return a token in visible form: ∅ for an empty one, marks for white space alone."""
    if not token:
        return "∅"
    shown = token.translate(_VISIBLE)
    return "␣" * len(shown) if not shown.strip() else shown


class ChipTexts:
    """Texts of chips and their widths in the present font, each measured once."""

    def __init__(self) -> None:
        self._metrics = QFontMetrics(font("text"))
        self._known: dict[str, tuple[str, int]] = {}

    def __getitem__(self, token: str) -> tuple[str, int]:
        """Return the text on a token's chip, elided in the middle if too long, and its width in pixels."""
        if token not in self._known:
            if len(self._known) > 4096:
                self._known.clear()
            shown = visible(token if len(token) <= 400 else token[:200] + "…" + token[-200:])
            shown = self._metrics.elidedText(shown, Qt.TextElideMode.ElideMiddle, px(_LONGEST))
            self._known[token] = shown, self._metrics.horizontalAdvance(shown)
        return self._known[token]


@dataclass(frozen=True, slots=True)
class Chips:
    """The rectangles of all chips, the plus last; ``row_height`` includes the gap."""

    places: tuple[QRect, ...]
    row_height: int

    @staticmethod
    @lru_cache(maxsize=64)
    def lay_out(tokens: tuple[str, ...], texts: ChipTexts, width: int) -> "Chips":
        """Arrange the chips of the tokens, and one with a plus, in rows of a width.

        While a window is resized each width is asked for several times, by the strip and by what stands around it.
        """
        high, gap, inside = px(24), px(6), 2 * px(INSIDE)
        widths = [max(texts[token][1], px(12)) + inside for token in tokens] + [px(26)]
        return Chips(tuple(flow(((wide, high) for wide in widths), width, gap)), high + gap)

    def rows(self) -> int:
        """Return how many rows there are."""
        return self.places[-1].y() // self.row_height + 1

    def height(self, most: int) -> int:
        """Return the height in pixels of at most this many rows; if there are more, the next one shows in part."""
        gap = px(6)
        if self.rows() > most:
            return most * self.row_height + self.row_height // 2
        return self.rows() * self.row_height - gap

    def at(self, point: QPoint) -> int | None:
        """Return the chip at a point, None between chips."""
        return next((i for i, place in enumerate(self.places) if place.contains(point)), None)

    def gap_at(self, point: QPoint) -> int:
        """Return the index at which a token dropped at a point would be inserted: 0 to the number of tokens."""
        row = min(max(point.y() // self.row_height, 0), self.rows() - 1)
        tokens = self.places[:-1]
        in_row = [i for i, place in enumerate(tokens) if place.y() // self.row_height == row]
        if not in_row:
            return len(tokens)
        return next((i for i in in_row if point.x() < tokens[i].center().x()), in_row[-1] + 1)

    def mark(self, gap: int, point: QPoint) -> QRect:
        """Return the rectangle of the insertion mark for a gap, at the row's end if the point is in that row."""
        tokens = self.places[:-1]
        before = tokens[gap - 1] if gap else None
        after = tokens[gap] if gap < len(tokens) else None
        row = min(max(point.y() // self.row_height, 0), self.rows() - 1)
        if after is None or (
            before is not None and before.y() // self.row_height == row != after.y() // self.row_height
        ):
            place = before or self.places[-1]
            return QRect(place.right() + px(3) if before else place.left(), place.y(), 2, place.height())
        return QRect(max(after.left() - px(4), 0), after.y(), 2, after.height())

    def beside(self, index: int, rows: int) -> int:
        """Return the chip nearest to a given one, some rows above or below; the same chip if there is no such row."""
        here = self.places[index]
        row = here.y() // self.row_height + rows
        others = [i for i, place in enumerate(self.places) if place.y() // self.row_height == row]
        return min(others, key=lambda i: abs(self.places[i].center().x() - here.center().x()), default=index)


@dataclass(frozen=True, slots=True)
class ChipLook:
    """The present state of a chip."""

    query: bool = False
    key: bool = False
    hovered: bool = False
    focused: bool = False
    faded: bool = False
    masked: bool = False
    eye: bool = False


def eye_rect(place: QRect) -> QRect:
    """Return the rectangle of a chip's eye, at its right end."""
    return QRect(place.right() + 1 - px(EYE), place.top(), px(EYE), place.height())


def draw_eye(painter: QPainter, place: QRectF, colour: str, *, shut: bool) -> None:
    """Draw an eye of 10 px in the centre of a rectangle; ``shut``, it is crossed out."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(place.center())
    unit = px(10) / 10
    painter.setPen(QPen(QColor(colour), 1.1 * unit, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    lids = QPainterPath(QPointF(-5 * unit, 0))
    lids.quadTo(QPointF(0, -6 * unit), QPointF(5 * unit, 0))
    lids.quadTo(QPointF(0, 6 * unit), QPointF(-5 * unit, 0))
    painter.drawPath(lids)
    if shut:
        painter.drawLine(QPointF(-4 * unit, 4 * unit), QPointF(4 * unit, -4 * unit))
    else:
        painter.setBrush(QColor(colour))
        painter.drawEllipse(QPointF(0, 0), 1.2 * unit, 1.2 * unit)
    painter.restore()


def draw_chip(painter: QPainter, place: QRect, text: str, look: ChipLook, palette: Palette) -> None:
    """Draw one chip; the query and the key are filled in their roles' colours, half each if both are one token."""
    box, radius = QRectF(place), px(6)
    painter.save()
    painter.setOpacity(0.35 if look.faded else 1.0)
    path = QPainterPath()
    path.addRoundedRect(box, radius, radius)
    roles = [role for role, on in (("query", look.query), ("key", look.key)) if on]
    fills = [palette.role_ink(role) for role in roles] or [palette.control]
    if look.hovered:
        fills = [mix(fill, palette.ink, 0.08) for fill in fills]
    painter.fillPath(path, QColor(fills[0]))
    if look.masked and not roles:
        painter.fillPath(path, make_hatching(palette))
    if len(fills) == 2:
        painter.setClipRect(QRectF(box.center().x(), box.y(), box.width(), box.height()))
        painter.fillPath(path, QColor(fills[1]))
        painter.setClipping(False)
    plain = palette.muted if text in (PLUS, "∅") else palette.ink
    plain = text_on(fills[0]) if roles else plain
    _draw_text(painter, box.adjusted(px(BESIDE_EYE), 0, -px(EYE), 0) if look.eye else box, text, plain, look.masked)
    if look.eye:
        draw_eye(painter, QRectF(eye_rect(place)), text_on(fills[-1]) if roles else plain, shut=look.masked)
    if look.focused:
        painter.setOpacity(1.0)
        if roles:  # the accent is hard to see on a role's colour
            painter.setPen(QPen(QColor(palette.surface), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(2.5, 2.5, -2.5, -2.5), radius - 2, radius - 2)
        draw_focus_ring(painter, box, palette, radius)
    painter.restore()


def _draw_text(painter: QPainter, box: QRectF, text: str, colour: str, struck: bool) -> None:
    written = font("text")
    written.setStrikeOut(struck)
    painter.setPen(QPen(QColor(colour)))
    painter.setFont(written)
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextSingleLine), text)

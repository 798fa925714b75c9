"""Draws the answers to choose from: a card for each, with its key, its votes, and a tick on the right one."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_content import Choice
from attnlab.figures.slides.slide_layout import GAP, Sheet
from attnlab.figures.slides.slide_text import Block, lay_out_paragraph, make_face
from attnlab.figures.tick import draw_tick

SIZES = (2.55, 2.25, 2.0)
"""Font sizes of an answer, in hundredths of the slide's height; the largest in which all take two lines at most."""
MOST_LINES = 2
PAD, BADGE, BAR, BAR_LINE, BETWEEN, BELOW = 1.75, 2.9, 1.5, 3.3, 1.8, 2.0
"""The padding of a card, its key, the thickness of a bar, the line of a bar, the space between cards and below them."""
VOTES = 4.0
"""The width kept for the number of votes."""
LEAST_CARD = 22.0
"""The least width of a card in a row of all; below it there are two in a row."""
RING, FRAME = 0.37, 0.14
"""The ring around the right answer, 4 px at 1080, and the frame of the others."""
LOW_PAD, LOW_BETWEEN, LOW_BAR = 1.1, 1.4, 0.7
"""The padding of cards in two rows, the space between them, and the thickness of their bars, which lie on their lower
edges, so that the content above keeps its room."""


@dataclass(frozen=True, slots=True)
class Cards:
    """The layout of the cards, the same before and after the reveal: their places, their texts, and what they keep
    free above the foot of the slide, in pixels. The votes of ``low`` cards stand beside the text."""

    places: tuple[QRectF, ...] = ()
    texts: tuple[Block, ...] = ()
    size: float = 0.0
    kept: float = 0.0
    low: bool = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """The answers that do not fit their cards."""
        return () if all(text.fits and text.lines <= MOST_LINES for text in self.texts) else ("an answer to choose",)


def lay_out_cards(sheet: Sheet, choices: tuple[Choice, ...], palette: Palette, *, low: bool = False) -> Cards:
    """Return the cards of the answers, side by side at the foot of the content; those in two rows are always low."""
    if not choices:
        return Cards()
    unit = sheet.unit
    count = len(choices)
    columns = count if (sheet.inner - (count - 1) * BETWEEN * unit) / count >= LEAST_CARD * unit else min(count, 2)
    rows = -(-count // columns)
    low = low or rows > 1
    voted = any(choice.votes is not None for choice in choices)
    pad, between = (LOW_PAD, LOW_BETWEEN) if low else (PAD, BETWEEN)
    width = (sheet.inner - (columns - 1) * between * unit) / columns
    room = width - (2 * pad + BADGE + 1.2 + VOTES * (low and voted)) * unit
    texts, size = _fit_texts(choices, room, sheet, palette)
    line = max(*(text.height for text in texts), BADGE * unit)
    height = 2 * pad * unit + line + (LOW_BAR if low else BAR_LINE + 0.9) * unit * voted
    whole = rows * height + (rows - 1) * between * unit
    top = sheet.foot - whole - BELOW * unit
    places = tuple(
        QRectF(
            sheet.left + (i % columns) * (width + between * unit),
            top + (i // columns) * (height + between * unit),
            width,
            height,
        )
        for i in range(count)
    )
    return Cards(places, texts, size, whole + (GAP + BELOW) * unit, low)


def _fit_texts(
    choices: tuple[Choice, ...], room: float, sheet: Sheet, palette: Palette
) -> tuple[tuple[Block, ...], float]:
    zoom = min(max(sheet.zoom, 0.9), 1.3)
    for share in SIZES:
        size = share * zoom * sheet.unit
        texts = tuple(lay_out_paragraph(choice.runs, size, room, palette) for choice in choices)
        if all(text.fits and text.lines <= MOST_LINES for text in texts):
            break
    return texts, size


def draw_cards(
    painter: QPainter, cards: Cards, choices: tuple[Choice, ...], sheet: Sheet, palette: Palette, *, answered: bool
) -> tuple[str, ...]:
    """Draw the cards, when ``answered`` with the right one marked and the others faded; return what does not fit."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    total = sum(choice.votes or 0 for choice in choices)
    for index, (choice, place, text) in enumerate(zip(choices, cards.places, cards.texts, strict=True)):
        right = answered and choice.right
        _draw_ground(painter, place, sheet, palette, right=right)
        pad = (LOW_PAD if cards.low else PAD) * sheet.unit
        badge = QRectF(place.x() + pad, place.y() + pad, *(2 * [BADGE * sheet.unit]))
        _draw_badge(painter, badge, str(index + 1), cards.size, palette, right=right)
        down = badge.center().y() - 0.46 * text.height / text.lines
        ink = palette.muted if answered and not right else palette.ink
        text.draw(painter, badge.right() + 1.2 * sheet.unit, down, ink)
        if choice.votes is not None:
            share = choice.votes / total if total else 0.0
            colour = palette.make_paler(palette.accent) if answered and not right else palette.accent
            draw = _draw_low_votes if cards.low else _draw_votes
            draw(painter, place, choice.votes, share, colour, cards.size, sheet, palette)
    painter.restore()
    return cards.left_out


def _draw_ground(painter: QPainter, place: QRectF, sheet: Sheet, palette: Palette, *, right: bool) -> None:
    radius, width = 1.3 * sheet.unit, (RING if right else FRAME) * sheet.unit
    painter.setPen(QPen(QColor(palette.good if right else palette.hairline), max(width, 1.0)))
    painter.setBrush(QColor(palette.surface))
    painter.drawRoundedRect(place, radius, radius)


def _draw_badge(painter: QPainter, place: QRectF, key: str, size: float, palette: Palette, *, right: bool) -> None:
    """Draw the key that votes for an answer; on the right one a tick."""
    radius = 0.2 * place.height()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.good if right else palette.control))
    painter.drawRoundedRect(place, radius, radius)
    if not right:
        painter.setFont(make_face(0.9 * size, bold=True))
        painter.setPen(QColor(palette.ink))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), key)
        return
    draw_tick(painter, place, palette.surface)


def _draw_votes(
    painter: QPainter,
    place: QRectF,
    votes: int,
    share: float,
    colour: str,
    size: float,
    sheet: Sheet,
    palette: Palette,
) -> None:
    """Draw the share of all votes as a bar, and their number at its right."""
    unit = sheet.unit
    line = QRectF(place.x() + PAD * unit, place.bottom() - (PAD + BAR_LINE) * unit, 0.0, BAR_LINE * unit)
    line.setRight(place.right() - PAD * unit)
    font = _write_votes(painter, line, votes, size, palette)
    lane = QRectF(line.x(), line.center().y() - BAR * unit / 2, line.width(), BAR * unit)
    lane.setRight(line.right() - max(QFontMetricsF(font).horizontalAdvance("000"), VOTES * unit) - unit)
    _draw_lane(painter, lane, share, colour, palette)


def _draw_low_votes(
    painter: QPainter,
    place: QRectF,
    votes: int,
    share: float,
    colour: str,
    size: float,
    sheet: Sheet,
    palette: Palette,
) -> None:
    """Draw the number of votes at the right of the text, and their share as a bar below it."""
    unit = sheet.unit
    inside = place.adjusted(LOW_PAD * unit, LOW_PAD * unit, -LOW_PAD * unit, 0.0)
    _write_votes(painter, QRectF(inside.topLeft(), QSizeF(inside.width(), BADGE * unit)), votes, size, palette)
    lane = QRectF(inside.x(), place.bottom() - (0.6 + LOW_BAR) * unit, inside.width(), LOW_BAR * unit)
    _draw_lane(painter, lane, share, colour, palette)


def _write_votes(painter: QPainter, line: QRectF, votes: int, size: float, palette: Palette) -> QFont:
    """Write the number of votes at the right of a line; return its font."""
    font = make_face(size, bold=True)
    painter.setFont(font)
    painter.setPen(QColor(palette.ink))
    painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), str(votes))
    return font


def _draw_lane(painter: QPainter, lane: QRectF, share: float, colour: str, palette: Palette) -> None:
    """Draw an empty bar and the share of it that is full."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.control))
    painter.drawRoundedRect(lane, lane.height() / 2, lane.height() / 2)
    if share:
        filled = QRectF(lane.topLeft(), lane.bottomRight())
        filled.setWidth(max(share * lane.width(), lane.height()))
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(filled, lane.height() / 2, lane.height() / 2)

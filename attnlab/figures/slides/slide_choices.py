"""Draws the answers to choose from: a card for each, with its key, its votes, and a tick on the right one."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_content import Choice
from attnlab.figures.slides.slide_layout import GAP, Sheet
from attnlab.figures.slides.slide_side import make_paler
from attnlab.figures.slides.slide_text import Block, lay_out_paragraph, make_face
from attnlab.figures.tick import draw_tick

SIZES = (2.55, 2.25, 2.0)
"""Font sizes of an answer, in hundredths of the slide's height; the largest in which all take two lines at most."""
MOST_LINES = 2
PAD, BADGE, BAR, BAR_LINE, BETWEEN, BELOW = 1.75, 2.9, 1.5, 3.3, 1.8, 2.0
"""The padding of a card, its key, the thickness of a bar, the line of a bar, the space between cards and below them."""
LEAST_CARD = 22.0
"""The least width of a card in a row of all; below it there are two in a row."""
RING, FRAME = 0.37, 0.14
"""The ring around the right answer, 4 px at 1080, and the frame of the others."""


@dataclass(frozen=True, slots=True)
class Cards:
    """The layout of the cards, the same before and after the reveal: their places, their texts, and what they keep
    free above the foot of the slide, in pixels."""

    places: tuple[QRectF, ...] = ()
    texts: tuple[Block, ...] = ()
    size: float = 0.0
    kept: float = 0.0

    @property
    def left_out(self) -> tuple[str, ...]:
        """The answers that do not fit their cards."""
        return () if all(text.fits and text.lines <= MOST_LINES for text in self.texts) else ("an answer to choose",)


def lay_out_cards(sheet: Sheet, choices: tuple[Choice, ...], palette: Palette) -> Cards:
    """Return the cards of the answers, side by side at the foot of the content."""
    if not choices:
        return Cards()
    unit = sheet.unit
    count = len(choices)
    columns = count if (sheet.inner - (count - 1) * BETWEEN * unit) / count >= LEAST_CARD * unit else min(count, 2)
    width = (sheet.inner - (columns - 1) * BETWEEN * unit) / columns
    room = width - (2 * PAD + BADGE + 1.2) * unit
    texts, size = _fit_texts(choices, room, sheet, palette)
    line = max(*(text.height for text in texts), BADGE * unit)
    voted = any(choice.votes is not None for choice in choices)
    height = 2 * PAD * unit + line + (BAR_LINE + 0.9) * unit * voted
    rows = -(-count // columns)
    whole = rows * height + (rows - 1) * BETWEEN * unit
    top = sheet.foot - whole - BELOW * unit
    places = tuple(
        QRectF(
            sheet.left + (i % columns) * (width + BETWEEN * unit),
            top + (i // columns) * (height + BETWEEN * unit),
            width,
            height,
        )
        for i in range(count)
    )
    return Cards(places, texts, size, whole + (GAP + BELOW) * unit)


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
        badge = QRectF(place.x() + PAD * sheet.unit, place.y() + PAD * sheet.unit, *(2 * [BADGE * sheet.unit]))
        _draw_badge(painter, badge, str(index + 1), cards.size, palette, right=right)
        down = badge.center().y() - 0.46 * text.height / text.lines
        ink = palette.muted if answered and not right else palette.ink
        text.draw(painter, badge.right() + 1.2 * sheet.unit, down, ink)
        if choice.votes is not None:
            share = choice.votes / total if total else 0.0
            colour = make_paler(palette.accent, palette.ground) if answered and not right else palette.accent
            _draw_votes(painter, place, choice.votes, share, colour, cards.size, sheet, palette)
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
    font = make_face(size, bold=True)
    line = QRectF(place.x() + PAD * unit, place.bottom() - (PAD + BAR_LINE) * unit, 0.0, BAR_LINE * unit)
    line.setRight(place.right() - PAD * unit)
    painter.setFont(font)
    painter.setPen(QColor(palette.ink))
    painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), str(votes))
    lane = QRectF(line.x(), line.center().y() - BAR * unit / 2, line.width(), BAR * unit)
    lane.setRight(line.right() - max(QFontMetricsF(font).horizontalAdvance("000"), 4 * unit) - unit)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.control))
    painter.drawRoundedRect(lane, lane.height() / 2, lane.height() / 2)
    if share:
        filled = QRectF(lane.topLeft(), lane.bottomRight())
        filled.setWidth(max(share * lane.width(), lane.height()))
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(filled, lane.height() / 2, lane.height() / 2)

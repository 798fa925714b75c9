"""Draws the right side of a slide: the arithmetic of a cell in large type, and its row as bars below."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_content import Bar, BarRow, Runs
from attnlab.figures.slides.slide_layout import Box, Outcome, Sheet, choose_bars
from attnlab.figures.slides.slide_text import Block, draw_cover, lay_out_paragraph, make_face
from attnlab.figures.text import elide_text

ROW_HEIGHT, LEAST_ROW = 5.6, 1.32
"""The height of a bar: the maximum in hundredths of the slide's height, the minimum in font sizes."""
ARROW = 11.0
"""The space for the arrow between two rows, in hundredths of the slide's height."""
MOST_BARS = 12
"""A row with at most this many bars is shown in full before the arithmetic gets more space."""


def draw_side(
    painter: QPainter,
    box: Box,
    arithmetic: tuple[tuple[Runs, ...], ...],
    row: BarRow | None,
    sheet: Sheet,
    palette: Palette,
    *,
    covered: bool = False,
    end: tuple[Runs, ...] = (),
) -> Outcome:
    """Draw arithmetic and bars. ``covered`` arithmetic only keeps its place.

    ``end`` is the arithmetic at the end of a walk by terms, whose type is used from the first term on.
    """
    y = box.y
    outcome = Outcome()
    if arithmetic:
        laid = choose_form(arithmetic, box, row, sheet, palette, end)
        if laid is None and row is None:
            return Outcome(("the arithmetic",))
        laid = laid or []  # the value stands in the row
        outcome += Outcome(detail=(sum(each.letters for each in laid),))
        for each in laid:
            if not covered:
                each.draw(painter, box.x, y, palette.ink)
            y += each.height
        y += 2.2 * sheet.unit if laid else 0
    if row is not None:
        outcome += draw_row(painter, Box(box.x, y, box.width, box.bottom - y), row, sheet, palette)
    return outcome


def choose_form(
    ways: tuple[tuple[Runs, ...], ...],
    box: Box,
    row: BarRow | None,
    sheet: Sheet,
    palette: Palette,
    end: tuple[Runs, ...] = (),
) -> list[Block] | None:
    """Return the fullest form of the arithmetic that fits beside a row, in the largest type in which it fits.

    Enlarged type takes no term away: a form that only fits in the usual size is written in that.
    """
    free = box.height - _measure_bars(row, sheet)
    height = box.height if row is None else min(max(free, 0.16 * box.height), 0.42 * box.height)
    sizes: tuple[float, ...] = (1.24 * sheet.body, sheet.body)
    if sheet.body > sheet.usual.body:
        sizes = (*sizes, 1.24 * sheet.usual.body, sheet.usual.body)
    if end:
        height, sizes = free, next(((size,) for size in sizes if _fits(end, size, box, free, palette)), sizes[-1:])
    for index, lines in enumerate(ways):
        for size in sizes:
            room = height if index < len(ways) - 1 or row is not None else box.height
            if _fits(lines, size, box, room, palette):
                return _lay_out(lines, size, box, palette)
    return None


def _measure_bars(row: BarRow | None, sheet: Sheet) -> float:
    """Return the height that the bars of a short row need."""
    if row is None:
        return 0.0
    return min(len(row.bars), MOST_BARS) * LEAST_ROW * sheet.usual.body + 1.9 * sheet.small + 2.2 * sheet.unit


def _fits(lines: tuple[Runs, ...], size: float, box: Box, room: float, palette: Palette) -> bool:
    laid = _lay_out(lines, size, box, palette)
    return sum(each.height for each in laid) <= room and all(each.fits for each in laid)


def _lay_out(lines: tuple[Runs, ...], size: float, box: Box, palette: Palette) -> list[Block]:
    return [lay_out_paragraph(line, size, box.width, palette) for line in lines]


def draw_pair(painter: QPainter, box: Box, pair: tuple[BarRow, BarRow], sheet: Sheet, palette: Palette) -> Outcome:
    """Draw a row as bars, and beside it the row that is computed from it, with an arrow between them."""
    gap = ARROW * sheet.unit
    width = (box.width - gap) / 2
    outcome = Outcome()
    room = (box.height - 1.9 * sheet.small) / max(len(row.bars) for row in pair)
    size = max(min(sheet.body, room / LEAST_ROW), sheet.least_body)  # all bars, rather than large ones
    for row, x in zip(pair, (box.x, box.right - width), strict=True):
        place = Box(x, box.y, width, box.height)
        outcome += draw_row(painter, place, row, sheet, palette, size=size, chosen_by=pair[0])
    bars = min(max(len(row.bars) for row in pair) * ROW_HEIGHT * sheet.unit, box.height - 1.9 * sheet.small)
    painter.setFont(make_face(1.5 * sheet.body))
    painter.setPen(QColor(palette.muted))
    arrow = QRectF(box.x + width, box.y + 1.9 * sheet.small, gap, bars)
    painter.drawText(arrow, int(Qt.AlignmentFlag.AlignCenter), "→")
    return outcome


def draw_row(
    painter: QPainter,
    box: Box,
    row: BarRow,
    sheet: Sheet,
    palette: Palette,
    *,
    size: float = 0.0,
    chosen_by: BarRow | None = None,
) -> Outcome:
    """Draw a row as bars; if it is too long, the longest bars and the number of the others.

    ``size`` is the font size, by default that of running text. ``chosen_by`` is the row whose longest bars are drawn:
    those of a covered row would tell its largest numbers.
    """
    title = 1.9 * sheet.small
    size = size or _fit_bars(len(row.bars), box.height - title, sheet)
    pen_font = make_face(sheet.small)
    painter.setFont(pen_font)
    painter.setPen(QColor(palette.muted))
    painter.drawText(
        QRectF(box.x, box.y, box.width, title),
        int(Qt.AlignmentFlag.AlignVCenter),
        elide_text(row.title, pen_font.toString(), int(box.width)),
    )
    room = int((box.height - title) // (LEAST_ROW * size))
    if room < 1:
        return Outcome(("the row as bars",))
    most = room if len(row.bars) <= room else room - 1
    chosen = (chosen_by or row).bars
    current = next((i for i, bar in enumerate(chosen) if bar.current), None)
    which = choose_bars([bar.value for bar in chosen], current, most)
    high = min((box.height - title) / (len(which) + (len(which) < len(row.bars))), ROW_HEIGHT * sheet.unit)
    labels, ends, missing = _measure_widths(row, which, size, box.width)
    y = box.y + title
    for index in which:
        _draw_bar(painter, Box(box.x, y, box.width, high), row, row.bars[index], (labels, ends), size, palette)
        y += high
    if len(which) < len(row.bars):
        painter.setFont(make_face(size))
        painter.setPen(QColor(palette.muted))
        more = f"and {len(row.bars) - len(which)} more"
        painter.drawText(QRectF(box.x, y, box.width, high), int(Qt.AlignmentFlag.AlignVCenter), more)
    return Outcome(missing, (len(which),))


def _fit_bars(count: int, height: float, sheet: Sheet) -> float:
    """Return the size of running text, but enlarged only as far as all bars have room."""
    return max(min(sheet.body, height / count / LEAST_ROW), sheet.usual.body)


def _measure_widths(row: BarRow, which: list[int], size: float, room: float) -> tuple[float, float, tuple[str, ...]]:
    """Return the widths of labels and of numbers, and the labels that must be shortened."""
    bold = QFontMetricsF(make_face(size, bold=True))
    shown = [row.bars[i] for i in which]
    labels = max((bold.horizontalAdvance(" ".join(bar.label.split()) or "∅") for bar in shown), default=0.0)
    ends = max((bold.horizontalAdvance(bar.held or bar.text) for bar in shown), default=0.0)
    most = min(0.42 * room, room - ends - 3 * size)
    long = () if labels <= most else (f"a label of “{row.title}”",)
    return min(labels, most), ends, long


def _draw_bar(
    painter: QPainter, box: Box, row: BarRow, bar: Bar, widths: tuple[float, float], size: float, palette: Palette
) -> None:
    font = make_face(size, bold=bar.current)
    middle = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
    painter.setFont(font)
    painter.setPen(QColor(palette.muted if bar.faint else palette.ink))
    rect = QRectF(box.x, box.y, box.width, box.height)
    label = elide_text(bar.label, font.toString(), int(widths[0]) + 1)
    painter.drawText(rect, middle | int(Qt.AlignmentFlag.AlignLeft), label)
    if bar.held:
        place = QRectF(rect.right() - widths[1], rect.y(), widths[1], rect.height())
        draw_cover(painter, place, make_face(size, bold=True), palette)
    else:
        painter.setPen(QColor(palette.muted if bar.faint or bar.value is None else palette.ink))
        painter.drawText(rect, middle | int(Qt.AlignmentFlag.AlignRight), bar.text)
    gap = 0.7 * size
    lane = Box(box.x + widths[0] + gap, box.y, box.width - widths[0] - widths[1] - 2 * gap, box.height)
    _draw_length(painter, lane, row, bar, min(0.95 * size, 0.66 * box.height), palette)


def _draw_length(painter: QPainter, lane: Box, row: BarRow, bar: Bar, thick: float, palette: Palette) -> None:
    """Draw a number's bar from 0, over the track if its row has one; without a number, a thin line at 0."""
    top = lane.y + lane.height / 2 - thick / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    if row.track or bar.held:
        # framed rather than filled with the hairline, which is darker than the bars in high contrast
        line = max(thick / 16, 1.0)
        painter.setPen(QPen(QColor(palette.hairline), line))
        painter.setBrush(QColor(palette.control))
        track = QRectF(lane.x, top, lane.width, thick).adjusted(line / 2, line / 2, -line / 2, -line / 2)
        painter.drawRoundedRect(track, thick / 5, thick / 5)
        painter.setPen(Qt.PenStyle.NoPen)
    if not bar.held:
        _draw_share(painter, lane, row, bar, top, thick, palette)
    painter.restore()


def _draw_share(
    painter: QPainter, lane: Box, row: BarRow, bar: Bar, top: float, thick: float, palette: Palette
) -> None:
    zero = 0.5 if row.signed else 0.0
    share = 0.0 if bar.value is None else max(min(bar.value / row.limit, 1.0), -1.0) * (1 - zero)
    start, end = sorted((zero, zero + share))
    length = max((end - start) * lane.width, max(thick / 12, 1.0))
    colour = palette.role(row.role) if bar.current else palette.make_paler(palette.role(row.role))
    if bar.value is None:
        colour = palette.hatch
    painter.setBrush(QColor(colour))
    radius = min(thick / 5, length / 2)
    painter.drawRoundedRect(QRectF(lane.x + start * lane.width, top, length, thick), radius, radius)

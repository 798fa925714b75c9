"""Draws a slide on any painter, for screen or paper: text, maps, arithmetic, bars and progress. It returns the parts
that did not fit, so that tests can check every slide."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from attnlab.figures.layout import Grid
from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_circles import CirclesLook
from attnlab.figures.slides.lens_painter import draw_lens
from attnlab.figures.slides.slide_choices import draw_cards, lay_out_cards
from attnlab.figures.slides.slide_content import Paragraph, Run, SlideContent
from attnlab.figures.slides.slide_layout import (
    FOOT_LINE,
    GAP,
    LEAST_PART,
    LEAST_TABLE,
    TOP,
    Box,
    Outcome,
    Sheet,
    lay_out_columns,
    split_row,
    split_table,
    stack_boxes,
    stack_columns,
)
from attnlab.figures.slides.slide_maps import MAIN, ROOMY, ROOMY_SOURCE, SOURCE, Formulas, MapType, draw_map
from attnlab.figures.slides.slide_pictures import WIDTH, draw_pictures, find_pictures_end
from attnlab.figures.slides.slide_side import draw_pair, draw_side
from attnlab.figures.slides.slide_text import Block, Text, draw_line, lay_out_paragraph, make_face

TEXT_EM = 62
"""The longest line of running text, in font sizes."""
MOST_SEGMENTS = 48
MOST_NUMBERED, MOST_BESIDE = 8, 6
"""The columns of sources that get the width for their numbers, and of the map beside them."""
WIDE = 1.5
"""On screens narrower than this, in heights, sources get no extra width for their numbers."""
LARGER = (1.5, 1.35, 1.2, 1.1)
"""Sizes of type above the usual one, the largest first: a slide takes the first that is wanted and that fits."""
ALONE = 1.35
"""How much larger text is with nothing below it."""
LENS_SHARE = 0.58
"""The part of the width for a lens beside the text."""
NARROW = 1.2
"""On screens narrower than this, in heights, three columns do not fit: arithmetic replaces the sources, and stands
below an open table."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The result of drawing a slide: the grid of the main map, the free boxes, the parts that did not fit, where the
    content below the text begins, and the box for answers if it is not at the ``side``."""

    grid: Grid | None = None
    table: Box | None = None
    side: Box | None = None
    left_out: tuple[str, ...] = ()
    top: float = 0.0
    answers: Box | None = None


def draw_slide(
    painter: QPainter, sheet: Sheet, content: SlideContent, palette: Palette, formulas: Formulas | None = None
) -> Drawn:
    """Draw a slide on its whole sheet, in larger type only as far as it takes nothing away."""
    if sheet.zoom <= 1:
        return _draw(painter, sheet, content, palette, formulas)[0]
    usual = _draw(painter, sheet.usual, content, palette, formulas)
    for zoom in (each for each in LARGER if each <= sheet.zoom):
        drawn, outcome = _draw(painter, replace(sheet, zoom=zoom), content, palette, formulas)
        if not outcome.loses(usual[1]):
            return drawn
    return _draw(painter, sheet.usual, content, palette, formulas)[0]


def _draw(
    painter: QPainter, sheet: Sheet, content: SlideContent, palette: Palette, formulas: Formulas | None
) -> tuple[Drawn, Outcome]:
    """Draw a slide over anything drawn before."""
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.fillRect(QRectF(sheet.x, sheet.y, sheet.width, sheet.height), QColor(palette.ground))
    outcome = Outcome(_draw_heading(painter, sheet, content, palette))
    _draw_foot(painter, sheet, content, palette)
    if content.choices:
        cards = lay_out_cards(sheet, content.choices, palette, low=content.table)
        outcome += Outcome(draw_cards(painter, cards, content.choices, sheet, palette, answered=content.answered))
        sheet = replace(sheet, kept=cards.kept)
    if content.beside and sheet.width < NARROW * sheet.height:
        content = replace(content, beside=False)
    words = _lay_out_words(sheet, content, palette)
    if content.table and sheet.foot - words.end < (LEAST_TABLE + GAP) * sheet.unit:
        content = replace(content, text=(), answer=(), pictures=())  # the question stays beside the table
        words = _lay_out_words(sheet, content, palette)
    outcome += Outcome(_draw_words(painter, sheet, content, palette, words), (len(content.text),))
    top, y = words.top, words.end
    if content.whole:
        free = lay_out_columns(sheet, top if content.beside else y, sources=False, side=False).main
        if content.beside:
            free = replace(free, x=free.x + free.width * (1 - LENS_SHARE), width=free.width * LENS_SHARE)
        free, answers = _leave_for_answers(sheet, content, free, y) if content.side else (free, None)
        if content.picture is not None:
            look = CirclesLook(content.turned, content.labels, content.answered)
            outcome += Outcome(draw_lens(painter, free, content.picture, sheet, palette, formulas, look))
        return Drawn(side=free, left_out=outcome.left_out, top=free.y, answers=answers), outcome
    if content.main is None and not content.side:
        return Drawn(left_out=outcome.left_out), outcome
    if content.pair is not None and not content.table:
        place = lay_out_columns(sheet, y, sources=False, side=False).main
        outcome += draw_pair(painter, place, content.pair, sheet, palette)
        return Drawn(left_out=outcome.left_out, top=place.y), outcome
    has_side = content.side or bool(content.arithmetic) or content.row is not None
    is_narrow = sheet.width < NARROW * sheet.height
    if has_side and is_narrow:
        content = replace(content, sources=())
    numbered = _count_numbered(content) if sheet.width >= WIDE * sheet.height else 0
    roomy = not has_side and not content.table and not is_narrow
    main_type, source_type = (ROOMY, ROOMY_SOURCE) if roomy else (MAIN, SOURCE)
    parts = lay_out_columns(
        sheet,
        y,
        sources=bool(content.sources),
        side=has_side,
        table=content.table,
        numbered=numbered,
        both=not content.bars_only and (content.row is not None or content.main is None or content.main.square),
        roomy=roomy and sheet.width >= WIDE * sheet.height and _count_across(content) <= MOST_NUMBERED,
    )
    if has_side and content.table and is_narrow:
        parts = stack_columns(sheet, y)
    if parts.main.height < LEAST_PART * sheet.unit:
        outcome += Outcome(("the map below the text",))
    top = parts.main.y
    if _is_row(content):
        above, both = split_row(parts, sheet)
        more, bottom = _draw_sources(painter, above, content, sheet, palette, formulas, SOURCE)
        parts = replace(parts, sources=None, main=replace(both, y=bottom, height=both.bottom - bottom))
        outcome += more
    grid = None
    if content.main is not None:
        grid, more = draw_map(painter, parts.main, content.main, sheet, palette, formulas, main_type)
        outcome += more
    table = None
    if parts.sources is not None:
        table, below = (parts.sources, None) if content.table else (None, parts.sources)
        if content.table and content.sources:
            table, below = split_table(parts.sources, sheet)
        if below is not None:
            outcome += _draw_sources(painter, below, content, sheet, palette, formulas, source_type)[0]
    if parts.side is not None:
        covered, end = content.arithmetic_covered, content.arithmetic_end
        args = (painter, parts.side, content.arithmetic, content.row, sheet, palette)
        outcome += draw_side(*args, covered=covered, end=end)
    return Drawn(grid, table, parts.side, outcome.left_out, top), outcome


def _leave_for_answers(sheet: Sheet, content: SlideContent, free: Box, y: float) -> tuple[Box, Box]:
    """Return the boxes of a lens and of the answers: these stand below the text beside the lens, or right of it."""
    if content.beside:
        top = y + GAP * sheet.unit
        return free, Box(sheet.left, top, free.x - sheet.left - 0.03 * sheet.inner, sheet.foot - top)
    width = (1 - LENS_SHARE) * free.width
    lens = replace(free, width=free.width - width - 0.03 * sheet.inner)
    return lens, Box(free.x + free.width - width, free.y, width, free.height)


def _count_numbered(content: SlideContent) -> int:
    """Return the columns of the sources that get the width for their numbers: a few, beside a map that is not wide; or
    0 for none."""
    columns = max((each.data.values.shape[2] for each in content.sources), default=0)
    across = _count_across(content)
    lines = content.side and content.row is None and content.main is not None and not content.main.square
    most = MOST_NUMBERED if lines or content.bars_only else MOST_BESIDE
    return columns if 4 < columns <= MOST_NUMBERED and across <= most else 0


def _count_across(content: SlideContent) -> int:
    """Return the number of columns of the main maps, side by side."""
    return content.main.data.values.shape[0] * content.main.data.values.shape[2] if content.main is not None else 0


def _is_row(content: SlideContent) -> bool:
    """Return whether the map is one long row: beside its sources, its cells would be too small for numbers."""
    shape = content.main.data.values.shape if content.main is not None else (0, 0, 0)
    return bool(content.sources) and not content.table and shape[:2] == (1, 1) and shape[2] > MOST_BESIDE


def _draw_heading(painter: QPainter, sheet: Sheet, content: SlideContent, palette: Palette) -> tuple[str, ...]:
    """Write the top line: lesson and step, and a note at the right."""
    font = make_face(sheet.small)
    rect = QRectF(sheet.left, sheet.y + TOP * sheet.unit, sheet.inner, 1.4 * sheet.small)
    if content.note:
        bold = make_face(sheet.small, bold=True)
        draw_line(painter, rect, content.note, bold, palette.accent, right=True)
        rect.setWidth(rect.width() - QFontMetricsF(bold).horizontalAdvance(content.note) - sheet.small)
    fits = draw_line(painter, rect, content.heading, font, palette.muted)
    return () if fits else ("the heading",)


@dataclass(frozen=True, slots=True)
class _Words:
    """The title, and below it, from ``top`` to ``end``, the text with question and answer, of which ``shown``
    paragraphs are not covered; None without any."""

    title: Block
    top: float
    end: float
    text: Text | None = None
    shown: int | None = None


def _lay_out_words(sheet: Sheet, content: SlideContent, palette: Palette) -> _Words:
    """Return the layout of the words; the place of an answer that is still covered stays empty."""
    title = _fit_title(content, sheet, palette)
    top = sheet.y + TOP * sheet.unit + 1.9 * sheet.small + title.height + 0.6 * sheet.unit
    ask_runs = content.ask_runs or (Run(content.ask, style="strong"),)
    ask = (Paragraph(ask_runs),) if content.ask else ()
    before = content.text + ask
    paragraphs = before + content.answer
    end = find_pictures_end(sheet, top, content.pictures)
    if not paragraphs:
        return _Words(title, top, end)
    text = _fit_text(paragraphs, sheet, content, palette, sheet.foot - top)
    return _Words(title, top, max(top + text.height, end), text, None if content.answered else len(before))


def _draw_words(
    painter: QPainter, sheet: Sheet, content: SlideContent, palette: Palette, words: _Words
) -> tuple[str, ...]:
    """Write title, text, question and answer, and draw the pictures beside them; return what did not fit."""
    title, text, y = words.title, words.text, words.top
    title.draw(painter, sheet.left, y - title.height - 0.6 * sheet.unit, palette.ink)
    missing: tuple[str, ...] = () if title.fits and title.lines <= 2 else ("the title",)
    draw_pictures(painter, sheet, y, content.pictures, palette)
    if text is None:
        return missing
    text.draw(painter, sheet.left, y, palette.muted, words.shown)
    return missing if y + text.height <= sheet.foot and text.fits else (*missing, "the text")


def _fit_title(content: SlideContent, sheet: Sheet, palette: Palette) -> Block:
    """Return the title on one line if possible, else in the size in which it takes two."""
    runs, sizes = content.title_runs or (Run(content.title),), sheet.title_sizes()
    laid = [lay_out_paragraph(runs, size, sheet.inner, palette, bold=True) for size in sizes]
    one = (each for each in laid[:2] if each.lines == 1)
    two = (each for each in laid[1:] if each.lines == 2)
    return next(one, None) or next(two, None) or laid[-1]


def _fit_text(
    paragraphs: tuple[Paragraph, ...], sheet: Sheet, content: SlideContent, palette: Palette, room: float
) -> Text:
    """Return the text, larger if nothing is below it, smaller if the content below needs the space."""
    has_fields = bool(content.ask) and not content.choices  # below the text, until the answers are shown
    alone = content.main is None and not has_fields and (not content.whole or content.beside)
    steps = (sheet.zoom, *(zoom for zoom in LARGER if zoom < sheet.zoom), 1.0)
    wanted = {max(zoom * sheet.usual.body, sheet.least_body) for zoom in steps}
    wanted |= {ALONE * size for size in wanted} if alone else set()
    sizes = (*sorted(wanted, reverse=True), sheet.least_body)
    kept = 0.0 if alone else (LEAST_PART + 14 + GAP) * sheet.unit
    width = sheet.inner * (1 - (LENS_SHARE if content.beside else WIDTH) - 0.03)
    width = width if content.beside or content.pictures else sheet.inner
    for size in sizes:
        laid = Text(paragraphs, size, min(width, TEXT_EM * size), palette)
        if laid.height <= room - kept and laid.fits:
            return laid
    return Text(paragraphs, sizes[-1], width, palette)


def _draw_sources(
    painter: QPainter,
    box: Box,
    content: SlideContent,
    sheet: Sheet,
    palette: Palette,
    formulas: Formulas | None,
    kind: MapType,
) -> tuple[Outcome, float]:
    """Draw the sources below one another, under a table side by side; unused space of one goes to the next.

    Returns the outcome, and the y below the sources.
    """
    outcome = Outcome()
    if content.table:
        gap = GAP * sheet.unit
        width = (box.width - gap * (len(content.sources) - 1)) / len(content.sources)
        for index, each in enumerate(content.sources):
            place = Box(box.x + index * (width + gap), box.y, width, box.height)
            outcome += draw_map(painter, place, each, sheet, palette, formulas, kind)[1]
        return outcome, box.bottom
    for left, each in zip(range(len(content.sources), 0, -1), content.sources, strict=True):
        place = stack_boxes(box, left, 2 * sheet.unit)[0]
        grid, more = draw_map(painter, place, each, sheet, palette, formulas, kind)
        y = grid.y + grid.height + 2.5 * sheet.unit
        box, outcome = Box(box.x, y, box.width, box.bottom - y), outcome + more
    return outcome, box.y


def _draw_foot(painter: QPainter, sheet: Sheet, content: SlideContent, palette: Palette) -> None:
    """Draw the progress of the lesson, as many hints as fit, and before them the key to press."""
    middle = sheet.y + FOOT_LINE * sheet.unit
    end = _draw_segments(painter, sheet, content, palette, middle)
    font = make_face(0.86 * sheet.small)
    metrics, gap = QFontMetricsF(font), 1.5 * sheet.small
    x = sheet.left + sheet.inner
    bold = make_face(0.86 * sheet.small, bold=True)
    prompt = QFontMetricsF(bold).horizontalAdvance(content.prompt) + 1.6 * sheet.small if content.prompt else 0.0
    end += prompt
    painter.setFont(font)
    painter.setPen(QColor(palette.muted))
    hints = list(content.keys)
    while hints and end + gap > x - metrics.horizontalAdvance("".join(hints)) - gap * (len(hints) - 1):
        hints.pop()
    for hint in reversed(hints):
        x -= metrics.horizontalAdvance(hint)
        painter.drawText(int(x), round(middle + metrics.capHeight() / 2), hint)
        x -= gap
    if prompt:
        _draw_prompt(painter, QRectF(x - prompt, middle - sheet.small, prompt, 2 * sheet.small), content, bold, palette)


def _draw_prompt(painter: QPainter, place: QRectF, content: SlideContent, font: QFont, palette: Palette) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.accent))
    painter.drawRoundedRect(place, 0.2 * place.height(), 0.2 * place.height())
    painter.setFont(font)
    painter.setPen(QColor(palette.on_accent))
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), content.prompt)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _draw_segments(painter: QPainter, sheet: Sheet, content: SlideContent, palette: Palette, middle: float) -> float:
    """Draw a short bar for each step, filled up to the current one; return the x of their end."""
    count = min(content.count, MOST_SEGMENTS)
    if not count:
        return sheet.left
    pitch = min(5 * sheet.unit, 0.44 * sheet.inner / count)
    high, done = 0.55 * sheet.unit, content.done * count / content.count
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    for index in range(count):
        painter.setBrush(QColor(palette.accent if index < done else palette.hatch))
        width = pitch - max(0.12 * pitch, 1)
        painter.drawRoundedRect(QRectF(sheet.left + index * pitch, middle - high / 2, width, high), high / 2, high / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    return sheet.left + count * pitch

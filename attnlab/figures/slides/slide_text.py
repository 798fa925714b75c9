"""Running text of slides: paragraphs laid out once for a width and drawn as text on any painter."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from math import ceil
from typing import Any

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)

from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_content import Paragraph, Run, Runs

RAISED = {
    "sup": QTextCharFormat.VerticalAlignment.AlignSuperScript,
    "sub": QTextCharFormat.VerticalAlignment.AlignSubScript,
}
RAISED_SIZE = 1.2
"""Qt draws superscripts at two thirds of the font size, too small for the last row, so they are enlarged."""
MONOSPACE = ["DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", "monospace"]
LEADING = 1.18
HOLD, HOLD_AIR = "\u00a0", 0.08
"""The space that keeps the place of a number, and its air at both sides in font sizes."""
LEAST_PX = 3
"""The smallest font size at which Qt can draw indices."""

_TABULAR: ContextVar[bool] = ContextVar("tabular", default=True)


@contextmanager
def use_plain_digits() -> Iterator[None]:
    """Use plain digits inside the block, because tabular ones cannot be searched or copied in a PDF."""
    token = _TABULAR.set(False)
    try:
        yield
    finally:
        _TABULAR.reset(token)


def make_face(size_px: float, *, bold: bool = False) -> QFont:
    """Return the program's font in a size; ``bold`` is for titles."""
    made = QFont(QGuiApplication.font())
    made.setPixelSize(max(LEAST_PX, round(size_px)))
    made.setWeight(QFont.Weight.Bold if bold else QFont.Weight.Normal)
    if not _TABULAR.get():
        made.setFeature(QFont.Tag("tnum"), 0)
        made.setFeature(QFont.Tag("calt"), 0)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


class Block:
    """A paragraph laid out for a width, with the resulting ``width``, ``height`` and number of ``lines``.

    A held number is one space of its width, over which the number or its cover is drawn: so the lines are the same
    before and after the reveal, and no covered number is in a file.
    """

    def __init__(self, runs: Runs, font: QFont, width: float, palette: Palette) -> None:
        text = "".join(HOLD if run.held else run.text for run in runs).replace("\n", " ")
        self._runs, self._font, self._palette = runs, font, palette
        self._layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        self._layout.setTextOption(option)
        self._layout.setCacheEnabled(True)
        self._layout.setFormats(_make_formats(runs, font, palette))
        self._break(max(width, 1.0), level=any(run.style in RAISED for run in runs))
        self.fits = self.width <= width + 0.5

    def _break(self, width: float, *, level: bool) -> None:
        """Break the text into lines; ``level`` keeps their baselines as far apart as without indices."""
        y, self.width, self.lines = 0.0, 0.0, 0
        metrics = QFontMetricsF(self._font)
        usual, ascent = ceil(metrics.height()), metrics.ascent()
        self._layout.beginLayout()
        while (line := self._layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y - (line.ascent() - ascent if level else 0.0)))
            y += (usual if level else line.height()) * LEADING
            self.width = max(self.width, line.naturalTextWidth())
            self.lines += 1
        self._layout.endLayout()
        self.height = y

    @property
    def letters(self) -> int:
        """The number of its letters."""
        return len(self._layout.text())

    def draw(self, painter: QPainter, x: float, y: float, colour: str) -> None:
        """Draw with the top left corner at x, y; runs without a colour are in ``colour``."""
        painter.setPen(QColor(colour))
        self._layout.draw(painter, QPointF(x, y))
        at = 0
        for run in self._runs:
            if run.held:
                self._draw_held(painter, run, at, QPointF(x, y))
            at += 1 if run.held else len(run.text)

    def _draw_held(self, painter: QPainter, run: Run, at: int, corner: QPointF) -> None:
        """Draw a number that a reveal uncovers, or its cover."""
        line = self._layout.lineForTextPosition(at)
        if not line.isValid():
            return
        left, right = _find_x(line, at), _find_x(line, at + 1)
        font = _make_bold(self._font)
        baseline = corner.y() + line.y() + line.ascent()
        if run.covered:
            draw_cover(
                painter,
                QRectF(corner.x() + left, corner.y() + line.y(), right - left, line.height()),
                font,
                self._palette,
            )
            return
        painter.setFont(font)
        painter.setPen(QColor(self._palette.role_ink(run.role) if run.role else self._palette.ink))
        painter.drawText(QPointF(corner.x() + left + HOLD_AIR * font.pixelSize(), baseline), run.held)


def draw_cover(painter: QPainter, place: QRectF, font: QFont, palette: Palette) -> None:
    """Draw the cover of a number in the middle of its place: a block with a question mark."""
    size = font.pixelSize()
    high = min(1.2 * size, place.height())
    block = QRectF(place.x(), place.center().y() - high / 2, place.width(), high)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.cover))
    painter.drawRoundedRect(block, 0.16 * size, 0.16 * size)
    painter.setPen(QColor(palette.on_cover))
    smaller = QFont(font)
    smaller.setPixelSize(max(LEAST_PX, round(0.8 * size)))
    painter.setFont(smaller)
    metrics = QFontMetricsF(smaller)
    x = block.center().x() - metrics.horizontalAdvance("?") / 2
    painter.drawText(QPointF(x, block.center().y() + metrics.capHeight() / 2), "?")
    painter.restore()


def _find_x(line: QTextLine, at: int) -> float:
    """Return the x of a character; PySide returns it with the position, unlike its types say."""
    found: Any = line.cursorToX(at)
    return float(found[0])


def _make_bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    return bold


def _make_formats(runs: Runs, font: QFont, palette: Palette) -> list[QTextLayout.FormatRange]:
    found, at = [], 0
    for run in runs:
        each = QTextLayout.FormatRange()
        each.start, each.length = at, 1 if run.held else len(run.text)
        each.format = _make_format(run, font, palette)
        found.append(each)
        at += each.length
    return found


def _make_format(run: Run, font: QFont, palette: Palette) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setFont(font)
    if run.held:
        wide = QFont(font)
        room = QFontMetricsF(_make_bold(font)).horizontalAdvance(run.held) + 2 * HOLD_AIR * font.pixelSize()
        wide.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, room - QFontMetricsF(font).horizontalAdvance(HOLD))
        made.setFont(wide)
        return made
    if run.style in RAISED:
        larger = QFont(font)
        larger.setPixelSize(round(font.pixelSize() * RAISED_SIZE))
        made.setFont(larger)
        made.setVerticalAlignment(RAISED[run.style])
    if run.style in ("strong", "strong italic"):
        made.setFontWeight(QFont.Weight.DemiBold)
        made.setForeground(QColor(palette.ink))
    if run.style in ("italic", "strong italic"):
        made.setFontItalic(True)
    elif run.style == "code":
        made.setFontFamilies(MONOSPACE)
        made.setForeground(QColor(palette.ink))
    elif run.style == "link":
        made.setFontUnderline(True)
    elif run.style == "muted":
        made.setForeground(QColor(palette.muted))
    if run.role:
        made.setForeground(QColor(palette.role_ink(run.role)))
    if run.aside:
        made.setForeground(QColor(palette.aside))
        made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    return made


@lru_cache(maxsize=1024)
def lay_out_block(runs: Runs, size_px: float, bold: bool, width: float, palette: Palette, face_key: str) -> Block:
    """Return a paragraph laid out for a width; equal arguments share a cached one."""
    return Block(runs, make_face(size_px, bold=bold), width, palette)


def lay_out_paragraph(runs: Runs, size_px: float, width: float, palette: Palette, *, bold: bool = False) -> Block:
    """Return a paragraph laid out for a width in the program's current font."""
    return lay_out_block(
        runs, round(size_px, 2), bold, round(width, 1), palette, f"{QGuiApplication.font().key()} {_TABULAR.get()}"
    )


class Text:
    """Several paragraphs below one another, with indented list items and quotes."""

    def __init__(self, paragraphs: tuple[Paragraph, ...], size_px: float, width: float, palette: Palette) -> None:
        self._indent = 1.5 * size_px
        self._placed: list[tuple[float, Paragraph, Block]] = []
        self._palette, self._size, self._width = palette, size_px, width
        y = 0.0
        before = ""
        for index, each in enumerate(paragraphs):
            laid = lay_out_paragraph(each.runs, size_px, width - self._measure_indent(each), palette)
            if index:
                y += (0.12 if each.mark and before else 0.45) * size_px
            self._placed.append((y, each, laid))
            y, before = y + laid.height, each.mark
        self.height = y
        self.fits = all(laid.fits for _, _, laid in self._placed)

    def draw(self, painter: QPainter, x: float, y: float, colour: str, count: int | None = None) -> None:
        """Draw with the top left corner at x, y: all paragraphs, or the first ``count``."""
        for down, each, laid in self._placed[:count]:
            left = x + each.level * self._indent
            if each.mark:
                mark = lay_out_paragraph((Run(each.mark),), self._size, 2 * self._indent, self._palette)
                mark.draw(painter, left, y + down, colour)
            elif not each.runs:
                painter.setPen(QColor(self._palette.hatch))
                painter.drawLine(QLineF(left, y + down + laid.height / 2, x + self._width, y + down + laid.height / 2))
            laid.draw(painter, x + self._measure_indent(each), y + down, colour)

    def _measure_indent(self, each: Paragraph) -> float:
        """Return how far a paragraph's text is set in; before it stands its mark."""
        return (each.level + bool(each.mark)) * self._indent


def draw_line(painter: QPainter, rect: QRectF, text: str, font: QFont, colour: str, *, right: bool = False) -> bool:
    """Draw one line of text, vertically centred in a rectangle; return whether all of it fits."""
    metrics = QFontMetricsF(font)
    width = metrics.horizontalAdvance(text)
    painter.setFont(font)
    painter.setPen(QColor(colour))
    x = rect.right() - width if right else rect.x()
    painter.drawText(QPointF(x, rect.center().y() + metrics.capHeight() / 2), text)
    return width <= rect.width() + 0.5

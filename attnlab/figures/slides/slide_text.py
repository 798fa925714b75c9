"""Running text of slides: paragraphs laid out once for a width and drawn as text on any painter."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QTextCharFormat,
    QTextLayout,
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
    """A paragraph laid out for a width, with the resulting ``width``, ``height`` and number of ``lines``."""

    def __init__(self, runs: Runs, font: QFont, width: float, palette: Palette) -> None:
        text = "".join(run.text for run in runs).replace("\n", " ")
        self._layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        self._layout.setTextOption(option)
        self._layout.setCacheEnabled(True)
        self._layout.setFormats(_make_formats(runs, font, palette))
        self._break(max(width, 1.0))
        self.fits = self.width <= width + 0.5

    def _break(self, width: float) -> None:
        y, self.width, self.lines = 0.0, 0.0, 0
        self._layout.beginLayout()
        while (line := self._layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y))
            y += line.height() * LEADING
            self.width = max(self.width, line.naturalTextWidth())
            self.lines += 1
        self._layout.endLayout()
        self.height = y

    def draw(self, painter: QPainter, x: float, y: float, colour: str) -> None:
        """Draw with the top left corner at x, y; runs without a colour are in ``colour``."""
        painter.setPen(QColor(colour))
        self._layout.draw(painter, QPointF(x, y))


def _make_formats(runs: Runs, font: QFont, palette: Palette) -> list[QTextLayout.FormatRange]:
    found, at = [], 0
    for run in runs:
        each = QTextLayout.FormatRange()
        each.start, each.length = at, len(run.text)
        each.format = _make_format(run, font, palette)
        found.append(each)
        at += len(run.text)
    return found


def _make_format(run: Run, font: QFont, palette: Palette) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setFont(font)
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
    elif run.style == "muted":
        made.setForeground(QColor(palette.muted))
    if run.role:
        made.setForeground(QColor(palette.role_ink(run.role)))
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

    def draw(self, painter: QPainter, x: float, y: float, colour: str) -> None:
        """Draw with the top left corner at x, y."""
        for down, each, laid in self._placed:
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

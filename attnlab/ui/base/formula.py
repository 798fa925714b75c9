"""Formulas: LaTeX set once by ziamath, then drawn by Qt in any size and colour; a broken one is shown as its text.

Those of the presets are shipped as drawings: to load ziamath and its font would take a tenth of the program's start.
"""

import json
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from attnlab.base import assets
from attnlab.ui.base.theme import font

_EM = 48.0  # the size at which formulas are set, in pixels; drawings are scaled from it
_INK = "#010203"  # a colour used nowhere else, replaced by the one asked for


@dataclass(frozen=True, slots=True)
class _Set:
    """A typeset formula: its drawing, or None for plain text, and its box in units of the font size."""

    drawing: bytes | None
    width: float
    ascent: float
    height: float


def formula_size(latex: str, size_px: float) -> QSizeF:
    """Return the width and height of a formula's box in pixels."""
    known = _set(latex)
    return QSizeF(known.width * size_px, known.height * size_px)


def formula_ascent(latex: str, size_px: float) -> float:
    """Return how far the box reaches above the baseline, in pixels."""
    return _set(latex).ascent * size_px


def is_typeset(latex: str) -> bool:
    """Return whether a formula could be typeset; if not, it is drawn as plain text."""
    return _set(latex).drawing is not None


def draw_formula(
    painter: QPainter,
    at: QPointF,
    latex: str,
    size_px: float,
    colour: str,
    max_width: float | None = None,
    *,
    baseline: bool = False,
) -> float:
    """Draw a formula and return its width in pixels; one wider than ``max_width`` is shrunk to it.

    ``at`` is the box's top left corner, or with ``baseline`` the left end of its baseline. On paper (SVG, PDF) the
    drawing stays a vector.
    """
    known = _set(latex)
    if max_width is not None and known.width * size_px > max_width:
        size_px *= max(max_width, 1.0) / (known.width * size_px)
    top = at.y() - known.ascent * size_px if baseline else at.y()
    rect = QRectF(at.x(), top, known.width * size_px, known.height * size_px)
    if known.drawing is None:
        _draw_plain(painter, rect, known, latex, size_px, colour)
    elif painter.paintEngine().type() == painter.paintEngine().Type.Raster:
        ratio = painter.device().devicePixelRatioF()
        snapped = QPointF(round(rect.x() * ratio) / ratio, round(rect.y() * ratio) / ratio)
        painter.drawImage(snapped, _image(latex, round(size_px * 8) / 8, colour, ratio))
    else:
        _renderer(known.drawing, colour).render(painter, rect)
    return rect.width()


def formula_pixmap(latex: str, size_px: float, colour: str, ratio: float = 1.0) -> QPixmap:
    """Return a formula as a picture with a transparent ground, for labels and menus."""
    return QPixmap.fromImage(_image(latex, size_px, colour, ratio))


@lru_cache(maxsize=512)
def _image(latex: str, size_px: float, colour: str, ratio: float) -> QImage:
    known = _set(latex)
    width, height = known.width * size_px, known.height * size_px
    image = QImage(
        max(1, int(width * ratio) + 1), max(1, int(height * ratio) + 1), QImage.Format.Format_ARGB32_Premultiplied
    )
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    if known.drawing is None:
        _draw_plain(painter, QRectF(0, 0, width, height), known, latex, size_px, colour)
    else:
        _renderer(known.drawing, colour).render(painter, QRectF(0, 0, width, height))
    painter.end()
    return image


def _renderer(drawing: bytes, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(drawing.replace(_INK.encode(), QColor(colour).name().encode())))


def _draw_plain(painter: QPainter, rect: QRectF, known: _Set, latex: str, size_px: float, colour: str) -> None:
    painter.save()
    plain = font("text")
    plain.setPixelSize(max(1, round(size_px)))
    painter.setFont(plain)
    painter.setPen(QColor(colour))
    painter.drawText(QPointF(rect.x(), rect.y() + known.ascent * size_px), latex)
    painter.restore()


@lru_cache(maxsize=1024)
def _set(latex: str) -> _Set:
    try:
        drawing = (_shipped_drawings().get(latex) or typeset(latex)).encode()
    except _refusals():
        return _plain(latex)
    box = QSvgRenderer(QByteArray(drawing)).viewBoxF()
    return _Set(drawing, box.width() / _EM, -box.y() / _EM, box.height() / _EM)


def _plain(latex: str) -> _Set:
    metrics_font = font("text")
    metrics_font.setPixelSize(round(_EM))
    metrics = QFontMetricsF(metrics_font)
    return _Set(None, metrics.horizontalAdvance(latex) / _EM, metrics.ascent() / _EM, metrics.height() / _EM)


@cache
def _shipped_drawings() -> dict[str, str]:
    """Return the drawings of the formulas of all presets, which tools/make_formulas.py writes, by their LaTeX."""
    drawings: dict[str, str] = json.loads(assets.read_text("formulas.json"))
    return drawings


def typeset(latex: str) -> str:
    """Return a formula's drawing as SVG, set at 48 pixels; raises what ziamath raises for LaTeX that is none."""
    # Imported here, as it takes a fifth of a second and must not delay the first numbers.
    with warnings.catch_warnings():
        # WORKAROUND ziamath 0.13 opens its font by importlib.resources.path, which Python 3.11 and 3.12 deprecate.
        warnings.simplefilter("ignore", DeprecationWarning)
        from ziafont.config import config
        from ziamath.zmath import Latex

    config.svg2 = False  # Qt draws <symbol> clipped: ask for plain paths
    return str(Latex(latex, size=_EM, color=_INK, margin=0).svg())


def _refusals() -> tuple[type[Exception], ...]:
    """Return what ziamath and its parsers raise for a formula that is not one; they share no base class."""
    from xml.etree.ElementTree import ParseError

    from latex2mathml import exceptions

    named = tuple(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception))
    return (*named, ParseError, AssertionError, AttributeError, LookupError, TypeError, ValueError)

"""The colour bar of maps: its colours, and the texts at its ends."""

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from attnlab.base.number_text import trim_exponent
from attnlab.figures.cell_numbers import write_cell_text
from attnlab.figures.map_data import MapData
from attnlab.figures.map_painter import to_image
from attnlab.figures.palette import Palette
from attnlab.figures.raster import MAP_OF, colour_cells
from attnlab.figures.scales import DECADES, TO_ONE
from attnlab.figures.text import Pen

BAR_HEIGHT = 4.0
_CURVES = {"sqrt": "√", "log": "log"}
"""What a colour bar says of a scale that is not linear."""


def draw_colour_bar(painter: QPainter, rect: QRectF, data: MapData, palette: Palette, font: QFont) -> None:
    """Draw a colour bar with the smallest, middle and largest value below it, if there is a range between them."""
    low, high = write_colour_ends(data)
    if low == high:
        return
    draw_colour_strip(painter, rect, data.kind, palette)
    draw_colour_ends(painter, rect, data, palette, font)


def draw_colour_strip(painter: QPainter, rect: QRectF, kind: str, palette: Palette) -> None:
    """Draw the colours of a colour bar, which do not depend on the numbers."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(QRectF(rect.x(), rect.y(), rect.width(), BAR_HEIGHT), _make_strip(kind, palette))
    painter.restore()


def draw_colour_ends(
    painter: QPainter, rect: QRectF, data: MapData, palette: Palette, font: QFont, *, curve: bool = True
) -> None:
    """Draw the values below a colour bar, with the ``curve`` of its scale; of maps without a range only the 0."""
    painter.setPen(QColor(palette.muted))
    pen = Pen(painter, font)
    low, high = write_colour_ends(data, curve=curve)
    if _is_zero(data):
        low = high = ""
    ends = (low, "" if MAP_OF[data.kind] == "sequential" else "0", high)
    widths = [pen.width(text) for text in ends]
    if 2 * max(widths[0], widths[2]) + widths[1] + 8 > rect.width():  # drop the 0 in the middle, then the mirrored end
        ends = (ends[0] if widths[0] + widths[2] + 4 <= rect.width() else "", "", ends[2])
    for place, text in zip((0.0, 0.5, 1.0), ends, strict=True):
        pen.draw(rect.x() + place * rect.width(), rect.y() + BAR_HEIGHT + 2, text, place, 0.0)


def write_colour_ends(data: MapData, *, curve: bool = True) -> tuple[str, str]:
    """Return the texts of the smallest and the largest value of the colours, with the ``curve`` of the scale.

    They are written in the power of ten of the maps; signed maps whose numbers are all 0 have no range.
    """
    scale = data.scale
    if _is_zero(data):
        return "0", "0"
    beyond, bend = "≥ " * scale.clipped, f" {_CURVES[scale.curve]}" if curve and scale.curve in _CURVES else ""
    if scale.own:
        return "0" if MAP_OF[data.kind] == "sequential" else "", f"own scales{bend}"
    if MAP_OF[data.kind] != "sequential":
        end = data.limit * data.factor
        return f"{'≤ ' * scale.clipped}{_write_end(-end)}", f"{beyond}{_write_end(end)}{bend}"
    end = data.limit * data.factor
    first = np.format_float_positional(end * 10.0**-DECADES, precision=1, fractional=False, trim="-")
    return f"≤ {first}" if scale.curve == "log" else "0", f"{beyond}{end:.3g}{bend}"


def _is_zero(data: MapData) -> bool:
    """Return whether all numbers of signed maps are 0, so that the end of their scale, 1, is none of theirs."""
    return MAP_OF[data.kind] != "sequential" and data.limit == 1.0 and not data.scale.own and not data.values.any()


def _write_end(value: float) -> str:
    if 0 < abs(value) < 0.01 or abs(value) >= 1e5:
        return trim_exponent(f"{value:.2g}").replace("-", "−")
    return write_cell_text(value, 2 if abs(value) < 100 else 0)


@lru_cache(maxsize=8)
def _make_strip(kind: str, palette: Palette) -> QImage:
    """Return a colour bar one pixel high."""
    values = np.linspace(0.0 if MAP_OF[kind] == "sequential" else -1.0, 1.0, 128, dtype=np.float32)
    return to_image(np.ascontiguousarray(colour_cells(values[None, None], kind, TO_ONE, palette, None)[0])).copy()

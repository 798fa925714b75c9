"""The frames of a film: the figure of each state below the swept value, all with one size and one colour scale."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from attnlab.base.errors import AttnlabError
from attnlab.figures.palette import Palette, colour_map
from attnlab.figures.palette import parse_rgb as channels
from attnlab.figures.panels.figure_colours import make_palette
from attnlab.figures.panels.figure_file import draw_page_image
from attnlab.figures.panels.figure_layout import MARGIN
from attnlab.figures.panels.figure_page import Page, lay_out_page
from attnlab.figures.panels.figure_panel import Panel
from attnlab.figures.panels.figure_spec import MM_PER_INCH, FigureSpec
from attnlab.figures.panels.figure_type import TITLE_PX, make_figure_font
from attnlab.figures.raster import MAP_OF
from attnlab.figures.scales import Scale, join_scales
from attnlab.figures.text import Pen

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

_STRIP, _TRACK, _MARK = 28.0, 120.0, 4.0
"""The height of the line with the value, the width of the progress track and the radius of its mark, in units."""
_BLENDS = 14
"""The number of shades between ink and background that antialiased text uses."""


@dataclass(frozen=True, slots=True)
class Film:
    """The common properties of all frames: the figure, ``size`` in (even) pixels, and ``strip``, the height of its top.

    ``scales`` are the colour scales of the whole film, by stage and kind of numbers.
    """

    spec: FigureSpec
    size: tuple[int, int]
    strip: int
    scales: dict[tuple[str, str], Scale]
    inks: tuple[str, ...] = ()
    """Further colours of the palette, by name, that a GIF must have."""


@dataclass(slots=True)
class Survey:
    """Measures the states of all frames before the first is drawn. It needs a QGuiApplication."""

    spec: FigureSpec
    _size: tuple[int, int] = (2, 2)
    _scales: dict[tuple[str, str], Scale] = field(default_factory=dict)

    def add(self, trace: "Trace") -> None:
        """Measure a state.

        Raises:
            AttnlabError: the state cannot be drawn, for instance because it lacks a stage.
        """
        page = lay_out_page(trace, self.spec)
        width, height = page.pixels
        self._size = max(self._size[0], width), max(self._size[1], height)
        for _, _, each in page.panels:
            key = each.stage.name, each.data.kind
            known = self._scales.get(key, each.data.scale)
            self._scales[key] = join_scales((known, each.data.scale))

    def film(self) -> Film:
        """Return the film of the measured states, as large as the largest figure and with the widest scales."""
        strip = round(_STRIP * self.spec.dpi / self.spec.units_per_inch)
        width, height = self._size[0], self._size[1] + strip
        return Film(self.spec, (width + width % 2, height + height % 2), strip, dict(self._scales))


def make_film_spec(spec: FigureSpec, width_px: int, width_mm: float) -> FigureSpec:
    """Return a figure that is exactly ``width_px`` pixels wide, with type as large as in a figure of ``width_mm``.

    Raises:
        AttnlabError: a film cannot have this size or background.
    """
    if spec.ground == "transparent":
        raise AttnlabError("A film cannot have a transparent background; choose light or dark.")
    dpi = max(round(width_px * MM_PER_INCH / width_mm), 1)
    return replace(spec, dpi=dpi, width_mm=width_px * MM_PER_INCH / dpi, height_mm=None)


def lay_out_film(film: Film, trace: "Trace") -> Page:
    """Return the page of a state with the film's colour scales."""
    from attnlab.attention.stages.presence import is_gradient  # loads torch

    page = lay_out_page(trace, film.spec)
    panels = []
    for x, y, each in page.panels:
        scale = film.scales.get((each.stage.name, each.data.kind), each.data.scale)
        shown = each if is_gradient(each.stage.name) or each.stage.name == "loss" else _write_plainly(each)
        panels.append((x, y, replace(shown, data=replace(shown.data, scale=scale))))
    return replace(page, panels=tuple(panels))


def _write_plainly(shown: Panel) -> Panel:
    """Return a panel without the power of ten of small numbers, which would differ from frame to frame."""
    if not shown.data.power:
        return shown
    title = tuple(line.removesuffix(shown.data.power).rstrip() for line in shown.title)
    return replace(shown, data=replace(shown.data, exponent=None), title=title)


def draw_frame(film: Film, trace: "Trace", text: str, share: float) -> QImage:
    """Return a frame: the swept value ``text`` and the progress ``share`` (0 to 1) above the figure."""
    page = lay_out_film(film, trace)
    palette = make_palette(film.spec.colour_map, dark=film.spec.dark)
    image = QImage(*film.size, QImage.Format.Format_RGB32)
    image.fill(QColor(palette.surface))
    painter = QPainter(image)
    painter.drawImage(QPointF(0, film.strip), draw_page_image(page))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(page.ratio, page.ratio)
    _draw_strip(painter, page.width, palette, text, share)
    painter.end()
    return image


def to_rgb(image: QImage) -> bytes:
    """Return the RGB bytes of a frame, row by row."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].tobytes()


def choose_film_colours(film: Film) -> tuple[tuple[int, int, int], ...]:
    """Return at most 256 colours for a GIF, the same for all frames, so that nothing flickers."""
    palette = make_palette(film.spec.colour_map, dark=film.spec.dark)
    inks = dict.fromkeys([palette.ink, palette.muted, *(palette.role_ink(role) for role in ("query", "key", "value"))])
    inks |= dict.fromkeys(getattr(palette, name) for name in film.inks)
    paper = np.array(channels(palette.surface), dtype=float)
    shades = [paper + (np.array(channels(ink)) - paper) * i / _BLENDS for ink in inks for i in range(_BLENDS + 1)]
    found = [(int(r), int(g), int(b)) for r, g, b in np.round(shades).tolist()]
    found += [channels(each) for each in (palette.hatch, palette.control, palette.hairline)]
    found += [channels(palette.role(role)) for role in ("query", "key", "value", "attention")]  # the colours of wires
    names = sorted({MAP_OF[kind] for _, kind in film.scales})
    found = list(dict.fromkeys(found))
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        levels = colour_map(name, palette)[:255]
        chosen = levels[np.linspace(0, len(levels) - 1, (256 - len(found)) // left).round().astype(int)]
        found = list(dict.fromkeys([*found, *(channels(f"#{int(each) & 0xFFFFFF:06X}") for each in chosen)]))
    return tuple(found)


def _draw_strip(painter: QPainter, width: float, palette: Palette, text: str, share: float) -> None:
    pen = Pen(painter, make_figure_font(TITLE_PX, QFont.Weight.DemiBold, still=True))
    track = min(_TRACK, width / 4)
    left, middle = width - MARGIN - track, _STRIP / 2 + 2
    painter.setPen(QColor(palette.ink))
    pen.draw(MARGIN, middle, pen.elide(text, left - 2 * MARGIN))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.hairline))
    painter.drawRoundedRect(QRectF(left, middle - 1, track, 2), 1, 1)
    painter.setBrush(QColor(palette.ink))
    painter.drawEllipse(QPointF(left + _MARK + share * (track - 2 * _MARK), middle), _MARK, _MARK)

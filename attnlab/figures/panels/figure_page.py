"""Lays out a figure's panels on a page and draws the page on pixels or vectors."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.base.errors import AttnlabError
from attnlab.figures.panels.figure_canvas import Rect, draw_flow, lay_out_canvas
from attnlab.figures.panels.figure_colours import make_palette
from attnlab.figures.panels.figure_layout import DENSE, LINE, MARGIN
from attnlab.figures.panels.figure_panel import Panel, draw_panel, lay_out_panel, share_scale
from attnlab.figures.panels.figure_source import Sheets, Source, count_heads
from attnlab.figures.panels.figure_spec import MM_PER_INCH, WIDE_MM, WIDTH_MM, FigureSpec
from attnlab.figures.panels.figure_type import TITLE_PX, make_figure_font, wrap
from attnlab.figures.panels.figure_wires import Wire
from attnlab.figures.text import Pen

_LEAST_PANEL = 60.0
"""A panel narrower or lower than this, in units, is illegible."""
_LEAST_NUMBERED = 4.0
"""Lower cells have no numbers."""
_LEAST_CELL = 12.0
"""Maps side by side have cells at least as high as their labels, or are large enough for some of these."""


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A figure ready to be drawn: ``panels`` with their positions, and its size in units.

    ``ratio`` is the number of dots per unit, in pixels of the file or those to which vectors are fitted. A canvas also
    has ``cards``, as x, y, width and height, and the ``wires`` between them.
    """

    spec: FigureSpec
    width: float
    height: float
    ratio: float
    title: tuple[str, ...]
    panels: tuple[tuple[float, float, Panel], ...]
    cards: tuple[Rect, ...] = ()
    wires: tuple[Wire, ...] = ()

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height in millimetres."""
        mm = MM_PER_INCH / self.spec.units_per_inch
        return self.width * mm, self.height * mm

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height in pixels at the requested dots per inch."""
        width, height = (side / self.spec.units_per_inch * self.spec.dpi for side in (self.width, self.height))
        return max(round(width), 1), max(round(height), 1)


def lay_out_page(source: Source, spec: FigureSpec) -> Page:
    """Return the layout of a figure. It needs a QGuiApplication.

    Raises:
        AttnlabError: the stage or the head does not exist, or the figure is too small for its parts.
    """
    for stage in () if spec.canvas else spec.stages:
        if stage not in source:
            names = ", ".join(source.all_stages)
            raise AttnlabError(f"There is no stage {stage!r} in this configuration; there are {names}.")
    units, ratio = spec.units_per_inch / MM_PER_INCH, spec.dpi / spec.units_per_inch
    width = (spec.width_mm or _choose_width(source, spec)) * units
    height = None if spec.height_mm is None else spec.height_mm * units
    title = wrap(_choose_heading(source, spec), width - 2 * MARGIN, make_figure_font(TITLE_PX, QFont.Weight.DemiBold))
    top = len(title) * LINE + (MARGIN if title else 0.0)
    if spec.canvas:
        if isinstance(source, Sheets):
            raise AttnlabError("These maps have no canvas; choose the maps to draw.")
        flow = lay_out_canvas(source, spec, width, ratio, top, height)
        _check_room(min(card[2] for card in flow.cards), min(card[3] for card in flow.cards))
        return Page(spec, width, height or flow.height, ratio, title, flow.panels, flow.cards, flow.wires)
    source = share_scale(source, spec)
    abreast = _count_abreast(source, spec, width, ratio)
    lines = -(-len(spec.stages) // abreast)
    free = None if height is None else (height - top) / lines
    _check_room(width / abreast, free or width / abreast)
    panels, y = [], top
    laid_out = _lay_out_panels(source, spec, (abreast, width), ratio, free)
    if isinstance(source, Sheets) and source.shared:
        laid_out = _write_alike(laid_out)
    for start in range(0, len(laid_out), abreast):
        line = laid_out[start : start + abreast]
        title_y = y + min(each.layout.top for each in line)
        for place, each in enumerate(line):
            panels.append((round(place * width / abreast * ratio) / ratio, title_y - each.layout.top, each))
        y += max(each.layout.height for each in line)
    return Page(spec, width, height or y, ratio, title, tuple(panels))


def _count_abreast(source: Source, spec: FigureSpec, width: float, ratio: float) -> int:
    """Return how many panels stand side by side: as many as the user wants, or as are legible in the width."""
    if not isinstance(source, Sheets) or not source.abreast:
        return 1
    if spec.columns is not None:
        return min(spec.columns, len(spec.stages))
    for abreast in range(len(spec.stages), 1, -1):
        grids = [each.layout.first for each in _lay_out_panels(source, spec, (abreast, width), ratio)]
        if all(grid.cell_width >= _LEAST_CELL or grid.width >= DENSE for grid in grids):
            return abreast
    return 1


def _lay_out_panels(
    source: Source, spec: FigureSpec, across: tuple[int, float], ratio: float, height: float | None = None
) -> list[Panel]:
    """Return the panels of all stages, of which some share a width ``across`` with cells of one size."""
    abreast, width = across
    panels = [lay_out_panel(source, name, spec, width / abreast, ratio, height) for name in spec.stages]
    if abreast == 1:
        return panels
    cell = min(each.layout.first.cell_width for each in panels)
    return [lay_out_panel(source, name, spec, width / abreast, ratio, height, cell) for name in spec.stages]


def _write_alike(panels: list[Panel]) -> list[Panel]:
    """Return panels whose numbers have one format, if their maps have one size and their cells room for numbers."""
    first = panels[0].data
    sizes = {(each.data.values.shape, each.data.exponent) for each in panels}
    if len(sizes) > 1 or panels[0].layout.first.cell_height < _LEAST_NUMBERED:
        return panels
    every = replace(first, values=np.concatenate([each.data.values for each in panels]))
    return [replace(each, alike=every) for each in panels]


def _check_room(width: float, height: float) -> None:
    """Raise AttnlabError for panels that would be illegible."""
    if min(width, height) < _LEAST_PANEL:
        raise AttnlabError("The figure is too small for its type; use a larger size, smaller type or fewer stages.")


def draw_page(painter: QPainter, page: Page) -> None:
    """Draw a figure in the painter's units, with its background unless that is transparent."""
    for _ in draw_steps(painter, page):
        pass


def draw_steps(painter: QPainter, page: Page) -> Iterator[None]:
    """Draw a figure like :func:`draw_page`, yielding after each line of maps, so that a window can respond."""
    palette = make_palette(page.spec.colour_map, dark=page.spec.dark)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if page.spec.ground != "transparent":
        painter.fillRect(QRectF(0, 0, page.width, page.height), QColor(palette.surface))
    pen, y = Pen(painter, make_figure_font(TITLE_PX, QFont.Weight.DemiBold)), MARGIN + LINE / 2 - 3
    painter.setPen(QColor(palette.ink))
    for line in page.title:
        pen.draw(MARGIN, y, line)
        y += LINE
    draw_flow(painter, page.cards, page.wires, palette)
    for x, y, each in page.panels:
        painter.save()
        try:
            painter.translate(x, y)
            yield from draw_panel(painter, each, page.spec, palette, page.ratio)
        finally:
            painter.restore()


def _choose_heading(source: Source, spec: FigureSpec) -> str:
    """Return the heading above all panels; with a single panel the user's title is that of the panel instead."""
    if spec.title is None:
        return source.heading if isinstance(source, Sheets) else ""
    return spec.title if spec.canvas or len(spec.stages) > 1 else ""


def _choose_width(source: Source, spec: FigureSpec) -> float:
    several = spec.head == "all" and count_heads(source) > 1
    return WIDE_MM if spec.canvas or (several and source.stage(spec.stages[0]).has_heads) else WIDTH_MM

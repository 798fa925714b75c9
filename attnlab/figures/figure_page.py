"""A figure laid out: panels at their places, and the one routine that draws them on pixels or vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.errors import AttnlabError
from attnlab.figures.figure_colours import dressed
from attnlab.figures.figure_layout import LINE, MARGIN
from attnlab.figures.figure_panel import Panel, draw_panel, panel
from attnlab.figures.figure_spec import MM_PER_INCH, WIDE_MM, WIDTH_MM, FigureSpec
from attnlab.figures.figure_type import TITLE_PX, figure_font, wrapped
from attnlab.figures.text import Pen

if TYPE_CHECKING:
    from attnlab.attention.trace import Trace

_LEAST_PANEL = 60.0
"""A panel narrower or lower than this, in units, holds nothing that could be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A figure ready to be drawn: ``panels`` with their places; sizes in units, of which an inch has so many.

    ``ratio`` is how many dots a unit has, in pixels of the file or those that vectors are fitted to.
    """

    spec: FigureSpec
    width: float
    height: float
    ratio: float
    title: tuple[str, ...]
    panels: tuple[tuple[float, float, Panel], ...]

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height in millimetres."""
        mm = MM_PER_INCH / self.spec.units_per_inch
        return self.width * mm, self.height * mm

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height in pixels at the dots per inch asked for."""
        width, height = (side / self.spec.units_per_inch * self.spec.dpi for side in (self.width, self.height))
        return max(round(width), 1), max(round(height), 1)


def lay_out_page(trace: "Trace", spec: FigureSpec) -> Page:
    """Lay a figure out. A QGuiApplication must be there.

    Raises:
        AttnlabError: no such stage or head, or no room for what is to be in it.
    """
    rows = canvas_rows(trace) if spec.canvas else [[stage] for stage in spec.stages]
    for stage in (name for row in rows for name in row):
        if stage not in trace:
            names = ", ".join(trace.all_stages)
            raise AttnlabError(f"There is no stage {stage!r} in this configuration; there are {names}.")
    units, ratio = spec.units_per_inch / MM_PER_INCH, spec.dpi / spec.units_per_inch
    width = (spec.width_mm or _usual_width(trace, spec, rows)) * units
    height = None if spec.height_mm is None else spec.height_mm * units
    own = spec.title if len(rows) > 1 or len(rows[0]) > 1 else ""
    title = wrapped(own or "", width - 2 * MARGIN, figure_font(TITLE_PX, QFont.Weight.DemiBold))
    top = len(title) * LINE + (MARGIN if title else 0.0)
    free = None if height is None else (height - top) / len(rows)
    if min(width / max(map(len, rows)), free or width) < _LEAST_PANEL:
        raise AttnlabError("The figure is too small for its type; a larger size, smaller type or fewer stages fit.")
    panels, y = [], top
    for row in rows:
        wide = _widths(trace, row, width)
        line = [panel(trace, name, spec, w, ratio, free) for name, w in zip(row, wide, strict=True)]
        x = 0.0
        for each, w in zip(line, wide, strict=True):
            panels.append((x, y, each))
            x += w
        y += max(each.layout.height for each in line)
    return Page(spec, width, height or y, ratio, title, tuple(panels))


def draw_page(painter: QPainter, page: Page) -> None:
    """Draw a figure; the painter's unit is the figure's. What is behind it is painted over, unless transparent."""
    for _ in draw_steps(painter, page):
        pass


def draw_steps(painter: QPainter, page: Page) -> Iterator[None]:
    """Draw a figure as :func:`draw_page` does, a line of maps at a time, for a window that must not wait."""
    palette = dressed(page.spec.colour_map, dark=page.spec.dark)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if page.spec.ground != "transparent":
        painter.fillRect(QRectF(0, 0, page.width, page.height), QColor(palette.surface))
    pen, y = Pen(painter, figure_font(TITLE_PX, QFont.Weight.DemiBold)), MARGIN + LINE / 2 - 3
    painter.setPen(QColor(palette.ink))
    for line in page.title:
        pen.draw(MARGIN, y, line)
        y += LINE
    for x, y, each in page.panels:
        painter.save()
        painter.translate(x, y)
        yield from draw_panel(painter, each, page.spec, palette, page.ratio)
        painter.restore()


def canvas_rows(trace: "Trace") -> list[list[str]]:
    """Return the names of all stages in lines, as the canvas has them: what is projected, the maps, what follows."""
    names = list(trace.all_stages)
    maps = [i for i, name in enumerate(names) if trace.stage(name).is_map]
    rows = [names[: maps[0]], names[maps[0] : maps[-1] + 1], names[maps[-1] + 1 :]]
    return [row for row in rows if row]


def _usual_width(trace: "Trace", spec: FigureSpec, rows: list[list[str]]) -> float:
    several = (
        spec.head == "all" and trace.experiment.n_heads > 1 and any(trace.stage(name).has_heads for name in rows[0])
    )
    return WIDE_MM if several or spec.canvas else WIDTH_MM


def _widths(trace: "Trace", row: list[str], width: float) -> list[float]:
    """Share a width out: wide matrices get more, but no stage twice as much as another."""
    shapes = [trace.array(name).shape[-2:] for name in row]
    wishes = [min(max(columns / rows, 0.8), 1.6) for rows, columns in shapes]
    return [width * wish / sum(wishes) for wish in wishes]

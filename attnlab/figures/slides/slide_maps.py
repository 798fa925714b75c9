"""Draws the maps of a slide as large as possible, with captions, labels, legible numbers and frames."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from attnlab.figures.cell_numbers import draw_numbers, find_size, rank_detail
from attnlab.figures.empty_cells import draw_covers
from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_data import Outline
from attnlab.figures.map_labels import count_labels, draw_labels, draw_titles
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_content import SlideMap
from attnlab.figures.slides.slide_layout import Box, Outcome, Sheet
from attnlab.figures.slides.slide_text import make_face
from attnlab.figures.subscripts import draw_text
from attnlab.figures.text import measure_text

NUMBERS = (3.4, 3.05, 2.75, 2.4, 2.1, 1.85, 1.6)
"""Font sizes of numbers in cells, in hundredths of the slide's height; smaller ones would be illegible."""
SOURCE_NUMBERS = (2.1, 1.85, 1.6, 1.45)
CELL, SOURCE_CELL = (11.4, 8.6), (7.2, 4.6)
"""The largest cells, in hundredths of the slide's height."""
LABELS, SOURCE_LABELS = (2.4, 2.15, 1.95, 1.75), (1.75, 1.6)
"""Font sizes of labels: a smaller one is used only if column labels then fit horizontally."""
DECIMALS = 2
"""The most decimals of numbers in cells: as many as in the text of lessons, however wide the cells are."""
OBLONG = 1.6
"""The most by which cells of token by token are wider than high."""
MOST_ZOOM = 1.25
"""The most by which the type of maps is enlarged."""
AIR = 0.5
"""The least space between two numbers side by side, in font sizes."""
ROW_AIR = 1.25
"""The least height of a cell, in font sizes of its number, where smaller type is possible."""
LABEL_AIR = 7.0
"""The least space between a row's label and its cells, in pixels: labels are drawn 6 pixels from the cells."""
COLUMN_AIR, SOURCE_AIR = 0.4, 0.15
"""The least space between two column labels side by side, in font sizes; on small maps numbers need the height."""
FLAT = 1.5
"""The height of horizontal labels, in font sizes."""
FEW = 16
"""Maps with at most this many rows must show all row labels in full."""


@dataclass(frozen=True, slots=True)
class MapType:
    """The type of a map: font sizes of numbers and labels, largest first, and the largest cells, in hundredths of the
    slide's height; and by how much cells of token by token may be wider than high.
    """

    numbers: tuple[float, ...]
    labels: tuple[float, ...]
    cell: tuple[float, float]
    oblong: float = OBLONG


MAIN = MapType(NUMBERS, LABELS, CELL)
SOURCE = MapType(SOURCE_NUMBERS, SOURCE_LABELS, SOURCE_CELL)
ROOMY = MapType((4.2, 3.8, *NUMBERS), (2.75, *LABELS), (20.0, 10.0), 2.2)
ROOMY_SOURCE = MapType((2.75, 2.4, *SOURCE_NUMBERS), (2.15, 1.95, *SOURCE_LABELS), (9.5, 6.0), 2.2)
"""The same where nothing stands at the right of a map and its sources."""


class Formulas(Protocol):
    """Measures and draws formulas, with the top left corner of their box at a point."""

    def size(self, latex: str, size_px: float) -> QSizeF:
        """Return the size of a formula's box."""
        ...

    def draw(self, painter: QPainter, at: QPointF, latex: str, size_px: float, colour: str) -> None:
        """Draw a formula."""
        ...


def draw_map(
    painter: QPainter,
    box: Box,
    each: SlideMap,
    sheet: Sheet,
    palette: Palette,
    formulas: Formulas | None,
    kind: MapType = MAIN,
) -> tuple[Grid, Outcome]:
    """Draw one stage with its caption into a box; return the grid of its cells, and the outcome."""
    source = kind in (SOURCE, ROOMY_SOURCE)
    # The gaps between cells show the slide; cells that are not revealed yet must be seen in the last row too.
    here = replace(palette, surface=palette.ground, hairline=palette.cover)
    complaints, caption = _draw_caption(painter, box, each, sheet, palette, formulas, source)
    area = Box(box.x, box.y + caption, box.width, box.height - caption)
    laid = _lay_out(each, area, sheet, painter.device().devicePixelRatioF(), kind)
    grid, label = laid.grid, laid.label
    draw_cells(painter, grid, each.data, here)
    draw_numbers(painter, grid, each.data, here, *laid.numbers, decimals=DECIMALS, air=AIR)
    draw_labels(painter, grid, each.data, here, label, each.strong)
    draw_titles(painter, grid, each.data, here, label)
    draw_covers(painter, grid, each.marks, make_face(2.6 * laid.unit, bold=True), palette)
    draw_outlines(painter, grid, [_colour_outline(o, sheet.unit, palette) for o in each.outlines])
    left_out = (*complaints, *_find_left_out(grid, area, each, label.toString(), painter))
    return grid, Outcome(left_out, laid.measure_detail(each))


@dataclass(frozen=True, slots=True)
class _Laid:
    """A map laid out in type that is a multiple of ``unit``: its cells, the font of labels, those of numbers."""

    unit: float
    grid: Grid
    label: QFont
    numbers: list[QFont]

    def measure_detail(self, each: SlideMap) -> tuple[int, int, int]:
        """Return how much of its numbers and how many labels the map has, less those that are shortened."""
        numbers = rank_detail(self.grid, each.data, *self.numbers, most=DECIMALS, air=AIR)
        shortened = _find_shortened(self.grid, each, self.label.toString())
        return numbers, count_labels(self.grid, each.data, self.label), -len(shortened)

    def find_size(self, each: SlideMap) -> int:
        """Return the size of its numbers in pixels; 0 for none."""
        return find_size(self.grid, each.data, *self.numbers, most=DECIMALS, air=AIR)

    def loses(self, other: "_Laid", each: SlideMap) -> bool:
        """Return whether numbers are smaller, or decimals or labels fewer, than in another layout of the same map."""
        detail = zip(self.measure_detail(each), other.measure_detail(each), strict=True)
        return self.find_size(each) < other.find_size(each) or any(own < its for own, its in detail)


def _lay_out(each: SlideMap, area: Box, sheet: Sheet, ratio: float, kind: MapType) -> _Laid:
    """Return the layout in the type of the sheet, or in the usual type if larger type takes something away: larger
    labels leave the cells less room."""

    def lay_out(zoom: float) -> _Laid:
        unit = sheet.unit * zoom
        sizes = tuple(size * unit for size in kind.labels)
        label_px, grid = fit_labelled(each, area, sizes, kind, unit, ratio)
        sizes = tuple(size * unit for size in kind.numbers)
        return _Laid(unit, grid, make_face(label_px), _choose_number_fonts(each, grid, sizes))

    laid = lay_out(min(max(sheet.zoom, 0.9), MOST_ZOOM))
    if sheet.zoom <= 1:
        return laid
    usual = lay_out(1.0)
    return usual if laid.loses(usual, each) else laid


def fit_labelled(
    each: SlideMap, area: Box, sizes: Sequence[float], kind: MapType, unit: float, ratio: float = 1.0
) -> tuple[float, Grid]:
    """Return the label size and the grid: the largest size with horizontal column labels, else the first.

    If none has them, several maps of few rows get the size in which most labels fit.
    """
    grids = [(size, fit(each, area, size, kind, unit, ratio)) for size in sizes]
    flat = next((found for found in grids if found[1].column_space == FLAT * found[0]), None)
    count, rows, _ = each.data.values.shape
    if flat is not None or count == 1 or rows > FEW:
        return flat or grids[0]
    return max(grids, key=lambda found: count_labels(found[1], each.data, make_face(found[0])))


def fit(each: SlideMap, area: Box, label_px: float, kind: MapType, unit: float, ratio: float = 1.0) -> Grid:
    """Return the grid of the largest cells, with labels if these fit."""
    count, rows, columns = each.data.values.shape
    metrics = QFontMetricsF(make_face(label_px))
    across = each.data.group_labels or each.data.column_labels
    down_px, over_px = _measure_widest(each.data.row_labels, metrics), _measure_widest(across, metrics)
    title = 1.5 * label_px if count > 1 else 0.0
    rect, line = (area.x, area.y, area.width, area.height), FLAT * label_px

    def grid(wide: float, tall: float) -> Grid:
        limits = Limits(kind.cell[0] * unit, kind.cell[1] * unit, wide, tall + title, title)
        return arrange(rect, rows, columns, count, limits, each.square, ratio, kind.oblong if count == 1 else OBLONG)

    bare = grid(0.0, 0.0)
    wide = (
        min(down_px + max(0.6 * label_px, LABEL_AIR), area.width * 0.4) if bare.cell_height >= 0.55 * label_px else 0.0
    )
    if count > 1 and (bare.cell_height < label_px or bare.cell_width < label_px):
        return bare
    flat = grid(wide, line)
    air = COLUMN_AIR if kind in (MAIN, ROOMY) else SOURCE_AIR
    if over_px + air * label_px <= flat.cell_width * (each.data.column_group or 1):
        return flat
    if not each.square or each.data.column_group or flat.cell_width < 0.6 * label_px:
        return grid(wide, 0.0)  # column numbers, and tokens that do not fit even vertically
    return grid(wide, min(over_px + 0.8 * label_px, 0.3 * area.height))


def _choose_number_fonts(each: SlideMap, grid: Grid, sizes: Sequence[float]) -> list[QFont]:
    """Return the fonts in which two decimals fit with space between them and between rows, else the smallest font."""
    signed = bool((each.data.values < 0).any())
    fonts = [make_face(size) for size in sizes]
    airy = [font for font in fonts if _measure_room("−0.00" if signed else "0.00", font) <= grid.cell_width]
    if not airy and _measure_room("−.00" if signed else ".00", fonts[-1]) <= grid.cell_width:
        return fonts[-1:]
    return [font for font in airy if ROW_AIR * font.pixelSize() <= grid.cell_height] or airy


def _measure_room(text: str, font: QFont) -> float:
    return measure_text(text, font.toString()) + AIR * font.pixelSize()


def _measure_widest(labels: Sequence[str], metrics: QFontMetricsF) -> float:
    return max((metrics.horizontalAdvance(" ".join(label.split())[:40] or "∅") for label in labels[:64]), default=0.0)


def _draw_caption(
    painter: QPainter, box: Box, each: SlideMap, sheet: Sheet, palette: Palette, formulas: Formulas | None, source: bool
) -> tuple[tuple[str, ...], float]:
    """Write the caption above a map, with the formula beside it if that fits; return what does not, and its height."""
    size = (2.0 if source else 2.4) * sheet.unit
    middle, mark = box.y + 0.65 * size, 0.62 * size
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.role(each.role)))
    painter.drawRoundedRect(QRectF(box.x, middle - mark / 2, mark, mark), mark / 4, mark / 4)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QColor(palette.ink))
    x = draw_text(painter, box.x + 1.6 * mark, middle, each.title, make_face(size))
    height = 1.7 * size
    if formulas is not None and each.formula and not source:
        room = formulas.size(each.formula, size)
        if x + size + room.width() <= box.right:
            formulas.draw(painter, QPointF(x + size, middle - room.height() / 2), each.formula, size, palette.muted)
            height = max(height, middle - box.y + room.height() / 2 + 0.3 * size)
    return () if x <= box.right + 0.5 else (f"the caption “{each.title}”",), height


def _colour_outline(outline: Outline, unit: float, palette: Palette) -> Outline:
    """Return a frame in its colour of the palette, with a thickness that suits the slide's size."""
    colour = palette.ink if outline.colour == "ink" else palette.role(outline.colour)
    return replace(outline, colour=colour, width=max(outline.width * unit / 9, 1.5))


def _find_left_out(grid: Grid, area: Box, each: SlideMap, font_key: str, painter: QPainter) -> tuple[str, ...]:
    """Return the parts of a map that do not fit: the map itself, or shortened labels of a map with few rows."""
    found = []
    if grid.x + grid.width > area.right + 1 or grid.y + grid.height > area.bottom + 1:
        found.append(f"the map “{each.title}”")
    if grid.rows <= FEW:
        found += [f"the label “{label}” of “{each.title}”" for label in _find_shortened(grid, each, font_key)]
    return tuple(found)


def _find_shortened(grid: Grid, each: SlideMap, font_key: str) -> list[str]:
    """Return the labels of rows that do not fit in full."""
    room = grid.label_width - 6
    return [x for x in each.data.row_labels if grid.label_width and measure_text(" ".join(x.split()), font_key) > room]

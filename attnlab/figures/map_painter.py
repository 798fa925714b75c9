"""The one routine that draws maps of numbers: on the screen, into a picture and into vector files."""

import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen

from attnlab.figures.cell_marks import draw_marks
from attnlab.figures.empty_cells import draw_frames
from attnlab.figures.layout import Grid
from attnlab.figures.map_shapes import draw_shapes, wants_shapes
from attnlab.figures.palette import DARK_INK, LIGHT_INK, Palette, choose_dark_text
from attnlab.figures.raster import MAP_OF, colour_cells, find_indices, join_maps, reduce_cells, reduce_maps
from attnlab.figures.scales import DECADES, TO_ONE, Scale
from attnlab.figures.text import Pen, elide_text, find_key, measure_text
from attnlab.figures.tiles import RADIUS, draw_frame, make_hatching

BAR_HEIGHT = 4.0
LEAST_GROUPED = 3.0
"""Columns narrower than this, in pixels, have no lines between their groups."""
THIN_BELOW = 10.0
"""Frames around rows and columns narrower than this, in pixels, are hairlines; thicker ones would cover them."""
MIN_NUMBER = 6.0
"""Cells narrower than this, in pixels, have no numbers: one digit would not fit."""
LABEL_LETTERS = 14
"""Labels of tokens are whole up to this many letters where there is room; longer ones lose their middle."""
_CURVES = {"sqrt": "√", "log": "log"}
"""What a colour bar says of a scale that is not linear."""
LABEL_SPACING = 1.0
"""Labels of rows are at least so many sizes of type apart; in narrower rows some have none."""
NOTHING_KEPT: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class MapData:
    """Maps to draw: ``values`` [n, rows, columns], their scale, and ``masked`` cells or None.

    With ``column_group`` columns form groups of this size, such as heads side by side: a line separates two groups,
    and one of ``group_labels`` above each replaces the column labels. Which cells are ``masked``, ``unknown``,
    ``filled`` or ``dropped`` is [n, rows, columns], or [rows, columns] if it is the same on all maps: unknown ones
    are empty frames with ``mark``, such as "?", in them; masked ones are hatched as well.
    ``under`` [n, rows, columns] are numbers written in the masked cells, such as the scores before the mask.
    ``filled`` cells are masked too but have an ordinary number, and are hatched over their colour; ``dropped`` ones
    are crossed out. ``muted`` columns are grey. Without ``has_numbers`` only colours are drawn. The last ``aside``
    columns are no cells of the stage, such as the share of a sink.
    """

    values: NDArray[np.floating]
    kind: str
    scale: Scale
    masked: NDArray[np.bool_] | None
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    titles: Sequence[str] = ()
    column_group: int = 0
    group_labels: Sequence[str] = ()
    unknown: NDArray[np.bool_] | None = None
    mark: str = ""
    under: NDArray[np.floating] | None = None
    filled: NDArray[np.bool_] | None = None
    dropped: NDArray[np.bool_] | None = None
    muted: tuple[int, ...] = ()
    has_numbers: bool = True
    aside: int = 0
    bold_rows: frozenset[int] = frozenset()

    @property
    def limit(self) -> float:
        """The number that the last colour stands for."""
        return self.scale.limit

    @property
    def is_muted(self) -> NDArray[np.bool_] | None:
        """Which columns are grey; None without any."""
        if not self.muted:
            return None
        muted = np.zeros(self.values.shape[-1], bool)
        muted[list(self.muted)] = True
        return muted

    @property
    def empty(self) -> NDArray[np.bool_] | None:
        """Which cells are drawn as empty frames [n, rows, columns]; None without any."""
        if self.unknown is None:
            return None if self.dropped is None else np.broadcast_to(self.dropped, self.values.shape)
        empty = self.unknown if self.masked is None else self.unknown & ~self.masked
        return np.broadcast_to(empty if self.dropped is None else empty | self.dropped, self.values.shape)

    def choose_maps(self, first: int, last: int) -> "MapData":
        """Return some of the maps, with the marks and limits that are theirs."""
        marks = {name: getattr(self, name) for name in ("masked", "unknown", "filled", "dropped", "under")}
        own = {name: cells[first:last] for name, cells in marks.items() if cells is not None and cells.ndim == 3}
        titles = self.titles[first:last]
        return replace(self, values=self.values[first:last], titles=titles, scale=self.scale.of(first, last), **own)

    def masked_on(self, index: int) -> NDArray[np.bool_] | None:
        """Return which cells [rows, columns] of a map are masked; None if none are."""
        return self.masked if self.masked is None or self.masked.ndim == 2 else self.masked[index]


@dataclass(frozen=True, slots=True)
class Outline:
    """A frame around a cell, row or column (None is all) of one map (None is every map)."""

    index: int | None
    row: int | None
    column: int | None
    colour: str
    width: float = 2.0


def draw_cells(painter: QPainter, grid: Grid, data: MapData, palette: Palette) -> None:
    """Draw the cells of all maps: colours, hatching of masked cells, and frames if there is room."""
    values, masked, muted = data.values, data.masked, data.is_muted
    empty = data.empty
    if min(grid.cell_width, grid.cell_height) < 1:
        rows, cols = _count_pixels(grid, painter)
        values = reduce_maps(_reduce_coarsely(data, rows, cols), rows, cols)
        if empty is not None:
            empty = reduce_cells(empty, rows, cols)
        if masked is not None:
            masked = reduce_cells(masked, rows, cols)
        if muted is not None:
            muted = reduce_cells(muted[None], 1, cols)[0]
    image = colour_cells(values, data.kind, data.scale, palette, masked, muted)
    if empty is not None:
        image[empty] = QColor(palette.surface).rgba()
    if wants_shapes(painter, grid):
        draw_shapes(painter, grid, image, masked, empty, palette)
        if data.column_group:
            _draw_group_lines(painter, grid, data.column_group, palette)
        draw_marks(painter, grid, data, palette)
        return
    if data.masked is not None:
        for index in range(grid.count):
            painter.fillRect(QRectF(*grid.rect(index, None, None)), make_hatching(palette))
    _draw_image(painter, grid, data, palette, image)
    if data.column_group:
        _draw_group_lines(painter, grid, data.column_group, palette)
    if data.empty is not None:
        draw_frames(painter, grid, data.empty, palette)
    draw_marks(painter, grid, data, palette)


_coarse: "WeakKeyDictionary[MapData, NDArray[np.floating]]" = WeakKeyDictionary()


def _reduce_coarsely(data: MapData, rows: int, columns: int) -> NDArray[np.floating]:
    """Return the numbers of maps reduced to at least twice ``rows`` × ``columns``, and cached, so that the same maps in
    another size are quickly drawn."""
    height, width = (1 << (2 * size - 1).bit_length() for size in (rows, columns))
    if data.values.shape[1] <= height and data.values.shape[2] <= width:
        return _replace_hidden(data)
    known = _coarse.get(data)
    size = min(height, data.values.shape[1]), min(width, data.values.shape[2])
    if known is None or known.shape[1:] != size:
        known = _coarse[data] = reduce_maps(_replace_hidden(data), *size)
    return known


def _replace_hidden(data: MapData) -> NDArray[np.floating]:
    """Return the numbers of maps with 0 in their masked and empty cells, which have no colour."""
    values, empty = data.values, data.empty
    if empty is not None:
        values = np.where(empty, np.float32(0), values)
    if data.is_muted is not None:
        values = np.where(data.is_muted, np.float32(0), values)  # the others in a pixel's block count
    return values if data.masked is None else np.where(values == -np.inf, np.float32(0), values)


def _draw_image(painter: QPainter, grid: Grid, data: MapData, palette: Palette, image: NDArray[np.uint32]) -> None:
    """Draw the colours of all maps: as one image if each cell has its own pixels, else map by map."""
    gap = grid.gap
    if image.shape[1:] != data.values.shape[1:]:
        for index in range(grid.count):
            painter.drawImage(QRectF(*grid.rect(index, None, None)), _to_image(np.ascontiguousarray(image[index])))
        return
    sheet = join_maps(image, grid.per_row, gap)
    painter.drawImage(QRectF(grid.x, grid.y, grid.width, grid.height), _to_image(sheet))
    if grid.framed:
        ratio = painter.device().devicePixelRatioF()
        tile = draw_frame(grid.cell_width, grid.cell_height, ratio, palette.surface)
        for first in range(0, grid.count, grid.per_row):  # not over the titles between two rows of maps
            _, y, _, height = grid.rect(first, None, None)
            painter.drawTiledPixmap(QRectF(grid.x, y, grid.width, height), tile)


def _draw_group_lines(painter: QPainter, grid: Grid, group: int, palette: Palette) -> None:
    """Draw a thin line between groups of columns if these are wide enough, inside the gap of framed cells."""
    if grid.cell_width < LEAST_GROUPED:
        return
    for index in range(grid.count):
        x, y, _, height = grid.rect(index, None, None)
        for column in range(group, grid.columns, group):
            left = x + column * grid.cell_width
            if grid.framed:
                painter.fillRect(QRectF(left - 2, y, 4, height), QColor(palette.surface))
            painter.fillRect(QRectF(left - 1, y, 1, height), QColor(palette.hatch))


def draw_numbers(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, *fonts: QFont, decimals: int | None = None
) -> bool:
    """Draw the number of each cell, all in one format, in the first of ``fonts`` (largest first) that fits.

    They have this many ``decimals`` if these fit; None: four if these fit, else two.
    Only numbers inside the painter's clip are drawn. Returns whether there is room for numbers at all.
    """
    fonts = tuple(font for font in fonts if font.pixelSize() + 2 <= grid.cell_height)
    if not fonts or not data.has_numbers or grid.cell_width < MIN_NUMBER:
        return False  # first of all, as looking through large maps takes long
    shown = np.ones(data.values.shape, dtype=bool)
    if data.masked is not None:
        shown &= ~data.masked
    written = data.values[shown] if data.under is None else np.where(shown, data.values, data.under)
    chosen = _choose_format(painter, grid, written, fonts, (4, 2) if decimals is None else (decimals, 2))
    if chosen is None:
        return False
    pen, form = chosen
    empty = data.empty
    for index in range(grid.count):
        x, y = grid.origin(index)
        rows = _find_visible(painter, y, grid.cell_height, grid.rows, vertical=True)
        columns = _find_visible(painter, x, grid.cell_width, grid.columns, vertical=False)
        values = data.values[index, rows, columns]
        known = shown[index, rows, columns]
        if empty is not None:
            known = known & ~empty[index, rows, columns]
        on_dark = ~find_bright(data, index, palette)[rows, columns] | ~np.isfinite(values)
        for light in (False, True):
            painter.setPen(QColor(LIGHT_INK if light else DARK_INK))
            for row, column in np.argwhere(known & (on_dark == light)).tolist():
                middle = x + (columns.start + column + 0.5) * grid.cell_width
                pen.draw(middle, y + (rows.start + row + 0.5) * grid.cell_height, form(float(values[row, column])), 0.5)
        muted = empty[index, rows, columns] if empty is not None and data.mark else None
        if data.under is not None:
            muted = ~known
        if muted is None:
            continue
        painter.setPen(QColor(palette.muted))
        for row, column in np.argwhere(muted).tolist():
            middle = x + (columns.start + column + 0.5) * grid.cell_width
            under = data.mark if data.under is None else form(float(data.under[index, rows, columns][row, column]))
            pen.draw(middle, y + (rows.start + row + 0.5) * grid.cell_height, under, 0.5)
    return True


def find_bright(data: MapData, index: int, palette: Palette) -> NDArray[np.bool_]:
    """Return on which cells of a map dark text reads better than light text."""
    scale = data.scale.of(index, index + 1)
    entries = find_indices(data.values[index : index + 1], data.kind, scale)[0]
    bright: NDArray[np.bool_] = choose_dark_text(MAP_OF[data.kind], palette)[entries]
    if data.muted:
        columns = list(data.muted)
        bright[:, columns] = choose_dark_text("grey", palette)[entries[:, columns]]
    return bright


def _choose_format(
    painter: QPainter, grid: Grid, values: NDArray[np.floating], fonts: Sequence[QFont], decimals: tuple[int, int]
) -> tuple[Pen, Callable[[float], str]] | None:
    """Return the font and the format: two decimals or more in the largest font, else fewer characters in the smallest.

    Shorter formats lose too much of small numbers, so one decimal is only for numbers from 1 on, none for numbers from
    10 on, and powers of ten for numbers from 1000 on.
    """
    finite = values[np.isfinite(values)]
    ends = [float(finite.min(initial=0.0)), float(finite.max(initial=0.0))]
    odd = ["NaN"] * (len(finite) < values.size)
    forms = ((_fix_decimals(decimals[0]), 6.0 if decimals[0] == 4 else 1.25), (_fix_decimals(decimals[1]), 1.25))
    tried = [(font, form, room) for font in fonts for form, room in forms]
    largest = max(-ends[0], ends[1])
    for form, least in ((_write_bare, 0), (_fix_decimals(1), 1), (_fix_decimals(0), 10), (_write_power, 1000)):
        tried += [(font, form, 1.25) for font in fonts if largest >= least]
    for font, form, room in tried:
        pen = Pen(painter, font)
        texts = [re.sub("[0-9]", "4", form(value)) for value in ends] + odd  # 4 is as wide as any digit
        if max(map(pen.width, texts)) <= grid.cell_width - room:
            return pen, form
    return None


def _find_visible(painter: QPainter, start: float, cell: float, count: int, *, vertical: bool) -> slice:
    """Return the slice of ``count`` rows or columns from ``start`` inside the painter's clip; all without a clip."""
    if not painter.hasClipping():
        return slice(0, count)
    clip = painter.clipBoundingRect()
    low, high = (clip.top(), clip.bottom()) if vertical else (clip.left(), clip.right())
    first = min(max(int((low - start) // cell), 0), count)
    return slice(first, max(first, min(int((high - start) // cell) + 1, count)))


@lru_cache(maxsize=8)
def _fix_decimals(decimals: int) -> Callable[[float], str]:
    """Return a function that writes numbers with this many decimals, however large they are."""

    def write(value: float) -> str:
        return _write_special(value) or _correct_sign(f"{value:.{decimals}f}")

    return write


def _write_bare(value: float) -> str:
    """Return a number with two decimals and no 0 before the point."""
    return _write_special(value) or re.sub(r"^(−?)0\.", r"\1.", _correct_sign(f"{value:.2f}"))


def _write_power(value: float) -> str:
    """Return a number as one digit and a power of ten; below 10 only the digit."""
    if abs(value) < 9.5:
        return _correct_sign(f"{value:.0f}")
    return _write_special(value) or f"{value:.0e}".replace("e+0", "e").replace("e+", "e").replace("-", "−")


def _write_special(value: float) -> str:
    if value != value:
        return "NaN"
    return "" if abs(value) != float("inf") else ("∞" if value > 0 else "−∞")


def _correct_sign(text: str) -> str:
    """Return a number with a proper minus sign, and a zero without one."""
    return (text[1:] if text.startswith("-") and not text.strip("-0.") else text).replace("-", "−")


def write_cell_text(value: float, decimals: int) -> str:
    """Return a short text of a number: fixed decimals, or an exponent if it is long; ∞ and NaN as such."""
    if not abs(value) < float("inf"):
        return _write_special(value)
    if abs(value) < 10 ** (5 - min(decimals, 3)):
        return _correct_sign(f"{value:.{decimals}f}")
    return f"{value:.0e}".replace("e+0", "e").replace("e+", "e").replace("-", "−")


def draw_labels(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, font: QFont, strong: tuple[int | None, int | None]
) -> None:
    """Draw row labels left of the first maps and column labels above the top ones; ``strong`` ones in full ink."""
    if data.bold_rows:
        _draw_row_labels(painter, grid, data, palette, _embolden(font), strong[0], bold=True)
    pen = _draw_row_labels(painter, grid, data, palette, font, strong[0], bold=False)
    if not grid.column_space:
        return
    if data.column_group:
        _draw_group_labels(painter, grid, data, palette, pen, strong[1])
        return
    flat = grid.column_space < 2 * font.pixelSize() or all(
        pen.width(label) <= grid.cell_width - 2 for label in data.column_labels
    )
    for place in range(min(grid.per_row, grid.count)):
        x, _ = grid.origin(place)
        seen = _find_visible(painter, x, grid.cell_width, grid.columns, vertical=False)
        for column in _thin_out(
            grid.columns, grid.cell_width, 0.0 if flat else LABEL_SPACING * font.pixelSize(), strong[1], seen
        ):
            painter.setPen(QColor(palette.ink if column == strong[1] else palette.muted))
            middle = x + (column + 0.5) * grid.cell_width
            if flat:
                text = data.column_labels[column]
                if len(text) > 1:  # one letter may be a little wider than its cell
                    text = pen.elide(text, math.ceil(grid.cell_width - 2), middle=True)
                pen.draw(middle, grid.y - 4, text, 0.5, 1.0)
            else:
                text = pen.elide(data.column_labels[column], math.ceil(grid.column_space - 6), middle=True)
                pen.draw_upwards(middle, grid.y - 4, text)


def _draw_row_labels(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, font: QFont, strong: int | None, *, bold: bool
) -> Pen:
    """Draw the labels of the rows that are bold, or of the others; return the pen of the font."""
    pen = Pen(painter, font)
    for line in range(grid.lines if grid.label_width else 0):
        _, y = grid.origin(line * grid.per_row)
        seen = _find_visible(painter, y, grid.cell_height, grid.rows, vertical=True)
        for row in _thin_out(grid.rows, grid.cell_height, LABEL_SPACING * font.pixelSize(), strong, seen):
            if (row in data.bold_rows) == bold:
                painter.setPen(QColor(palette.ink if row == strong or bold else palette.muted))
                text = pen.elide(data.row_labels[row], math.ceil(grid.label_width - 6), middle=True)
                pen.draw(grid.x - 6, y + (row + 0.5) * grid.cell_height, text, 1.0)
    return pen


def _embolden(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.Bold)
    return bold


def _draw_group_labels(
    painter: QPainter, grid: Grid, data: MapData, palette: Palette, pen: Pen, strong: int | None
) -> None:
    """Draw each group's label above the middle of its columns, if all labels fit; otherwise none."""
    group = data.column_group
    if any(pen.width(label) > group * grid.cell_width - 4 for label in data.group_labels):
        return
    for place in range(min(grid.per_row, grid.count)):
        x, _ = grid.origin(place)
        for index, label in enumerate(data.group_labels):
            painter.setPen(QColor(palette.ink if strong is not None and strong // group == index else palette.muted))
            pen.draw(x + (index + 0.5) * group * grid.cell_width, grid.y - 4, label, 0.5, 1.0)


def draw_titles(
    painter: QPainter,
    grid: Grid,
    data: MapData,
    palette: Palette,
    font: QFont,
    *,
    kept: Mapping[int, float] = NOTHING_KEPT,
    struck: Container[int] = (),
) -> None:
    """Draw each map's title above it and above the column labels, if any.

    All have the longest form that fits everywhere: "head 12 · columns 24–31", "head 12 · 24–31", "head 12" or "12";
    ``kept`` pixels at the right of each map stay free. The titles of the maps in ``struck`` are crossed out.
    """
    if grid.count < 2 or grid.title_height < 8:
        return
    pen, key = Pen(painter, font), find_key(font)
    painter.setPen(QColor(palette.muted))
    rooms = [(grid.columns + grid.gap[1]) * grid.cell_width - 0.5 * font.pixelSize()] * len(data.titles)
    for index, free in kept.items():
        if free and index < len(rooms):
            rooms[index] = grid.columns * grid.cell_width - free
    forms = [_find_form(title, key, room) for title, room in zip(data.titles, rooms, strict=True)]
    for index, title in enumerate(data.titles):
        x, y = grid.origin(index)
        lift, room = grid.column_space if index < grid.per_row else 0.0, rooms[index]
        shown = _write_title(title, max(forms), key, room)
        pen.draw(x, y - lift - 2, shown, 0.0, 1.0)
        if index in struck:
            middle = round(y - lift - 2 - 0.6 * font.pixelSize())
            painter.drawLine(QPointF(x - 1, middle), QPointF(x + min(pen.width(shown), room) + 1, middle))


def _list_forms(title: str) -> tuple[str, ...]:
    """Return the forms of a title, the longest first."""
    name, _, span = title.partition(" · ")
    return title, f"{name} · {span.split(' ')[-1]}" if span else name, name, name.split(" ")[-1]


@lru_cache(maxsize=1024)
def _find_form(title: str, font_key: str, room: float) -> int:
    """Return the index of the longest form of a title that fits; the last if none does."""
    forms = _list_forms(title)
    return next((n for n, text in enumerate(forms) if measure_text(text, font_key) <= room), len(forms) - 1)


@lru_cache(maxsize=1024)
def _write_title(title: str, form: int, font_key: str, room: float) -> str:
    """Return a form of a title, shortened if even that does not fit."""
    text = _list_forms(title)[form]
    return text if measure_text(text, font_key) <= room else elide_text(text, font_key, int(room))


def draw_outlines(painter: QPainter, grid: Grid, outlines: Sequence[Outline]) -> None:
    """Draw frames around cells, rows or columns, at least 4 px wide, so that they are visible on large maps."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for outline in outlines:
        for index in range(grid.count) if outline.index is None else (outline.index,):
            if index >= grid.count:
                continue
            rect = QRectF(*grid.rect(index, outline.row, outline.column))
            if rect.width() < 4 or rect.height() < 4:
                grow_x, grow_y = max(4 - rect.width(), 0) / 2, max(4 - rect.height(), 0) / 2
                rect.adjust(-grow_x, -grow_y, grow_x, grow_y)
            thin = None in (outline.row, outline.column) and min(rect.width(), rect.height()) < THIN_BELOW
            painter.setPen(QPen(QColor(outline.colour), 1.0 if thin else outline.width))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def draw_colour_bar(painter: QPainter, rect: QRectF, data: MapData, palette: Palette, font: QFont) -> None:
    """Draw a colour bar with the smallest, middle and largest value below it."""
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
    """Draw the values below a colour bar, with the ``curve`` of its scale."""
    painter.setPen(QColor(palette.muted))
    pen = Pen(painter, font)
    low, high = write_colour_ends(data, curve=curve)
    ends = (low, "" if MAP_OF[data.kind] == "sequential" else "0", high)
    widths = [pen.width(text) for text in ends]
    if sum(widths) + 8 > rect.width():  # drop the middle, which is 0, then the end that mirrors the other
        ends = (ends[0] if widths[0] + widths[2] + 4 <= rect.width() else "", "", ends[2])
    for place, text in zip((0.0, 0.5, 1.0), ends, strict=True):
        pen.draw(rect.x() + place * rect.width(), rect.y() + BAR_HEIGHT + 2, text, place, 0.0)


def write_colour_ends(data: MapData, *, curve: bool = True) -> tuple[str, str]:
    """Return the texts of the smallest and the largest value of the colours, with the ``curve`` of the scale."""
    scale = data.scale
    beyond, bend = "≥ " * scale.clipped, f" {_CURVES[scale.curve]}" if curve and scale.curve in _CURVES else ""
    if scale.own:
        return "0" if MAP_OF[data.kind] == "sequential" else "", f"own{bend}"
    if MAP_OF[data.kind] != "sequential":
        return f"{'≤ ' * scale.clipped}{_write_end(-data.limit)}", f"{beyond}{_write_end(data.limit)}{bend}"
    first = np.format_float_positional(scale.limit * 10.0**-DECADES, precision=1, fractional=False, trim="-")
    return f"≤ {first}" if scale.curve == "log" else "0", f"{beyond}{data.limit:.3g}{bend}"


def _write_end(value: float) -> str:
    return write_cell_text(value, 2 if abs(value) < 100 else 0)


def _thin_out(count: int, cell: float, least: float, strong: int | None, seen: slice) -> list[int]:
    """Return the labels to draw among those ``seen``, at least ``least`` px apart; the strong one always."""
    step = max(1, int(np.ceil(least / cell))) if cell else 1
    chosen = list(range(seen.start // step * step, seen.stop, step))
    if strong is not None and strong < count and strong not in chosen:
        chosen = [i for i in chosen if abs(i - strong) >= step] + [strong]
    return chosen


def _count_pixels(grid: Grid, painter: QPainter) -> tuple[int, int]:
    ratio = painter.device().devicePixelRatioF()
    rows = min(grid.rows, max(1, int(grid.rows * grid.cell_height * ratio)))
    return rows, min(grid.columns, max(1, int(grid.columns * grid.cell_width * ratio)))


def _to_image(argb: NDArray[np.uint32]) -> QImage:
    height, width = argb.shape
    return QImage(argb.data, width, height, width * 4, QImage.Format.Format_ARGB32_Premultiplied)


@lru_cache(maxsize=8)
def _make_strip(kind: str, palette: Palette) -> QImage:
    """Return a colour bar one pixel high."""
    values = np.linspace(0.0 if MAP_OF[kind] == "sequential" else -1.0, 1.0, 128, dtype=np.float32)
    return _to_image(np.ascontiguousarray(colour_cells(values[None, None], kind, TO_ONE, palette, None)[0])).copy()

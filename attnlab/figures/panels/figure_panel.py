"""The panel of one stage in a figure: its data, its layout and its drawing."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QLinearGradient, QPainter

from attnlab.base.errors import AttnlabError
from attnlab.figures.colour_bar import draw_colour_ends, write_colour_ends
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.map_labels import draw_labels
from attnlab.figures.map_pairs import pair_maps
from attnlab.figures.palette import Palette
from attnlab.figures.panels.figure_cells import draw_figure_cells
from attnlab.figures.panels.figure_layout import (
    AXIS,
    BAR,
    CAPTION,
    CELL_HEIGHT,
    CELL_WIDTH,
    DENSE,
    LINE,
    MARGIN,
    NO_LABELS,
    SHAPE,
    SPACE,
    FigureLayout,
    Labels,
    Wish,
    lay_out,
)
from attnlab.figures.panels.figure_numbers import choose_power, draw_figure_numbers
from attnlab.figures.panels.figure_source import Drawn, Pair, Sheet, Sheets, Source, count_heads
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.panels.figure_type import SMALL_PX, TEXT_PX, TITLE_PX, make_figure_font, wrap
from attnlab.figures.raster import MAP_OF
from attnlab.figures.scales import AUTOMATIC, Colouring, describe_scale, find_scale, find_sinks, join_scales
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.figures.text import Pen, mark_blank

if TYPE_CHECKING:
    pass

_ROW_LABEL, _COLUMN_LABEL, _WORD = 84.0, 64.0, 56.0
"""The widest labels of rows and columns, and the space for a usual word, which narrow figures keep too."""
_CARD_CELL_HEIGHT = 28.0
"""Higher cells would make matrices other than query by key the largest cards of a canvas."""
_BAR_HEIGHT = 5.0
_BAR_WIDTH = (90.0, 200.0)
NO_AXIS = "one"
"""The axis of a single row or number, which has no name."""
_AXIS_NAMES = dict.fromkeys(("query_columns", "key_columns", "value_columns"), "columns")
"""What axes are called whose names are not words: those of all heads' columns side by side."""
_TICK, _APART = 2.0, 6.0
"""The length of a tick of the colour bar, and the least space between its numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A stage in a figure: its name there, its maps, its title's lines, its head, shape, axes' names, and layout."""

    stage: Drawn
    name: str
    data: MapData
    title: tuple[str, ...]
    which: str
    shape: str
    axes: tuple[str, ...]
    layout: FigureLayout
    alike: MapData | None = None
    """The maps of all panels whose numbers have the same format as its own; None for its own alone."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in units."""
        return self.layout.width, self.layout.height


def make_map_data(source: Source, stage: str, head: int | str, colouring: Colouring = AUTOMATIC) -> MapData:
    """Return the maps of a stage with their labels, titles, and the scale of their colours.

    Raises:
        AttnlabError: the stage or the head does not exist; the sentence names those that do.
    """
    if isinstance(source, Pair):
        return _make_pair(source, stage, head, colouring)
    if stage not in source:
        names = ", ".join(source.all_stages)
        raise AttnlabError(f"There is no stage {stage!r} in this configuration; there are {names}.")
    entry, array = source.stage(stage), source.array(stage)
    if not entry.has_heads:
        values, titles = array[None], [""]
    elif head == "mean":
        values, titles = source.mean(stage)[None], [f"mean of {len(array)} heads"]
    elif head == "all":
        values, titles = array, [f"head {i}" for i in range(len(array))]
    elif isinstance(head, int) and 0 <= head < len(array):
        values, titles = array[head : head + 1], [f"head {head}"]
    else:
        heads = "head 0" if len(array) == 1 else f"heads 0 to {len(array) - 1}"
        raise AttnlabError(f"There is no head {head}; there are {heads}, all and mean.")
    if isinstance(source, Sheets):
        sheet = source.stage(stage)
        named = sheet.titles if head == "all" and sheet.titles else tuple(titles)
        return _make_sheet_data(sheet, values, named, colouring, shared=source.shared)
    from attnlab.figures.stage_data import find_stage_scale, make_stage_data  # loads torch

    computed = source.stage(stage)
    scale = find_stage_scale(source, computed, head, colouring)
    return make_stage_data(source, computed, values, scale, head, tuple(titles), colouring)


def _make_pair(pair: Pair, stage: str, head: int | str, colouring: Colouring) -> MapData:
    """Return the maps of two states side by side on a common scale; those of ``now`` alone if ``then`` has none."""
    now = make_map_data(pair.now, stage, head, colouring)
    if stage not in pair.then:
        return now
    then = make_map_data(pair.then, stage, head, colouring)
    if then.values.shape != now.values.shape:
        sizes = [" × ".join(map(str, each.values.shape[len(each.values) == 1 :])) for each in (then, now)]
        what = pair.now.stage(stage).noun
        raise AttnlabError(f"The {what} cannot stand side by side: one has {sizes[0]}, the other {sizes[1]}.")
    scale = join_scales([then.scale, now.scale])
    return pair_maps(replace(then, scale=scale), replace(now, scale=scale), pair.names)


def _make_sheet_data(
    sheet: Sheet, values: NDArray[np.floating], titles: tuple[str, ...], colouring: Colouring, *, shared: bool
) -> MapData:
    """Return maps of a sheet, on its own scale unless it is ``shared`` or the reader chose another."""
    muted = find_sinks(sheet.column_labels) if colouring.mute_sinks else ()
    scale = sheet.scale
    if colouring != AUTOMATIC and not shared:
        scale = find_scale(values, sheet.kind, sheet.masked, colouring, muted=muted)
    labels, has_numbers = (sheet.row_labels, sheet.column_labels), sheet.has_numbers
    return MapData(values, sheet.kind, scale, sheet.masked, *labels, titles, muted=muted, has_numbers=has_numbers)


def share_scale(source: Source, spec: FigureSpec) -> Source:
    """Return a source whose sheets have the kind of scale that a figure asks for, one for all if they share theirs."""
    if not isinstance(source, Sheets) or not source.shared or spec.colouring == AUTOMATIC:
        return source
    each = replace(source, shared=False)
    if spec.each_head:
        return each
    scale = join_scales([make_map_data(each, name, spec.head, spec.colouring).scale for name in spec.stages])
    return replace(source, sheets=tuple(replace(sheet, scale=scale) for sheet in source.sheets))


def lay_out_panel(
    source: Source,
    stage: str,
    spec: FigureSpec,
    width: float,
    ratio: float,
    height: float | None = None,
    cell_width: float = CELL_WIDTH,
) -> Panel:
    """Return the panel of a stage, ``width`` units wide, with cells at most ``cell_width`` wide.

    Its cells are fitted to ``ratio`` dots per unit.
    """
    data, entry = make_map_data(source, stage, spec.head, spec.colouring), source.stage(stage)
    data = replace(data, exponent=choose_power(data, spec))
    one = len(data.values) == 1
    which = data.titles[0] if one and entry.has_heads and count_heads(source) > 1 else ""
    sizes = data.values.shape
    pair = source if isinstance(source, Pair) and stage in source.then else None
    if pair is not None:  # which head, and the shape, are those of either
        now = make_map_data(pair.now, stage, spec.head)
        sizes, one = now.values.shape, len(now.values) == 1
        which = now.titles[0] if one and count_heads(source) > 1 else ""
    shape = " × ".join(map(str, sizes[1 if one else 0 :]))
    name = _name_stage(source, stage)
    titled = name if spec.title is None or spec.canvas or len(spec.stages) > 1 else spec.title
    text = f"{titled}  {data.power}".strip()
    title = wrap(text, width - 2 * MARGIN, make_figure_font(TITLE_PX, QFont.Weight.DemiBold)) if text else ()
    wish = Wish(
        width,
        height,
        header=len(title) * LINE,
        axis=AXIS if spec.labels else 0.0,
        bar=BAR if spec.colour_bar and data.has_numbers else 0.0,
        square=entry.axes[-1] == "key",
        per_row=spec.columns or (entry.per_row if isinstance(entry, Sheet) else None),
        in_pairs=pair is not None,
        ratio=ratio,
        cell_height=_CARD_CELL_HEIGHT if spec.canvas and not entry.is_map else CELL_HEIGHT,
        cell_width=cell_width,
        shape=1.0 if spec.canvas else SHAPE,
    )
    labels = _measure_labels(data, width) if spec.labels else NO_LABELS
    if labels is not NO_LABELS and isinstance(source, Sheets) and source.abreast:
        labels = _find_widest(_measure_labels(each, width) for each in source.sheets)
    if entry.axes[-2] == NO_AXIS:
        labels = replace(labels, row_width=0.0)
    if entry.axes[-1] == NO_AXIS:
        data = replace(data, column_labels=("",) * len(data.column_labels))
    layout = lay_out(data.values.shape, labels, wish)
    if pair is not None and not one and layout.first.per_row % 2 == 0:
        which = f"left {pair.names[0]}, right {pair.names[1]}"
    return Panel(entry, name, data, title, which, shape, _name_axes(source, stage), layout)


def _name_stage(source: Source, stage: str) -> str:
    """Return the title of a stage in a source."""
    if isinstance(source, Sheets):
        return source.stage(stage).title
    from attnlab.attention.stages.table import name_stage  # loads torch

    return name_stage(source.stage(stage), source.experiment)


def _name_axes(source: Source, stage: str) -> tuple[str, ...]:
    """Return the names of the rows and the columns of a stage's maps."""
    if isinstance(source, Sheets):
        axes = source.stage(stage).axes
    else:
        from attnlab.attention.stages.table import name_axes  # loads torch

        axes = name_axes(source.stage(stage), source.experiment)
    return tuple(_AXIS_NAMES.get(axis, axis) for axis in axes[-2:])


def draw_panel(painter: QPainter, shown: Panel, spec: FigureSpec, palette: Palette, ratio: float) -> Iterator[None]:
    """Draw a panel at the painter's origin, yielding after each line of maps."""
    _draw_header(painter, shown, spec, palette)
    first = 0
    for grid in shown.layout.grids:
        last = first + grid.count
        part = shown.data.choose_maps(first, last)
        draw_figure_cells(painter, grid, part, palette, ratio)
        draw_figure_numbers(painter, grid, part, palette, spec, shown.alike or shown.data)
        if spec.labels:
            draw_labels(painter, grid, part, palette, make_figure_font(TEXT_PX), (None, None))
        if shown.layout.caption:
            _draw_captions(painter, grid, part.titles, shown.data.titles, palette)
        first = last
        yield
    if spec.labels:
        _draw_axes(painter, shown, palette)
    if spec.colour_bar and shown.data.has_numbers:
        _draw_colour_bar(painter, shown, palette)


def _draw_header(painter: QPainter, shown: Panel, spec: FigureSpec, palette: Palette) -> None:
    """Write the title, and on its last line the head and the shape, if they fit."""
    if not shown.title:
        return
    layout, font = shown.layout, make_figure_font(TITLE_PX, QFont.Weight.DemiBold)
    widest = max(text_width(line, font) for line in shown.title)
    left = max(min(layout.left, layout.width - MARGIN - widest), MARGIN)
    right = max(layout.right, min(left + widest, layout.width - MARGIN))
    if spec.canvas:  # all cards have outlines and titles in the same place
        left, right = MARGIN, layout.width - MARGIN
    role = shown.stage.role
    painter.setPen(QColor(palette.role_ink(role) if role != "neutral" else palette.ink))
    y = layout.top + LINE / 2 - 3
    for line in shown.title:
        draw_text(painter, left, y, line, font)
        y += LINE
    if spec.title is not None and " ".join(shown.title).removesuffix(shown.data.power).rstrip() != shown.name:
        return  # the user's title stays as it is
    after = left + text_width(shown.title[-1], font) + 8
    small = Pen(painter, make_figure_font(TEXT_PX))
    painter.setPen(QColor(palette.muted))
    if shown.which and after + small.width(shown.which) <= layout.width - MARGIN:
        small.draw(after, y - LINE + 1, shown.which)
        after += small.width(shown.which) + 8
    if after + small.width(shown.shape) <= right:
        small.draw(right, y - LINE + 1, shown.shape, 1.0)


def _draw_captions(
    painter: QPainter, grid: Grid, titles: Sequence[str], of_all: Sequence[str], palette: Palette
) -> None:
    """Write the head above each of several maps and its labels; above narrow maps in a shorter form."""
    width = grid.columns * grid.cell_width
    pen, texts = Pen(painter, make_figure_font(TEXT_PX, QFont.Weight.DemiBold)), list(titles)
    painter.setPen(QColor(palette.ink))
    apart = width + grid.gap[1] * grid.cell_width
    if any(pen.width(title) > width for title in of_all):
        pen = Pen(painter, make_figure_font(SMALL_PX))
        painter.setPen(QColor(palette.muted))
        keeps_state = all(pen.width(_shorten(title)) <= width for title in of_all)
        texts = [_shorten(title) if keeps_state else _shorten(title.partition(", ")[0]) for title in titles]
        texts = [text if text[-1:].isdigit() else pen.elide(text, int(apart - 4)) for text in texts]
    every = math.ceil((max(map(pen.width, texts)) + 2) / apart)  # more would overlap
    for index in range(0, len(texts), every):
        x, y = grid.origin(index)
        pen.draw(x + width / 2, y - grid.label_height - CAPTION / 2 + 1, texts[index], 0.5)


def _shorten(title: str) -> str:
    """Return a title with the number of its head alone: "0, pinned"; names of other kinds stay."""
    return re.sub(r"^head (?=\d)", "", title)


def _draw_axes(painter: QPainter, shown: Panel, palette: Palette) -> None:
    """Write the names of the axes: rows at the left, vertically, columns above the maps; a vector has no rows."""
    rows, columns = shown.axes
    grid, layout, font = shown.layout.first, shown.layout, make_figure_font(TEXT_PX)
    if columns != NO_AXIS:
        painter.setPen(QColor(_choose_ink(columns, palette)))
        x = grid.x + (grid.width - text_width(columns, font)) / 2
        draw_text(painter, x, grid.y - grid.label_height - layout.caption - AXIS / 2, columns, font)
    if rows == NO_AXIS:
        return
    painter.setPen(QColor(_choose_ink(rows, palette)))
    x = grid.x - grid.label_width - AXIS / 2 - (0 if grid.label_width else 3)
    spans = [(each.y, each.height) for each in layout.grids]
    if grid.columns * grid.cell_width < DENSE and len(layout.grids) > 1:
        spans = [(grid.y, layout.bottom - grid.y)]
    for top, height in spans:
        _draw_upwards(painter, x, top + (height + text_width(rows, font)) / 2, rows, font)


def _draw_upwards(painter: QPainter, x: float, y: float, text: str, font: QFont) -> None:
    painter.save()
    painter.translate(x, y)
    painter.rotate(-90)
    draw_text(painter, 0, 0, text, font)
    painter.restore()


def _choose_ink(axis: str, palette: Palette) -> str:
    return palette.role_ink(axis) if axis in ("query", "key") else palette.muted


def _draw_colour_bar(painter: QPainter, shown: Panel, palette: Palette) -> None:
    """Draw the colour bar below the maps, as wide as these within limits."""
    grid, layout = shown.layout.first, shown.layout
    width = min(max(grid.width, _BAR_WIDTH[0]), _BAR_WIDTH[1], layout.width - 2 * MARGIN)
    rect = QRectF(min(grid.x, layout.width - MARGIN - width), layout.bottom + SPACE, width, _BAR_HEIGHT)
    stops = getattr(palette, MAP_OF[shown.data.kind])
    colours = QLinearGradient(rect.topLeft(), rect.topRight())
    for place, colour in zip(np.linspace(0, 1, len(stops)).tolist(), stops, strict=True):
        colours.setColorAt(place, QColor(colour))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.fillRect(rect, colours)
    below = rect.translated(0, 2)
    words, pen = describe_scale(shown.data.scale), Pen(painter, make_figure_font(SMALL_PX))
    fits = rect.right() + 8 + pen.width(words) <= layout.width - MARGIN
    draw_colour_ends(painter, below, shown.data, palette, make_figure_font(SMALL_PX), curve=not fits)
    _draw_quarters(painter, rect, shown.data, palette)
    if words and fits:
        painter.setPen(QColor(palette.muted))
        pen.draw(rect.right() + 8, rect.center().y(), words)


def _draw_quarters(painter: QPainter, bar: QRectF, data: MapData, palette: Palette) -> None:
    """Write the quarter values of a colour bar with ticks, if all fit."""
    low, high = write_colour_ends(data)
    if data.scale.own or low == high:
        return
    signed = MAP_OF[data.kind] != "sequential"
    places = (0.25, 0.75) if signed else (0.25, 0.5, 0.75)
    values = [data.scale.find_value(2 * place - 1 if signed else place) for place in places]
    texts = [f"{value * data.factor:.3g}".replace("-", "−") for value in values]
    pen = Pen(painter, make_figure_font(SMALL_PX))
    end = max(pen.width(low), pen.width(high))
    if end + max(map(pen.width, texts)) / 2 + _APART > bar.width() / 4:
        return
    painter.setPen(QColor(palette.muted))
    for place in (0.25, 0.5, 0.75):
        painter.fillRect(QRectF(bar.x() + place * bar.width() - 0.3, bar.bottom(), 0.6, _TICK), QColor(palette.muted))
    for place, text in zip(places, texts, strict=True):
        pen.draw(bar.x() + place * bar.width(), bar.bottom() + 3, text, 0.5, 0.0)


def _find_widest(all_labels: Iterable[Labels]) -> Labels:
    """Return the space that the labels of each of several maps fit into."""
    return Labels(*map(max, zip(*map(astuple, all_labels), strict=True)))


def _measure_labels(data: MapData | Sheet, width: float) -> Labels:
    """Measure the labels; long words get at most a part of the figure."""
    metrics = QFontMetricsF(make_figure_font(TEXT_PX))

    def widest(labels: "list[str] | tuple[str, ...]") -> float:
        return max((metrics.horizontalAdvance(mark_blank(x)[:60]) for x in labels), default=0.0)

    row, column = widest(list(data.row_labels)), widest(list(data.column_labels))
    turned = min(column + 8, _COLUMN_LABEL)
    return Labels(
        min(row + 8, _ROW_LABEL, max(width * 0.25, min(width * 0.36, _WORD))), column, metrics.height() + 4, turned
    )

"""Charts as scenes, for figures and films: what a line chart shows, drawn in units of paper, with its legend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF

from attnlab.figures.diagram.scene import Area, Box, Label, Point, Polyline, Scene
from attnlab.figures.diagram.scene_painter import measure_label
from attnlab.ui.widgets.charts.bands import EDGE, FILL, Band
from attnlab.ui.widgets.charts.chart_legend import LegendEntry, list_entries
from attnlab.ui.widgets.charts.chart_scale import (
    Scale,
    cut,
    decimate,
    ends_above,
    polylines,
    spread,
    tick_text,
    ticks,
    whole_ticks,
)
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.line_painting import FAINT
from attnlab.ui.widgets.charts.lines import Level, Line, Upright

HEAD, FOOT, ROW, AIR = 22.0, 18.0, 16.0, 6.0
"""Heights of the title, of the numbers of the x axis and of a row of the legend, and the space around, in units."""
SAMPLE = 18.0
_DENSITY = 3
"""Points of a curve for each unit across."""


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """What a chart shows at one time; ``cursor`` is None for none."""

    title: str
    lines: tuple[Line, ...]
    bands: tuple[Band, ...]
    levels: tuple[Level, ...]
    marks: tuple[Upright, ...]
    scale: Scale
    unit: str
    entries: tuple[LegendEntry, ...]
    cursor: float | None = None


def read_plot(chart: LineChart, title: str) -> Plot:
    """Return what a chart shows now."""
    entries = list_entries(chart)
    shown = entries if len(entries) > 1 and not any(line.label for line in chart.lines) else ()
    return Plot(
        title, chart.lines, chart.bands, chart.levels, chart.marks, chart.scale(), chart.unit, shown, chart.cursor_x
    )


def draw_plot(plot: Plot, width: float, height: float = 150.0) -> Scene:
    """Return a scene of a plot with a width; ``height`` is that of the area of the curves."""
    old, rows = plot.scale, _lay_out_legend(plot.entries, width)
    scene = Scene(width, HEAD + height + FOOT + ROW * len(rows))
    scene.add(Label(0, HEAD / 2 - 2, plot.title.upper(), "section"))
    values = ticks(old.low, old.high, old.log, max(2, int(height / 34)))
    texts = [f"{tick_text(value)}{plot.unit}" for value in values]
    left = max((measure_label(text, "caption") for text in texts), default=0.0) + AIR
    ends = max((measure_label(line.label, "caption") for line in plot.lines if line.label), default=0.0)
    area = QRectF(left, HEAD, max(width - left - (ends + 2 * AIR if ends else 2.0), 10.0), height)
    scale = Scale(area, old.right_value, old.low, old.high, old.log, old.left_value)
    _add_axes(scene, scale, list(zip(values, texts, strict=True)))
    curve_ends = [(float(line.x[-1]), float(line.y[-1])) for line in plot.lines if len(line.x)]
    for level in plot.levels:
        y = scale.y(level.y)
        if area.top() <= y <= area.bottom():
            scene.add(Polyline(((area.left(), y), (area.right(), y)), "muted", 1.0, dashed=True))
            below = ends_above(y, 16.0, curve_ends, scale)
            scene.add(Label(area.right(), y + 8 if below else y - 7, level.name, across=1.0))
    _add_uprights(scene, scale, plot)
    for band in plot.bands:
        _add_band(scene, scale, band)
    for line in plot.lines:
        for points in _trace(scale, line.x, line.y):
            alpha = 1.0 - FAINT if line.faint else 1.0
            scene.add(Polyline(points, line.colour, line.width, line.is_dashed, alpha))
    _add_labels(scene, scale, plot.lines)
    for place, row in enumerate(rows):
        for x, entry in row:
            _add_entry(scene, x, HEAD + height + FOOT + (place + 0.5) * ROW, entry)
    return scene


def _add_axes(scene: Scene, scale: Scale, across: Sequence[tuple[float, str]]) -> None:
    area = scale.area
    for value, text in across:
        y = scale.y(value)
        scene.add(Polyline(((area.left(), y), (area.right(), y)), "hairline", 1.0))
        scene.add(Label(area.left() - AIR, y, text, across=1.0))
    free = -math.inf
    for value in whole_ticks(scale.left_value, scale.right_value, max(2, int(area.width() / 64))):
        text = tick_text(value)
        wide = measure_label(text, "caption")
        left = min(max(scale.x(value) - wide / 2, 0.0), scene.width - wide)
        if left >= free:
            scene.add(Label(left, area.bottom() + FOOT / 2 + 2, text))
            free = left + wide + 8


def _add_uprights(scene: Scene, scale: Scale, plot: Plot) -> None:
    area = scale.area
    for x, name, ink in [(mark.x, mark.name, "attention") for mark in plot.marks] + [
        (x, "", "ink") for x in (plot.cursor,) if x is not None
    ]:
        if scale.left_value <= x <= scale.right_value:
            at = scale.x(x)
            scene.add(Polyline(((at, area.top()), (at, area.bottom())), ink, 1.0))
            if name:
                right = at + measure_label(name, "caption") + 4 > area.right()
                scene.add(Label(at - 4 if right else at + 4, area.top() + 6, name, across=float(right)))


def _trace(scale: Scale, x: np.ndarray, y: np.ndarray) -> list[tuple[Point, ...]]:
    """Return the points of a curve where it is shown, one tuple for each stretch without a gap."""
    x, y = cut(x, y, scale.left_value, scale.right_value)
    few = decimate(x, y, scale.left_value, scale.right_value, int(scale.area.width() * _DENSITY))
    stretches = (each.toList() for each in polylines(*few, scale))
    return [tuple((at.x(), at.y()) for at in points) for points in stretches]


def _add_band(scene: Scene, scale: Scale, band: Band) -> None:
    x, low = cut(band.x, band.low, scale.left_value, scale.right_value)
    high = cut(band.x, band.high, scale.left_value, scale.right_value)[1]
    there = np.isfinite(scale.ys(np.asarray(low, np.float64))) & np.isfinite(scale.ys(np.asarray(high, np.float64)))
    lower, upper = (
        tuple((scale.x(float(a)), scale.y(float(b))) for a, b in zip(x[there], y[there], strict=True))
        for y in (low, high)
    )
    if len(lower) > 1:
        scene.add(Area((*upper, *reversed(lower)), band.colour, FILL))
        scene.add(*(Polyline(edge, band.colour, 1.0, alpha=EDGE) for edge in (lower, upper)))


def _add_labels(scene: Scene, scale: Scale, lines: Sequence[Line]) -> None:
    """Add the names of curves at their ends, apart where they would overlap."""
    seen = ((cut(line.x, line.y, scale.left_value, scale.right_value)[1], line) for line in lines if line.label)
    ends = sorted(((scale.y(float(y[-1])), line) for y, line in seen if len(y)), key=lambda each: each[0])
    ends = [each for each in ends if math.isfinite(each[0])]
    places = spread([y for y, _ in ends], 13.0, scale.area.top() - 6, scale.area.bottom() + 6)
    for (_, line), y in zip(ends, places, strict=True):
        scene.add(Label(scale.area.right() + AIR, y, line.label, ink=line.colour))


def _lay_out_legend(entries: Sequence[LegendEntry], width: float) -> list[list[tuple[float, LegendEntry]]]:
    """Return the entries in rows, each with its x."""
    rows: list[list[tuple[float, LegendEntry]]] = []
    x = width
    for entry in entries:
        wide = SAMPLE + AIR + measure_label(entry.name, "caption")
        if x + wide > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, entry))
        x += wide + 2 * AIR
    return rows


def _add_entry(scene: Scene, x: float, y: float, entry: LegendEntry) -> None:
    if entry.is_band:
        scene.add(
            Box((x, y - 5, SAMPLE, 10), f"{entry.colour}:{100 * FILL:.0f}", f"{entry.colour}:{100 * EDGE:.0f}", 1.0)
        )
    else:
        alpha = 1.0 - FAINT if entry.faint else 1.0
        scene.add(Polyline(((x, y), (x + SAMPLE, y)), entry.colour, entry.width, entry.is_dashed, alpha))
    scene.add(Label(x + SAMPLE + AIR, y, entry.name))

"""Bands of a chart: the areas between the least and the largest of several curves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from attnlab.figures.palette import Palette, mix
from attnlab.ui.widgets.charts.chart_scale import Scale

FILL, EDGE = 0.16, 0.4
"""How much of its colour the area and its edges have."""


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The area from ``low`` to ``high`` over ascending ``x``; ``colour`` is a palette's field by name."""

    name: str
    x: NDArray[np.floating]
    low: NDArray[np.floating]
    high: NDArray[np.floating]
    colour: str = "accent"


def draw_band(painter: QPainter, scale: Scale, band: Band, palette: Palette) -> None:
    """Draw a band where both of its edges are on the scale."""
    low, high = (scale.ys(np.asarray(edge, np.float64)) for edge in (band.low, band.high))
    there = np.isfinite(low) & np.isfinite(high)
    across = [scale.x(float(x)) for x in np.asarray(band.x)[there]]
    lower, upper = ([QPointF(x, y) for x, y in zip(across, edge[there].tolist(), strict=True)] for edge in (low, high))
    colour: str = getattr(palette, band.colour)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(mix(palette.surface, colour, FILL)))
    painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(mix(palette.surface, colour, EDGE)), 1))
    for edge in (lower, upper):
        painter.drawPolyline(QPolygonF(edge))


def describe_band(band: Band) -> str:
    """Return what a band shows at its end, in words."""
    if not len(band.x):
        return f"{band.name}: no values yet"
    return f"{band.name}: from {band.low[-1]:.4g} to {band.high[-1]:.4g} now".replace("-", "−")

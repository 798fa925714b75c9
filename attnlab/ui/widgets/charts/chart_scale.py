"""From values to the pixels of a chart: the scale, round ticks, and curves reduced to the points that pixels show."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPolygonF

from attnlab.base.counted import format_whole

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps x from ``left_value`` to ``right_value`` and y from ``low`` to ``high`` to an area in pixels."""

    area: QRectF
    right_value: float
    low: float
    high: float
    log: bool = False
    left_value: float = 0.0

    def x(self, value: float) -> float:
        """Return the pixel of an x."""
        share = (value - self.left_value) / (self.right_value - self.left_value)
        return self.area.left() + share * self.area.width()

    def value_x(self, pixel: float) -> float:
        """Return the x at a pixel."""
        share = (pixel - self.area.left()) / max(self.area.width(), 1.0)
        return self.left_value + share * (self.right_value - self.left_value)

    def y(self, value: float) -> float:
        """Return the pixel of a y; NaN if the scale does not contain it."""
        return float(self.ys(np.array([value]))[0])

    def ys(self, values: Floats) -> Floats:
        """Return the pixels of many y."""
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            placed = np.log10(values, where=values > 0, out=np.full(values.shape, np.nan))
        else:
            low, high, placed = self.low, self.high, values
        return np.asarray(self.area.bottom() - (placed - low) / ((high - low) or 1.0) * self.area.height())


def decimate(
    x: NDArray[np.floating], y: NDArray[np.floating], left: float, right: float, pixels: int
) -> tuple[Floats, Floats]:
    """Return the minimum and the maximum y of each pixel, in their order, so that no spike is lost.

    ``x`` ascends. Few points are returned unchanged; a pixel without a finite y keeps one NaN, as a gap.
    """
    at: Floats = np.asarray(x, dtype=np.float64)
    all_y: Floats = np.asarray(y, dtype=np.float64)
    if len(at) <= 2 * pixels or pixels < 1 or right <= left:
        return at, all_y
    all_y = np.where(np.isfinite(all_y), all_y, np.nan)
    bins = np.clip(((at - left) / (right - left) * pixels).astype(np.int64), 0, pixels - 1)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    low, high = np.fmin.reduceat(all_y, starts), np.fmax.reduceat(all_y, starts)
    falls = all_y[starts] > all_y[np.append(starts[1:], len(at)) - 1]
    first, second = np.where(falls, high, low), np.where(falls, low, high)
    return np.repeat(at[starts], 2), np.stack([first, second], 1).reshape(-1)


def cut(
    x: NDArray[np.floating], y: NDArray[np.floating], left: float, right: float, beside: int = 0
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the points of a curve with ``left`` ≤ x ≤ ``right``, and so many on both sides of them; x ascends."""
    first, last = np.searchsorted(x, left, "left"), np.searchsorted(x, right, "right")
    part = slice(max(int(first) - beside, 0), int(last) + beside)
    return x[part], y[part]


def polylines(x: Floats, y: Floats, scale: Scale) -> Iterator[QPolygonF]:
    """Yield the polylines of a curve in pixels, one for each stretch without a gap."""
    down = scale.ys(y)
    across = scale.area.left() + (x - scale.left_value) / (scale.right_value - scale.left_value) * scale.area.width()
    there = np.isfinite(down)
    edges = np.flatnonzero(np.diff(there.astype(np.int8), prepend=0, append=0))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        points = zip(across[start:end].tolist(), np.clip(down[start:end], -1e6, 1e6).tolist(), strict=True)
        stretch = [QPointF(*point) for point in points]
        yield QPolygonF([stretch[0] - QPointF(1, 0), *stretch] if len(stretch) == 1 else stretch)


def ends_above(y: float, tall: float, ends: Iterable[tuple[float, float]], scale: Scale) -> bool:
    """Return whether a curve, given by its last point, ends within ``tall`` pixels above a height at the right."""
    right = scale.area.left() + 0.6 * scale.area.width()
    return any(scale.x(x) >= right and y - tall <= scale.y(last) <= y for x, last in ends)


def spread(wanted: list[float], height: float, top: float, bottom: float) -> list[float]:
    """Return the middles of labels of a height between top and bottom: the ascending ones wanted, moved apart."""
    places: list[float] = []
    for y in wanted:
        places.append(max(y, places[-1] + height if places else top + height / 2))
    limit = bottom - height / 2
    for index in reversed(range(len(places))):
        places[index] = min(places[index], limit)
        limit = places[index] - height
    return places


def move_beside(box: QRectF, taken: Iterable[QRectF], gap: float) -> QRectF:
    """Return a box, moved to the left by whole boxes and a gap until it overlaps none of those taken."""
    for other in sorted(taken, key=QRectF.right, reverse=True):
        if box.intersects(other):
            box = QRectF(other.left() - gap - box.width(), box.y(), box.width(), box.height())
    return box


def ticks(low: float, high: float, log: bool, most: int) -> list[float]:
    """Return round values from ``low`` to ``high``, about ``most`` at most: 1, 2 or 5 times a power of ten."""
    if not (math.isfinite(low) and math.isfinite(high) and high > low):
        return []
    if log:
        return _log_ticks(low, high, most)
    step = round_up(0.999 * (high - low) / max(most, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def round_up(value: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that isn’t below a value above 0."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= value)


def whole_ticks(low: float, high: float, most: int) -> list[float]:
    """Return those of the round values that are whole, for an axis that counts something."""
    return [value for value in ticks(low, high, False, most) if math.isclose(value, round(value), abs_tol=1e-9)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [f * 10.0**p for p in powers for f in factors if low <= f * 10.0**p <= high]
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // most)]


def tick_text(value: float) -> str:
    """Return a tick's value as a short text: "0.05", "5,000", or "4e12" where a loss explodes."""
    if abs(value) >= 1e7:
        return f"{value:.4g}".replace("-", "−").replace("e+0", "e").replace("e+", "e")
    if abs(value) >= 1000 and value == round(value):
        return format_whole(value)
    return f"{value:.4g}".replace("-", "−").replace("e−0", "e−")

"""The layout of a plane of arrows: one scale for both axes, round numbers, and a column of names beside the tips."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from attnlab.figures.arrows.arrow_data import ArrowsData, Point
from attnlab.figures.arrows.dimension_lines import make_dimensions

SHRINK, SMALLER = 0.92, 10
"""The factor by which the arrows shrink while dimension lines have no room, and how often: to less than half."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Where the plane is seen: the pixel of the origin, and pixels per unit, the same on both axes."""

    origin: QPointF
    unit: float
    room: QRectF

    def place(self, point: Point) -> QPointF:
        """Return the pixel of a point."""
        return QPointF(self.origin.x() + point[0] * self.unit, self.origin.y() - point[1] * self.unit)

    def step(self, start: QPointF, end: QPointF) -> Point:
        """Return the distance between two pixels in units of the plane."""
        return (end.x() - start.x()) / self.unit, (start.y() - end.y()) / self.unit

    def ends(self) -> tuple[float, float, float, float]:
        """Return the least and largest x, then y, that are visible."""
        left, down = self.step(self.origin, self.room.bottomLeft())
        right, up = self.step(self.origin, self.room.topRight())
        return left, right, down, up


@dataclass(frozen=True, slots=True)
class PlaneLayout:
    """Where the parts of a plane are: the sight, the column of names, and the height of the name of each arrow."""

    sight: Sight
    column: QRectF
    names: dict[int, float]


def lay_out_plane(
    data: ArrowsData, area: QRectF, zoom: float, measure: Callable[[str], float], kept: Sight | None = None
) -> PlaneLayout:
    """Return the layout of a plane in an area; ``measure`` returns the width of a name, in pixels.

    ``kept`` is a sight to keep if its room is still the same.
    """
    z, widest = zoom, max((measure(arrow.label) for arrow in data.list_named()), default=0.0)
    wide = min(widest + 14 * z, area.width() * 0.28)
    room = area.adjusted(46 * z, 30 * z, -wide - 40 * z, -40 * z)
    if kept is None or kept.room != room:
        kept = _fit_with_dimensions(data, room, z, measure)
    column = QRectF(area.right() - wide - 2 * z, area.top(), wide, area.height())
    return PlaneLayout(kept, column, _place_names(data, kept, column, z))


def _fit_with_dimensions(data: ArrowsData, room: QRectF, z: float, measure: Callable[[str], float]) -> Sight:
    """Return the sight in which the points fill a room and leave the dimension lines theirs, if it has that much."""
    inner = room.adjusted(14 * z, 12 * z, -14 * z, -12 * z)
    fitted = fit_sight(data.points(), inner)
    for _ in range(SMALLER):
        dimensions = make_dimensions(data, fitted.place, z, measure)
        if not dimensions:
            break
        bounds = QRectF(*_find_corners([fitted.place(point) for point in data.points()]))
        for each in dimensions:
            bounds = bounds.united(each.bounds)
        if room.contains(bounds):
            return Sight(fitted.origin, fitted.unit, room)
        if bounds.width() <= room.width() and bounds.height() <= room.height():
            return Sight(fitted.origin + room.center() - bounds.center(), fitted.unit, room)
        less = inner.width() * (1 - SHRINK) / 2, inner.height() * (1 - SHRINK) / 2
        inner = inner.adjusted(less[0], less[1], -less[0], -less[1])
        fitted = fit_sight(data.points(), inner)
    fitted = fit_sight(data.points(), room.adjusted(14 * z, 12 * z, -14 * z, -12 * z))
    return Sight(fitted.origin, fitted.unit, room)


def _find_corners(points: Sequence[QPointF]) -> tuple[QPointF, QPointF]:
    """Return the top left and the bottom right corner of the rectangle around points."""
    xs, ys = [point.x() for point in points], [point.y() for point in points]
    return QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys))


def _place_names(data: ArrowsData, sight: Sight, column: QRectF, z: float) -> dict[int, float]:
    """Give every arrow a name if there is room, otherwise only those that are held."""
    top, bottom = column.top() + 12 * z, column.bottom() - 12 * z
    arrows = data.list_named()
    named = list(range(len(arrows)))
    gap = min(21 * z, (bottom - top) / max(len(named) - 1, 1))
    if gap < 14 * z:
        named, gap = [i for i in named if arrows[i].held], 21 * z
    heights = spread_names([sight.place(arrows[i].tip).y() for i in named], gap, top, bottom)
    return dict(zip(named, heights, strict=True))


def fit_sight(points: Sequence[Point], room: QRectF) -> Sight:
    """Return the sight in which points fill a rectangle, as far as equal scales allow."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    fits = [have / need for have, need in ((room.width(), wide), (room.height(), high)) if need > 0]
    unit = max(min(fits, default=room.height() / 2), 1e-300)
    x, y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return Sight(QPointF(room.center().x() - x * unit, room.center().y() + y * unit), unit, room)


def find_round_step(least: float) -> float:
    """Return the smallest of 1, 2, 2.5 and 5, times a power of 10, that is at least a positive number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next((m * power for m in (1, 2, 2.5, 5) if m * power >= least), 10 * power)


def list_multiples(step: float, least: float, most: float) -> list[float]:
    """Return the multiples of a step between two numbers."""
    return [n * step for n in range(math.ceil(least / step), math.floor(most / step) + 1)]


def spread_names(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Return heights near the wanted ones, in their order, at least a gap apart and within top and bottom.

    The caller makes sure that they fit.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    edge = top
    for i in order:
        placed[i] = max(wanted[i], edge)
        edge = placed[i] + gap
    edge = bottom
    for i in reversed(order):
        placed[i] = min(placed[i], edge)
        edge = placed[i] - gap
    return placed

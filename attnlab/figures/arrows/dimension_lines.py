"""The dimension lines of a projection: how long the query is, and how far the key reaches along it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from attnlab.figures.arrows.arrow_data import ArrowsData, find_foot

OUTER, INNER = 44.0, 24.0
"""How far the line of the query, and that of the key, lie beside the query, in pixels at 100 %."""
END, LEAST, LINE = 5.0, 90.0, 15.0
"""Half the length of an end, the least length of the query that is measured so, and the height of a line of words."""
GAP = 5.0
"""The distance of the words from the outer line, in pixels at 100 %."""
QUERY_AT = 0.78
"""Where on its line the length of the query is written."""
CAPTIONS = "length of the query", "of the key along it"

Place = Callable[[tuple[float, float]], QPointF]
Measure = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A line between two points with ends, and beside it a number above a caption, in a rectangle of ``words``."""

    role: str
    line: tuple[QPointF, QPointF]
    end: QPointF
    number: str
    caption: str
    words: QRectF

    @property
    def bounds(self) -> QRectF:
        """The rectangle around line and words."""
        ends = (QRectF(point - self.end, point + self.end).normalized() for point in self.line)
        return self.words.united(next(ends)).united(next(ends))


def make_dimensions(data: ArrowsData, place: Place, zoom: float, measure: Measure) -> tuple[Dimension, ...]:
    """Return the two dimension lines of a projection, beside the query on the side where fewer tips lie.

    ``place`` returns the pixel of a point, ``measure`` the width of a text. There are none without a projection, or if
    the query is short.
    """
    projection = data.projection
    if projection is None:
        return ()
    origin, tip = _vector(place((0.0, 0.0))), _vector(place(data.arrows[projection.query].tip))
    length = float(np.linalg.norm(tip - origin))
    if length < LEAST * zoom:
        return ()
    aside = _choose_side(data, place, origin, (tip - origin) / length)
    foot = _vector(place(find_foot(data, projection.key)))
    spans = ("query", tip, OUTER, QUERY_AT, projection.length), ("key", foot, INNER, 0.5, projection.along)
    found: list[Dimension] = []
    for (role, end, beside, share, number), caption in zip(spans, CAPTIONS, strict=True):
        size = np.array([max(measure(number), measure(caption)), 2 * LINE * zoom])
        across = float(np.abs(aside) @ size)  # how far the words reach in the direction of aside
        middle = origin + share * (end - origin) + aside * ((OUTER + GAP) * zoom + across / 2)
        words = _make_rectangle(middle, size)
        if found and words.adjusted(-4, -4, 4, 4).intersects(found[0].words):
            words = _make_rectangle(middle + aside * (across + GAP * zoom), size)
        line = _point(origin + aside * beside * zoom), _point(end + aside * beside * zoom)
        found.append(Dimension(role, line, _point(aside * END * zoom), number, caption, words))
    return tuple(found)


def _make_rectangle(middle: np.ndarray, size: np.ndarray) -> QRectF:
    return QRectF(_point(middle - size / 2), _point(middle + size / 2))


def _choose_side(data: ArrowsData, place: Place, origin: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return the direction across the query in which fewer tips lie near the lines, the left one of two."""
    left = np.array([along[1], -along[0]])
    left = left if left[0] < 0 or (left[0] == 0 and left[1] < 0) else -left
    sides = [float((_vector(place(arrow.tip)) - origin) @ left) for arrow in data.arrows]
    return left if sum(side > 0 for side in sides) <= sum(side < 0 for side in sides) else -left


def _vector(point: QPointF) -> np.ndarray:
    return np.array([point.x(), point.y()])


def _point(vector: np.ndarray) -> QPointF:
    return QPointF(float(vector[0]), float(vector[1]))

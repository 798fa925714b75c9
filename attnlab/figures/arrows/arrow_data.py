"""What a plane of arrows shows: arrows with their roles and names, a projection, and a hull with a point in it."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Arrow:
    """One arrow from the origin: its tip in the plane, its role for the colour, its label, and its name in words.

    ``key`` tells its owner which vector it is; ``held`` ones are drawn strong and ``hidden`` ones as grey rings.
    ``size`` is the radius of its ring in pixels, 0 for the usual one. ``token`` names what the vector is computed from.
    """

    key: Hashable
    tip: Point
    role: str
    label: str
    spoken: str
    held: bool = False
    hidden: bool = False
    size: float = 0.0
    token: Hashable = None


@dataclass(frozen=True, slots=True)
class Projection:
    """A key's projection onto a query: the indices of their arrows, and of the other keys' arrows.

    The plane must contain the query, or the right angle would be wrong. ``length`` is the length of the query, and
    ``along`` how far the key reaches along it, as text.
    """

    query: int
    key: int
    others: tuple[int, ...] = ()
    length: str = ""
    along: str = ""


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of arrows: the corners of their hull, the parts and their shares, the mixture, and the equal mixture.

    ``hull`` and ``parts`` are indices of arrows.
    """

    hull: tuple[int, ...]
    parts: tuple[tuple[int, float], ...]
    tip: Point
    equal: Point
    label: str


@dataclass(frozen=True, slots=True)
class ArrowsData:
    """All that a plane shows; ``names`` are those of its horizontal and vertical axis."""

    arrows: tuple[Arrow, ...]
    names: tuple[str, str]
    projection: Projection | None = None
    mixture: Mixture | None = None
    movable: bool = True

    def list_named(self) -> tuple[Arrow, ...]:
        """Return the arrows, and after them the mixture as one, for the column of names."""
        if self.mixture is None:
            return self.arrows
        return *self.arrows, Arrow(None, self.mixture.tip, "attention", self.mixture.label, "", held=True)

    def points(self) -> list[Point]:
        """Return every point that has to be visible."""
        own = [arrow.tip for arrow in self.arrows]
        return [(0.0, 0.0), *own, *((self.mixture.tip, self.mixture.equal) if self.mixture is not None else ())]


def find_foot(data: ArrowsData, key: int) -> Point:
    """Return the foot of the perpendicular from the tip of an arrow to the line along the projection's query."""
    assert data.projection is not None
    query, tip = np.array(data.arrows[data.projection.query].tip), np.array(data.arrows[key].tip)
    square = float(query @ query)
    foot = query * (float(tip @ query) / square) if square else query
    return float(foot[0]), float(foot[1])

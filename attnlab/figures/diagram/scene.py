"""A scene of simple shapes, in units of a pixel at 100 %: what a diagram draws, and the named places in it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
Measure = Callable[[str, str], float]
"""Returns the width of a text in the face with this name; see :data:`FACES`."""

FACES = {
    "big": (24, True),
    "title": (13, True),
    "text": (13, False),
    "token": (14, True),
    "count": (12, True),
    "caption": (11, False),
    "strong": (11, True),
    "section": (10.5, True),
}
"""The faces of a scene: size in units, and whether the letters are bold."""


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text: ``across`` is its anchor at x, 0 for left and 1 for right; it is centred on y."""

    x: float
    y: float
    text: str
    face: str = "caption"
    ink: str = "muted"
    across: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with round corners, filled and framed in colours of the palette, "" for none."""

    rect: Rect
    fill: str = ""
    line: str = ""
    radius: float = 6.0
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points, with round corners or as a smooth ``curve``, ending in an arrow head if ``arrow``."""

    points: tuple[Point, ...]
    ink: str = "hatch"
    width: float = 1.5
    arrow: bool = False
    dashed: bool = False
    curve: bool = False
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Polyline:
    """Straight lines from point to point, as of a curve of numbers."""

    points: tuple[Point, ...]
    ink: str = "muted"
    width: float = 1.5
    dashed: bool = False
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Area:
    """The filled area inside points."""

    points: tuple[Point, ...]
    ink: str = "muted"
    alpha: float = 0.16


@dataclass(frozen=True, slots=True)
class Band:
    """A filled band from a foot at the bottom to one at the top, each (x, y, width), ``waist`` wide in the middle."""

    foot: tuple[float, float, float]
    head: tuple[float, float, float]
    waist: float
    ink: str = "muted"
    alpha: float = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A small map in a rectangle: its ``kind`` is that of :class:`MapData`, its colours end at ``limit``.

    ``dots`` draws round cells; ``alpha`` fades the whole.
    """

    rect: Rect
    values: NDArray[np.floating]
    kind: str = "probability"
    limit: float = 1.0
    masked: NDArray[np.bool_] | None = None
    dots: bool = False
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Sign:
    """A small sign, ``kind`` "plus", "tick", "cross", "up", "down", "stop" or a letter in a circle, centred on x, y."""

    x: float
    y: float
    kind: str
    ink: str = "muted"
    size: float = 16.0


Shape = Label | Box | Stroke | Polyline | Area | Band | Cells | Sign


@dataclass(frozen=True, slots=True)
class Region:
    """A named place of a scene: what a click there means, and what a screen reader says of it."""

    name: str
    rect: Rect
    spoken: str
    tip: str = ""
    radius: float = 6.0

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point lies inside."""
        left, top, width, height = self.rect
        return left <= x < left + width and top <= y < top + height


@dataclass(slots=True)
class Scene:
    """Shapes from back to front, and the regions in the order of reading; later regions lie above earlier ones."""

    width: float = 0.0
    height: float = 0.0
    shapes: list[Shape] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        """Add shapes above all others."""
        self.shapes += shapes

    def put(self, other: "Scene", dx: float, dy: float, prefix: str = "") -> None:
        """Add another scene, moved to the right and down; the names of its regions get a prefix."""
        self.shapes += [move(shape, dx, dy) for shape in other.shapes]
        moved = ((each, _move_rect(each.rect, dx, dy)) for each in other.regions)
        self.regions += [replace(each, name=prefix + each.name, rect=rect) for each, rect in moved]

    def find_at(self, x: float, y: float) -> Region | None:
        """Return the topmost region at a point."""
        return next((region for region in reversed(self.regions) if region.contains(x, y)), None)

    def find(self, name: str) -> Region | None:
        """Return the region with a name."""
        return next((region for region in self.regions if region.name == name), None)


def move(shape: Shape, dx: float, dy: float) -> Shape:
    """Return a shape moved to the right and down."""
    if isinstance(shape, Label | Sign):
        return replace(shape, x=shape.x + dx, y=shape.y + dy)
    if isinstance(shape, Box | Cells):
        return replace(shape, rect=_move_rect(shape.rect, dx, dy))
    if isinstance(shape, Stroke | Polyline | Area):
        return replace(shape, points=tuple((x + dx, y + dy) for x, y in shape.points))
    (a, b, c), (d, e, f) = shape.foot, shape.head
    return replace(shape, foot=(a + dx, b + dy, c), head=(d + dx, e + dy, f))


def _move_rect(rect: Rect, dx: float, dy: float) -> Rect:
    x, y, width, height = rect
    return x + dx, y + dy, width, height


def shorten(text: str, face: str, width: float, measure: Measure) -> str:
    """Return a text, with its end replaced by … if it is wider than ``width``."""
    if measure(text, face) <= width:
        return text
    while text and measure(f"{text}…", face) > width:
        text = text[:-1]
    return f"{text.rstrip(' ·,;:')}…" if text else ""

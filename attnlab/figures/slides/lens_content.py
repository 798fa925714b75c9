"""A lens on a slide as plain values: charts, maps in rows, or turns on circles. Drawn to be read from the last row."""

from dataclasses import dataclass

from attnlab.figures.arrows.arrow_data import ArrowsData
from attnlab.figures.slides.slide_content import SlideMap


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One curve with its name at its end; ``points`` are single measurements with their values written beside them."""

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    role: str
    points: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over an axis whose ticks double or whose numbers are evenly spaced; ``log_y`` is a scale of powers.

    ``x_range`` are the ends of the axis, None for those of the curves; within them each curve ends in a dot.
    """

    title: str
    lines: tuple[ChartLine, ...]
    x_label: str
    x_ticks: tuple[float, ...] = ()
    log_x: bool = True
    log_y: bool = False
    x_range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One number as a bar, with its name before it and its text behind it."""

    name: str
    value: float
    text: str
    role: str


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts side by side, or ``stacked``, with a map at their left, and above them ``bars`` of numbers to compare."""

    charts: tuple[Chart, ...]
    map: SlideMap | None = None
    stacked: bool = False
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MapRow:
    """Maps side by side under a heading, and what they come to, at their right."""

    heading: str
    maps: tuple[SlideMap, ...]
    result: str


@dataclass(frozen=True, slots=True, eq=False)
class MapRows:
    """Rows of maps."""

    rows: tuple[MapRow, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow on a circle: its angle in radians, counted against the clock from the right, and its label."""

    angle: float
    role: str
    label: str
    dots: tuple[float, ...] = ()
    """The angles of earlier positions, as dots on the rim."""


@dataclass(frozen=True, slots=True)
class Circle:
    """Two arrows and the angle between them."""

    first: Arrow
    second: Arrow
    text: str
    turn: float
    """From the second arrow to the first, in radians; beyond half a circle it goes the long way round."""


@dataclass(frozen=True, slots=True)
class Dial:
    """A small clock: a turn in radians and its text; ``current`` is the one that is drawn large."""

    turn: float
    text: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class Circles:
    """Two circles with the same turn, numbers at the right (label, number, strong), and the turn of every pair.

    ``walk`` is the second circle word by word: it begins as the first one and ends as the second.
    """

    circles: tuple[Circle, ...]
    caption: str
    numbers: tuple[tuple[str, str, bool], ...]
    told: tuple[str, str]
    dials: tuple[Dial, ...]
    walk: tuple[Circle, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its cells as written, with ``bars`` or ``tints`` from 0 to 1 for each cell, or neither."""

    title: str
    cells: tuple[str, ...]
    bars: tuple[float, ...] = ()
    tints: tuple[float, ...] = ()
    role: str = "neutral"
    right: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, under one sentence."""

    columns: tuple[Column, ...]
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Plane:
    """Arrows in a plane under a title, and what they say, below it; ``moving`` are the arrows on their way there."""

    title: str
    arrows: ArrowsData
    caption: str
    moving: ArrowsData | None = None


LensPicture = Charts | MapRows | Circles | Table | Plane

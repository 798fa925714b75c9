"""What a figure is to be, as one value: which stages and heads, how large, in which colours, with what around it."""

from dataclasses import dataclass
from decimal import Decimal

from attnlab.base.errors import AttnlabError
from attnlab.figures.panels.figure_colours import BY_NAME, OWN

MM_PER_INCH, POINTS_PER_INCH = 25.4, 72.0
DPI, WIDTH_MM, WIDE_MM = 300, 120.0, 170.0
"""The size not asked for: a column and a half, or the width of a page for several maps."""

DPI_RANGE, WIDTH_RANGE_MM, FONT_RANGE_PT, DECIMALS = (30, 2400), (20.0, 1000.0), (3.0, 72.0), (0, 8)
NUMBERS, GROUNDS = ("auto", "on", "off"), ("light", "dark", "transparent")
FONT_PT = 7.5
"""What journals set labels in."""
_UNITS_PER_LINE = 10.0
"""Labels are 10 units high, so that a figure in larger type is the same figure with larger units."""


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """A figure: ``stages`` one above the other, or with ``canvas`` all there are, as they follow from one another.

    ``head`` is a head from 0, ``"all"`` as small multiples (``columns`` side by side, or as many as look well) or their
    ``"mean"``. Width and height are in millimetres; a height left None follows from the maps, a width left None is 120,
    for several maps 170. ``title`` None is the name of the stage, "" none. ``numbers`` are ``"auto"`` where they can be
    read, ``"on"`` also when very small, or ``"off"``, with ``decimals`` or, left None, as many as fit. ``font_pt`` is
    the size of labels. ``ground`` is light, dark or transparent.

    Raises:
        AttnlabError: something that cannot be drawn; the sentence says what can.
    """

    stages: tuple[str, ...] = ("weights",)
    canvas: bool = False
    head: int | str = "all"
    columns: int | None = None
    width_mm: float | None = None
    height_mm: float | None = None
    dpi: int = DPI
    title: str | None = None
    labels: bool = True
    numbers: str = "auto"
    decimals: int | None = None
    colour_bar: bool = True
    colour_map: str = OWN
    font_pt: float = FONT_PT
    ground: str = "light"

    def __post_init__(self) -> None:
        if not self.stages and not self.canvas:
            raise AttnlabError("A figure of no stage cannot be drawn; name one, such as weights.")
        _within(self.dpi, DPI_RANGE, "{} dots per inch cannot be drawn; {} to {} can.")
        for side, name in ((self.width_mm, "width"), (self.height_mm, "height")):
            if side is not None:
                _within(side, WIDTH_RANGE_MM, f"A {name} of {{}} mm cannot be drawn; {{}} to {{}} mm can.")
        _within(self.font_pt, FONT_RANGE_PT, "Type of {} points cannot be drawn; {} to {} points can.")
        if self.decimals is not None:
            _within(self.decimals, DECIMALS, "{} decimals cannot be written; {} to {} can.", whole=True)
        if self.columns is not None:
            _within(self.columns, (1, 1000), "{} maps side by side cannot be drawn; {} to {} can.", whole=True)
        _among(self.numbers, NUMBERS, "Numbers")
        _among(self.ground, GROUNDS, "The ground")
        _among(self.colour_map, tuple(BY_NAME), "The colour map")

    @property
    def units_per_inch(self) -> float:
        """How many of the units that a figure is laid out in an inch has: 96 in type of the usual size."""
        return POINTS_PER_INCH * _UNITS_PER_LINE / self.font_pt

    @property
    def dark(self) -> bool:
        """Whether it is light on dark."""
        return self.ground == "dark"


def _within(value: float, limits: tuple[float, float], sentence: str, *, whole: bool = False) -> None:
    if not limits[0] <= value <= limits[1] or (whole and value != int(value)):
        told = f"{Decimal(value):.6g}" if type(value) is int else f"{value:g}"  # an int may be too large for a float
        raise AttnlabError(sentence.format(told, f"{limits[0]:g}", f"{limits[1]:g}"))


def _among(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise AttnlabError(f"{what} cannot be {value!r}, only {', '.join(known)}.")

"""The settings of a figure as one value: its stages and heads, size, colours and decorations."""

from dataclasses import dataclass
from decimal import Decimal

from attnlab.base.errors import AttnlabError
from attnlab.figures.panels.figure_colours import BY_NAME, OWN
from attnlab.figures.scales import SCALES, Colouring

MM_PER_INCH, POINTS_PER_INCH = 25.4, 72.0
DPI, WIDTH_MM, WIDE_MM = 300, 120.0, 170.0
"""The default widths: a column and a half, or the width of a page for several maps."""

DPI_RANGE, WIDTH_RANGE_MM, FONT_RANGE_PT, DECIMALS = (30, 2400), (20.0, 1000.0), (3.0, 72.0), (0, 8)
NUMBERS, GROUNDS = ("auto", "on", "off"), ("light", "dark", "transparent")
FONT_PT = 7.5
"""The usual size of labels in journals."""
_DIGITS = 15
"""Numbers with at most so many digits are written out in sentences: 1000000."""
_UNITS_PER_LINE = 10.0
"""Labels are 10 units high, so a figure with larger type is the same figure with larger units."""


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """A figure: ``stages`` below one another, or with ``canvas`` all stages as on the canvas.

    ``head`` is a head from 0, ``"all"`` for small multiples (``columns`` side by side, None for the best number), or
    ``"mean"``. Width and height are in millimetres; a height of None follows from the maps, a width of None is 120, or
    170 for several maps. ``title`` None is the name of the stage, "" none. ``numbers`` are ``"auto"`` where they are
    legible, ``"on"`` even if very small, or ``"off"``, with ``decimals``, None for as many as fit. ``font_pt`` is
    the size of labels. ``ground`` is light, dark or transparent. ``scale``, ``each_head`` and ``mute_sinks`` are those
    of a :class:`~attnlab.figures.scales.Colouring`.

    Raises:
        AttnlabError: a value is invalid; the sentence says what is valid.
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
    scale: str = "auto"
    each_head: bool = False
    mute_sinks: bool = False

    def __post_init__(self) -> None:
        if not self.stages and not self.canvas:
            raise AttnlabError("A figure needs a stage; name one, such as weights.")
        _check_within(self.dpi, DPI_RANGE, "The resolution cannot be {} dots per inch, only {} to {}.")
        for side, name in ((self.width_mm, "width"), (self.height_mm, "height")):
            if side is not None:
                _check_within(side, WIDTH_RANGE_MM, f"The {name} cannot be {{}} mm, only {{}} to {{}} mm.")
        _check_within(self.font_pt, FONT_RANGE_PT, "The type cannot have {} points, only {} to {} points.")
        if self.decimals is not None:
            _check_within(self.decimals, DECIMALS, "Numbers cannot have {} decimals, only {} to {}.", whole=True)
        if self.columns is not None:
            _check_within(self.columns, (1, 1000), "A row cannot have {} maps, only {} to {}.", whole=True)
        _check_among(self.numbers, NUMBERS, "Numbers")
        _check_among(self.ground, GROUNDS, "The ground")
        _check_among(self.colour_map, tuple(BY_NAME), "The colour map")
        _check_among(self.scale, tuple(SCALES), "The scale of the colours")

    @property
    def units_per_inch(self) -> float:
        """The number of layout units per inch: 96 with type of the usual size."""
        return POINTS_PER_INCH * _UNITS_PER_LINE / self.font_pt

    @property
    def colouring(self) -> Colouring:
        """The choices for the colours of the maps."""
        return Colouring(self.scale, self.each_head, self.mute_sinks)

    @property
    def dark(self) -> bool:
        """Whether the figure is light on dark."""
        return self.ground == "dark"


def _check_within(value: float, limits: tuple[float, float], sentence: str, *, whole: bool = False) -> None:
    if not limits[0] <= value <= limits[1] or (whole and value != int(value)):
        large = type(value) is int and abs(value) >= 10**_DIGITS  # perhaps too large for a float
        told = f"{Decimal(value):.6g}" if large else f"{value:.{_DIGITS}g}"
        raise AttnlabError(sentence.format(told, f"{limits[0]:g}", f"{limits[1]:g}"))


def _check_among(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise AttnlabError(f"{what} cannot be {value!r}, only {', '.join(known)}.")

"""What a slide says and shows, as plain values: its text, the maps, the arithmetic and the bars. Knows no lesson."""

from dataclasses import dataclass

from attnlab.figures.map_painter import MapData, Outline


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one style; ``role`` colours it (query, key, value, attention), ``style`` is "", strong,
    italic, strong italic, muted, code, sup or sub."""

    text: str
    role: str = ""
    style: str = ""


Runs = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of running text; ``mark`` is what stands before an item of a list: "•" or "1.".

    ``level`` is how many levels it is set in, as quotes and nested lists are. Without text and mark it is a rule.
    """

    runs: Runs
    mark: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SlideMap:
    """Maps with what is framed in them, each frame's colour the name of a role or "ink".

    ``marks`` are cells (map, row, column) that show a "?". ``square`` says that cells are about as wide as high, as of
    token by token. ``formula`` is LaTeX, "" for none.
    """

    data: MapData
    title: str
    role: str
    outlines: tuple[Outline, ...] = ()
    strong: tuple[int | None, int | None] = (None, None)
    square: bool = True
    formula: str = ""
    marks: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """One number of a row: ``text`` is what stands at its end; a value of None has no bar (unknown, masked)."""

    label: str
    value: float | None
    text: str
    faint: bool = False
    current: bool = False


@dataclass(frozen=True, slots=True)
class BarRow:
    """A row as bars from 0 to ``limit``, or from −limit to ``limit`` where numbers are signed."""

    title: str
    bars: tuple[Bar, ...]
    role: str
    limit: float
    signed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SlideContent:
    """All that stands on a slide.

    ``arithmetic`` are ways to write the same, the fullest first: the first that has room is written. ``side`` and
    ``table`` keep room at the right and at the left, ``whole`` all below the text, for something else. ``done`` of
    ``count`` segments below are filled. ``keys`` are hints that are left out from the end where there is no room.
    """

    heading: str
    title: str
    text: tuple[Paragraph, ...] = ()
    ask: str = ""
    main: SlideMap | None = None
    sources: tuple[SlideMap, ...] = ()
    arithmetic: tuple[tuple[Runs, ...], ...] = ()
    row: BarRow | None = None
    side: bool = False
    table: bool = False
    whole: bool = False
    done: int = 0
    count: int = 0
    keys: tuple[str, ...] = ()
    note: str = ""

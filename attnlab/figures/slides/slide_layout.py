"""The layout of a slide and its font sizes: arithmetic, the same for every screen and for paper."""

from dataclasses import dataclass, replace

LEAST_BODY = 1 / 40
"""The smallest running text that can be read from the last row, as a fraction of the slide's height."""
BODY, TITLE, LEAST_TITLE, SMALL = 2.75, 4.9, 3.2, 2.05
"""Font sizes in hundredths of the slide's height."""
TOP, FOOT, FOOT_LINE = 5.0, 92.5, 95.5
"""The top of the text, the bottom of the content, and the progress, in hundredths of the height."""
MARGIN = 0.05
GAP = 3.0
ROW = 18.0
"""The height of a map of one row with its caption and labels, in hundredths."""
LEAST_PART = 26.0
"""The least height of the content below the text, in hundredths."""
SIDE, SOURCES, WIDE_SOURCES = 0.42, 0.19, 0.25
"""Fractions of the inner width: for arithmetic and bars, for sources beside these, and for sources alone."""
ROOMY_SOURCES = 0.36
"""The fraction for sources beside a map that is not wide, with nothing at its right."""
NUMBERED_SOURCES, NUMBERED_SIDE = 0.31, 0.36
"""Fractions for sources of several columns with numbers in them, and for arithmetic and bars beside these."""
LINES_SOURCES, LINES_SIDE = 0.28, 0.29
"""The same beside arithmetic or bars alone; the first also for sources of at most ``FEW_NUMBERED`` columns."""
FEW_NUMBERED = 6
LEAST_TABLE, LEAST_BELOW = 27.0, 12.0
"""The least height of an editable table, with four rows, and of what stands below it, in hundredths."""
TABLE_SHARE = 0.6
"""The share of the left column that a table has, above the sources."""
TABLE, TABLE_SIDE = 0.34, 0.3
"""Fractions for an editable table, and for arithmetic and bars beside it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Sheet:
    """A slide's rectangle and its type scale, 1 by default; ``unit`` is a hundredth of its height.

    ``kept`` is what something above the foot takes of the content's height, in pixels.
    """

    x: float
    y: float
    width: float
    height: float
    zoom: float = 1.0
    kept: float = 0.0

    @property
    def unit(self) -> float:
        """A hundredth of the height."""
        return self.height / 100

    @property
    def body(self) -> float:
        """The font size of running text."""
        return max(BODY * self.zoom * self.unit, self.least_body)

    @property
    def usual(self) -> "Sheet":
        """The sheet without enlarged type."""
        return replace(self, zoom=min(self.zoom, 1.0))

    @property
    def least_body(self) -> float:
        """The least font size of running text in whole pixels, rounded up."""
        least = self.height * LEAST_BODY
        return float(-int(-least // 1))

    @property
    def small(self) -> float:
        """The font size of headings and hints."""
        return SMALL * min(max(self.zoom, 0.9), 1.3) * self.unit

    @property
    def left(self) -> float:
        """The left margin."""
        return self.x + MARGIN * self.width

    @property
    def inner(self) -> float:
        """The width between the margins."""
        return self.width * (1 - 2 * MARGIN)

    @property
    def foot(self) -> float:
        """The bottom of the content."""
        return self.y + FOOT * self.unit - self.kept

    def title_sizes(self) -> tuple[float, ...]:
        """Return the possible font sizes of a title, largest first."""
        largest = TITLE * min(self.zoom, 1.3)
        return tuple(max(largest * share, LEAST_TITLE) * self.unit for share in (1.0, 0.86, 0.74, 0.65))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of drawing a part of a slide: what did not fit, and how much is shown: larger numbers mean more."""

    left_out: tuple[str, ...] = ()
    detail: tuple[int, ...] = ()

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(self.left_out + other.left_out, self.detail + other.detail)

    def loses(self, other: "Outcome") -> bool:
        """Return whether less of a part is shown than in another drawing of the same slide."""
        return any(own < its for own, its in zip(self.detail, other.detail, strict=True))


@dataclass(frozen=True, slots=True)
class Columns:
    """The boxes of sources or table, map and side below the text; None for absent parts."""

    sources: Box | None
    main: Box
    side: Box | None


def lay_out_columns(
    sheet: Sheet,
    y: float,
    *,
    sources: bool,
    side: bool,
    table: bool = False,
    numbered: int = 0,
    both: bool = True,
    roomy: bool = False,
) -> Columns:
    """Return the columns between the end of the text at ``y`` and the bottom.

    ``numbered``: in how many columns the sources need room for numbers; 0 if in few or none. Without ``both`` the side
    has arithmetic or bars only.
    ``roomy``: without a side, the map leaves more width to its sources.
    """
    top = y + GAP * sheet.unit
    height, gap = max(sheet.foot - top, 1.0), GAP * sheet.unit * 1.4
    x, right = sheet.left, sheet.left + sheet.inner
    side_box = source_box = None
    if side:
        beside = NUMBERED_SIDE if both else LINES_SIDE
        width = (TABLE_SIDE if table else beside if sources and numbered else SIDE) * sheet.inner
        side_box = Box(right - width, top, width, height)
        right -= width + gap
    if sources or table:
        wide = LINES_SOURCES if side and (not both or numbered <= FEW_NUMBERED) else NUMBERED_SOURCES
        alone = ROOMY_SOURCES if roomy else wide if numbered else SOURCES if side else WIDE_SOURCES
        width = (TABLE if table else alone) * sheet.inner
        source_box = Box(x, top, width, height)
        x += width + gap
    return Columns(source_box, Box(x, top, right - x, height), side_box)


def stack_columns(sheet: Sheet, y: float) -> Columns:
    """Return the columns of a narrow sheet with a table: the side below the table, if it has room, and the map beside
    both."""
    parts = lay_out_columns(sheet, y, sources=False, side=True)
    assert parts.side is not None
    table, side = split_table(replace(parts.side, x=sheet.left), sheet, 0.5)
    return Columns(table, replace(parts.main, x=sheet.left + sheet.inner - parts.main.width), side)


def split_table(box: Box, sheet: Sheet, share: float = TABLE_SHARE) -> tuple[Box, Box | None]:
    """Return the boxes of a table, with a share of the height or the least that it needs, and of what is below it.

    If nothing has room below it, the table has the whole height.
    """
    gap = GAP * sheet.unit
    height = max(share * (box.height - gap), LEAST_TABLE * sheet.unit)
    left = box.height - height - gap
    if left < LEAST_BELOW * sheet.unit:
        return box, None
    return replace(box, height=height), Box(box.x, box.bottom - left, box.width, left)


def split_row(columns: Columns, sheet: Sheet) -> tuple[Box, Box]:
    """Return the boxes of the sources and of a map of one row below them, both as wide as the two columns."""
    left = columns.sources or columns.main
    both = Box(left.x, left.y, columns.main.right - left.x, left.height)
    return Box(both.x, both.y, both.width, both.height - ROW * sheet.unit), both


def stack_boxes(box: Box, count: int, gap: float) -> tuple[Box, ...]:
    """Return ``count`` boxes of equal height below one another."""
    height = (box.height - gap * (count - 1)) / count
    return tuple(Box(box.x, box.y + i * (height + gap), box.width, height) for i in range(count))


def choose_bars(values: list[float | None], current: int | None, room: int) -> list[int]:
    """Return the indices of the ``room`` bars of a row to draw: the current one and the longest."""
    if len(values) <= room:
        return list(range(len(values)))
    order = sorted(range(len(values)), key=lambda i: (i != current, -abs(values[i] or 0.0)))
    return sorted(order[: max(room, 1)])

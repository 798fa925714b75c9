"""Where the parts of a slide stand and how large type is: pure arithmetic, the same for every screen and for paper."""

from dataclasses import dataclass

LEAST_BODY = 1 / 40
"""The smallest running text, as a part of the slide's height: it is read from the last row."""
BODY, TITLE, LEAST_TITLE, SMALL = 2.75, 4.9, 3.2, 2.05
"""Sizes of type in hundredths of the slide's height."""
TOP, FOOT, FOOT_LINE = 5.0, 92.5, 95.5
"""Where text begins, where what is shown ends, and where the progress stands, in hundredths of the height."""
MARGIN = 0.05
GAP = 3.0
LEAST_PART = 26.0
"""The least height of what is shown below the text, in hundredths."""
SIDE, SOURCES, WIDE_SOURCES = 0.42, 0.19, 0.25
"""Parts of the width between the margins: for arithmetic and bars, for sources beside these, for sources alone."""
TABLE, TABLE_SIDE = 0.34, 0.3
"""Those for a table of numbers to be changed, and for arithmetic and bars beside it."""


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
    """A slide's rectangle and its size of type, 1 being as designed; ``unit`` is a hundredth of its height."""

    x: float
    y: float
    width: float
    height: float
    zoom: float = 1.0

    @property
    def unit(self) -> float:
        """A hundredth of the height."""
        return self.height / 100

    @property
    def body(self) -> float:
        """The size of running text."""
        return max(BODY * self.zoom * self.unit, self.least_body)

    @property
    def least_body(self) -> float:
        """The size below which running text never goes; whole pixels, rounded up."""
        least = self.height * LEAST_BODY
        return float(-int(-least // 1))

    @property
    def small(self) -> float:
        """The size of what is no text to be read: heading, hints."""
        return SMALL * min(max(self.zoom, 0.9), 1.3) * self.unit

    @property
    def left(self) -> float:
        """Where everything begins."""
        return self.x + MARGIN * self.width

    @property
    def inner(self) -> float:
        """The width between the margins."""
        return self.width * (1 - 2 * MARGIN)

    @property
    def foot(self) -> float:
        """Where what is shown ends."""
        return self.y + FOOT * self.unit

    def title_sizes(self) -> tuple[float, ...]:
        """Return the sizes a title may have, largest first."""
        largest = TITLE * min(self.zoom, 1.3)
        return tuple(max(largest * share, LEAST_TITLE) * self.unit for share in (1.0, 0.86, 0.74, 0.65))


@dataclass(frozen=True, slots=True)
class Columns:
    """Where sources or a table, the map and the side stand below the text; None for what is not there."""

    sources: Box | None
    main: Box
    side: Box | None


def columns(sheet: Sheet, y: float, *, sources: bool, side: bool, table: bool = False) -> Columns:
    """Return the columns between the end of the text at ``y`` and the foot."""
    top = y + GAP * sheet.unit
    height, gap = max(sheet.foot - top, 1.0), GAP * sheet.unit * 1.4
    x, right = sheet.left, sheet.left + sheet.inner
    side_box = source_box = None
    if side:
        width = (TABLE_SIDE if table else SIDE) * sheet.inner
        side_box = Box(right - width, top, width, height)
        right -= width + gap
    if sources or table:
        width = (TABLE if table else SOURCES if side else WIDE_SOURCES) * sheet.inner
        source_box = Box(x, top, width, height)
        x += width + gap
    return Columns(source_box, Box(x, top, right - x, height), side_box)


def stacked(box: Box, count: int, gap: float) -> tuple[Box, ...]:
    """Return ``count`` boxes of the same height below one another."""
    height = (box.height - gap * (count - 1)) / count
    return tuple(Box(box.x, box.y + i * (height + gap), box.width, height) for i in range(count))


def chosen_bars(values: list[float | None], current: int | None, room: int) -> list[int]:
    """Return which bars of a row are drawn when there is room for ``room``: the current one and the longest."""
    if len(values) <= room:
        return list(range(len(values)))
    order = sorted(range(len(values)), key=lambda i: (i != current, -abs(values[i] or 0.0)))
    return sorted(order[: max(room, 1)])

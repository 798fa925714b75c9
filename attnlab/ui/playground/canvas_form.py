"""The cards of the canvas at one size of type: what each measures, in which lines they stand, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSizeF

from attnlab.ui.playground.canvas_lengths import (
    AIR,
    FOLD,
    GAP,
    HEADER,
    LABELLED_ROW,
    LARGEST_ROW,
    LEAST_ROW,
    LEAST_STRIPE,
    MAP_GAP,
    MARGIN,
    MARK,
    MOST_STRIPES,
    NARROWEST,
    NUMBER_PX,
    PADDING,
    PICTURE_GROWTH,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    ROOMY_TILE,
    ROW_GAP,
    SEVERAL,
    SEVERAL_HIGH,
    STRIP,
    TIGHT_ROW,
    TILE,
    TILE_LABELS,
    TILES_SHARE,
    TITLE,
    WIDE_CARD,
    WIDEST_CELL,
)
from attnlab.ui.playground.card_needs import DECIMALS, HEADS, CardNeed, Needs
from attnlab.ui.playground.map_tiles import measure_tiles_height, measure_tiles_width


@dataclass(frozen=True, slots=True)
class CanvasPlan:
    """The place of each card in pixels, what is drawn at which size, and the size of the whole.

    ``zoom`` is 1 for numbers of 12 pixels; ``decimals`` holds for all numbers; cards in ``numbered`` show numbers.
    ``per_line`` tells how many maps stand side by side on those of several maps. ``shares`` is True if the masked
    scores also show the scaled ones, which then have no card.
    """

    places: dict[str, QRectF]
    zoom: float
    decimals: int
    numbered: frozenset[str]
    per_line: dict[str, int]
    shares: bool
    width: float
    height: float


class Size(NamedTuple):
    """A size of type to try: the pixels of a number, its decimals, whether column labels lie flat, how much larger than
    their least size maps without numbers are, and how many maps with numbers may stand side by side on a card.

    Of equally good ones the largest is taken.
    """

    px: int
    decimals: int
    flat: bool
    picture: float = 1.0
    per_line: int = 1

    @property
    def zoom(self) -> float:
        return self.px / NUMBER_PX


class Span(NamedTuple):
    """A least and a largest length."""

    least: float
    largest: float


Line = tuple[CardNeed, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """The cards at one size of type, in groups that begin a new line, on a canvas of a width; a plan tries hundreds, so
    each measures a card once."""

    needs: Needs
    width: float
    groups: tuple[Line, ...]
    size: Size
    numbered: frozenset[str]
    shares: bool
    roomy: bool = False
    _widths: dict[str, Span] = field(default_factory=dict)
    _heights: dict[tuple[str, float], Span] = field(default_factory=dict)

    def width_of(self, need: CardNeed) -> Span:
        """Return the least and the largest width of a card."""
        span = self._widths.get(need.name)
        if span is None:
            span = self._widths[need.name] = self._measure_width(need)
        return span

    def card_height(self, need: CardNeed, width: float) -> Span:
        """Return the least and the largest height of a card of a width with its folded ones."""
        span = self._heights.get((need.name, width))
        if span is None:
            span = self._heights[need.name, width] = self._measure_height(need, width)
        return span

    def _measure_width(self, need: CardNeed) -> Span:
        z, px = self.size.zoom, self.size.px
        label = need.label * px + 8 if need.label else 0.0
        frame = 2 * PADDING * z + label
        if need.name == HEADS:
            return Span(min(need.count, 3) * TILE * z, PICTURE_GROWTH * need.count * z)
        if need.name not in self.numbered:
            least = PICTURE_WIDTH * z * (SEVERAL if need.count > 1 else 1.0)
            if need.count > 1:
                least = max(least, frame + measure_tiles_width(need, z))
            if need.is_map:
                least *= self.size.picture
            elif need.count == 1:
                least = max(least, frame + min(need.columns, MOST_STRIPES) * LEAST_STRIPE * z)
            return Span(least, least + PICTURE_GROWTH * z * min(max(need.columns / need.rows, NARROWEST), 3.0))
        header = (2 * PADDING + MARK) * z + need.header * px if need.header else 0.0
        columns = need.columns if need.count == 1 else self.count_per_line(need) * (need.columns + MAP_GAP) - MAP_GAP
        least, largest = (frame + columns * cell for cell in (self.cell_of(need), WIDEST_CELL * z))
        return Span(max(least, header), max(largest, header))

    def cell_of(self, need: CardNeed) -> float:
        """Return the least width of a card's cells, in which the widest number fits."""
        px = self.size.px
        number = need.numbers[DECIMALS.index(self.size.decimals)] * px + AIR
        return float(-(-max(number, need.column_label * px + 4 if self.size.flat else 0.0) // 1))

    def count_per_line(self, need: CardNeed) -> int:
        """Return how many of a card's maps with numbers stand side by side, as evenly as possible, at least one."""
        z = self.size.zoom
        label = need.label * self.size.px + 8 if need.label else 0.0
        columns = (self.width - 2 * MARGIN - 2 * PADDING * z - label) / self.cell_of(need)
        most = min(max(int((columns + MAP_GAP) / (need.columns + MAP_GAP)), 1), self.size.per_line, need.count)
        return -(-need.count // -(-need.count // most))

    def count_tall_lines(self) -> int:
        """Return how many lines of maps with numbers stand below the first two of a card, at most."""
        several = [need for group in self.groups for need in group if need.count > 1 and need.name in self.numbered]
        return max([0, *(-(-need.count // self.count_per_line(need)) - 2 for need in several)])

    def _measure_height(self, need: CardNeed, width: float) -> Span:
        z, px = self.size.zoom, self.size.px
        frame = (HEADER + PADDING + STRIP * self.needs.strips) * z + len(need.folded) * (FOLD * z + 6)
        if need.name == HEADS:
            tiles = TILES_SHARE * (width - 2 * PADDING * z)
            per_row = min(max(int(tiles // (TILE * z)), 1), need.count - 1)
            lines = -(-(need.count - 1) // per_row)
            wide = tiles / per_row
            growth = ROOMY_TILE if self.roomy and lines == 1 else min(max(width / (WIDE_CARD * z), 1.0), ROOMY_TILE)
            least = min(wide, growth * TILE * z)
            high = [lines * min(side, 2 * TILE * z) + TILE_LABELS * z for side in (least, wide)]
            return Span(frame + high[0], frame + high[1])
        if need.name not in self.numbered:
            labelled = min(need.rows * LABELLED_ROW, (2.0 if self.size.picture == 1 else 1.4) * PICTURE_HEIGHT) * z
            least = frame + max(PICTURE_HEIGHT * z, labelled) * (SEVERAL_HIGH if need.count > 1 else 1.0)
            if need.is_map and self.size.picture > 1:
                side = PICTURE_WIDTH * z * self.size.picture - 2 * PADDING * z - need.label * px
                least = max(least, frame + side)
            if need.count > 1:
                label = need.label * px + 8 if need.label else 0.0
                maps = measure_tiles_height(need, width - 2 * PADDING * z - label, z)
                # a canvas that scrolls anyway has room for labels above the maps
                above = need.column_label * px + 10 if need.column_label and self.roomy else 0.0
                least = max(least, frame + above + maps[1 if self.roomy else 0])
            return Span(least, least + PICTURE_GROWTH * z * (0.4 if need.columns > 2 * need.rows else 1.0))
        tall = need.column_label * px + 10 if need.column_label * px + 4 > self.cell_of(need) else 1.5 * px
        if need.count > 1:
            lines = -(-need.count // self.count_per_line(need))
            top = frame + (tall if need.column_label else 0.0) + TITLE * z
            rows = (lines * (need.rows + MAP_GAP) - MAP_GAP) * z
            return Span(top + rows * TIGHT_ROW, top + rows * LARGEST_ROW)
        if need.stacked > 1:
            tall += TITLE * z
        return Span(frame + tall + need.rows * LEAST_ROW * z, frame + tall + need.rows * LARGEST_ROW * z)

    def break_lines(self, *, always: bool = False) -> list[list[Line]] | None:
        """Return the lines of each group, as few as possible; None if a card does not fit in one, unless ``always``."""
        room, groups = self.width - 2 * MARGIN, []
        for group in self.groups:
            lines: list[list[CardNeed]] = [[]]
            used = -GAP
            for need in group:
                wide = self.width_of(need).least
                if wide > room and not always:
                    return None
                if used + GAP + wide > room and lines[-1]:
                    lines.append([])
                    used = -GAP
                lines[-1].append(need)
                used += GAP + wide
            groups.append([tuple(line) for line in lines])
        return groups

    def balance(self, groups: Sequence[Sequence[Line]]) -> list[Line]:
        """Return the lines of all groups, with the cards of each group shared evenly among its lines."""
        return [line for lines in groups for line in self._balance(tuple(chain(*lines)), len(lines))]

    def _balance(self, group: Line, count: int) -> list[Line]:
        """Return a group in ``count`` lines whose widest is narrowest and fits, if possible with a break after the last
        map.
        """
        widths, room = [self.width_of(need).least for need in group], self.width - 2 * MARGIN
        maps = [index for index, need in enumerate(group) if need.is_map]

        def cost(cuts: tuple[int, ...]) -> tuple[bool, float]:
            ends = (0, *cuts, len(group))
            apart = not maps or maps[-1] + 1 in ends or len(group) <= count
            widest = max(sum(widths[a:b]) + (b - a - 1) * GAP for a, b in pairwise(ends))
            return widest > room, widest * (1.0 if apart else 1.06)

        best = min(combinations(range(1, len(group)), count - 1), key=cost)
        return [group[a:b] for a, b in pairwise((0, *best, len(group)))]

    def height_of(self, lines: Sequence[Line]) -> Span:
        """Return the least and the largest height of all lines together."""
        spans = [self._line_height(line) for line in lines]
        gaps = 2 * MARGIN + (len(lines) - 1) * ROW_GAP
        return Span(gaps + sum(s.least for s in spans), gaps + sum(s.largest for s in spans))

    def _line_height(self, line: Line) -> Span:
        widths = self.line_widths(line)
        spans = [self.card_height(need, wide) for need, wide in zip(line, widths, strict=True)]
        return Span(max(s.least for s in spans), max(s.largest for s in spans))

    def line_widths(self, line: Line) -> list[float]:
        """Return the widths of the cards in a line, which fill the width of the canvas."""
        room = self.width - 2 * MARGIN - (len(line) - 1) * GAP
        widths = share_out([self.width_of(need) for need in line], room)
        spare = max(room - sum(widths), 0.0) / len(line)
        return [wide + spare for wide in widths]

    def measure_pictures(self, lines: Sequence[Line], height: float) -> float:
        """Return the side of the smallest map of tokens without numbers, relative to the least width of its card."""
        z, places = self.size.zoom, self.place(lines, height).places
        frame = (HEADER + PADDING + STRIP * self.needs.strips) * z
        pictures = [need for need in chain(*lines) if need.is_picture(self.numbered)]
        wide = [places[n.name].width() - 2 * PADDING * z - n.label * self.size.px for n in pictures]
        high = [places[n.name].height() - frame for n in pictures]
        return min(wide + high, default=0.0) / (PICTURE_WIDTH * z)

    def place(self, lines: Sequence[Line], height: float) -> CanvasPlan:
        """Return the plan with these lines, which fill the height or are longer than it."""
        spans = [self._line_height(line) for line in lines]
        gaps = 2 * MARGIN + (len(lines) - 1) * ROW_GAP
        heights = share_out(spans, height - gaps)
        y = MARGIN + max(height - gaps - sum(heights), 0.0) / 2
        places: dict[str, QRectF] = {}
        widest = self.width
        for line, high in zip(lines, heights, strict=True):
            x = MARGIN
            for need, wide in zip(line, self.line_widths(line), strict=True):
                self._place_card(places, need, QRectF(x, y, wide, high))
                x += wide + GAP
            widest = max(widest, x - GAP + MARGIN)
            y += high + ROW_GAP
        size = QSizeF(widest, max(height, y - ROW_GAP + MARGIN))
        several = [need for need in chain(*lines) if need.count > 1 and need.name in self.numbered]
        per_line = {need.name: self.count_per_line(need) for need in several}
        z, decimals = self.size.zoom, self.size.decimals
        return CanvasPlan(places, z, decimals, self.numbered, per_line, self.shares, size.width(), size.height())

    def _place_card(self, places: dict[str, QRectF], need: CardNeed, rect: QRectF) -> None:
        """Place a card above its folded ones."""
        fold = FOLD * self.size.zoom
        for index, name in enumerate(reversed(need.folded)):
            places[name] = QRectF(rect.x(), rect.bottom() - (index + 1) * fold - index * 6, rect.width(), fold)
        places[need.name] = rect.adjusted(0, 0, 0, -len(need.folded) * (fold + 6))
        if self.shares and need.name == self.needs.sharing:
            places["scaled"] = places[need.name]


def share_out(spans: Sequence[Span], room: float) -> list[float]:
    """Return lengths within spans that fill a room; the extra is shared in proportion to how far each can grow."""
    extra = max(room - sum(span.least for span in spans), 0.0)
    growth = sum(span.largest - span.least for span in spans)
    share = min(extra / growth, 1.0) if growth > 0 else 0.0
    return [span.least + share * (span.largest - span.least) for span in spans]

"""The layout of the canvas: cards in lines that follow the computation, as large as its room allows.

Cells, labels and titles grow and shrink together, between the least and the largest readable size of type. If the
cards do not fit at the least size, fewer stand in a line and the canvas scrolls: numbers never vanish from maps of up
to 12 × 12.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, combinations, pairwise, product
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSizeF

from attnlab.ui.playground.card_needs import DECIMALS, HEADS, CardNeed, Needs
from attnlab.ui.playground.map_tiles import measure_tiles_height, measure_tiles_width

MARGIN, GAP, ROW_GAP = 14.0, 14.0, 16.0
PADDING, HEADER, FOLD, STRIP = 11.0, 37.0, 28.0, 16.0
"""Lengths at zoom 1: the space around the maps, the header, a folded card, and the line of figures."""
NUMBER_PX, LEAST_PX, LARGEST_PX = 12, 11, 18
"""The size of numbers at zoom 1, and the least and the largest one at 100 % type."""
ALONE_PX = 30
"""The largest size of numbers on a card that fills the canvas."""
MARK = 14.0
"""The width of the mark before a title, at zoom 1."""
LEAST_ROW, LARGEST_ROW, WIDEST_CELL = 20.0, 44.0, 96.0
"""The least and the largest height of cells with numbers, and their largest width, at zoom 1."""
AIR = 6.0
"""The room beside a number in its cell, in pixels."""
PICTURE_WIDTH, PICTURE_HEIGHT, PICTURE_GROWTH = 150.0, 84.0, 900.0
"""The least size of maps without numbers, and how much more of each they take where there is room."""
LEAST_STRIPE, MOST_STRIPES = 4.0, 96
"""The least width of a cell without a number, and for how many columns a card has room for it, at zoom 1."""
PICTURES = (2.4, 2.0, 1.6, 1.3, 1.0)
"""How much larger than their least size maps of tokens without numbers may be."""
PICTURE_WORTH = 8.0
"""How many pixels of type a map is worth that is as wide as the narrowest card."""
NARROWEST = 0.4
"""How much a card with few columns of many rows grows in width, compared with one of as many columns as rows."""
MOST_ROWS = 32
"""The plan reserves no room for numbers in maps with more rows."""
LABELLED_ROW = 12.0
"""The height of a row without numbers that has room for its label, at zoom 1."""
SEVERAL, SEVERAL_HIGH = 1.6, 1.3
"""How much wider and higher a card with the maps of several heads is at least."""
TILE, TILE_LABELS, TILES_SHARE = 96.0, 56.0, 0.72
"""The least width of the map of a head and the height of its title and labels at zoom 1, and the share of the heads
card that is not the mean's."""
ROOMY_TILE = 1.6
"""How much larger than their least size the maps of few heads are on a canvas that scrolls anyway."""


@dataclass(frozen=True, slots=True)
class CanvasPlan:
    """The place of each card in pixels, what is drawn at which size, and the size of the whole.

    ``zoom`` is 1 for numbers of 12 pixels; ``decimals`` holds for all numbers; cards in ``numbered`` show numbers.
    ``shares`` is True if the masked scores also show the scaled ones, which then have no card.
    """

    places: dict[str, QRectF]
    zoom: float
    decimals: int
    numbered: frozenset[str]
    shares: bool
    width: float
    height: float


class _Size(NamedTuple):
    """A size of type to try: the pixels of a number, its decimals, and whether column labels lie flat.

    Of equally good ones the largest is taken.
    """

    px: int
    decimals: int
    flat: bool
    picture: float = 1.0

    @property
    def zoom(self) -> float:
        return self.px / NUMBER_PX


class _Span(NamedTuple):
    """A least and a largest length."""

    least: float
    largest: float


Line = tuple[CardNeed, ...]


@lru_cache(maxsize=64)
def plan_canvas(needs: Needs, width: float, height: float, scale: float, alone: str | None = None) -> CanvasPlan:
    """Return the plan for a canvas of a size in pixels with type of a scale, for all cards or the one ``alone``."""
    if alone is not None:
        needs = _only(needs, alone)
    largest = ALONE_PX if alone is not None else LARGEST_PX
    return _find_fitting(needs, width, height, scale, largest) or _plan_scrolling(needs, width, height, scale)


def _only(needs: Needs, name: str) -> Needs:
    every = [need for group in needs.groups for need in group]
    found = tuple(replace(need, folded=()) for need in every if need.name == name)
    return Needs((found,), "", needs.strips)


def _find_fitting(needs: Needs, width: float, height: float, scale: float, largest: int) -> CanvasPlan | None:
    """Return the best plan that fits without scrolling, if any: more numbers, then more decimals, then larger type."""
    every = [need for group in needs.groups for need in group]
    able = frozenset(need.name for need in every if need.count == 1 and need.numbers[0] and need.rows <= MOST_ROWS)
    must = frozenset(need.name for need in every if need.is_legible and need.numbers[0])
    sizes = range(_least_px(scale), round(largest * scale) + 1)
    for numbered in dict.fromkeys((able, must)):
        for decimals in DECIMALS if numbered else DECIMALS[-1:]:
            for shares in (False, True) if needs.sharing else (False,):
                fitting, cards = [], _list_groups(needs, shares=shares)
                pictured = any(need.is_picture(numbered) for need in every)
                flats = (True, False) if any(n.column_label for n in every if n.name in numbered) else (True,)
                px_sizes = sizes if numbered else (max(round(NUMBER_PX * scale), 1),)
                for flat, picture in product(flats, PICTURES if pictured else (1.0,)):
                    for px in px_sizes:
                        form = _Form(needs, cards, _Size(px, decimals, flat, picture), numbered, shares)
                        groups = form.break_lines(width)
                        lines = form.balance(groups) if groups is not None else []
                        if groups is None or form.height_of(lines, width).least > height:
                            break  # larger type does not fit either
                        pictures = PICTURE_WORTH * form.measure_pictures(lines, width, height) if pictured else 0.0
                        fitting.append((px + scale * (pictures - count_breaks(groups)), form, lines))
                if fitting:
                    _, form, lines = max(fitting, key=lambda each: (each[0], each[1].size))
                    return form.place(lines, width, height)
    return None


def _plan_scrolling(needs: Needs, width: float, height: float, scale: float) -> CanvasPlan:
    """Return the plan of least height: the least size of type, and as many cards in a line as fit.

    If a card would be wider than the canvas, all type is smaller, as long as it is no smaller than at 100 %.
    """
    least = _least_px(scale)
    whole = None
    for px in range(least, min(LEAST_PX, least) - 1, -1):
        beyond, form, lines = _choose_lines(needs, width, px)
        if not beyond:
            return form.place(lines, width, height)
        whole = whole or (form, lines)
    assert whole is not None
    return whole[0].place(whole[1], width, height)


def _choose_lines(needs: Needs, width: float, px: int) -> "tuple[bool, _Form, list[Line]]":
    """Return whether a card is wider than the canvas with type of a size, and the form and lines of least height."""
    every = [need for group in needs.groups for need in group]
    must = frozenset(need.name for need in every if need.is_legible and need.numbers[0])
    found: list[tuple[bool, float, int, _Form, list[Line]]] = []
    cards = _list_groups(needs, shares=bool(needs.sharing))
    for decimals, flat in product(DECIMALS, (True, False)):
        form = _Form(needs, cards, _Size(px, decimals, flat), must, bool(needs.sharing), roomy=True)
        groups = form.break_lines(width, always=True)
        assert groups is not None
        lines = form.balance(groups)
        beyond = form.break_lines(width) is None
        found.append((beyond, form.height_of(lines, width).least, -decimals, form, lines))
    beyond, *_, form, lines = min(found, key=lambda each: each[:3])
    return beyond, form, lines


def count_breaks(groups: Sequence[Sequence[Line]]) -> float:
    """Return how many pixels of type the breaks within groups are worth: the projections belong together."""
    *others, last = groups
    return 4.0 * sum(len(lines) - 1 for lines in others) + 1.0 * (len(last) - 1)


def keep_within(offset: float, spare: float) -> float:
    """Return an offset between 0 and the room that is spare, which is negative where the cards are larger."""
    return min(max(offset, min(spare, 0.0)), max(spare, 0.0))


def _least_px(scale: float) -> int:
    return max(round(LEAST_PX * scale), 1)


def _list_groups(needs: Needs, *, shares: bool) -> tuple[Line, ...]:
    """Return the cards in groups that begin a new line, without the one whose numbers another card shows."""
    hidden = "scaled" if shares else ""
    return tuple(tuple(need for need in group if need.name != hidden) for group in needs.groups)


@dataclass(frozen=True, slots=True)
class _Form:
    """The cards at one size of type, in groups that begin a new line; a plan tries hundreds, so each measures a card
    once."""

    needs: Needs
    groups: tuple[Line, ...]
    size: _Size
    numbered: frozenset[str]
    shares: bool
    roomy: bool = False
    _widths: dict[str, _Span] = field(default_factory=dict)
    _heights: dict[tuple[str, float], _Span] = field(default_factory=dict)

    def width_of(self, need: CardNeed) -> _Span:
        """Return the least and the largest width of a card."""
        span = self._widths.get(need.name)
        if span is None:
            span = self._widths[need.name] = self._measure_width(need)
        return span

    def card_height(self, need: CardNeed, width: float) -> _Span:
        """Return the least and the largest height of a card of a width with its folded ones."""
        span = self._heights.get((need.name, width))
        if span is None:
            span = self._heights[need.name, width] = self._measure_height(need, width)
        return span

    def _measure_width(self, need: CardNeed) -> _Span:
        z, px = self.size.zoom, self.size.px
        label = need.label * px + 8 if need.label else 0.0
        frame = 2 * PADDING * z + label
        if need.name == HEADS:
            return _Span(min(need.count, 3) * TILE * z, PICTURE_GROWTH * need.count * z)
        if need.name not in self.numbered:
            least = PICTURE_WIDTH * z * (SEVERAL if need.count > 1 else 1.0)
            if need.count > 1:
                least = max(least, frame + measure_tiles_width(need, z))
            if need.is_map:
                least *= self.size.picture
            elif need.count == 1:
                least = max(least, frame + min(need.columns, MOST_STRIPES) * LEAST_STRIPE * z)
            return _Span(least, least + PICTURE_GROWTH * z * min(max(need.columns / need.rows, NARROWEST), 3.0))
        header = (2 * PADDING + MARK) * z + need.header * px if need.header else 0.0
        least, largest = (frame + need.columns * cell for cell in (self.cell_of(need), WIDEST_CELL * z))
        return _Span(max(least, header), max(largest, header))

    def cell_of(self, need: CardNeed) -> float:
        """Return the least width of a card's cells, in which the widest number fits."""
        px = self.size.px
        number = need.numbers[DECIMALS.index(self.size.decimals)] * px + AIR
        return float(-(-max(number, need.column_label * px + 4 if self.size.flat else 0.0) // 1))

    def _measure_height(self, need: CardNeed, width: float) -> _Span:
        z, px = self.size.zoom, self.size.px
        frame = (HEADER + PADDING + STRIP * self.needs.strips) * z + len(need.folded) * (FOLD * z + 6)
        if need.name == HEADS:
            tiles = TILES_SHARE * (width - 2 * PADDING * z)
            per_row = min(max(int(tiles // (TILE * z)), 1), need.count - 1)
            lines = -(-(need.count - 1) // per_row)
            wide = tiles / per_row
            least = min(wide, ROOMY_TILE * TILE * z) if self.roomy and lines == 1 else TILE * z
            high = [lines * min(side, 2 * TILE * z) + TILE_LABELS * z for side in (least, wide)]
            return _Span(frame + high[0], frame + high[1])
        if need.name not in self.numbered:
            labelled = min(need.rows * LABELLED_ROW, (2.0 if self.size.picture == 1 else 1.4) * PICTURE_HEIGHT) * z
            least = frame + max(PICTURE_HEIGHT * z, labelled) * (SEVERAL_HIGH if need.count > 1 else 1.0)
            if need.is_map and self.size.picture > 1:
                side = PICTURE_WIDTH * z * self.size.picture - 2 * PADDING * z - need.label * px
                least = max(least, frame + side)
            if need.count > 1:
                label = need.label * px + 8 if need.label else 0.0
                maps = measure_tiles_height(need, width - 2 * PADDING * z - label, z)
                least = max(least, frame + maps[1 if self.roomy else 0])
            return _Span(least, least + PICTURE_GROWTH * z * (0.4 if need.columns > 2 * need.rows else 1.0))
        tall = need.column_label * px + 10 if need.column_label * px + 4 > self.cell_of(need) else 1.5 * px
        return _Span(frame + tall + need.rows * LEAST_ROW * z, frame + tall + need.rows * LARGEST_ROW * z)

    def break_lines(self, width: float, *, always: bool = False) -> list[list[Line]] | None:
        """Return the lines of each group, as few as possible; None if a card does not fit in one, unless ``always``."""
        room, groups = width - 2 * MARGIN, []
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
        """Return a group in ``count`` lines whose widest is narrowest, if possible with a break after the last map."""
        widths = [self.width_of(need).least for need in group]
        maps = [index for index, need in enumerate(group) if need.is_map]

        def cost(cuts: tuple[int, ...]) -> float:
            ends = (0, *cuts, len(group))
            apart = not maps or maps[-1] + 1 in ends or len(group) <= count
            widest = max(sum(widths[a:b]) + (b - a - 1) * GAP for a, b in pairwise(ends))
            return widest * (1.0 if apart else 1.06)

        best = min(combinations(range(1, len(group)), count - 1), key=cost)
        return [group[a:b] for a, b in pairwise((0, *best, len(group)))]

    def height_of(self, lines: Sequence[Line], width: float) -> _Span:
        """Return the least and the largest height of all lines together, for a width of the canvas."""
        spans = [self._line_height(line, width) for line in lines]
        gaps = 2 * MARGIN + (len(lines) - 1) * ROW_GAP
        return _Span(gaps + sum(s.least for s in spans), gaps + sum(s.largest for s in spans))

    def _line_height(self, line: Line, width: float) -> _Span:
        widths = self.line_widths(line, width)
        spans = [self.card_height(need, wide) for need, wide in zip(line, widths, strict=True)]
        return _Span(max(s.least for s in spans), max(s.largest for s in spans))

    def line_widths(self, line: Line, width: float) -> list[float]:
        """Return the widths of the cards in a line, which fill the width of the canvas."""
        room = width - 2 * MARGIN - (len(line) - 1) * GAP
        widths = _share([self.width_of(need) for need in line], room)
        spare = max(room - sum(widths), 0.0) / len(line)
        return [wide + spare for wide in widths]

    def measure_pictures(self, lines: Sequence[Line], width: float, height: float) -> float:
        """Return the side of the smallest map of tokens without numbers, relative to the least width of its card."""
        z, places = self.size.zoom, self.place(lines, width, height).places
        frame = (HEADER + PADDING + STRIP * self.needs.strips) * z
        pictures = [need for need in chain(*lines) if need.is_picture(self.numbered)]
        wide = [places[n.name].width() - 2 * PADDING * z - n.label * self.size.px for n in pictures]
        high = [places[n.name].height() - frame for n in pictures]
        return min(wide + high, default=0.0) / (PICTURE_WIDTH * z)

    def place(self, lines: Sequence[Line], width: float, height: float) -> CanvasPlan:
        """Return the plan with these lines, which fill the size or are longer than it."""
        spans = [self._line_height(line, width) for line in lines]
        gaps = 2 * MARGIN + (len(lines) - 1) * ROW_GAP
        heights = _share(spans, height - gaps)
        y = MARGIN + max(height - gaps - sum(heights), 0.0) / 2
        places: dict[str, QRectF] = {}
        widest = width
        for line, high in zip(lines, heights, strict=True):
            x = MARGIN
            for need, wide in zip(line, self.line_widths(line, width), strict=True):
                self._place_card(places, need, QRectF(x, y, wide, high))
                x += wide + GAP
            widest = max(widest, x - GAP + MARGIN)
            y += high + ROW_GAP
        size = QSizeF(widest, max(height, y - ROW_GAP + MARGIN))
        return CanvasPlan(
            places, self.size.zoom, self.size.decimals, self.numbered, self.shares, size.width(), size.height()
        )

    def _place_card(self, places: dict[str, QRectF], need: CardNeed, rect: QRectF) -> None:
        """Place a card above its folded ones."""
        fold = FOLD * self.size.zoom
        for index, name in enumerate(reversed(need.folded)):
            places[name] = QRectF(rect.x(), rect.bottom() - (index + 1) * fold - index * 6, rect.width(), fold)
        places[need.name] = rect.adjusted(0, 0, 0, -len(need.folded) * (fold + 6))
        if self.shares and need.name == self.needs.sharing:
            places["scaled"] = places[need.name]


def _share(spans: Sequence[_Span], room: float) -> list[float]:
    """Return lengths within spans that fill a room; the extra is shared in proportion to how far each can grow."""
    extra = max(room - sum(span.least for span in spans), 0.0)
    growth = sum(span.largest - span.least for span in spans)
    share = min(extra / growth, 1.0) if growth > 0 else 0.0
    return [span.least + share * (span.largest - span.least) for span in spans]

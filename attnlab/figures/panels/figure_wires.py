"""Routes the wires of a canvas through the spaces between its cards. Arithmetic in units."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.stages.flow import Link

TRACK = 9.0
"""The space between two wires side by side."""
PLAIN = 16.0
"""The space between cards and rows without wires."""
_NEAR = 14.0
"""Smaller sidesteps would look crooked, so the wire goes straight down instead."""
_CLEAR = 4.0
"""Wires that are closer than this would look like one."""
_MOST_TRIED = 6

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a card: its row, counted from 0, its index in that row, and its left and right edges."""

    row: int
    place: int
    left: float
    right: float

    @property
    def middle(self) -> float:
        """The middle between left and right."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Wire:
    """A polyline with an arrowhead at its end."""

    role: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Stub:
    """The point where a wire leaves the space between two rows: at ``x``, upwards or downwards."""

    x: float
    up: bool


class Routes:
    """Wires from cards to later cards, planned before the heights of the rows are known.

    A wire to the next card of its row is straight. Any other leaves at the bottom of its card (at the top if the target
    is in the same row), runs along the space above the target's row, and enters at the top. It passes whole rows at
    the right of all cards. Wires from one card share their route as far as possible. ``lane_x`` is the left end of the
    lanes at the right.
    """

    def __init__(self, cards: dict[str, Span], links: Sequence["Link"], lane_x: float) -> None:
        self._cards, self._links = cards, tuple(links)
        self._lanes = {name: lane_x + TRACK * lane for name, lane in _assign_lanes(cards, links).items()}
        self._ports = self._find_entries()
        rows = max((card.row for card in cards.values()), default=0) + 1
        self._levels = [_assign_levels(self._find_stubs(row)) for row in range(rows)]

    def space_above(self, row: int) -> float:
        """Return the required height of the space above a row."""
        tracks = 1 + max(self._levels[row].values(), default=-1)
        return (PLAIN if row else 0.0) + TRACK * tracks

    def wires(self, tops: Sequence[float], heights: Sequence[float]) -> tuple[Wire, ...]:
        """Return the wires for rows at ``tops`` with ``heights``, in drawing order."""
        straight = [
            Wire(link.role, self._route_across(link, tops, heights)) for link in self._links if self._is_direct(link)
        ]
        return (
            *(
                Wire(link.role, self._route_along(link, tops, heights))
                for link in self._links
                if not self._is_direct(link)
            ),
            *straight,
        )

    def _route_across(self, link: "Link", tops: Sequence[float], heights: Sequence[float]) -> tuple[Point, ...]:
        a, b = self._cards[link.source], self._cards[link.target]
        y = tops[a.row] + heights[a.row] / 2
        return (a.right, y), (b.left, y)

    def _route_along(self, link: "Link", tops: Sequence[float], heights: Sequence[float]) -> tuple[Point, ...]:
        a, b = self._cards[link.source], self._cards[link.target]
        end = self._ports[link.target, link.source]
        x = self._find_exit(link)
        points: list[Point] = [(x, tops[a.row] + (heights[a.row] if a.row < b.row else 0.0))]
        if b.row > a.row + 1:
            lane = self._lanes[link.source]
            points += self._route_track(link.source, a.row + 1, x, lane, tops)
            x = lane
        points += self._route_track(link.source, b.row, x, end, tops)
        return _drop_doubles((*points, (end, tops[b.row])))

    def _route_track(self, name: str, row: int, start: float, end: float, tops: Sequence[float]) -> list[Point]:
        level = self._levels[row].get(name)
        if level is None:  # no part of it runs along this row
            return []
        used = TRACK * max(self._levels[row].values())
        above = PLAIN / 2 + used / 2 if row else TRACK / 2 + used / 2 + TRACK / 2
        y = tops[row] - above + TRACK * level - used / 2
        return [(start, y), (end, y)]

    def _is_direct(self, link: "Link") -> bool:
        """Return whether a wire goes straight to the next card: only if no other of its source goes further."""
        a, b = self._cards[link.source], self._cards[link.target]
        beside = [each for each in self._list_links(link.source) if self._cards[each.target].row == a.row]
        return a.row == b.row and b.place == a.place + 1 and len(beside) == 1

    def _list_links(self, source: str) -> list["Link"]:
        return [link for link in self._links if link.source == source]

    def _find_exit(self, link: "Link") -> float:
        """Return the x at which a wire leaves its card."""
        a, b = self._cards[link.source], self._cards[link.target]
        return self._ports[link.source, link.source] if a.row == b.row else a.middle

    def _find_entries(self) -> dict[tuple[str, str], float]:
        """Return the x at which the wire from a card (the second name) passes through the top of a card (the first).

        Wires from further left enter further left. A wire from almost above goes straight down.
        """
        coming: dict[str, dict[str, float]] = defaultdict(dict)
        for link in self._links:
            a, b = self._cards[link.source], self._cards[link.target]
            if not self._is_direct(link):
                coming[link.target][link.source] = self._lanes[link.source] if b.row > a.row + 1 else a.middle
                if a.row == b.row:
                    coming[link.source][link.source] = b.middle
        ports: dict[tuple[str, str], float] = {}
        for name, sources in coming.items():
            middle, order = self._cards[name].middle, sorted(sources, key=lambda each: sources[each])
            places = {each: middle + TRACK * (i - (len(order) - 1) / 2) for i, each in enumerate(order)}
            straight = [sources[each] - x for each, x in places.items() if abs(sources[each] - x) <= _NEAR]
            aside = min(straight, key=abs, default=0.0)
            ports |= {(name, each): x + aside for each, x in places.items()}
        return ports

    def _find_stubs(self, row: int) -> dict[str, tuple[Stub, ...]]:
        """Return the stubs above a row, by the card from which their wires come."""
        found: dict[str, set[Stub]] = defaultdict(set)
        for link in self._links:
            a, b = self._cards[link.source], self._cards[link.target]
            if self._is_direct(link) or not (b.row == row or a.row < row < b.row):
                continue
            lane = self._lanes.get(link.source, 0.0)
            at_source, through = row <= a.row + 1, row < b.row
            found[link.source].add(Stub(self._find_exit(link) if at_source else lane, up=a.row < row))
            found[link.source].add(
                Stub(lane, up=False) if through else Stub(self._ports[link.target, link.source], up=False)
            )
        return {name: tuple(stubs) for name, stubs in found.items() if len({round(each.x, 3) for each in stubs}) > 1}


def count_lanes(cards: dict[str, Span], links: Sequence["Link"]) -> int:
    """Return the number of lanes needed at the right; it depends only on the rows of the cards."""
    return 1 + max(_assign_lanes(cards, links).values(), default=-1)


def _assign_lanes(cards: dict[str, Span], links: Sequence["Link"]) -> dict[str, int]:
    """Return the lane of each card whose wires pass whole rows, with the shortest innermost."""
    ends: dict[str, tuple[int, int]] = {}
    for link in links:
        a, b = cards[link.source].row, cards[link.target].row
        if b > a + 1:
            ends[link.source] = (a, max(b, ends.get(link.source, (a, b))[1]))
    lanes: dict[str, int] = {}
    for name, (first, last) in sorted(ends.items(), key=lambda each: each[1][1] - each[1][0]):
        taken = {lanes[other] for other in lanes if ends[other][0] < last and first < ends[other][1]}
        lanes[name] = next(lane for lane in range(len(ends)) if lane not in taken)
    return lanes


def _assign_levels(nets: dict[str, tuple[Stub, ...]]) -> dict[str, int]:
    """Return the track of each net, 0 for the topmost, so that wires cross rarely and stay short."""
    names = sorted(nets)
    orders: Iterator[tuple[str, ...]] = permutations(names) if len(names) <= _MOST_TRIED else iter([tuple(names)])
    best, least = {name: i for i, name in enumerate(names)}, math.inf
    for order in orders:
        levels: dict[str, int] = {}
        for name in order:
            met = [levels[other] for other in levels if _has_overlap(nets[name], nets[other])]
            levels[name] = 1 + max(met, default=-1)
        faults = sum(_count_faults(nets[a], nets[b]) for a in names for b in names if levels[a] < levels[b])
        faults += 0.01 * max(levels.values(), default=0)
        if faults < least:
            best, least = levels, faults
    return best


def _has_overlap(a: Sequence[Stub], b: Sequence[Stub]) -> bool:
    """Return whether two nets would overlap on one track."""
    return _find_first(a) - TRACK < _find_last(b) and _find_first(b) - TRACK < _find_last(a)


def _count_faults(upper: Sequence[Stub], lower: Sequence[Stub]) -> float:
    """Return the number of crossings of two nets, one above the other; an overlap counts much more."""
    down, up = [stub.x for stub in upper if not stub.up], [stub.x for stub in lower if stub.up]
    crossings = sum(_find_first(upper) < x < _find_last(upper) for x in up) + sum(
        _find_first(lower) < x < _find_last(lower) for x in down
    )
    ends = [(x, end) for x in up for end in (_find_first(upper), _find_last(upper))]
    ends += [(x, end) for x in down for end in (_find_first(lower), _find_last(lower))]
    return crossings + 20 * sum(abs(x - end) < _CLEAR for x, end in ends)


def _find_first(stubs: Sequence[Stub]) -> float:
    return min(stub.x for stub in stubs)


def _find_last(stubs: Sequence[Stub]) -> float:
    return max(stub.x for stub in stubs)


def _drop_doubles(points: Sequence[Point]) -> tuple[Point, ...]:
    return (points[0], *(b for a, b in pairwise(points) if math.dist(a, b) > 1e-6))

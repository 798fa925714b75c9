"""The layout of the canvas: cards in lines that follow the computation, as large as its room allows.

Cells, labels and titles grow and shrink together, between the least and the largest readable size of type. If the
cards do not fit at the least size, fewer stand in a line and the canvas scrolls: numbers never vanish from maps of up
to 12 × 12, nor from those of two heads of up to 8 × 8.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from attnlab.ui.playground.canvas_form import CanvasPlan, Form, Line, Size
from attnlab.ui.playground.canvas_lengths import (
    ALONE_PX,
    LARGEST_PX,
    LEAST_PX,
    MOST_ROWS,
    NUMBER_PX,
    PICTURE_WORTH,
    PICTURES,
    TALL_COST,
)
from attnlab.ui.playground.card_needs import DECIMALS, LEGIBLE, Needs


class _Room(NamedTuple):
    """The room of the canvas in pixels, the scale of the type, and the largest numbers to try, in pixels at 100 %."""

    width: float
    height: float
    scale: float
    largest: int


@lru_cache(maxsize=64)
def plan_canvas(needs: Needs, width: float, height: float, scale: float, alone: str | None = None) -> CanvasPlan:
    """Return the plan for a canvas of a size in pixels with type of a scale, for all cards or the one ``alone``."""
    if alone is not None:
        needs = _only(needs, alone)
    room = _Room(width, height, scale, ALONE_PX if alone is not None else LARGEST_PX)
    return _find_fitting(needs, room) or _plan_scrolling(needs, width, height, scale)


def _only(needs: Needs, name: str) -> Needs:
    every = [need for group in needs.groups for need in group]
    found = tuple(replace(need, folded=()) for need in every if need.name == name)
    return Needs((found,), "", needs.strips)


def _find_fitting(needs: Needs, room: _Room) -> CanvasPlan | None:
    """Return the best plan that fits without scrolling, if any: more numbers, then more decimals, then larger type."""
    sharing = (False, True) if needs.sharing else (False,)
    for numbered in _list_numbered(needs):
        least = room._replace(largest=LEAST_PX)
        if next(_list_fitting(needs, least, numbered, DECIMALS[-1], sharing[-1], PICTURES[-1:]), None) is None:
            continue  # no larger one fits either
        for decimals, shares in product(DECIMALS if numbered else DECIMALS[-1:], sharing):
            fitting = list(_list_fitting(needs, room, numbered, decimals, shares, PICTURES))
            if fitting:
                _, form, lines = max(fitting, key=lambda each: (each[0], each[1].size))
                return form.place(lines, room.height)
    return None


def _list_numbered(needs: Needs) -> list[frozenset[str]]:
    """Return the choices of cards with numbers, the best first.

    Small maps of several heads are worth more than wide tables, their maps of tokens by tokens more than the rest, and
    the weights more than all others.
    """
    every = [need for group in needs.groups for need in group if need.numbers[0]]
    able = frozenset(need.name for need in every if need.count == 1 and need.rows <= MOST_ROWS)
    must = frozenset(need.name for need in every if need.is_legible)
    several = [need for need in every if need.count > 1 and max(need.rows, need.columns) <= LEGIBLE]
    maps = frozenset(need.name for need in several if need.is_map)
    heads = frozenset(need.name for need in several)
    weights = maps & {"weights"}
    chosen = (able | heads, able | maps, heads, maps, able | weights, weights, able, frozenset[str]())
    return list(dict.fromkeys(must | cards for cards in chosen))


def _list_fitting(
    needs: Needs, room: _Room, numbered: frozenset[str], decimals: int, shares: bool, pictures: tuple[float, ...]
) -> Iterator[tuple[float, Form, list[Line]]]:
    """Yield the forms that fit without scrolling, each with its worth in pixels of type, and its lines."""
    cards, scale = _list_groups(needs, shares=shares), room.scale
    every = [need for group in needs.groups for need in group]
    pictured = any(need.is_picture(numbered) for need in every)
    flats = (True, False) if any(n.column_label for n in every if n.name in numbered) else (True,)
    sizes = range(_least_px(scale), round(room.largest * scale) + 1)
    px_sizes = sizes if numbered else (max(round(NUMBER_PX * scale), 1),)
    counts = {need.count for need in every if need.name in numbered}
    per_lines = sorted({-(-count // lines) for count in counts for lines in range(1, count + 1)}) or [1]
    for flat, picture, per_line in product(flats, pictures if pictured else (1.0,), per_lines):
        for px in px_sizes:
            form = Form(needs, room.width, cards, Size(px, decimals, flat, picture, per_line), numbered, shares)
            groups = form.break_lines()
            lines = form.balance(groups) if groups is not None else []
            if groups is None or form.height_of(lines).least > room.height:
                break  # larger type does not fit either
            worth = PICTURE_WORTH * form.measure_pictures(lines, room.height) if pictured else 0.0
            yield px + scale * (worth - count_breaks(groups) - TALL_COST * form.count_tall_lines()), form, lines


def _plan_scrolling(needs: Needs, width: float, height: float, scale: float) -> CanvasPlan:
    """Return the plan of least height: the least size of type, and as many cards in a line as fit.

    If a card would be wider than the canvas, all type is smaller, as long as it is no smaller than at 100 %. If it
    still is, whatever its decimals, it has the fewest, so that least of it is cut.
    """
    px = _least_px(scale)
    forms = _list_scrolling(needs, width, px)
    while px > LEAST_PX and not any(map(_has_room, forms)):
        px -= 1
        forms = _list_scrolling(needs, width, px)
    fewest = (form for form in forms if form.size.decimals == DECIMALS[-1])
    chosen = list(filter(_has_room, forms)) or list(fewest)
    broken = [(form, form.balance(form.break_lines(always=True) or [])) for form in chosen]
    form, lines = min(broken, key=lambda each: (each[0].height_of(each[1]).least, -each[0].size.decimals))
    return form.place(lines, height)


def _list_scrolling(needs: Needs, width: float, px: int) -> list[Form]:
    """Return the forms of a canvas that scrolls with type of a size."""
    every = [need for group in needs.groups for need in group]
    must = frozenset(need.name for need in every if need.is_legible and need.numbers[0])
    cards, shares = _list_groups(needs, shares=bool(needs.sharing)), bool(needs.sharing)
    sizes = [
        Size(px, decimals, flat, per_line=per_line)
        for decimals, flat, per_line in product(DECIMALS, (True, False), (1, 2))
    ]
    return [Form(needs, width, cards, size, must, shares, roomy=True) for size in sizes]


def _has_room(form: Form) -> bool:
    """Return whether no card is wider than the canvas."""
    return form.break_lines() is not None


def count_breaks(groups: Sequence[Sequence[Line]]) -> float:
    """Return how many pixels of type the breaks within groups are worth: the projections belong together."""
    *others, last = groups
    return 4.0 * sum(len(lines) - 1 for lines in others) + 1.0 * (len(last) - 1)


def _least_px(scale: float) -> int:
    return max(round(LEAST_PX * scale), 1)


def _list_groups(needs: Needs, *, shares: bool) -> tuple[Line, ...]:
    """Return the cards in groups that begin a new line, without the one whose numbers another card shows."""
    hidden = "scaled" if shares else ""
    return tuple(tuple(need for need in group if need.name != hidden) for group in needs.groups)

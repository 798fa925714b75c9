"""Arrows on their way from one picture to the next: from tokens to queries and keys, or to another plane."""

from dataclasses import replace
from math import hypot

from attnlab.figures.arrows.arrow_data import Arrow, ArrowsData, Point


def find_starts(before: ArrowsData, after: ArrowsData) -> tuple[Point, ...]:
    """Return where each arrow begins: at its old tip, else at that of the same token, else at the origin.

    Old arrows that were longer than the longest point that the new picture shows are shortened, all by one factor.
    """
    by_key = {arrow.key: arrow.tip for arrow in reversed(before.arrows)}
    by_token = {arrow.token: arrow.tip for arrow in reversed(before.arrows) if arrow.token is not None}
    longest, room = (max(hypot(*point) for point in data.points()) for data in (before, after))
    factor = min(1.0, room / longest) if longest else 1.0

    def find_start(arrow: Arrow) -> Point:
        x, y = by_key.get(arrow.key) or by_token.get(arrow.token, (0.0, 0.0))
        return factor * x, factor * y

    return tuple(map(find_start, after.arrows))


def blend_arrows(starts: tuple[Point, ...], after: ArrowsData, share: float) -> ArrowsData:
    """Return the arrows with every tip a share of its straight way from its start, without projection and mixture."""
    arrows = (
        replace(arrow, tip=_blend(start, arrow.tip, share)) for start, arrow in zip(starts, after.arrows, strict=True)
    )
    return replace(after, arrows=tuple(arrows), projection=None, mixture=None)


def _blend(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])

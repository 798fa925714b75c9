"""The dimension lines beside a query: as long as it and as the key's reach along it, in the room, on a free side."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF

from attnlab.figures.arrows.arrow_data import Arrow, ArrowsData, Projection
from attnlab.figures.arrows.arrow_layout import lay_out_plane
from attnlab.figures.arrows.dimension_lines import Dimension, make_dimensions

AREA = QRectF(0, 0, 560, 420)


def make_data(query: tuple[float, float], key: tuple[float, float], *others: tuple[float, float]) -> ArrowsData:
    tips = (query, key, *others)
    arrows = tuple(Arrow(i, tip, "query" if i != 1 else "key", "word", "", i < 2) for i, tip in enumerate(tips))
    return ArrowsData(arrows, ("column 0", "column 1"), Projection(0, 1, (), "1.4974", "1.2211"))


def measure(text: str) -> float:
    return 7.0 * len(text)


def find_length(line: tuple[QPointF, QPointF]) -> float:
    return math.hypot(line[1].x() - line[0].x(), line[1].y() - line[0].y())


def draw(data: ArrowsData) -> tuple[tuple[Dimension, ...], float, QRectF]:
    """Return the dimension lines in an area, the pixels for each unit, and the room of the arrows."""
    sight = lay_out_plane(data, AREA, 1.0, measure).sight
    return make_dimensions(data, sight.place, 1.0, measure), sight.unit, sight.room


POINTS = st.tuples(st.floats(-5, 5), st.floats(-5, 5))


@given(POINTS, POINTS, st.lists(POINTS, max_size=6))
def test_the_lines_are_as_long_as_the_query_and_as_the_key_along_it(
    query: tuple[float, float], key: tuple[float, float], others: list[tuple[float, float]]
) -> None:
    length = math.hypot(*query)
    assume(length > 1)
    found, unit, _ = draw(make_data(query, key, *others))
    if length * unit < 90:
        assert found == ()
        return
    of_query, of_key = found
    assert find_length(of_query.line) == pytest.approx(length * unit)
    along = float(np.dot(query, key)) / length
    assert find_length(of_key.line) == pytest.approx(abs(along) * unit, abs=1e-6)
    assert (of_query.number, of_key.number) == ("1.4974", "1.2211")
    for each in found:  # parallel to the query
        step = each.line[1] - each.line[0]
        assert abs(step.x() * query[1] + step.y() * query[0]) < 1e-6 * unit * max(length, abs(along)) * length + 1e-6


@given(st.floats(0, 2 * math.pi), POINTS)
def test_words_meet_neither_each_other_nor_the_lines(angle: float, key: tuple[float, float]) -> None:
    query = 5 * math.cos(angle), 5 * math.sin(angle)
    found, _, _ = draw(make_data(query, key))
    if found:
        assert not found[0].words.intersects(found[1].words)
        for words in (each.words for each in found):
            sides = [_find_side(found[0].line, point) for point in (words.topLeft(), words.topRight())]
            sides += [_find_side(found[0].line, point) for point in (words.bottomLeft(), words.bottomRight())]
            assert min(sides) > 0 or max(sides) < 0


def _find_side(line: tuple[QPointF, QPointF], point: QPointF) -> float:
    """Return on which side of a line a point lies, by its sign."""
    along, to = line[1] - line[0], point - line[0]
    return along.x() * to.y() - along.y() * to.x()


def test_the_lines_lie_where_fewer_tips_are_and_the_arrows_leave_them_room() -> None:
    for other, side in (((2.0, 0.5), -1), ((-2.0, 0.5), 1)):
        data = make_data((0.0, 2.0), (0.5 * -side, 1.5), other, other)
        found, _, room = draw(data)
        assert len(found) == 2
        middle = lay_out_plane(data, AREA, 1.0, measure).sight.place((0, 0)).x()
        assert all((point.x() - middle) * side > 0 for each in found for point in each.line)
        for each in found:
            assert room.contains(each.bounds)


def test_a_plane_without_a_projection_has_no_dimension_lines() -> None:
    data = make_data((0.0, 2.0), (1.0, 1.0))
    plain = ArrowsData(data.arrows, data.names)
    assert make_dimensions(plain, lay_out_plane(plain, AREA, 1.0, measure).sight.place, 1.0, measure) == ()

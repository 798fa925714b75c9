"""Cells of one or many maps lie inside their area, do not overlap, and are found under the mouse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.figures import layout
from attnlab.figures.layout import Grid, Limits, arrange

SIZES = st.integers(1, 40)
AREAS = st.tuples(st.floats(-50, 50), st.floats(-50, 50), st.floats(60, 1500), st.floats(60, 1000))
LIMITS = st.builds(
    Limits,
    st.floats(4, 120),
    st.floats(4, 80),
    st.sampled_from([0.0, 30.0]),
    st.sampled_from([0.0, 24.0]),
    st.sampled_from([0.0, 12.0]),
)


@st.composite
def grids(draw: st.DrawFn) -> tuple[Grid, tuple[float, float, float, float], float]:
    """Draw a grid as the program makes it, with its area and the pixel ratio of the screen."""
    area, ratio = draw(AREAS), draw(st.sampled_from([1.0, 1.25, 1.5, 2.0]))
    grid = arrange(area, draw(SIZES), draw(SIZES), draw(st.integers(1, 12)), draw(LIMITS), draw(st.booleans()), ratio)
    return grid, area, ratio


@given(grids(), st.data(), st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_a_point_in_a_cell_finds_that_cell(
    made: tuple[Grid, tuple[float, float, float, float], float], data: st.DataObject, across: float, down: float
) -> None:
    grid = made[0]
    place = (
        data.draw(st.integers(0, grid.count - 1)),
        data.draw(st.integers(0, grid.rows - 1)),
        data.draw(st.integers(0, grid.columns - 1)),
    )
    x, y, width, height = grid.rect(*place)
    assert grid.hit(x + across * width, y + down * height) == place


@given(grids(), st.floats(-300, 1800), st.floats(-300, 1300))
def test_points_outside_cells_find_nothing(
    made: tuple[Grid, tuple[float, float, float, float], float], x: float, y: float
) -> None:
    grid = made[0]
    found = grid.hit(x, y)
    inside = [
        (index, row, column)
        for index in range(grid.count)
        for row in range(grid.rows)
        for column in range(grid.columns)
        if _contains(grid.rect(index, row, column), x, y)
    ]
    if found is None:
        assert len(inside) <= 1  # exactly on an edge
        assert all(_on_edge(grid.rect(*place), x, y) for place in inside)
    else:
        left, top, width, height = grid.rect(*found)
        assert left - 1e-6 <= x <= left + width + 1e-6
        assert top - 1e-6 <= y <= top + height + 1e-6


def _contains(rect: tuple[float, float, float, float], x: float, y: float) -> bool:
    return rect[0] < x < rect[0] + rect[2] and rect[1] < y < rect[1] + rect[3]


def _on_edge(rect: tuple[float, float, float, float], x: float, y: float) -> bool:
    near = [abs(x - rect[0]), abs(x - rect[0] - rect[2]), abs(y - rect[1]), abs(y - rect[1] - rect[3])]
    return min(near) < 1e-6


@given(grids())
def test_all_maps_fit_into_the_area_with_their_labels(
    made: tuple[Grid, tuple[float, float, float, float], float],
) -> None:
    grid, (x, y, width, height), ratio = made
    room = 1 / ratio + 1e-6  # the origin is rounded to a pixel of the screen
    assert grid.x >= x + grid.label_width - room
    assert grid.y >= y + grid.label_height - room
    assert grid.x + grid.width <= x + width + room
    assert grid.y + grid.height <= y + height + room or height < grid.label_height + 2
    assert grid.per_row * grid.lines >= grid.count > grid.per_row * (grid.lines - 1)


@given(grids())
def test_visible_cells_are_whole_pixels(
    made: tuple[Grid, tuple[float, float, float, float], float],
) -> None:
    grid, _, ratio = made
    for length in (grid.cell_width, grid.cell_height):
        if min(grid.cell_width, grid.cell_height) >= 3:
            assert (length * ratio) == pytest.approx(round(length * ratio))
    assert (grid.x * ratio) == pytest.approx(round(grid.x * ratio))
    assert (grid.y * ratio) == pytest.approx(round(grid.y * ratio))


@given(grids())
def test_adjacent_maps_do_not_touch(made: tuple[Grid, tuple[float, float, float, float], float]) -> None:
    grid = made[0]
    boxes = [grid.rect(index, None, None) for index in range(grid.count)]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            apart_across = a[0] + a[2] < b[0] or b[0] + b[2] < a[0]
            apart_down = a[1] + a[3] < b[1] or b[1] + b[3] < a[1]
            assert apart_across or apart_down


@given(grids())
def test_rows_columns_and_maps_consist_of_their_cells(
    made: tuple[Grid, tuple[float, float, float, float], float],
) -> None:
    grid = made[0]
    last = (grid.count - 1, grid.rows - 1, grid.columns - 1)
    x, y, width, height = grid.rect(*last)
    for row, column in ((None, None), (last[1], None), (None, last[2])):
        bx, by, bwidth, bheight = grid.rect(last[0], row, column)
        assert bx + bwidth == pytest.approx(x + width)
        assert by + bheight == pytest.approx(y + height)
        assert bwidth == pytest.approx(width * (grid.columns if column is None else 1))
        assert bheight == pytest.approx(height * (grid.rows if row is None else 1))


def test_a_small_map_has_the_largest_allowed_cells() -> None:
    grid = arrange((0, 0, 400, 300), 2, 3, 1, Limits(50, 30, 20, 10), square=False)
    assert (grid.cell_width, grid.cell_height) == (50, 30)
    assert (grid.x, grid.y) == (20, 10)
    assert grid.framed


def test_a_token_by_token_map_is_about_square() -> None:
    grid = arrange((0, 0, 1000, 100), 5, 5, 1, Limits(500, 500, 0, 0), square=True)
    assert grid.cell_height == 20
    assert grid.cell_width == 32


def test_many_maps_share_the_space_evenly() -> None:
    grid = arrange((0, 0, 800, 200), 10, 10, 8, Limits(40, 40, 0, 12, 12), square=True)
    assert grid.lines * grid.per_row >= 8
    assert grid.gap[0] * grid.cell_height >= 12 - grid.gap[0]  # titles have room between the lines
    assert grid.width <= 800
    assert grid.height <= 188


def test_points_beside_or_between_maps_find_nothing() -> None:
    grid = arrange((10, 10, 400, 100), 4, 4, 3, Limits(10, 10, 0, 0), square=True)
    assert grid.hit(grid.x - 1, grid.y + 1) is None
    assert grid.hit(grid.x + 1, grid.y - 1) is None
    between = grid.x + 4.5 * grid.cell_width
    assert grid.per_row > 1
    assert grid.hit(between, grid.y + 1) is None


def test_the_work_for_many_maps_grows_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, find = [], layout._find_cell_size

    def count(*args: Any) -> tuple[float, float]:
        sizes.append(args)
        return find(*args)

    monkeypatch.setattr(layout, "_find_cell_size", count)
    arrange((0.0, 0.0, 900.0, 500.0), 1, 1, 4096, Limits(90.0, 90.0, 40.0, 30.0, 20.0), True)
    assert len(sizes) < 40 * 4096  # each arrangement was tried with hundreds of gaps, and the window stood still

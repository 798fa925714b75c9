"""Planes of arrows: what they show of the lengths, projections that are scores, and convex hulls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnlab.attention.measures.planes import (
    Plane,
    describe_shown,
    find_hull,
    make_column_plane,
    make_principal_plane,
    make_query_plane,
    measure_shown,
)

_numbers = st.floats(-10, 10).map(lambda x: round(x, 3))
vectors = st.tuples(st.integers(1, 7), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=_numbers)
)


def check_orthonormal(plane: Plane) -> None:
    gram = plane.axes.T @ plane.axes
    both = min(plane.axes.shape) > 1
    np.testing.assert_allclose(gram, np.diag([1.0, float(both)]), atol=1e-9)


@given(vectors)
def test_no_plane_shows_more_than_all_lengths_and_it_is_what_is_left_of_each(rows: np.ndarray) -> None:
    for plane in (make_column_plane(rows.shape[1]), make_principal_plane(rows), make_query_plane(rows[0], rows)):
        share = measure_shown(rows, plane)
        assert 0 <= share <= 1
        some = np.linalg.norm(rows, axis=1) > 0
        lost = [np.linalg.norm(row - plane.lift(plane.draw(row[None])[0])) for row in rows[some]]
        kept = [
            np.sqrt(max(1 - (off / np.linalg.norm(row)) ** 2, 0)) for off, row in zip(lost, rows[some], strict=True)
        ]
        assert share == pytest.approx(np.mean(kept) if len(kept) else 1, abs=1e-6)
        assert (describe_shown(share) == "Shows all lengths in full.") == (share > 1 - 1e-9)


@given(vectors)
def test_every_plane_has_orthonormal_directions(rows: np.ndarray) -> None:
    check_orthonormal(make_column_plane(rows.shape[1]))
    check_orthonormal(make_principal_plane(rows))
    check_orthonormal(make_query_plane(rows[0], rows[1:])) if len(rows) > 1 else None


@given(vectors)
def test_two_columns_lose_nothing(rows: np.ndarray) -> None:
    flat = rows[:, :2]
    plane = make_column_plane(flat.shape[1])
    assert measure_shown(flat, plane) == pytest.approx(1)
    np.testing.assert_array_equal(plane.draw(flat)[:, : flat.shape[1]], flat)


@given(vectors)
def test_the_principal_plane_shows_the_largest_sum_of_squares(rows: np.ndarray) -> None:
    drawn = float((make_principal_plane(rows).draw(rows) ** 2).sum())
    assert drawn == pytest.approx(float((np.linalg.svd(rows, compute_uv=False)[:2] ** 2).sum()), abs=1e-6)


@given(vectors)
def test_in_the_plane_of_a_query_every_score_is_length_times_length_along_it(rows: np.ndarray) -> None:
    query, keys = rows[0], rows
    if not np.linalg.norm(query) > 1e-6:
        return
    plane = make_query_plane(query, keys[:2])
    tip = plane.draw(query[None])[0]
    np.testing.assert_allclose(np.linalg.norm(tip), np.linalg.norm(query), atol=1e-9)
    np.testing.assert_allclose(plane.draw(keys) @ tip, keys @ query, atol=1e-8)


@given(vectors)
def test_the_lifted_step_is_the_smallest_that_moves_the_tip(rows: np.ndarray) -> None:
    plane, step = make_principal_plane(rows), np.array([0.5, -0.25])
    lifted = plane.lift(step)
    np.testing.assert_allclose(lifted, np.linalg.lstsq(plane.axes.T, step, rcond=None)[0], atol=1e-9)


@given(arrays(np.float64, st.tuples(st.integers(1, 9), st.just(2)), elements=st.integers(-5, 5).map(float)))
def test_every_mixture_lies_in_the_hull(points: np.ndarray) -> None:
    corners = points[find_hull(points)]
    weights = np.linspace(1, 2, len(points))
    mixture = weights / weights.sum() @ points
    if len(corners) < 3:
        return
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        for point in (*points, mixture):
            assert (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) >= -1e-9


def test_the_hull_of_points_on_a_line_is_its_ends() -> None:
    assert sorted(find_hull(np.array([[0.0, 0], [2, 2], [1, 1]]))) == [0, 1]
    assert find_hull(np.array([[1.0, 1], [1, 1]])) == [0]
    assert sorted(find_hull(np.array([[0.0, 0], [2, 0], [0, 2], [0.5, 0.5]]))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("share", "sentence"),
    [
        (1.0, "Shows all lengths in full."),
        (0.999, "Shows over 99\N{NO-BREAK SPACE}% of the lengths."),
        (0.834, "Shows 83\N{NO-BREAK SPACE}% of the lengths."),
        (0.001, "Shows less than 1\N{NO-BREAK SPACE}% of the lengths."),
    ],
)
def test_what_is_lost_is_said(share: float, sentence: str) -> None:
    assert describe_shown(share) == sentence


def test_vectors_of_zero_do_not_count() -> None:
    assert measure_shown(np.zeros((3, 4)), make_column_plane(4)) == 1
    assert measure_shown(np.array([[0, 0, 0], [3, 0, 4.0]]), make_column_plane(3)) == pytest.approx(0.6)
    check_orthonormal(make_query_plane(np.zeros(3), np.eye(3)))


@pytest.mark.parametrize(("n", "d"), [(200, 40), (40, 200), (130, 130), (2, 150), (150, 2)])
def test_the_strongest_directions_of_many_vectors_are_the_singular_ones(n: int, d: int) -> None:
    vectors = np.random.default_rng(n).normal(size=(n, d)) * np.linspace(3, 1, d)
    expected = np.linalg.svd(vectors, full_matrices=False)[2][:2]
    axes = make_principal_plane(vectors).axes
    np.testing.assert_allclose(np.abs(expected @ axes), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)
    assert all(axes[np.abs(axes[:, place]).argmax(), place] > 0 for place in (0, 1))


def test_many_vectors_of_one_direction_have_a_second_one_at_a_right_angle() -> None:
    for vectors in (np.outer(np.ones(20), np.arange(200.0)), np.outer(np.arange(200.0), np.ones(20))):
        axes = make_principal_plane(vectors).axes
        np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-9)
        assert measure_shown(vectors, make_principal_plane(vectors)) == pytest.approx(1)

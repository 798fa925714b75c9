"""Marks are suggested where the loss drops or a pattern appears, and nowhere else."""

import numpy as np
import pytest
from numpy.typing import NDArray

from attnlab.training.marks import find_loss_drops, find_pattern_rises


def curve(*levels: float, each: int = 60, noise: float = 0.02) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    random = np.random.default_rng(0)
    losses = np.repeat(levels, each) * (1 + noise * random.standard_normal(each * len(levels)))
    return np.arange(len(losses)), losses


def test_a_sudden_drop_is_marked_at_its_step() -> None:
    (mark,) = find_loss_drops(*curve(2.0, 0.5))
    assert abs(mark.step - 60) <= 2
    assert mark.suggested
    assert mark.title == "loss falls from 2 to 0.5"


def test_two_drops_are_two_marks() -> None:
    assert [round(mark.step, -1) for mark in find_loss_drops(*curve(2.0, 1.0, 0.2))] == [60, 120]


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5])
def test_noise_and_rises_have_no_drop(noise: float) -> None:
    assert find_loss_drops(*curve(1.0, noise=noise)) == ()
    assert find_loss_drops(*curve(0.5, 2.0, noise=min(noise, 0.05))) == ()


def test_a_slow_fall_is_not_a_drop() -> None:
    assert find_loss_drops(np.arange(400), np.linspace(3.0, 2.0, 400)) == ()


def test_a_short_curve_has_no_drop() -> None:
    assert find_loss_drops(np.arange(5), np.array([5.0, 4.0, 3.0, 2.0, 1.0])) == ()
    assert find_loss_drops(np.arange(0), np.empty(0)) == ()


def test_a_fall_below_the_floor_is_noise() -> None:
    assert find_loss_drops(*curve(0.02, 0.004)) == ()
    assert len(find_loss_drops(*curve(0.2, 0.04))) == 1


def rises(*courses: list[float]) -> list[tuple[int, str]]:
    """Return step and title of the marks of one pattern, from the course of each head at steps 0, 10, …"""
    scores = np.array(courses).T[:, None]
    found = find_pattern_rises(range(0, 10 * len(scores), 10), scores, ["induction"], ["head 1.0", "head 2.1"])
    assert all(mark.suggested for mark in found)
    return [(mark.step, mark.title) for mark in found]


def test_a_pattern_is_marked_once_where_its_best_head_stays_above_the_middle() -> None:
    best = [0.1, 0.6, 0.2, 0.5, 0.7]
    assert rises([0.1, 0.5, 0.5, 0.5, 0.6], best) == [(30, "head 2.1: induction reaches 0.50")]
    assert rises([float("nan")] * 5, best) == [(30, "head 2.1: induction reaches 0.50")]
    assert rises(best, [float("nan")] * 5) == [(30, "head 1.0: induction reaches 0.50")]


@pytest.mark.parametrize("course", [[0.1, 0.9, 0.3], [0.5, 0.55, 0.6], [0.7, 0.3, 0.7], [0.5], [float("nan")] * 3])
def test_a_pattern_that_goes_or_was_always_there_is_not_marked(course: list[float]) -> None:
    assert rises(course) == []


def test_marks_of_several_patterns_are_in_order_of_steps() -> None:
    scores = np.array([[[0.1], [0.1]], [[0.1], [0.8]], [[0.9], [0.9]]])
    found = find_pattern_rises([0, 5, 9], scores, ["late", "early"], ["head 1.0"])
    assert [(mark.step, mark.title.split(": ")[1][:5]) for mark in found] == [(5, "early"), (9, "late ")]
    assert find_pattern_rises([], np.zeros((0, 2, 1)), ["late", "early"], ["head 1.0"]) == ()

"""Marks are suggested where the loss drops or a head becomes sharp, and nowhere else."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from attnlab.training.marks import find_loss_drops, find_sharp_heads


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


def looks(*sharpness: tuple[float, float]) -> list[SimpleNamespace]:
    """Return looks at one layer of two heads, whose rows have these largest weights."""
    found = []
    for at, pair in enumerate(sharpness):
        weights = np.array([[[top, 1 - top], [1 - top, top]] for top in pair], np.float32)
        found.append(SimpleNamespace(step=10 * at, maps=(SimpleNamespace(layer="decoder 1", weights=weights),)))
    return found


def test_a_head_that_becomes_sharp_is_marked() -> None:
    found = find_sharp_heads(looks((0.5, 0.5), (0.95, 0.5), (0.7, 0.6), (0.95, 0.8), (0.99, 0.8)))  # type: ignore[arg-type]
    assert [(mark.step, mark.title) for mark in found] == [(30, "decoder 1, head 0 turns sharp")]


def test_a_head_whose_queries_all_attend_to_one_key_is_sharp() -> None:
    found = looks((0.5, 0.5), (0.95, 0.5))
    found[1].maps[0].weights[0] = [[0.95, 0.05], [0.95, 0.05]]  # no query has its largest weight at key 1
    assert [mark.step for mark in find_sharp_heads(found)] == [10]  # type: ignore[arg-type]


def test_a_head_that_is_always_or_never_sharp_is_not_marked() -> None:
    assert find_sharp_heads(looks((0.95, 0.5), (0.99, 0.8))) == ()  # type: ignore[arg-type]
    assert find_sharp_heads(looks((0.5, 0.5))) == ()  # type: ignore[arg-type]

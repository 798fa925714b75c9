"""One fixed rotation maps the sinusoidal encoding of every position to that of the position at an offset."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention.measures.rotation import frequencies, rotation, rotation_error
from attnlab.attention.registries.positions import sinusoidal
from attnlab.base.errors import ExperimentError

widths, offsets = st.integers(2, 70), st.integers(0, 300)


@given(widths, offsets, st.integers(1, 60))
def test_the_rotation_moves_every_position_by_the_offset(d_model: int, offset: int, length: int) -> None:
    pairs = d_model // 2 * 2
    encoding = sinusoidal(length + offset, d_model)[:, :pairs]
    moved = encoding[:length] @ rotation(d_model, offset)
    torch.testing.assert_close(moved, encoding[offset:], rtol=0, atol=1e-10)


@given(widths, offsets)
def test_the_rotation_is_block_diagonal(d_model: int, offset: int) -> None:
    matrix = rotation(d_model, offset)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(len(matrix), dtype=torch.float64), rtol=0, atol=1e-10)
    for i in range(len(matrix) // 2):
        angle = offset / 10000 ** (2 * i / d_model)
        block = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        expected = torch.tensor(block, dtype=torch.float64)
        torch.testing.assert_close(matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2], expected, rtol=0, atol=1e-10)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = 0
    assert not matrix.any()


@given(widths, st.integers(0, 100), st.integers(0, 100))
def test_two_rotations_compose_to_one_by_both_offsets(d_model: int, one: int, other: int) -> None:
    together = rotation(d_model, one) @ rotation(d_model, other)
    torch.testing.assert_close(together, rotation(d_model, one + other), rtol=0, atol=1e-10)


def test_the_error_is_no_larger_than_rounding() -> None:
    assert 1e-8 < rotation_error(128, 100, 10, torch.float32) < 1e-6
    assert 0 < rotation_error(128, 100, 10, torch.float64) < 1e-13


def test_the_error_covers_all_positions() -> None:
    encoding, matrix = sinusoidal(51 + 7, 6).float(), rotation(6, 7, torch.float32)
    errors = [float((encoding[t] @ matrix - encoding[t + 7]).abs().max()) for t in range(51)]
    assert rotation_error(6, 50, 7, torch.float32) == pytest.approx(max(errors), abs=1e-7)
    assert rotation_error(6, 50, 0, torch.float32) == 0


def test_an_odd_width_rotates_its_complete_pairs() -> None:
    assert rotation(5, 3).shape == (4, 4)
    assert frequencies(5).tolist() == pytest.approx([1, 10000 ** (-2 / 5)])


def test_a_single_column_is_not_rotated() -> None:
    with pytest.raises(ExperimentError, match="d_model is 1; a pair of sine and cosine needs 2 columns"):
        rotation(1, 3)

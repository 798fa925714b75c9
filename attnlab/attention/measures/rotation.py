"""The rotation from the sinusoidal encoding of one position to another's (Vaswani et al. 2017, section 3.5)."""

import torch
from torch import Tensor

from attnlab.attention.registries.positions import sinusoidal
from attnlab.base.errors import ExperimentError


def frequencies(d_model: int) -> Tensor:
    """Return ω_i = 10000^(−2i/d) of each complete pair of columns (sin, cos), [d_model // 2] float64."""
    i = torch.arange(d_model // 2, dtype=torch.float64, device="cpu")
    return 10000 ** (-2 * i / d_model)


def rotation(d_model: int, offset: float, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return the fixed matrix R with PE(t + offset) = PE(t) @ R for every position t, [2n, 2n] for n complete pairs.

    Pair i is rotated by ω_i · offset: its block on the diagonal is [[cos, −sin], [sin, cos]]. The last column of an odd
    d_model is a sine without its cosine; no matrix can shift it, so it has no row here.

    Raises:
        ExperimentError: d_model is below 2, so there is no pair.
    """
    if d_model < 2:
        raise ExperimentError(f"d_model is {d_model}; a pair of sine and cosine needs 2 columns or more.")
    angle = frequencies(d_model) * offset
    sines = torch.arange(0, 2 * len(angle), 2, device="cpu")
    matrix = torch.zeros(2 * len(angle), 2 * len(angle), dtype=torch.float64, device="cpu")
    matrix[sines, sines] = matrix[sines + 1, sines + 1] = angle.cos()
    matrix[sines, sines + 1], matrix[sines + 1, sines] = -angle.sin(), angle.sin()
    return matrix.to(dtype)


def rotation_error(d_model: int, length: int, offset: int, dtype: torch.dtype) -> float:
    """Return the largest |PE(t) @ R − PE(t + offset)| over positions 0 … length, stored and computed in ``dtype``.

    Raises:
        ExperimentError: d_model is below 2.
    """
    matrix = rotation(d_model, offset, dtype)
    encoding = sinusoidal(length + offset + 1, d_model)[:, : len(matrix)].to(dtype)
    return float((encoding[: length + 1] @ matrix - encoding[offset:]).abs().max())

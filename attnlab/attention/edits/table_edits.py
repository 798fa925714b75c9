"""Edits of the numbers in a table: set a block, fill, scale, transpose, round."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.arrays import dtype_name
from attnlab.attention.edits.layer_tables import identity, shape, table, with_table, zeros
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import ExperimentError

FILLS = ("zeros", "identity", "normal", "uniform", "xavier")


def set_block(e: Experiment, name: str, row: int, column: int, values: Any) -> Experiment:
    """Return the experiment with a block [r, c] of a table replaced, its top left at ``row``, ``column``.

    Raises:
        ExperimentError: a number that is not finite or too large for the table's dtype (names its cell and the valid
            range), or a block that does not lie inside the table.
    """
    old = table(e, name)
    block = _take_block(name, values)
    rows, cols = block.shape
    if row < 0 or column < 0 or row + rows > old.shape[0] or column + cols > old.shape[1]:
        raise ExperimentError(
            f"A block of {rows} × {cols} at row {row}, column {column} reaches outside {name}, "
            f"which is {old.shape[0]} × {old.shape[1]}."
        )
    numbers = old.clone()
    numbers[row : row + rows, column : column + cols] = _convert(name, block, old.dtype, (row, column))
    return with_table(e, name, numbers)


def _take_block(name: str, values: Any) -> Tensor:
    try:
        block = values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, dtype=np.float64))
    except (ValueError, TypeError, OverflowError):
        raise ExperimentError(f"The block for {name} needs rows of numbers, such as 0.25, all of one length.") from None
    if block.ndim != 2:
        raise ExperimentError(f"The block for {name} has {block.ndim} dimensions; it needs 2, rows and columns.")
    return block.detach()


def _convert(name: str, numbers: Tensor, to: torch.dtype, at: tuple[int, int] = (0, 0)) -> Tensor:
    """Return numbers [r, c] in a dtype; raise an error if one does not fit. ``at`` is their place in the table."""
    fitted = numbers.to("cpu", to)
    bad = ~torch.isfinite(fitted)
    if bool(bad.any()):
        i, j = (int(index) for index in bad.nonzero()[0])
        most = f"{torch.finfo(to).max:.3g}"
        raise ExperimentError(
            f"{name}[{at[0] + i}, {at[1] + j}] would be {float(numbers[i, j]):g}; "
            f"in {dtype_name(to)} it needs a number from −{most} to {most}."
        )
    return fitted


def fill(
    e: Experiment, name: str, kind: str, seed: int = 0, block: tuple[int, int, int, int] | None = None
) -> Experiment:
    """Return the experiment with a table, or its block (row, column, rows, columns), filled.

    ``kind`` is zeros, identity, normal (0, 1), uniform (−1, 1) or xavier (U(±√(6 / (rows + columns))), Glorot 2010).
    Random numbers are those of ``torch.manual_seed(seed)`` and ``torch.randn`` or ``torch.rand`` in float32.

    Raises:
        ExperimentError: an unknown kind, or a block outside the table.
    """
    if kind not in FILLS:
        raise ExperimentError(f"A table cannot be filled with {kind!r}; there are {', '.join(FILLS)}.")
    whole = shape(e, name)
    row, column, rows, cols = block or (0, 0, *whole)
    if kind in ("zeros", "identity"):
        return set_block(e, name, row, column, identity(e, rows, cols) if kind == "identity" else zeros(e, rows, cols))
    g = torch.Generator(device="cpu").manual_seed(seed)
    draw = torch.randn if kind == "normal" else torch.rand
    drawn = draw(rows, cols, generator=g, dtype=torch.float32, device="cpu")
    if kind != "normal":
        drawn = (drawn * 2 - 1) * (1 if kind == "uniform" else (6 / sum(whole)) ** 0.5)
    return set_block(e, name, row, column, drawn)


def scale(e: Experiment, name: str, factor: float) -> Experiment:
    """Return the experiment with a table multiplied by a number.

    Raises:
        ExperimentError: a product that is too large for the table's dtype, or a factor that is not finite.
    """
    if not np.isfinite(factor):
        raise ExperimentError(f"{name} cannot be multiplied by {factor}; the factor needs to be a finite number.")
    old = table(e, name)
    return with_table(e, name, _convert(name, old.double() * factor, old.dtype))


def transpose(e: Experiment, name: str) -> Experiment:
    """Return the experiment with a square table transposed.

    Raises:
        ExperimentError: the table is not square.
    """
    rows, cols = shape(e, name)
    if rows != cols:
        raise ExperimentError(f"{name} is {rows} × {cols}; only a square table can be transposed in its place.")
    return with_table(e, name, table(e, name).T)


def round_table(e: Experiment, name: str, decimals: int) -> Experiment:
    """Return the experiment with a table rounded to ``decimals``; numbers too large to have decimals stay."""
    old = table(e, name)
    numbers = torch.round(old.double(), decimals=decimals)
    return with_table(e, name, torch.where(torch.isfinite(numbers), numbers, old.double()).to(old.dtype))

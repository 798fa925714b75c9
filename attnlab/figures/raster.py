"""Converts numbers to colours with NumPy alone, in any thread."""

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.palette import LEVELS, Palette, colour_map

NOT_A_NUMBER = 0xFFE0218A
"""The ARGB colour of NaN and ∞, which no colour map contains."""

LONG_ROW = 32
MAP_OF = {"signed": "diverging", "probability": "sequential", "positive": "sequential"}


def find_limit(
    values: NDArray[np.floating], kind: str, masked: NDArray[np.bool_] | None = None, *, tight: bool = False
) -> float:
    """Return the end of the colour scale of maps [..., rows, columns].

    Probabilities end at 1; in rows of more than ``LONG_ROW``, or with ``tight``, they end at the largest, rounded up to
    one digit, because on a scale to 1 a row of hundreds has a single colour. Positive numbers end at the largest, but
    not below 1. Signed numbers end at the largest finite magnitude, or at 1 if that is 0. Cells that are ``masked`` do
    not count.
    """
    if kind == "probability" and values.shape[-1] <= LONG_ROW and not tight:
        return 1.0
    if masked is not None and kind == "signed" and np.isfinite(values[..., masked]).any():  # −1e9 instead of −∞
        values = np.where(masked, 0, values)
    with np.errstate(invalid="ignore"):
        largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))  # avoids copying a large map
    if not np.isfinite(largest):
        largest = float(np.abs(np.where(np.isfinite(values), values, 0)).max(initial=0.0))
    if kind == "probability" and largest:
        digit = 10.0 ** np.floor(np.log10(largest))
        return min(1.0, float(np.ceil(largest / digit - 1e-9) * digit))
    return max(largest, 1.0) if kind == "positive" else largest or 1.0


def find_indices(values: NDArray[np.floating], kind: str, limit: float) -> NDArray[np.uint8]:
    """Return the colour map entry of each value; −∞ and NaN get entry 0, and the caller must mark them."""
    middle, share = (0.0, LEVELS - 1.0) if MAP_OF[kind] == "sequential" else ((LEVELS - 1) / 2, (LEVELS - 1) / 2)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        scaled = values / limit  # first, so that extreme numbers do not overflow
        scaled *= share
        scaled += middle
        np.fmax(scaled, 0, out=scaled)  # NaN becomes 0
        np.fmin(scaled, LEVELS - 1, out=scaled)
        scaled += 0.5
        return scaled.astype(np.uint8)


def colour_cells(
    values: NDArray[np.floating], kind: str, limit: float, palette: Palette, masked: NDArray[np.bool_] | None
) -> NDArray[np.uint32]:
    """Return the ARGB of each value [..., rows, columns]; masked cells are transparent, NaN and ∞ pink."""
    entries = find_indices(values, kind, limit)
    if masked is not None:
        entries = np.where(masked, np.uint8(LEVELS), entries)
    image: NDArray[np.uint32] = colour_map(MAP_OF[kind], palette)[entries]
    finite = np.isfinite(values)
    if not finite.all():
        bad = ~finite if masked is None else ~finite & ~masked
        image[bad] = NOT_A_NUMBER
    return image


def reduce_maps(values: NDArray[np.floating], rows: int, columns: int) -> NDArray[np.floating]:
    """Return maps [n, r, c] reduced to at most ``rows`` × ``columns``; a block becomes its value of largest magnitude.

    So a single strong weight among thousands of weak ones stays visible, and so do NaN and ∞.
    """
    signed = not values.min(initial=0.0) >= 0  # NaN counts too
    for axis, size in ((1, rows), (2, columns)):
        if values.shape[axis] > size:
            high = _reduce_blocks(np.maximum, values, size, axis)
            if not signed:
                values = high
                continue
            low = _reduce_blocks(np.minimum, values, size, axis)
            with np.errstate(invalid="ignore"):
                values = np.where(-low > high, low, high)
    return values


def _reduce_blocks(extreme: np.ufunc, values: NDArray[np.floating], size: int, axis: int) -> NDArray[np.floating]:
    """Return the extreme value of each of ``size`` blocks along an axis; six times as fast as ``reduceat``."""
    length = values.shape[axis]
    starts = (np.arange(size) * length) // size
    last = np.append(starts[1:], length) - 1
    result: NDArray[np.floating] = np.take(values, starts, axis)
    with np.errstate(invalid="ignore"):
        for step in range(1, -(-length // size)):
            extreme(result, np.take(values, np.minimum(starts + step, last), axis), out=result)
    return result


def join_maps(maps: NDArray[np.uint32], per_row: int, gap: tuple[int, int]) -> NDArray[np.uint32]:
    """Return maps [n, rows, columns] joined in one image with ``gap`` (rows, columns) transparent cells between."""
    count, rows, cols = maps.shape
    lines = -(-count // per_row)
    if count == 1:
        return np.ascontiguousarray(maps[0])
    sheet = np.zeros((lines * per_row, rows + gap[0], cols + gap[1]), dtype=np.uint32)
    sheet[:count, :rows, :cols] = maps
    grid = sheet.reshape(lines, per_row, rows + gap[0], cols + gap[1]).transpose(0, 2, 1, 3)
    flat = grid.reshape(lines * (rows + gap[0]), per_row * (cols + gap[1]))
    return np.ascontiguousarray(flat[: flat.shape[0] - gap[0] or None, : flat.shape[1] - gap[1] or None])

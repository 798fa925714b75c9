"""From numbers to colours: NumPy only, so that any thread may do it."""

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.palette import LEVELS, Palette, colour_map

NOT_A_NUMBER = 0xFFE0218A
"""ARGB of NaN and ∞, which no map holds."""

LONG_ROW = 32
MAP_OF = {"signed": "diverging", "probability": "sequential"}


def limit_of(values: NDArray[np.floating], kind: str) -> float:
    """Return the end of the colour scale of maps [..., rows, columns].

    Probabilities end at 1; where a row has more than ``LONG_ROW`` of them, at the largest, rounded up to one digit, as
    on a scale to 1 a row of hundreds is all one colour. Signed numbers end at the largest finite magnitude, 1 if it is 0.
    """
    if kind == "probability" and values.shape[-1] <= LONG_ROW:
        return 1.0
    largest = float(np.abs(np.where(np.isfinite(values), values, 0)).max(initial=0.0))
    if kind == "probability" and largest:
        digit = 10.0 ** np.floor(np.log10(largest))
        return min(1.0, float(np.ceil(largest / digit - 1e-9) * digit))
    return largest or 1.0


def indices(values: NDArray[np.floating], kind: str, limit: float) -> NDArray[np.uint8]:
    """Return the colour map entry of each value; −∞ and NaN get entry 0 and are for the caller to mark."""
    low, span = (0.0, limit) if kind == "probability" else (-limit, 2 * limit)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (values - low) * ((LEVELS - 1) / span)
        np.clip(scaled, 0, LEVELS - 1, out=scaled)
        return np.asarray(np.nan_to_num(scaled + 0.5, copy=False, nan=0.0), dtype=np.uint8)


def colours(
    values: NDArray[np.floating], kind: str, limit: float, palette: Palette, masked: NDArray[np.bool_] | None
) -> NDArray[np.uint32]:
    """Return ARGB of each value [..., rows, columns]; masked cells are transparent, NaN and ∞ stand out."""
    entries = indices(values, kind, limit)
    if masked is not None:
        entries = np.where(masked, np.uint8(LEVELS), entries)
    image: NDArray[np.uint32] = colour_map(MAP_OF[kind], palette)[entries]
    finite = np.isfinite(values)
    if not finite.all():
        bad = ~finite if masked is None else ~finite & ~masked
        image[bad] = NOT_A_NUMBER
    return image


def reduced(values: NDArray[np.floating], rows: int, columns: int) -> NDArray[np.floating]:
    """Return maps [n, r, c] shrunk to at most ``rows`` × ``columns``; a block is its value of largest magnitude.

    So a single strong weight among thousands of weak ones is never averaged away; NaN and ∞ win over all.
    """
    for axis, size in ((1, rows), (2, columns)):
        length = values.shape[axis]
        if length > size:
            starts = (np.arange(size) * length) // size
            with np.errstate(invalid="ignore"):
                high = np.maximum.reduceat(values, starts, axis)
                low = np.minimum.reduceat(values, starts, axis)
                values = np.where(-low > high, low, high)
    return values


def mosaic(maps: NDArray[np.uint32], per_row: int, gap: tuple[int, int]) -> NDArray[np.uint32]:
    """Return maps [n, rows, columns] side by side in one image, ``gap`` (rows, columns) transparent cells between."""
    count, rows, cols = maps.shape
    lines = -(-count // per_row)
    if count == 1:
        return np.ascontiguousarray(maps[0])
    sheet = np.zeros((lines * per_row, rows + gap[0], cols + gap[1]), dtype=np.uint32)
    sheet[:count, :rows, :cols] = maps
    grid = sheet.reshape(lines, per_row, rows + gap[0], cols + gap[1]).transpose(0, 2, 1, 3)
    flat = grid.reshape(lines * (rows + gap[0]), per_row * (cols + gap[1]))
    return np.ascontiguousarray(flat[: flat.shape[0] - gap[0] or None, : flat.shape[1] - gap[1] or None])

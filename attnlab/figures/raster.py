"""Converts numbers to colours with NumPy alone, in any thread."""

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.palette import LEVELS, Palette, colour_map
from attnlab.figures.scales import Scale

NOT_A_NUMBER = 0xFFE0218A
"""The ARGB colour of NaN and ∞, which no colour map contains."""

MAP_OF = {"signed": "diverging", "probability": "sequential", "positive": "sequential"}


def find_indices(values: NDArray[np.floating], kind: str, scale: Scale) -> NDArray[np.uint8]:
    """Return the colour map entry of each value; −∞ and NaN get entry 0, and the caller must mark them.

    If the maps of the scale have limits of their own, the values are [n, rows, columns].
    """
    middle, share = (0.0, LEVELS - 1.0) if MAP_OF[kind] == "sequential" else ((LEVELS - 1) / 2, (LEVELS - 1) / 2)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        scaled = scale.bend(values.copy())
        scaled *= share
        scaled += middle
        np.fmax(scaled, 0, out=scaled)  # NaN becomes 0
        np.fmin(scaled, LEVELS - 1, out=scaled)
        scaled += 0.5
        return scaled.astype(np.uint8)


def colour_cells(
    values: NDArray[np.floating],
    kind: str,
    scale: Scale,
    palette: Palette,
    masked: NDArray[np.bool_] | None,
    muted: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint32]:
    """Return the ARGB of each value [..., rows, columns]; masked cells are transparent, NaN and ∞ pink.

    The columns that are ``muted`` [columns] are grey.
    """
    entries = find_indices(values, kind, scale)
    if masked is not None:
        entries = np.where(masked, np.uint8(LEVELS), entries)
    image: NDArray[np.uint32] = colour_map(MAP_OF[kind], palette)[entries]
    if muted is not None:
        image[..., muted] = colour_map("grey", palette)[entries[..., muted]]
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


def reduce_cells(cells: NDArray[np.bool_], rows: int, columns: int) -> NDArray[np.bool_]:
    """Return cells [n, r, c] or [r, c] reduced to at most ``rows`` × ``columns``; a block is True if all of it is."""
    maps = cells if cells.ndim == 3 else cells[None]
    reduced = ~(reduce_maps((~maps).astype(np.float32), rows, columns) > 0)
    return reduced if cells.ndim == 3 else reduced[0]


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

"""Formats numbers for a cell, with or without all digits, and steps them without rounding noise."""

import numpy as np
from numpy.typing import NDArray

from attnlab.base.number_text import FLOAT32_MAX, trim_exponent

_MOST_WRITTEN = 1 << 16
"""Up to this many numbers are converted from their written form; with more, the digits do not show."""

NOISE_DECIMALS = 12
"""Stepped values are rounded to this many decimals, so that 0.3 - 0.1 - 0.1 - 0.1 is 0."""


def format_exact(value: object) -> str:
    """Return every digit of a NumPy or Python number: the shortest text that parses to the same number.

    Its minus sign is a hyphen, for pasting into other programs; :func:`format_for_reading` is for reading.
    """
    return str(value)


def format_for_reading(value: object) -> str:
    """Return every digit of a number for reading, with a true minus sign."""
    return format_exact(value).replace("-", "−")


def format_cell(value: float, characters: int = 7) -> str:
    """Format for a cell with room for ``characters``: four decimals, fewer if they do not fit, else ``1.0e38``.

    In narrow cells, numbers have as many decimals with a sign as without. A nonzero number is never shown as zero,
    and zero has no sign.
    """
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "∞" if value > 0 else "−∞"
    most = min(4, max(characters - len("−0."), 0))
    if value == 0:
        return f"{0:.{most}f}"
    if abs(value) < 10.0**characters:
        for decimals in range(most, -1, -1):
            text = f"{value:.{decimals}f}"
            if len(text) <= characters:
                return text.replace("-", "−") if text.strip("-0.") else _compact(value, characters)
    return _compact(value, characters)


def _compact(value: float, characters: int) -> str:
    for decimals in (1, 0):
        text = trim_exponent(f"{value:.{decimals}e}")
        if len(text) <= characters:
            break
    return text.replace("-", "−")


def as_written(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return float64 numbers equal to the shortest text of narrower ones: 0.3 for a float32, not 0.30000001192.

    Cast back, they give the original numbers.
    """
    if values.dtype == np.float64 or values.size > _MOST_WRITTEN:
        return values.astype(np.float64)
    most = float(np.finfo(values.dtype).max)
    wide = values.astype(np.float64)
    written = np.array([float(str(value)) for value in values.flat], np.float64).reshape(values.shape)
    return np.where(np.abs(wide) < most, written, wide)


def shift_values(values: NDArray[np.float64], delta: float, most: float = FLOAT32_MAX) -> NDArray[np.float64]:
    """Return ``values + delta`` without the noise of binary fractions; a ``delta`` of 0 changes nothing.

    The result stays within ±``most`` and float32's range; a value already beyond it is never pulled back.
    """
    if delta == 0:
        return values.copy()
    moved = values + delta
    ordinary = np.abs(moved) < 1000
    moved[ordinary] = np.round(moved[ordinary], NOISE_DECIMALS) + 0.0  # + 0.0 makes -0.0 plain zero
    most = min(most, FLOAT32_MAX)
    return np.clip(moved, np.minimum(values, -most), np.maximum(values, most))

"""Numbers as people read them: formatted for a cell with or without all digits, and stepped without noise."""

import numpy as np
from numpy.typing import NDArray

from attnlab.base.number_text import FLOAT32_MAX

_MOST_WRITTEN = 1 << 16
"""So many numbers are read as they are written; of more, nobody sees the digits."""

NOISE_DECIMALS = 12
"""Steps are decimal, floats are not: a stepped value is rounded here, so 0.3 - 0.1 - 0.1 - 0.1 is 0."""


def format_exact(value: object) -> str:
    """Return every digit of a NumPy or Python number: the shortest text that reads back as the same number.

    Its minus is a hyphen, as for programs that it is copied into; :func:`told_exact` is for reading.
    """
    return str(value)


def told_exact(value: object) -> str:
    """Return every digit of a number as people read it, with a true minus sign."""
    return format_exact(value).replace("-", "−")


def format_cell(value: float, characters: int = 7) -> str:
    """Format for a cell that holds ``characters``: four decimals, fewer where they do not fit, then ``1.0e38``.

    Narrow cells have as many decimals with a sign as without. A number that is not zero is never shown as zero, and
    zero has no sign.
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
        mantissa, exponent = f"{value:.{decimals}e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
        if len(text) <= characters:
            break
    return text.replace("-", "−")


def as_written(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return float64 numbers that are what is written of narrower ones: 0.3, not the 0.30000001192 of its float32.

    Cast back, they are the same numbers again.
    """
    if values.dtype == np.float64 or values.size > _MOST_WRITTEN:
        return values.astype(np.float64)
    most = float(np.finfo(values.dtype).max)
    wide = values.astype(np.float64)
    written = np.array([float(str(value)) for value in values.flat], np.float64).reshape(values.shape)
    return np.where(np.abs(wide) < most, written, wide)


def shifted(values: NDArray[np.float64], delta: float, most: float = FLOAT32_MAX) -> NDArray[np.float64]:
    """Return ``values + delta`` free of the noise of binary fractions; 0 changes nothing.

    The result stays within ±``most`` and float32's range; a value that lies beyond already is never pulled back.
    """
    if delta == 0:
        return values.copy()
    moved = values + delta
    ordinary = np.abs(moved) < 1000
    moved[ordinary] = np.round(moved[ordinary], NOISE_DECIMALS) + 0.0  # + 0.0 makes -0.0 plain zero
    most = min(most, FLOAT32_MAX)
    return np.clip(moved, np.minimum(values, -most), np.maximum(values, most))

"""Numbers as people write and read them: parsing typed text, formatting for a cell, stepping without noise."""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

from attnlab.errors import AttnlabError

FLOAT32_MAX = 3.4028234663852886e38
"""The largest magnitude a weight may have: beyond it, float32 knows only infinity."""

_TOO_LARGE = 2.0**128 - 2.0**103
"""From here on, float32 rounds to infinity; what lies below and above its largest number is that number."""

_MOST_WRITTEN = 1 << 16
"""So many numbers are read as they are written; of more, nobody sees the digits."""

NOISE_DECIMALS = 12
"""Steps are decimal, floats are not: a stepped value is rounded here, so 0.3 - 0.1 - 0.1 - 0.1 is 0."""

_DECIMAL = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(_DECIMAL)
_FRACTION = re.compile(rf"({_DECIMAL})\s*/\s*({_DECIMAL})")
_VULGAR = re.compile(r"([+-]?)(\d*)\s*(\D)")
_NON_FINITE = re.compile(r"[+-]?(nan|inf|infinity|∞)", re.IGNORECASE)
_SAME_AS_ASCII = str.maketrans({"−": "-", "–": "-", "﹣": "-", "－": "-", "＋": "+", "⁄": "/", "∕": "/", "٫": "."})


class NumberError(AttnlabError):
    """A text that is not a usable number; the message is a clause without place and full stop."""


def parse_number(text: str) -> float:
    """Read one number as typed: ``0.5``, ``0,5``, ``1/2``, ``½``, ``1e-3``, ``−0.5``, with spaces around it.

    Raises NumberError for anything else, for what is not finite, and beyond float32's range.
    """
    plain = text.strip().translate(_SAME_AS_ASCII)
    value = _read(plain, text)
    if abs(value) >= _TOO_LARGE:
        raise NumberError(f"{quoted(text)} is too large; the largest magnitude is 3.4028234e38")
    return min(max(value, -FLOAT32_MAX), FLOAT32_MAX)


def _read(plain: str, text: str) -> float:
    if _NUMBER.fullmatch(plain):
        return float(plain.replace(",", "."))
    if match := _FRACTION.fullmatch(plain):
        return _divide(match, text)
    if match := _VULGAR.fullmatch(plain):
        fraction = unicodedata.numeric(match[3], -1.0)
        if fraction >= 0:
            return (float(match[2] or 0) + fraction) * (-1.0 if match[1] == "-" else 1.0)
    if not plain:
        raise NumberError("nothing is typed here; type a number such as 0.25")
    if _NON_FINITE.fullmatch(plain):
        raise NumberError(f"{quoted(text)} is not a finite number; type one such as 0.25")
    raise NumberError(f"{quoted(text)} is not a number; type one such as 0.25")


def _divide(match: re.Match[str], text: str) -> float:
    above, below = (float(part.replace(",", ".")) for part in match.groups())
    if below == 0:
        raise NumberError(f"{quoted(text)} divides by zero; type a number such as 0.25")
    return above / below


def quoted(text: str, limit: int = 24) -> str:
    """Return the text in quotes on one line, cut after ``limit`` characters, to name it in a sentence."""
    line = " ".join(text.split())
    return f"'{line}'" if len(line) <= limit else f"'{line[: limit - 1]}…'"


def format_exact(value: object) -> str:
    """Return every digit of a NumPy or Python number: the shortest text that reads back as the same number."""
    return str(value)


def format_cell(value: float, characters: int = 7) -> str:
    """Format for a cell that holds ``characters``: four decimals, fewer where they do not fit, then ``1.0e38``.

    A number that is not zero is never shown as zero, and zero has no sign.
    """
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "∞" if value > 0 else "-∞"
    if value == 0:
        return "0.0000"
    if abs(value) < 10.0**characters:
        for decimals in range(4, -1, -1):
            text = f"{value:.{decimals}f}"
            if len(text) <= characters:
                return text if text.strip("-0.") else _compact(value, characters)
    return _compact(value, characters)


def _compact(value: float, characters: int) -> str:
    for decimals in (1, 0):
        mantissa, exponent = f"{value:.{decimals}e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
        if len(text) <= characters:
            break
    return text


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

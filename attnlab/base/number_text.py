"""Reads numbers as people write them (typed, pasted, in a table of a file) and prints them with four decimals."""

import math
import re
import unicodedata

from attnlab.base.errors import AttnlabError
from attnlab.base.printable import escape

FLOAT32_MAX = 3.4028234663852886e38
"""The largest magnitude of a weight: float32 represents larger ones as infinity."""

_TOO_LARGE = 2.0**128 - 2.0**103
"""From this magnitude on, float32 rounds to infinity; numbers between FLOAT32_MAX and it become FLOAT32_MAX."""

_DECIMAL = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(_DECIMAL)
_FRACTION = re.compile(rf"({_DECIMAL})\s*/\s*({_DECIMAL})")
_VULGAR = re.compile(r"([+-]?)(\d*)\s*(\D)")
_NON_FINITE = re.compile(r"[+-]?(nan|inf|infinity|∞)", re.IGNORECASE)
_SAME_AS_ASCII = str.maketrans({"−": "-", "–": "-", "﹣": "-", "－": "-", "＋": "+", "⁄": "/", "∕": "/", "٫": "."})


class NumberError(AttnlabError):
    """A text that is not a usable number; the message is a clause without location and full stop."""


def parse_number(text: str) -> float:
    """Return the number in a typed text: ``0.5``, ``0,5``, ``1/2``, ``½``, ``1e-3``, ``−0.5``, with spaces around it.

    Raises:
        NumberError: another text, or a number that is not finite or exceeds float32's range.
    """
    plain = text.strip().translate(_SAME_AS_ASCII)
    value = _parse(plain, text)
    if abs(value) >= _TOO_LARGE:
        raise NumberError(f"{quote(text)} is too large; the largest magnitude is 3.4028234e38")
    return min(max(value, -FLOAT32_MAX), FLOAT32_MAX)


def quote(text: str, limit: int = 24) -> str:
    """Return a text in quotes on one line, for a sentence, cut after ``limit`` characters."""
    line = escape(" ".join(text.split()))
    return f"'{line}'" if len(line) <= limit else f"'{line[: limit - 1]}…'"


def four_decimals(value: float) -> str:
    """Return a value with four decimals, as ``1.0e−9`` if those would hide it, or NaN, ∞, −∞."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    value += 0.0  # −0 is 0
    small_or_large = value != 0 and not 5e-5 <= abs(value) < 1e5
    return trim_exponent(f"{value:.1e}" if small_or_large else f"{value:.4f}").replace("-", "−")


def trim_exponent(text: str) -> str:
    """Return a number that Python has formatted without plus and zeros in its exponent: "1e6" for "1e+06"."""
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def _parse(plain: str, text: str) -> float:
    if _NUMBER.fullmatch(plain):
        return float(plain.replace(",", "."))
    if match := _FRACTION.fullmatch(plain):
        return _divide(match, text)
    if match := _VULGAR.fullmatch(plain):
        fraction = unicodedata.numeric(match[3], -1.0)
        if fraction >= 0:
            return (float(match[2] or 0) + fraction) * (-1.0 if match[1] == "-" else 1.0)
    if not plain:
        raise NumberError("this field is empty; type a number such as 0.25")
    if _NON_FINITE.fullmatch(plain):
        raise NumberError(f"{quote(text)} is not a finite number; type one such as 0.25")
    raise NumberError(f"{quote(text)} is not a number; type one such as 0.25")


def _divide(match: re.Match[str], text: str) -> float:
    above, below = (float(part.replace(",", ".")) for part in match.groups())
    if below == 0:
        raise NumberError(f"{quote(text)} divides by zero; type a number such as 0.25")
    return above / below

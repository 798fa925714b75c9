"""Reads printed arithmetic, and checks that both sides of every equation agree to the digits shown.

A number stands for all numbers that are rounded to it, so that an expression is an interval; two sides of an equation
agree if their intervals overlap.
"""

import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

Interval: TypeAlias = tuple[float, float]

HALF = 0.5 * 1.0002
"""In units of the last digit, with a margin for binary rounding."""
_PIECE = re.compile(r"\s*(\d+(?:\.\d+)?e[−]?\d+|\d+(?:\.\d+)?|tanh|exp|max|Φ|∞|e(?=\^)|[+−·÷×()^{}√,])\s*")
_WORDS = re.compile(
    r"\b(?:score|scaled|biased|capped|given:|kept:|bias|their sum:"
    r"|mean of the row:|mean square:|standard deviation:|root mean square:|what leaves layer \d+:"
    r"|times the gain [^:]*:|their number:|rad)(?: |$)"
)
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "exp": lambda x: math.exp(x) if x < 700 else math.inf,
    "Φ": lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
}


class NoArithmeticError(Exception):
    """The text is not arithmetic."""


def equations(lines: Iterable[str]) -> list[list[str]]:
    """Return the sides of each equation; lines that begin with = or + continue the previous one."""
    found: list[list[str]] = []
    for line in lines:
        plain = _WORDS.sub("", line.strip())
        if found and plain.startswith("+ "):
            first, *rest = plain.split(" = ")
            found[-1][-1] += f" {first}"
            found[-1] += rest
        elif found and plain.startswith("= "):
            found[-1] += plain.removeprefix("= ").split(" = ")
        else:
            found.append(plain.removeprefix("= ").split(" = "))
    return found


def disagreements(lines: Iterable[str]) -> tuple[int, list[str]]:
    """Return the number of compared pairs of sides, and the pairs that disagree."""
    compared, wrong = 0, []
    for sides in equations(lines):
        values = [(side, value) for side in sides if (value := value_of(side)) is not None]
        for (left, a), (right, b) in pairwise(values):
            compared += 1
            if not (a[0] <= b[1] and b[0] <= a[1]):
                wrong.append(f"{left} = {right}")
    return compared, wrong


@lru_cache(maxsize=4096)  # each side of an equation is read for its neighbours and for the cell that it leads to
def value_of(text: str) -> Interval | None:
    """Return the value of an expression; None for other text."""
    try:
        return _Reader(text).whole()
    except (NoArithmeticError, IndexError):
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self._rest: list[str] = []
        at = 0
        while at < len(text):
            found = _PIECE.match(text, at)
            if found is None:
                raise NoArithmeticError(text)
            self._rest.append(found[1])
            at = found.end()
        self._rest.append("")

    def whole(self) -> Interval:
        value = self._sum()
        self._eat("")
        return value

    def _eat(self, piece: str) -> None:
        if self._rest[0] != piece:
            raise NoArithmeticError(piece)
        del self._rest[0]

    def _take(self, *pieces: str) -> str:
        return self._rest.pop(0) if self._rest[0] in pieces else ""

    def _sum(self) -> Interval:
        value = self._product()
        while sign := self._take("+", "−"):
            value = _added(value, self._product() if sign == "+" else _negative(self._product()))
        return value

    def _product(self) -> Interval:
        value = self._signed()
        while sign := self._take("·", "×", "÷"):
            value = _times(value, self._signed() if sign != "÷" else _inverse(self._signed()))
        return value

    def _signed(self) -> Interval:
        return _negative(self._signed()) if self._take("−") else self._power()

    def _power(self) -> Interval:
        value = self._one()
        if not self._take("^"):
            return value
        self._eat("{")
        power = self._sum()
        self._eat("}")
        if power[0] == power[1] and power[0].is_integer():  # of a base of any sign
            ends = [_raised(a, power[0]) for a in value]
            return (0.0 if power[0] % 2 == 0 and value[0] <= 0 <= value[1] else min(ends)), max(ends)
        ends = [_raised(a, p) for a in (max(0.0, value[0]), value[1]) for p in power]
        return min(ends), max(ends)

    def _one(self) -> Interval:
        piece = self._rest.pop(0)
        if piece == "(":
            value = self._sum()
            self._eat(")")
            return value
        if piece == "√":
            low, high = self._one()
            return math.sqrt(max(0.0, low)), math.sqrt(high)
        if piece == "max":
            return self._largest()
        if piece == "e":
            return math.e, math.e
        if piece in _FUNCTIONS:
            low, high = self._one()
            return _FUNCTIONS[piece](low), _FUNCTIONS[piece](high)
        if piece == "∞":
            return math.inf, math.inf
        if piece[:1].isdigit():
            return _rounded(piece)
        raise NoArithmeticError(piece)

    def _largest(self) -> Interval:
        self._eat("(")
        values = [self._sum()]
        while self._take(","):
            values.append(self._sum())
        self._eat(")")
        return max(low for low, _ in values), max(high for _, high in values)


@lru_cache(maxsize=4096)
def _rounded(text: str) -> Interval:
    """Return what a number may have been: it has four digits after the point or more; zeros at its end are left out."""
    mantissa, _, exponent = text.replace("−", "-").partition("e")
    if "." not in mantissa:
        return float(text.replace("−", "-")), float(text.replace("−", "-"))
    digits = len(mantissa.partition(".")[2])
    last = 10.0 ** (int(exponent) - max(digits, 3)) if exponent else 10.0 ** -max(digits, 4)
    value = float(text.replace("−", "-"))
    return value - HALF * last, value + HALF * last


def _raised(base: float, power: float) -> float:
    try:
        return base**power
    except OverflowError:
        return math.inf


def _added(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _negative(a: Interval) -> Interval:
    return -a[1], -a[0]


def _times(a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _inverse(a: Interval) -> Interval:
    if a[0] <= 0 <= a[1]:
        raise NoArithmeticError("divides by what may be 0")
    return 1 / a[1], 1 / a[0]

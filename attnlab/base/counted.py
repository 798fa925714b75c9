"""Phrases for counts and ranges, in the singular or plural."""

from collections.abc import Iterable
from math import isqrt


def format_whole(number: float) -> str:
    """Return a whole number with a comma at each thousand and a true minus sign: "900", "1,061", "−10,000"."""
    return f"{round(number):,}".replace("-", "−")


def format_count(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun: "3 heads", "1 head", "1,000 runs"; ``things`` is an irregular plural."""
    return f"{format_whole(count)} {thing if count == 1 else things or thing + 's'}"


PERCENT = "\N{NO-BREAK SPACE}%"
"""The percent sign after a number, from which no line break parts it."""


def format_percent(share: float, decimals: int = 1) -> str:
    """Return a share in per cent: "98.7 %", or "99 %" without decimals. Only exactly 0 is "0 %"; less is "<1 %"."""
    told = f"{100 * share:.{decimals}f}"
    if float(told) == 0:
        told = f"<{10.0**-decimals:.{decimals}f}" if share > 0 else told.removeprefix("-")
    return f"{told}{PERCENT}".replace("-", "−")


def format_size(sides: Iterable[float], unit: str) -> str:
    """Return a size with at most four digits a side, or whole: "2008 × 1384 pixels"; no line break parts it."""
    told = " × ".join(str(side) if isinstance(side, int) else f"{side:.4g}" for side in sides)
    return f"{told} {unit}".replace(" ", "\N{NO-BREAK SPACE}")


def format_range(thing: str, first: int, last: int) -> str:
    """Return a range of numbered things, inclusive: "columns 2 to 4", or "column 2"."""
    return f"{thing} {first}" if first == last else f"{thing}s {first} to {last}"


def format_has(thing: str, first: int, last: int) -> str:
    """Return a verb phrase for an inclusive range: "has heads 0 to 3", "has only head 0", "has no heads"."""
    if last < first:
        return f"has no {thing}s"
    return f"has {'only ' if first == last else ''}{format_range(thing, first, last)}"


def format_bounds(first: int, last: int, what: str = "a number") -> str:
    """Return the valid numbers, to follow "it needs": "a number from 0 to 3", or "0" if there is only one."""
    return str(first) if first == last else f"{what} from {first} to {last}"


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, in order, in O(√n) steps."""
    low = [n for n in range(1, isqrt(number) + 1) if number % n == 0]
    return tuple(sorted({*low, *(number // n for n in low)}))

"""Words for how many of a thing there are, and which of them, that read rightly of a single one too."""

from math import isqrt


def counted(count: int, thing: str, things: str = "") -> str:
    """Return how many there are: "3 heads", "1 head"; ``things`` is for what takes no s."""
    return f"{count} {thing}" if count == 1 else f"{count} {things or thing + 's'}"


def numbered(thing: str, first: int, last: int) -> str:
    """Return which ones are meant, both ends with them: "columns 2 to 4", of one "column 2"."""
    return f"{thing} {first}" if first == last else f"{thing}s {first} to {last}"


def has(thing: str, first: int, last: int) -> str:
    """Return which ones there are, to follow what has them: "has heads 0 to 3", "has only head 0", "has no heads"."""
    if last < first:
        return f"has no {thing}s"
    return f"has {'only ' if first == last else ''}{numbered(thing, first, last)}"


def from_to(first: int, last: int, what: str = "a number") -> str:
    """Return which number would do, to follow "it needs": "a number from 0 to 3"; where one alone would, that: "0"."""
    return str(first) if first == last else f"{what} from {first} to {last}"


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, in order, in O(√n) steps."""
    low = [n for n in range(1, isqrt(number) + 1) if number % n == 0]
    return tuple(sorted({*low, *(number // n for n in low)}))

"""Arithmetic written out as spans of text with a role, for the Explain panel, the terminal and the figures."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attnlab.base.number_text import trim_exponent

Floats = NDArray[np.floating]
LARGE, SMALL = 30.0, -5.0
"""A row of scores whose maximum is outside these is written with it subtracted, as in the computation."""
DECIMALS, MOST_DECIMALS = 4, 12
"""The decimals of a number written out: the usual count, and the most that a line takes to give its result."""
LIMIT = 6
"""The maximum number of terms written out in a sum; the others are only counted."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; ``role`` colours it: query, key, value, attention. ``style``: "", sup, sub, strong, muted."""

    text: str
    role: str = ""
    style: str = ""


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Products:
    """Two vectors of equal length whose products sum to a number, and the role of each."""

    left: Floats
    right: Floats
    roles: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """Numbers [T_k] whose share of their ``total`` is the weight of each key; ``said`` is what was done before.

    ``symbol`` says how a part comes from a score x, which stands in it as ``{x}``: one line, for example e to the x.
    """

    values: Floats
    total: float
    symbol: Line
    said: tuple[Line, ...] = ()


def number(value: float, decimals: int = DECIMALS) -> str:
    """Return ``value`` with some decimals, or in e-notation if it is very large or small, with a true minus sign."""
    value = float(value) + 0.0  # zero has no sign
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        text = trim_exponent(f"{value:.{decimals - 1}e}")
    else:
        text = f"{value:.{decimals}f}"
    return text.replace("-", "−")


def short(value: float, decimals: int = DECIMALS) -> str:
    """Return ``value`` like :func:`number`, without trailing zeros after the second decimal."""
    text = number(value, decimals)
    if "e" in text or "." not in text:
        return text
    whole, places = text.split(".")
    return f"{whole}.{places[:2]}{places[2:].rstrip('0')}"


def bracket(value: float, decimals: int = DECIMALS) -> str:
    """Return ``value`` as a term of a sum: in brackets if it is negative."""
    text = short(value, decimals)
    return f"({text})" if text.startswith("−") else text


def round_as_printed(value: float, decimals: int = DECIMALS) -> float:
    """Return the number that a reader of :func:`number` or :func:`short` has: ``value``, rounded as it is written."""
    value = float(value)
    if not math.isfinite(value):
        return value
    small_or_large = value != 0 and not 1e-4 <= abs(value) < 1e6
    return float(f"{value:.{decimals - 1}e}" if small_or_large else f"{value:.{decimals}f}")


def round_all_as_printed(values: Floats, decimals: int = DECIMALS) -> Floats:
    """Return an array of finite numbers, each as :func:`round_as_printed`."""
    sizes = np.abs(values)
    scientific = (sizes != 0) & ((sizes < 1e-4) | (sizes >= 1e6))
    exponents = np.floor(np.log10(np.where(scientific, sizes, 1.0)))
    units = np.where(scientific, 10.0 ** (exponents + 1 - decimals), 10.0**-decimals)
    rounded: Floats = np.round(values / units) * units
    return rounded


def last_digit(value: float, decimals: int = DECIMALS) -> float:
    """Return the worth of the last digit of ``value`` as :func:`number` writes it: 0.0001, or another in e-notation."""
    exponent = number(value, decimals).replace("−", "-").partition("e")[2]
    return float(10.0 ** (int(exponent) + 1 - decimals if exponent else -decimals))


def decimals_for(values: Iterable[float], *by_hand: Callable[[Floats], float]) -> int:
    """Return how many decimals ``values`` need so that a reader who calculates with them gets the result.

    Each ``by_hand(values [n])`` calculates a result. With the numbers as written it may differ by one in the last digit
    from the exact result as :func:`number` writes that. Results that are not finite need no more than the usual count.
    """
    with np.errstate(all="ignore"):
        exact = np.array([float(value) for value in values])
        wanted = [float(calculate(exact)) for calculate in by_hand]
        # the 1 % is for the rounding of the binary numbers themselves
        ends = [(round_as_printed(each), 1.01 * last_digit(each)) for each in wanted if math.isfinite(each)]
        if len(ends) < len(wanted):
            return DECIMALS
        for decimals in range(DECIMALS, MOST_DECIMALS + 1):
            written = np.array([round_as_printed(value, decimals) for value in exact])
            reached = [calculate(written) for calculate in by_hand]
            if all(abs(by - end) <= allowed for by, (end, allowed) in zip(reached, ends, strict=True)):
                return decimals
    return DECIMALS


def line(*parts: str | Span | Iterable[Span]) -> Line:
    """Return one line made of ``parts``; strings become plain spans."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            spans.append(Span(part))
        elif isinstance(part, Span):
            spans.append(part)
        else:
            spans.extend(part)
    return tuple(spans)


def raise_powers(text: str) -> Line:
    """Return a line in which each power ``^{…}`` is raised."""
    pieces = re.split(r"\^\{([^{}]*)\}", text)
    return tuple(Span(piece, style="sup" if i % 2 else "") for i, piece in enumerate(pieces) if piece)


def select_terms(count: int, limit: int | None, must: int | None = None) -> list[int]:
    """Return the indices of the terms to write out: all of ``count``, or the first ones, ``must`` and the last one.

    A single term between two of these is written too: to say that it is omitted takes as much room.
    """
    if limit is None or count <= limit:
        return list(range(count))
    keep = {*range(limit - 2), count - 1} | ({must} if must is not None else set())
    return [i for i in range(count) if i in keep or {i - 1, i + 1} <= keep]


def join_terms(terms: Sequence[Sequence[Span]], which: Sequence[int]) -> Line:
    """Return the chosen terms joined by plus signs, with the number of omitted terms in each gap."""
    spans: list[Span] = []
    for before, i in pairwise([-1, *which]):
        gap = i - before - 1
        if spans or gap:
            spans.append(Span(" + "))
        if gap:
            spans += [Span(f"… {gap} more …", style="muted"), Span(" + ")]
        spans += terms[i]
    return tuple(spans[1:] if spans and spans[0].text == " + " else spans)


def subtract_maximum(scores: Floats) -> tuple[Floats, tuple[Line, ...]]:
    """Return a row of scores, minus its maximum if exponentials need that, and a line that says so if it was done."""
    largest = float(scores.max())
    if SMALL <= largest <= LARGE:
        return scores, ()
    said = line("first subtract the maximum, ", Span(number(largest), style="strong"), ", from all scores")
    return scores - largest, (said,)


def decimals_of_products(left: Floats, right: Floats, bias: float = 0.0) -> int:
    """Return how many decimals ``a·b + c·d + … + bias`` needs, so that the numbers as written give the sum."""
    n = len(left)
    return decimals_for([*left, *right, bias], lambda x: float(np.dot(x[:n], x[n:-1]) + x[-1]))


def products(
    left: Floats, right: Floats, roles: tuple[str, str], limit: int | None, decimals: int | None = None
) -> Line:
    """Return ``a·b + c·d + …`` for two vectors of equal length, each with its role.

    The numbers have ``decimals``, by default as many as give the sum if all terms are written.
    """
    n = len(left)
    which = select_terms(n, limit)
    if decimals is None:
        decimals = decimals_of_products(left, right) if len(which) == n else DECIMALS
    terms: list[Sequence[Span]] = [()] * n
    for i in which:
        terms[i] = (Span(bracket(left[i], decimals), roles[0]), Span("·"), Span(bracket(right[i], decimals), roles[1]))
    return join_terms(terms, which)


def plain(spans: Line) -> str:
    """Return a line as plain text, with ^ for powers and _ for indices."""
    marks = {"sup": "^{%s}", "sub": "_%s"}
    return "".join(marks.get(span.style, "%s") % span.text for span in spans)

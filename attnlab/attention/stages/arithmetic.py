"""Arithmetic written out as spans of text with a role, for the Explain panel, the terminal and the figures."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
LARGE = 30.0
"""Scores above this size are written with the maximum of their row subtracted, as in the computation."""
LIMIT = 6
"""The maximum number of terms written out in a sum; the others are only counted."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; ``role`` colours it: query, key, value, attention. ``style``: "", sup, sub, strong, muted."""

    text: str
    role: str = ""
    style: str = ""


Line = tuple[Span, ...]


def number(value: float) -> str:
    """Return ``value`` with four decimals, or in e-notation if it is very large or small, with a true minus sign."""
    value = float(value) + 0.0  # zero has no sign
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.3e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        text = f"{value:.4f}"
    return text.replace("-", "−")


def short(value: float) -> str:
    """Return ``value`` like :func:`number`, without trailing zeros after the second decimal."""
    text = number(value)
    if "e" in text or "." not in text:
        return text
    whole, decimals = text.split(".")
    return f"{whole}.{decimals[:2]}{decimals[2:].rstrip('0')}"


def signed(value: float) -> str:
    """Return ``value`` as a term of a sum: in brackets if it is negative."""
    text = short(value)
    return f"({text})" if text.startswith("−") else text


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


def select_terms(count: int, limit: int | None, must: int | None = None) -> list[int]:
    """Return the indices of the terms to write out: all of ``count``, or the first ones, ``must`` and the last one."""
    if limit is None or count <= limit:
        return list(range(count))
    keep = {*range(limit - 2), count - 1}
    return sorted(keep | {must}) if must is not None else sorted(keep)


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
    """Return a row of scores, minus its maximum if that is large, and a line that says so if it was subtracted."""
    largest = float(scores.max())
    if abs(largest) <= LARGE:
        return scores, ()
    said = line("first subtract the maximum, ", Span(number(largest), style="strong"), ", from all scores")
    return scores - largest, (said,)


def products(left: Floats, right: Floats, roles: tuple[str, str], limit: int | None) -> Line:
    """Return ``a·b + c·d + …`` for two vectors of equal length, each with its role."""
    which = select_terms(len(left), limit)
    terms: list[Sequence[Span]] = [()] * len(left)
    for i in which:
        terms[i] = (Span(signed(left[i]), roles[0]), Span("·"), Span(signed(right[i]), roles[1]))
    return join_terms(terms, which)


def plain(spans: Line) -> str:
    """Return a line as plain text, with ^ for powers and _ for indices."""
    marks = {"sup": "^{%s}", "sub": "_%s"}
    return "".join(marks.get(span.style, "%s") % span.text for span in spans)

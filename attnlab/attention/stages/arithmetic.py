"""Arithmetic written out: spans of text with a role, for the Explain panel, the terminal and the figures alike."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
LARGE = 30.0
"""From this size on, scores are written with the largest of their row subtracted, as they are computed."""
LIMIT = 6
"""Terms of a sum that are written out before the rest is counted."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; ``role`` colours it: query, key, value, attention. ``style``: "", sup, sub, strong, muted."""

    text: str
    role: str = ""
    style: str = ""


Line = tuple[Span, ...]


def number(value: float) -> str:
    """Return ``value`` with four decimals, without trailing zeros in the way, with a true minus sign."""
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
    """Return ``value`` as :func:`number` does, without trailing zeros after the second decimal."""
    text = number(value)
    if "e" in text or "." not in text:
        return text
    whole, decimals = text.split(".")
    return f"{whole}.{decimals[:2]}{decimals[2:].rstrip('0')}"


def signed(value: float) -> str:
    """Return ``value`` for use inside a sum: in brackets when negative."""
    text = short(value)
    return f"({text})" if text.startswith("−") else text


def line(*parts: str | Span | Iterable[Span]) -> Line:
    """Return one line of the parts given; bare strings become plain spans."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            spans.append(Span(part))
        elif isinstance(part, Span):
            spans.append(part)
        else:
            spans.extend(part)
    return tuple(spans)


def shown(count: int, limit: int | None, must: int | None = None) -> list[int]:
    """Return which of ``count`` terms are written out: all, or the first ones, ``must`` and the last one."""
    if limit is None or count <= limit:
        return list(range(count))
    keep = {*range(limit - 2), count - 1}
    return sorted(keep | {must}) if must is not None else sorted(keep)


def joined(terms: Sequence[Sequence[Span]], which: Sequence[int]) -> Line:
    """Return the chosen terms with plus signs between, and how many were left out where there is a gap."""
    spans: list[Span] = []
    for before, i in pairwise([-1, *which]):
        gap = i - before - 1
        if spans or gap:
            spans.append(Span(" + "))
        if gap:
            spans += [Span(f"… {gap} more …", style="muted"), Span(" + ")]
        spans += terms[i]
    return tuple(spans[1:] if spans and spans[0].text == " + " else spans)


def eased(scores: Floats) -> tuple[Floats, tuple[Line, ...]]:
    """Return a row of scores as it is written out: less its largest where that is large, with the line that says so."""
    largest = float(scores.max())
    if abs(largest) <= LARGE:
        return scores, ()
    said = line("the largest, ", Span(number(largest), style="strong"), ", is subtracted from all first")
    return scores - largest, (said,)


def products(left: Floats, right: Floats, roles: tuple[str, str], limit: int | None) -> Line:
    """Return ``a·b + c·d + …`` of two vectors of equal length, each side in its role."""
    which = shown(len(left), limit)
    terms: list[Sequence[Span]] = [()] * len(left)
    for i in which:
        terms[i] = (Span(signed(left[i]), roles[0]), Span("·"), Span(signed(right[i]), roles[1]))
    return joined(terms, which)


def plain(spans: Line) -> str:
    """Return a line as plain text: powers with ^, indices with _."""
    marks = {"sup": "^{%s}", "sub": "_%s"}
    return "".join(marks.get(span.style, "%s") % span.text for span in spans)

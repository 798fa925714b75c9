"""The steps that lead to a cell: lines of numbers that a view can draw as bars, and that calculate by hand.

``stage.explain`` writes the same arithmetic as running text; both take their numbers from the trace.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnlab.attention.stages.arithmetic import (
    DECIMALS,
    MOST_DECIMALS,
    Floats,
    Line,
    Products,
    Span,
    last_digit,
    line,
    number,
    plain,
    round_as_printed,
)

_MOST_FACTOR_DECIMALS = 17
SHOWN, LARGEST = 8, 6
"""Sums of up to ``SHOWN`` products are shown whole, of longer ones only the ``LARGEST`` products."""


@dataclass(frozen=True, slots=True)
class Term:
    """One line of a step: ``expression`` = ``result``, with the number that its bar stands for, NaN for none.

    ``whole`` is the number that ``amount`` is a part of, NaN for none. ``is_rest`` marks what is not shown one by one.
    """

    expression: Line
    result: str = ""
    amount: float = math.nan
    label: str = ""
    whole: float = math.nan
    is_total: bool = False
    is_current: bool = False
    is_muted: bool = False
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its title, what it does as a formula, its lines, and sentences; ``role`` colours its bars.

    ``before`` are lines of arithmetic that come first.
    ``omitted`` counts the products that are not shown. ``is_numbered`` is False for what only compares.
    """

    title: str
    note: Line = ()
    terms: tuple[Term, ...] = ()
    words: tuple[Line, ...] = ()
    role: str = "neutral"
    omitted: int = 0
    is_numbered: bool = True
    before: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class RowStep:
    """The step of the normaliser: a line for each key of the row, then its sum and the quotient that is the weight.

    ``parts`` [T_k, or one more for a sink] are numbers whose share of ``total`` is the weight, with ``decimals`` each;
    empty if the normaliser has none.
    """

    step: Step
    parts: Floats
    decimals: int = DECIMALS


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps that lead to a cell, in order; ``row`` stands between ``before`` and ``after``, if there is one.

    ``said`` are sentences on the whole row, such as that all its keys are masked, which a reader needs first.
    """

    before: tuple[Step, ...] = ()
    row: RowStep | None = None
    after: tuple[Step, ...] = ()
    said: tuple[Line, ...] = ()

    @property
    def all(self) -> tuple[Step, ...]:
        """All steps in order."""
        return (*self.before, *((self.row.step,) if self.row is not None else ()), *self.after)


def speak_term(term: Term) -> str:
    """Return a line as plain text: "journey: 0.3791 × 0.3951 = 0.1498"; the foot of a row has a sum in each column."""
    label = f"{term.label}: " if term.label else ""
    expression = plain(term.expression)
    joint = "" if not (term.result and expression) else ", weights " if term.is_muted else " = "
    return f"{label}{expression}{joint}{term.result}"


def write_products(
    pairs: Products,
    total: float | None,
    labels: Sequence[str],
    limit: int | None,
    bias: float | None = None,
    wholes: Sequence[float] = (),
    *,
    places: int = DECIMALS,
) -> tuple[tuple[Term, ...], int]:
    """Return a line for each product, with the rest as one line if there are too many, and the number of omitted ones.

    The numbers have as many decimals as a reader needs to get each product, and from those the ``total``, None if the
    products are not added, printed with ``places`` decimals. ``wholes`` are numbers that the products are parts of.
    """
    with np.errstate(all="ignore"):
        left, right = np.asarray(pairs.left, np.float64), np.asarray(pairs.right, np.float64)
        amounts = left * right
        if limit is None or len(amounts) <= SHOWN:
            which = list(range(len(amounts)))
        else:
            sizes = np.where(np.isnan(amounts), np.inf, np.abs(amounts))
            which = sorted(np.argsort(-sizes, kind="stable")[:LARGEST].tolist())
        omitted = len(amounts) - len(which)
        rest = float(np.delete(amounts, which).sum())
        shown = amounts[which]
        added = [*shown, *([rest] if omitted else []), *([bias] if bias is not None else [])]
        places = DECIMALS if total is None else find_sum_decimals(added, total, places)
        decimals = _decimals_of_factors(left[which], right[which], shown, places)
    terms = [
        Term(
            line(
                Span(number(left[i], decimals), pairs.roles[0]), " × ", Span(number(right[i], decimals), pairs.roles[1])
            ),
            number(amounts[i], places),
            float(amounts[i]),
            labels[i] if labels else str(i) if omitted else "",
            wholes[i] if wholes else math.nan,
        )
        for i in which
    ]
    if omitted:
        more = line(Span(f"{omitted} more" if total is None else f"{omitted} more, together", style="muted"))
        terms.append(Term(more) if total is None else Term(more, number(rest, places), rest, is_rest=True))
    if bias is not None:
        terms.append(Term(line("bias"), number(bias, places), bias))
    return tuple(terms), omitted


def write_sum(
    values: Floats, total: float, labels: Sequence[str], limit: int | None, places: int = DECIMALS
) -> tuple[tuple[Term, ...], int]:
    """Return a line for each number of a sum, as :func:`write_products` for products."""
    pairs = Products(values, np.ones_like(values), ("", ""))
    terms, omitted = write_products(pairs, total, labels, limit, places=places)
    return tuple(term if term.is_rest else replace(term, expression=()) for term in terms), omitted


def find_sum_decimals(added: Sequence[float], total: float, places: int = DECIMALS) -> int:
    """Return the decimals with which numbers as printed give their sum as printed with ``places`` decimals."""
    if not math.isfinite(total) or not all(math.isfinite(each) for each in added):
        return DECIMALS
    wanted, allowed = round_as_printed(total, places), 1.01 * last_digit(total, places)
    for decimals in range(DECIMALS, MOST_DECIMALS + 1):
        if abs(sum(round_as_printed(each, decimals) for each in added) - wanted) <= allowed:
            return decimals
    return DECIMALS


def _decimals_of_factors(left: Floats, right: Floats, amounts: Floats, places: int) -> int:
    """Return the decimals with which factors as printed give each product as printed with ``places`` decimals."""
    finite = np.isfinite(amounts)
    left, right, amounts = left[finite], right[finite], amounts[finite]
    ends = [(round_as_printed(each, places), 1.01 * last_digit(each, places)) for each in amounts]
    for decimals in range(DECIMALS, _MOST_FACTOR_DECIMALS + 1):
        written = (
            round_as_printed(a, decimals) * round_as_printed(b, decimals) for a, b in zip(left, right, strict=True)
        )
        if all(abs(by - end) <= allowed for by, (end, allowed) in zip(written, ends, strict=True)):
            return decimals
    return _MOST_FACTOR_DECIMALS

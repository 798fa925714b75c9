"""The steps from a row of scores to a weight, and from the weight into the context."""

import math
from dataclasses import replace

import numpy as np

from attnlab.attention.registries import masks
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages import explain_maps
from attnlab.attention.stages.arithmetic import (
    DECIMALS,
    MOST_DECIMALS,
    Floats,
    Line,
    Parts,
    Products,
    Span,
    last_digit,
    line,
    number,
    round_all_as_printed,
    round_as_printed,
)
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import Cell, dtype_name, value_of
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.score_steps import end_step, make_score_steps
from attnlab.attention.stages.steps import RowStep, Step, Steps, Term, write_products

_AFTERWARDS = {"zeroed": explain_maps.zeroed, "dropped": explain_maps.dropped}
_MOST_HEADS = 12
_LEAST_PRINTED, _MOST_PRINTED = 5e-5, 1e5
"""A weight outside these is printed with two digits and an exponent."""


def make_weight_steps(trace: Computed, cell: Cell, limit: int | None, is_context_known: bool) -> Steps:
    """Return the steps to a weight, one masked after softmax, or one after dropout, and on into the context."""
    e = trace.experiment
    before = make_score_steps(trace, cell, limit, source(e, "weights"))
    after: list[Step] = []
    row, said = _make_row(trace, Cell("weights", cell.row, cell.column, cell.head), limit)
    for name in _AFTERWARDS:
        if name in trace and (is_context_known or cell.stage == "dropped" or name == cell.stage):
            lines = _AFTERWARDS[name](trace, Cell(name, cell.row, cell.column, cell.head), limit).lines
            empty = name == "zeroed" and lines[0] == explain_maps.EMPTY_ROW
            said += lines[:1] if empty else ()
            after.append(Step("Masked after" if name == "zeroed" else "Dropout", words=lines[empty:]))
    if is_context_known:
        after.append(_make_mixture(trace, cell, limit))
    if e.n_heads > 1:
        after.append(_compare_heads(trace, cell, limit))
    return Steps(before=before, row=row, after=tuple(after), said=said)


def _make_row(trace: Computed, cell: Cell, limit: int | None) -> tuple[RowStep, tuple[Line, ...]]:
    """Return the step of the normaliser for a cell of the weights, and sentences on the whole row."""
    e = trace.experiment
    normalizer = NORMALIZERS[e.config.normalizer]
    title, none = normalizer.title[:1].upper() + normalizer.title[1:], np.zeros(0)
    hidden = trace.hidden if "masked" in trace else None
    empty = hidden is not None and bool(hidden[cell.row].all())
    if empty and e.config.option("fill") == "-inf":
        nothing, *lines = explain_maps.weights(trace, cell, limit).lines
        return RowStep(Step(title, words=tuple(lines), role="attention"), none), (nothing,)
    row, p, first = explain_maps.prepare_row(trace, cell)
    said = explain_maps.say_filled(trace, cell) if hidden is not None else ()
    parts = normalizer.parts(row, p) if normalizer.parts is not None else None
    if parts is None:
        written = explain_maps.write_normalizer(trace, cell, limit)[len(first) :]
        if normalizer.parts is not None or math.isnan(value_of(trace, cell)):  # undefined, or beyond the dtype
            said = (*filter(_is_sentence, written), *said)
            written = tuple(each for each in written if not _is_sentence(each))
        return RowStep(Step(title, words=written, role="attention", before=first), none), said
    weights = trace.array("weights")[cell.head or 0, cell.row].astype(np.float64)
    exact, column = parts.values / parts.total, cell.column
    shown = np.append(weights, exact[len(weights) :])  # with the sink's share
    apart = np.abs(exact - shown) > 1e-5 * np.maximum(1.0, np.abs(exact))
    is_rounded = bool(apart.any())
    decimals = _decimals_of_parts(parts, exact if is_rounded else shown, column)
    quotient = line(
        Span(number(float(parts.values[column]), decimals), "attention"), f" ÷ {number(parts.total, decimals)}"
    )
    total, rounded = end_step(trace, float(weights[column]), float(exact[column]), quotient)
    if is_rounded and not rounded:
        rounded = (line(f"the weights are rounded to {dtype_name(trace)}"),)
    sum_of = Term(line(number(parts.total, decimals)), _print_sum(shown), label="sum", is_muted=True)
    terms = (sum_of, replace(total, amount=math.nan))
    note = _write_note(trace, parts.symbol)
    step = Step(title, note, terms, rounded, "attention", before=(*first, *parts.said))
    return RowStep(step, parts.values, decimals), said


def _is_sentence(words: Line) -> bool:
    """Return whether a line of a normaliser is a sentence, not a side of an equation."""
    return len(words) == 1 and not words[0].role and not words[0].text.startswith("=")


def _write_note(trace: Computed, symbol: Line) -> Line:
    """Return what a key's part of the sum is, such as e to the scaled score, and that it is divided by the sum."""
    e = trace.experiment
    name = source(e, "weights")
    name = source(e, name) if name == "masked" else name
    x = "score" if name == "scores" else name
    temperature = NORMALIZERS[e.config.normalizer].tempered and e.config.option("temperature") != 1
    x = f"{x} ÷ temperature" if temperature else x
    return (*(Span(span.text.format(x=x), span.role, span.style) for span in symbol), Span(" ÷ sum of the row"))


def _print_sum(weights: Floats) -> str:
    """Return the sum of weights, marked as rounded if the printed weights do not give it."""
    total = float(weights.sum())
    if not np.isfinite(total):
        return number(total)
    printed = np.where(np.abs(weights) >= _LEAST_PRINTED, np.round(weights, DECIMALS), weights)
    return number(total) if abs(float(printed.sum()) - total) <= 1.01 * last_digit(total) else f"≈ {number(total)}"


def _decimals_of_parts(parts: Parts, shares: Floats, own: int) -> int:
    """Return the decimals with which the parts give the total, and each part and the total its share, as printed.

    The share at ``own`` is printed with more digits than the others.
    """
    if not np.isfinite(parts.values).all():
        return DECIMALS
    sizes = np.abs(shares)
    scientific = (sizes != 0) & ((sizes < _LEAST_PRINTED) | (sizes >= _MOST_PRINTED))
    units = np.where(scientific, 10.0 ** (np.floor(np.log10(np.where(scientific, sizes, 1.0))) - 1), 10.0**-DECIMALS)
    printed, allowed = np.round(shares / units) * units, 1.01 * units
    printed[own], allowed[own] = round_as_printed(shares[own]), 1.01 * last_digit(shares[own])
    whole, of_whole = round_as_printed(parts.total), 1.01 * last_digit(parts.total)
    for decimals in range(DECIMALS, MOST_DECIMALS + 1):
        *written, total = round_all_as_printed(np.append(parts.values, parts.total), decimals)
        if total == 0:
            continue
        values = np.asarray(written)
        if abs(values.sum() - whole) <= of_whole and (np.abs(values / total - printed) <= allowed).all():
            return decimals
    return MOST_DECIMALS


def _make_mixture(trace: Computed, cell: Cell, limit: int | None) -> Step:
    """Return what a weight adds to each column of the context."""
    e, head = trace.experiment, cell.head or 0
    title = "Into the context"
    if head in e.config.ablated:
        return Step(title, words=explain_maps.context(trace, Cell("context", cell.row, 0, head), limit).lines)
    values = trace.array("values")[head, cell.column]
    weight = value_of(trace, cell, source(e, "context"))
    pairs = Products(np.full(len(values), weight), values, ("attention", "value"))
    if weight == 0:
        return Step(title, words=(line("a weight of 0 adds nothing"),))
    whole = trace.array("context")[head, cell.row]
    terms, omitted = write_products(pairs, None, (), limit, wholes=whole.tolist())
    note = line(Span("weight", "attention"), " × ", Span("value", "value"))
    return Step(title, note, terms, role="value", omitted=omitted)


def _compare_heads(trace: Computed, cell: Cell, limit: int | None) -> Step:
    """Return the same weight in every head, and its mean."""
    amounts = trace.array(cell.stage)[:, cell.row, cell.column]
    which = list(range(len(amounts)))
    if limit is not None and len(which) > _MOST_HEADS:
        largest = np.argsort(-np.nan_to_num(amounts), kind="stable")[: _MOST_HEADS - 1].tolist()
        which = sorted({*largest, cell.head or 0})
    omitted = len(amounts) - len(which)
    terms = [
        Term((), number(float(amounts[i])), float(amounts[i]), f"head {i}", is_current=i == cell.head) for i in which
    ]
    if omitted:
        terms.append(Term(line(Span(f"{omitted} more heads", style="muted"))))
    mean = float(trace.mean(cell.stage)[cell.row, cell.column])
    terms.append(Term((), number(mean), mean, "mean", is_muted=True))
    return Step("The same weight in every head", (), tuple(terms), (), "attention", omitted, is_numbered=False)


def is_masked(trace: Computed, cell: Cell) -> bool:
    """Return whether a mask hides the pair of a cell."""
    return bool(masks.reasons(trace.experiment, cell.row, cell.column))

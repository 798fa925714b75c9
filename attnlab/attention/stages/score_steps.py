"""The steps from a query and a key to the score that the normaliser receives."""

from collections.abc import Callable

import numpy as np

from attnlab.attention.registries import masks
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages import explain_maps
from attnlab.attention.stages.arithmetic import DECIMALS, Line, Span, bracket, decimals_for, line, number, short
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import Cell, describe_rounding, dtype_name, value_of
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.steps import SHOWN, Step, Term, write_products


def end_step(trace: Computed, value: float, exact: float, expression: Line = ()) -> tuple[Term, tuple[Line, ...]]:
    """Return the last line of a step, which holds its result, and a sentence if the dtype rounded that."""
    if not describe_rounding(value, exact, dtype_name(trace)):
        return Term(expression, number(value), value, is_total=True), ()
    rounded = line(f"rounded to {dtype_name(trace)}: ", Span(number(value), style="strong"))
    return Term(expression, number(exact), exact, is_total=True), (rounded,)


def make_score_steps(trace: Computed, cell: Cell, limit: int | None, last: str) -> tuple[Step, ...]:
    """Return the steps of a cell from its score to the stage ``last``."""
    e, names = trace.experiment, [last]
    while names[-1] != "scores":
        names.append(source(e, names[-1]))
    return tuple(step for name in reversed(names) if (step := _STEPS[name](trace, cell, limit)) is not None)


def _make_score(trace: Computed, cell: Cell, limit: int | None) -> Step:
    e, head = trace.experiment, cell.head or 0
    score = SCORES[e.config.score]
    value, exact = value_of(trace, cell, "scores"), explain_maps.find_exact_score(trace, cell)
    total, rounded = end_step(trace, value, exact)
    query = trace.array(source(e, "scores"))[head, cell.row]
    key = trace.array(source(e, "scores", 1))[head, cell.column]
    p = trace.plain_parameters(score)
    if score.factors is None:
        words = score.explain(query, key, p, limit)
        return Step("Score", line(score.title), (total,), (*words, *rounded))
    terms, omitted = write_products(score.factors(query, key, p), exact, (), limit)
    many = f", {len(query)} terms" if len(query) > SHOWN else ""
    if score.name == "dot":
        note = line(Span("query", "query"), " · ", Span("key", "key"), many)
        return Step("Score", note, (*terms, total), rounded, omitted=omitted)
    *before, _ = score.explain(query, key, p, limit)  # the last line is the sum, which is drawn
    return Step("Score", line(score.title), (*terms, total), rounded, omitted=omitted, before=tuple(before))


def _make_scaled(trace: Computed, cell: Cell, limit: int | None) -> Step:
    e = trace.experiment
    before, after = value_of(trace, cell, "scores"), value_of(trace, cell, "scaled")
    divisor = float(e.divisor or 1)
    root = {"sqrt_d_k": f"√{e.d_k}", "sqrt_d_model": f"√{e.d_model}"}.get(str(e.config.scale))
    digits = decimals_for([before, divisor], lambda x: float(x[0] / (divisor if root else x[1])))
    by = root or short(divisor, digits)
    total, rounded = end_step(trace, after, before / divisor)
    return Step("Scaled", line(*_name_operand(trace, before, digits), f"÷ {by}"), (total,), rounded)


def _name_operand(trace: Computed, before: float, digits: int) -> Line:
    """Return the number that a step starts from, if the step before does not show all the digits that it needs."""
    shown = digits == DECIMALS and dtype_name(trace) in ("float32", "float64")
    return () if shown else (Span(f"{number(before, digits)} "),)


def _make_biased(trace: Computed, cell: Cell, limit: int | None) -> Step:
    e = trace.experiment
    position = POSITIONS[e.config.positions]
    before, after = value_of(trace, cell, source(e, "biased")), value_of(trace, cell, "biased")
    assert position.explain_bias is not None
    why = position.explain_bias(cell.head or 0, e.n_heads, cell.row, cell.column, trace.plain_parameters(position))
    digits = decimals_for([before, after - before], lambda x: float(x.sum()))
    note = line(*_name_operand(trace, before, digits), f"+ {bracket(after - before, digits)}")
    total = Term((), number(after), after, is_total=True)
    return Step("Biased", note, (total,), why)


def _make_capped(trace: Computed, cell: Cell, limit: int | None) -> Step:
    e = trace.experiment
    cap = float(e.config.option("soft_cap"))
    before, after = value_of(trace, cell, source(e, "capped")), value_of(trace, cell, "capped")
    digits = decimals_for([before, cap], lambda x: float(x[1] * np.tanh(x[0] / x[1])))
    by = short(cap, digits)
    written = line(f"{by} · tanh({number(before, digits)} ÷ {by})")
    total, rounded = end_step(trace, after, float(cap * np.tanh(before / cap)), written)
    return Step("Capped", (), (total,), rounded)


def _make_masked(trace: Computed, cell: Cell, limit: int | None) -> Step | None:
    """Return why a cell is masked, or that it is not; None on the way to a weight that is not."""
    if masks.reasons(trace.experiment, cell.row, cell.column):
        hidden = explain_maps.masked(trace, Cell("masked", cell.row, cell.column, cell.head), limit)
        return Step("Masked", words=hidden.lines)
    if cell.stage != "masked":
        return None
    value = value_of(trace, cell)
    return Step("Masked", line("allowed: unchanged"), (Term((), number(value), value, is_total=True),))


_STEPS: dict[str, Callable[[Computed, Cell, int | None], Step | None]] = {
    "scores": _make_score,
    "scaled": _make_scaled,
    "biased": _make_biased,
    "capped": _make_capped,
    "masked": _make_masked,
}

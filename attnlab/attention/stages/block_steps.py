"""The steps of residuals, norms and activations of a block, with numbers that a view can draw as bars."""

import math
from dataclasses import replace

import numpy as np
import torch

from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS, activate
from attnlab.attention.stages.arithmetic import Products, Span, bracket, decimals_for, line, number, short
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explain_block import WORDS, NormedNumber, find_normed
from attnlab.attention.stages.explanation import Cell, value_of
from attnlab.attention.stages.presence import NORMED, source
from attnlab.attention.stages.score_steps import end_step
from attnlab.attention.stages.steps import Step, Term, find_sum_decimals, write_products, write_sum

RESIDUALS = ("residual", "second_residual")


def make_block_steps(trace: Computed, cell: Cell, limit: int | None) -> tuple[Step, ...]:
    """Return the steps of a residual, a norm or an activation; () for other stages, or if words say it better."""
    if cell.stage in RESIDUALS:
        return (_add(trace, cell),)
    if cell.stage in NORMED.get(trace.experiment.config.block, ()):
        return _normalize(trace, cell, limit)
    return _activate(trace, cell) if cell.stage == "activated" else ()


def _add(trace: Computed, cell: Cell) -> Step:
    """Return the step of a residual: what was there before plus what a part of the block adds."""
    names = [source(trace.experiment, cell.stage, place) for place in (0, 1)]
    values = [value_of(trace, cell, name) for name in names]
    exact = sum(values)
    places = find_sum_decimals(values, exact)
    terms = [Term((), number(x, places), x, WORDS[name]) for name, x in zip(names, values, strict=True)]
    total, rounded = end_step(trace, value_of(trace, cell), exact)
    note = line(" + ".join(WORDS[name] for name in names))
    return Step("Sum", note, (*terms, total), rounded, is_numbered=False)


def _normalize(trace: Computed, cell: Cell, limit: int | None) -> tuple[Step, ...]:
    """Return the steps of a normalised number: the mean, the size of the row, the quotient, gain and shift."""
    found = find_normed(trace, cell)
    if not found.size or not np.isfinite(found.row).all() or not math.isfinite(found.size):
        return ()
    config, column = trace.experiment.config, cell.column
    is_centred = BLOCK_NORMS[config.block_norm].is_centred
    steps = [_measure_mean(found, limit)] if is_centred else []
    steps.append(_measure_size(found, is_centred, config.option("norm_eps"), limit))
    x = float(found.row[column])
    unit = (x - found.mean) / found.size
    digits = decimals_for([x, found.mean, found.size], lambda given: float((given[0] - given[1]) / given[2]))
    name = "(x − mean) ÷ standard deviation" if is_centred else "x ÷ root mean square"
    above = f"({short(x, digits)} − {bracket(found.mean, digits)})" if is_centred else short(x, digits)
    quotient = Term(line(f"{above} ÷ {short(found.size, digits)}"), number(unit), unit, is_total=True)
    steps.append(Step("Quotient", line(name), (quotient,)))
    exact = unit * found.gain + found.shift
    index = (Span(str(found.place), style="sub"), Span(f"[{column}]"))
    note = line("quotient × γ", *index, *((" + β", *index) if is_centred else ()))
    given = (unit, found.gain, found.shift)
    digits = decimals_for(given, lambda each: float(each[0] * each[1] + each[2]))
    written = f"{short(unit, digits)} × {bracket(found.gain, digits)}"
    written += f" + {bracket(found.shift, digits)}" if is_centred else ""
    total, rounded = end_step(trace, value_of(trace, cell), exact, line(written))
    steps.append(Step("Gain and shift" if is_centred else "Gain", note, (total,), rounded))
    return tuple(steps)


def _measure_mean(found: NormedNumber, limit: int | None) -> Step:
    n, total = len(found.row), float(found.row.sum())
    places = decimals_for([total], lambda x: float(x[0] / n))
    terms, omitted = write_sum(found.row, total, tuple(map(str, range(n))), limit, places)
    sum_of = Term((), number(total, places), label="sum", is_muted=True)
    ended = Term(line(f"{number(total, places)} ÷ {n}"), number(found.mean), is_total=True)
    return Step("Mean", line(f"of the {n} numbers of the row"), (*terms, sum_of, ended), omitted=omitted)


def _measure_size(found: NormedNumber, is_centred: bool, eps: float, limit: int | None) -> Step:
    n, away = len(found.row), found.row - found.mean
    total = float(np.square(away).sum())
    places = decimals_for([total, eps], lambda x: float(np.sqrt(x[0] / n + x[1])))
    products = Products(away, away, ("", ""))
    terms, omitted = write_products(products, total, tuple(map(str, range(n))), limit, places=places)
    terms = tuple(term if term.is_rest else _write_square(term) for term in terms)
    sum_of = Term((), number(total, places), label="sum", is_muted=True)
    written = line(f"√({number(total, places)} ÷ {n} + {short(eps, places)})")
    ended = Term(written, number(found.size), is_total=True)
    title = "Standard deviation" if is_centred else "Root mean square"
    what = "(x − mean)" if is_centred else "x"
    note = line(f"√(mean of {what}", Span("2", style="sup"), " + ε)")
    return Step(title, note, (*terms, sum_of, ended), omitted=omitted)


def _write_square(term: Term) -> Term:
    """Return the line of a number times itself as that of its square."""
    text = term.expression[0].text
    return replace(term, expression=line(f"({text})" if text.startswith("−") else text, Span("2", style="sup")))


def _activate(trace: Computed, cell: Cell) -> tuple[Step, ...]:
    """Return the steps of a number after the activation, and of a gate its product with the hidden number."""
    e = trace.experiment
    feed_forward = FEED_FORWARDS[e.config.feed_forward]
    x = value_of(trace, cell, source(e, "activated"))
    if not math.isfinite(x):
        return ()
    active = float(activate(feed_forward, torch.tensor([x], dtype=torch.float64, device="cpu"))[0])
    said = feed_forward.explain(x, None)
    value = value_of(trace, cell)
    if not feed_forward.is_gated:
        total, rounded = end_step(trace, value, active)
        return (Step("Activation", line(feed_forward.title), (total,), rounded, before=said, is_numbered=False),)
    hidden = value_of(trace, cell, "hidden")
    total, rounded = end_step(trace, value, active * hidden)
    terms, _ = write_products(Products(np.array([active]), np.array([hidden]), ("", "")), active * hidden, (), None)
    gate = Step("Activation", line("of the gate"), (Term((), number(active), active, is_total=True),), before=said)
    return gate, Step("Product", line("activation × hidden"), (*terms, total), rounded)

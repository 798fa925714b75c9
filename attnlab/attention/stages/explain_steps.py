"""The steps that lead to one cell of a stage, for one head or the mean over heads."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.stages import explain_block, explain_projections
from attnlab.attention.stages.arithmetic import Products, Span, decimals_for, line, number
from attnlab.attention.stages.block_steps import make_block_steps
from attnlab.attention.stages.explain_backward import find_backward_steps
from attnlab.attention.stages.explanation import Cell, find_shown_value, labels, number_of, numbers_of, value_of
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.score_steps import end_step, make_score_steps
from attnlab.attention.stages.sentences import write_sentence
from attnlab.attention.stages.steps import Step, Steps, Term, find_sum_decimals, write_products
from attnlab.attention.stages.table import about
from attnlab.attention.stages.weight_steps import make_weight_steps

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

_BEFORE_WEIGHTS = ("scores", "scaled", "biased", "capped", "masked")
_WEIGHTS = ("weights", "zeroed", "dropped")
_PROJECTED = {"queries": "q", "keys": "k", "values": "v"}


def find_steps(trace: "Trace", cell: Cell, limit: int | None = 6, is_context_known: bool = True) -> Steps | None:
    """Return the steps that lead to a cell; None if they are better said in words, as ``explain`` does.

    Sums of many products are shortened unless ``limit`` is None. ``is_context_known`` is False while the context of
    the row must not be shown yet. The cell must exist, see ``explain``.
    """
    e, name = trace.experiment, cell.stage
    if trace.stage(name).has_heads and cell.head is None:
        if e.n_heads > 1:
            return Steps(before=(_average_heads(trace, cell, limit),))
        cell = Cell(name, cell.row, cell.column, 0)
    if trace.stage(name).is_backward:
        return find_backward_steps(trace, cell, limit)
    if name in _WEIGHTS:
        return make_weight_steps(trace, cell, limit, is_context_known)
    if name in _BEFORE_WEIGHTS:
        return Steps(before=make_score_steps(trace, cell, limit, name))
    if name == "context" and (cell.head or 0) not in e.config.ablated:
        return Steps(before=(_mix_values(trace, cell, limit),))
    if name in _PROJECTED and getattr(e.weights, f"W_{_PROJECTED[name]}") is not None:
        return Steps(before=(_project(trace, cell, limit),))
    if name == "output" and e.weights.W_o is not None:
        return Steps(before=(_project_heads(trace, cell, limit),))
    if name in explain_block.MAPS:
        return Steps(before=(_map_row(trace, cell, limit),))
    steps = make_block_steps(trace, cell, limit)
    return Steps(before=steps) if steps else None


def describe_cell(trace: "Trace", cell: Cell) -> str:
    """Return one plain sentence on a cell: what a weight means here, otherwise what its stage holds."""
    return write_sentence(trace, cell) if cell.stage in _WEIGHTS else about(trace.stage(cell.stage), trace.experiment)


def _average_heads(trace: "Trace", cell: Cell, limit: int | None) -> Step:
    heads = trace.array(cell.stage)[:, cell.row, cell.column].astype(np.float64)
    value = find_shown_value(trace, cell)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        total, exact = float(heads.sum()), float(heads.mean())
    places = decimals_for([total], lambda x: float(x[0] / len(heads)))
    decimals = find_sum_decimals(heads.tolist(), total, places)
    terms = [Term((), number(each, decimals), float(each), f"head {i}") for i, each in enumerate(heads)]
    written = line(f"{number(total, places)} ÷ {len(heads)}")
    ended, rounded = end_step(trace, value, exact, written)
    ended = replace(ended, amount=math.nan)
    sum_of = Term((), number(total, places), label="sum", is_muted=True)
    role = trace.stage(cell.stage).role
    return Step("Mean", line(f"of {len(heads)} heads"), (*terms, sum_of, ended), rounded, role, is_numbered=False)


def _mix_values(trace: "Trace", cell: Cell, limit: int | None) -> Step:
    e, head = trace.experiment, cell.head or 0
    row = trace.array(source(e, "context"))[head, cell.row].astype(np.float64)
    column = trace.array("values")[head, :, cell.column].astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact = float(np.dot(row, column))
    tokens = [token or "∅" for token in e.key_tokens]
    terms, omitted = write_products(Products(row, column, ("attention", "value")), exact, tokens, limit)
    total, rounded = end_step(trace, value_of(trace, cell), exact)
    note = line(Span("weight", "attention"), " × ", Span("value", "value"), f", column {cell.column}")
    return Step("Mix of the values", note, (*terms, total), rounded, "value", omitted, is_numbered=False)


def _project(trace: "Trace", cell: Cell, limit: int | None) -> Step:
    """Return the step of a query, key or value: its token's numbers times a column of a matrix."""
    symbol = _PROJECTED[cell.stage]
    role = trace.stage(cell.stage).role
    found = explain_projections.find_projection(trace, cell, symbol)
    assert found.w is not None
    with np.errstate(invalid="ignore"):
        exact = float(np.dot(found.x, found.w)) + (found.bias or 0.0)
    terms, omitted = write_products(Products(found.x, found.w, ("", role)), exact, (), limit, found.bias)
    total, rounded = end_step(trace, value_of(trace, cell), exact)
    note = line(found.letter, " · ", Span(f"W_{symbol}", role), f", column {found.column}")
    words = (*rounded, *found.owned)
    return Step("Product", note, (*terms, total), words, role, omitted, is_numbered=False)


def _project_heads(trace: "Trace", cell: Cell, limit: int | None) -> Step:
    e = trace.experiment
    assert e.weights.W_o is not None
    x = trace.array("context")[:, cell.row].reshape(-1).astype(np.float64)
    w = numbers_of(trace, e.weights.W_o[:, cell.column])
    bias = None if e.weights.b_o is None else number_of(trace, e.weights.b_o[cell.column])
    with np.errstate(invalid="ignore"):
        exact = float(np.dot(x, w)) + (bias or 0.0)
    terms, omitted = write_products(Products(x, w, ("attention", "")), exact, (), limit, bias)
    total, rounded = end_step(trace, value_of(trace, cell), exact)
    note = line("context · W_o, column ", str(cell.column))
    return Step("Product", note, (*terms, total), rounded, "attention", omitted, is_numbered=False)


def _map_row(trace: "Trace", cell: Cell, limit: int | None) -> Step:
    """Return the step of a linear map of the feed-forward: a row times a column of a matrix."""
    found = explain_block.find_map(trace, cell)
    with np.errstate(invalid="ignore"):
        exact = float(np.dot(found.x, found.w)) + (found.bias or 0.0)
    terms, omitted = write_products(Products(found.x, found.w, ("", "")), exact, (), limit, found.bias)
    total, rounded = end_step(trace, value_of(trace, cell), exact)
    note = line(f"{found.source} · {found.matrix}, column {cell.column}")
    return Step("Product", note, (*terms, total), rounded, "neutral", omitted, is_numbered=False)


__all__ = ["describe_cell", "find_steps", "labels"]

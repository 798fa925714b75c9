"""Explain one cell of a stage as arithmetic with its numbers, for one head or the mean over heads."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.stages.arithmetic import Span, bracket, decimals_for, join_terms, line, number, select_terms
from attnlab.attention.stages.explanation import Cell, Explanation, describe_rounding, labels, name_place

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

__all__ = ["Cell", "Explanation", "explain"]


def explain(trace: "Trace", cell: Cell, limit: int | None = 6) -> Explanation:
    """Explain one cell; at most ``limit`` terms of a sum are written out, or all if it is None.

    Raises:
        KeyError: the stage does not exist in this configuration.
        IndexError: the cell lies outside the stage.
    """
    stage = trace.stage(cell.stage)
    *heads, rows, columns = trace[cell.stage].shape
    head_fits = not heads or cell.head is None or 0 <= cell.head < heads[0]
    if not (head_fits and 0 <= cell.row < rows and 0 <= cell.column < columns):
        raise IndexError(f"{cell} lies outside {cell.stage}, which is {list(trace[cell.stage].shape)}")
    if stage.has_heads and cell.head is None:
        return _explain_mean(trace, cell, limit)
    return stage.explain(trace, cell, limit)


def _explain_mean(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    stage = trace.stage(cell.stage)
    heads = trace.array(cell.stage)[:, cell.row, cell.column]
    value = float(trace.mean(cell.stage)[cell.row, cell.column])
    names = labels(trace.experiment, stage.axes, cell.row, cell.column)
    if len(heads) == 1:
        return replace(stage.explain(trace, replace(cell, head=0), limit), cell=cell)
    which = select_terms(len(heads), limit)
    digits = decimals_for(heads, lambda x: float(x.mean()))
    terms = join_terms([(Span(bracket(x, digits), stage.role),) for x in heads], which)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        rounded = describe_rounding(value, float(np.mean(heads, dtype=float)), heads.dtype.name)
    lines = (
        line("the mean of ", Span(str(len(heads)), style="strong"), " heads"),
        line("(", terms, f") ÷ {len(heads)}"),
        line("= ", Span(number(value), style="strong"), rounded),
    )
    return Explanation(cell, stage.title, stage.role, names, value, lines, name_place(stage.axes, names))

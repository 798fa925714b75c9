"""The cells from which a step of a walk is computed, and the explanation of a sum in progress."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.stages.arithmetic import Line, Span, line
from attnlab.attention.stages.explain import Cell, Explanation, explain
from attnlab.attention.stages.gradient_regions import find_gradient_region
from attnlab.attention.stages.links import Region, is_concatenated
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.table import BY_NAME, Stage, sources
from attnlab.attention.stages.walk import Place

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

_PLUS = Span(" + ")
COLUMNWISE = ("residual", "activated", "second_residual")
"""Stages whose cells depend on the cells of the same row and column only."""


def regions(e: "Experiment", at: Place, stage: Stage) -> tuple[Region, ...]:
    """Return the regions of a stage that the step to a place computes or reads; the whole stage for a stage step."""
    own = BY_NAME[at.stage]
    if stage.name != own.name and stage not in sources(own, e):
        return ()
    if at.row is None or at.row < 0:
        return (Region(None, None, None, stage.role),)
    column = at.column if at.column is not None and at.column >= 0 else None
    if stage.name == own.name:
        return (Region(at.row, column, None, "neutral"),)
    role = own.role if stage.role == "neutral" and own.role in ("query", "key", "value") else stage.role
    if own.is_backward:
        found = find_gradient_region(e, own, stage, at.row, column)
        return (replace(found, role=role),) if found is not None else ()
    row = at.row if stage.axes[-2] in (own.axes[-2], "token") else None
    if column is None:
        return (Region(row, None, None, role),)
    return (replace(_of_cell(e, own, stage, at.row, column, at.term), role=role),)


def _of_cell(e: "Experiment", own: Stage, stage: Stage, row: int, column: int, term: int | None) -> Region:
    """Return the region of a source that one cell, or one of its terms, is computed from."""
    whole = Region(row, None, None, "")
    if own.name == "scores":
        mixed = stage.axes[-2] == "query" and e.config.score == "general"  # q W_a mixes all columns of the query
        return Region(row if stage.axes[-2] == "query" else column, None if mixed else term, None, "")
    if own.name == "weights":
        return whole if term is None or term >= e.T_k else replace(whole, column=term)
    if own.name == "context":
        return Region(term, column, None, "") if stage.name == "values" else replace(whole, column=term)
    if is_concatenated(e, own) or (stage.name == "context" and term is not None):
        head, column = divmod(column if term is None else term, e.d_v)
        return Region(row, column, head, "")
    return replace(whole, column=column if own.is_map or own.name in COLUMNWISE else term)


def explain_begun(trace: "Trace", cell: Cell, term: int) -> Explanation:
    """Explain a sum in progress: the terms up to ``term``, counted from 0, and no value yet."""
    whole = explain(trace, cell, None)
    written = _count_written(trace, cell, term)
    lines = _first_terms(whole.lines, written) if written else (line(Span("masked: adds nothing", style="muted")),)
    return replace(whole, value=float("nan"), lines=lines)


def find_running_sum(trace: "Trace", cell: Cell, term: int) -> float | None:
    """Return the sum of a cell's terms up to ``term``, counted from 0; None if the cell is no sum of products."""
    e, name = trace.experiment, cell.stage
    if name not in ("scores", "context") or (name == "scores" and e.config.score != "dot"):
        return None
    left, right = (_pick_head(trace, each.name, cell.head or 0) for each in sources(BY_NAME[name], e)[:2])
    row = left[cell.row].astype(np.float64)
    column = (right[cell.column] if name == "scores" else right[:, cell.column]).astype(np.float64)
    if row.shape != column.shape:
        return None
    return float((row * column)[: term + 1].sum())


def _pick_head(trace: "Trace", name: str, head: int) -> NDArray[np.floating]:
    """Return what a head reads of a stage [rows, columns]; heads may share keys and values."""
    array = trace.array(name)
    return array if array.ndim == 2 else array[head * len(array) // trace.experiment.n_heads]


def _count_written(trace: "Trace", cell: Cell, term: int) -> int:
    """Return the number of terms written up to and including a term; masked keys of softmax have none."""
    if cell.stage != "weights":
        return term + 1
    row = trace.array(source(trace.experiment, "weights"))[cell.head or 0, cell.row]
    return int((row[: term + 1] != -np.inf).sum()) + (term >= len(row))


def _first_terms(lines: tuple[Line, ...], count: int) -> tuple[Line, ...]:
    """Return the lines up to the first sum and its rewritings, each with its first ``count`` terms, the last strong."""
    sums = [_PLUS in each for each in lines]
    first = sums.index(True) if True in sums else 0
    last = next((i for i in range(first, len(lines)) if not sums[i]), len(lines)) if True in sums else 1
    return (*lines[:first], *(_cut(each, count) for each in lines[first:last]))


def _cut(spans: Line, count: int) -> Line:
    """Return a sum cut to its first ``count`` terms, followed by three dots if there are more."""
    ends = [i for i, span in enumerate(spans) if span == _PLUS]
    starts = [_first_term(spans, ends[0] if ends else len(spans)), *(end + 1 for end in ends)]
    start = starts[min(count, len(starts)) - 1]
    stop = ends[count - 1] if count <= len(ends) else len(spans)
    term = tuple(replace(span, style=span.style or "strong") for span in spans[start:stop])
    return (*spans[:start], *term, *([Span(" + …", style="muted")] if stop < len(spans) else []))


def _first_term(spans: Line, end: int) -> int:
    """Return the index of the first term's first span, after the text before the sum."""
    before = [i for i in range(end) if spans[i].text.endswith(("= ", "("))]
    return before[-1] + 1 if before else 0

"""One cell of a stage as arithmetic, with the numbers put in."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from attnlab.attention.arithmetic import Floats, Line, Span, joined, line, number, products, short, shown, signed
from attnlab.attention.normalizers import NORMALIZERS
from attnlab.attention.positions import POSITIONS
from attnlab.attention.scores import SCORES

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a stage; ``head`` is None for the mean over heads, and where a stage has no heads."""

    stage: str
    row: int
    column: int
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A cell's value and the lines of arithmetic that lead to it; ``labels`` name its row and column."""

    cell: Cell
    title: str
    role: str
    labels: tuple[str, str]
    value: float
    lines: tuple[Line, ...]


def explain(trace: "Trace", cell: Cell, limit: int | None = 6) -> Explanation:
    """Explain one cell; at most ``limit`` terms of a sum are written out, None writes all.

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
        return _mean(trace, cell, limit)
    return stage.explain(trace, cell, limit)


def labels(e: "Experiment", axes: tuple[str, ...], row: int, column: int) -> tuple[str, str]:
    """Return what the row and the column of a cell are called."""
    return axis_label(e, axes[-2], row), axis_label(e, axes[-1], column)


def axis_label(e: "Experiment", axis: str, index: int) -> str:
    """Return the token at ``index`` of a token axis, or the number of a column."""
    if axis in ("query", "token"):
        return e.tokens[index]
    return e.key_tokens[index] if axis == "key" else str(index)


def _made(trace: "Trace", cell: Cell, *lines: Line) -> Explanation:
    stage = trace.stage(cell.stage)
    array = trace.array(cell.stage)
    value = array[cell.head, cell.row, cell.column] if stage.has_heads else array[cell.row, cell.column]
    names = labels(trace.experiment, stage.axes, cell.row, cell.column)
    return Explanation(cell, stage.title, stage.role, names, float(value), lines)


def _mean(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    stage = trace.stage(cell.stage)
    heads = trace.array(cell.stage)[:, cell.row, cell.column]
    value = float(trace.mean(cell.stage)[cell.row, cell.column])
    names = labels(trace.experiment, stage.axes, cell.row, cell.column)
    if len(heads) == 1:
        return replace(stage.explain(trace, replace(cell, head=0), limit), cell=cell)
    which = shown(len(heads), limit)
    terms = joined([(Span(signed(x), stage.role),) for x in heads], which)
    lines = (
        line("the mean of ", Span(str(len(heads)), style="strong"), " heads"),
        line("(", terms, f") ÷ {len(heads)}"),
        line("= ", Span(number(value), style="strong")),
    )
    return Explanation(cell, stage.title, stage.role, names, value, lines)


def inputs(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain an input: the number given, and what its position adds."""
    e = trace.experiment
    given = _number(trace, e.embeddings[cell.row, cell.column])
    position = POSITIONS[e.config.positions]
    lines = [line("given: ", Span(short(given), style="strong"))]
    if position.encode is not None:
        added = float(position.encode(*e.embeddings.shape)[cell.row, cell.column])
        total = float(trace.array("inputs")[cell.row, cell.column])
        lines = [
            line("given + ", Span(f"{position.title} position {cell.row}", style="muted")),
            line(f"= {short(given)} + {signed(added)} = ", Span(number(total), style="strong")),
        ]
    return _made(trace, cell, *lines)


def _projection(trace: "Trace", cell: Cell, limit: int | None, symbol: str, role: str, n_heads: int) -> Explanation:
    """Explain a cell of X W + b; ``symbol`` is the small letter of queries, keys or values."""
    e = trace.experiment
    weight: Tensor | None = getattr(e.weights, f"W_{symbol}")
    bias: Tensor | None = getattr(e.weights, f"b_{symbol}")
    head = (cell.head or 0) * n_heads // e.n_heads
    array = trace.array(cell.stage)
    column = head * array.shape[-1] + cell.column
    value = float(array[cell.head or 0, cell.row, cell.column])
    from_memory = symbol != "q" and e.memory_embeddings is not None
    source = "m" if from_memory else "x"
    x = _numbers(trace, (trace.memory if from_memory else trace["inputs"])[cell.row])
    if weight is None:
        lines = [line(Span(symbol, role), " = ", Span(source), f"[{column}] = ", short(x[column]))]
        lines.append(line(Span(f"W_{symbol} is the identity: untrained", style="muted")))
    else:
        w = _numbers(trace, weight[:, column])
        where = line(Span(f"W_{symbol}", role), f", column {column}")
        lines = [line(Span(symbol, role), " = ", source, " · ", where), line("= ", products(x, w, ("", role), limit))]
    if bias is not None:
        lines.append(line("+ bias ", Span(signed(_number(trace, bias[column])), role)))
    lines.append(line("= ", Span(number(value), style="strong")))
    return _made(trace, cell, *lines)


def _numbers(trace: "Trace", tensor: "Tensor") -> Floats:
    """Return numbers as they are computed with, rounded to the trace's dtype."""
    here = tensor.detach().cpu()  # and rounded here: what the experiment holds need not travel to the device and back
    rounded: Floats = here.to(trace.dtype).to(torch.float64).numpy()
    return rounded


def _number(trace: "Trace", tensor: "Tensor") -> float:
    return float(_numbers(trace, tensor))


def queries(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a query: its token's inputs times a column of W_q."""
    return _projection(trace, cell, limit, "q", "query", trace.experiment.n_heads)


def keys(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a key: its token's inputs times a column of W_k."""
    return _projection(trace, cell, limit, "k", "key", trace.experiment.n_kv_heads)


def values(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a value: its token's inputs times a column of W_v."""
    return _projection(trace, cell, limit, "v", "value", trace.experiment.n_kv_heads)


def _score_lines(trace: "Trace", cell: Cell, limit: int | None) -> tuple[Line, ...]:
    query = trace.array("queries")[cell.head or 0, cell.row]
    key = trace.array("keys")[cell.head or 0, cell.column]
    value = trace.array("scores")[cell.head or 0, cell.row, cell.column]
    first = SCORES[trace.experiment.config.score].explain(query, key, limit)
    return (*first, line("= ", Span(number(value), style="strong")))


def scores(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a score: one query and one key."""
    return _made(trace, cell, *_score_lines(trace, cell, limit))


def _scaled_line(trace: "Trace", cell: Cell) -> Line:
    e = trace.experiment
    before = trace.array("scores")[cell.head or 0, cell.row, cell.column]
    after = trace.array("scaled")[cell.head or 0, cell.row, cell.column]
    sizes = {"sqrt_d_k": f"√{e.d_k}", "sqrt_d_model": f"√{e.d_model}"}
    divisor = sizes.get(str(e.config.scale)) or short(e.divisor or 1)
    return line("scaled ", Span(number(after), style="strong"), f" = {number(before)} ÷ {divisor}")


def scaled(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a scaled score: the score divided."""
    return _made(trace, cell, _scaled_line(trace, cell), *_chain(trace, cell, limit, "scores"))


def _chain(trace: "Trace", cell: Cell, limit: int | None, *names: str) -> tuple[Line, ...]:
    """Return what led here, one line a stage, nearest first; the score last."""
    lines: list[Line] = []
    if "scaled" in names and "scaled" in trace:
        lines.append(_scaled_line(trace, cell))
    query = trace.array("queries")[cell.head or 0, cell.row]
    key = trace.array("keys")[cell.head or 0, cell.column]
    total = number(trace.array("scores")[cell.head or 0, cell.row, cell.column])
    first, *rest = SCORES[trace.experiment.config.score].explain(query, key, limit)
    return (*lines, line("score ", first), *rest, line(f"= {total}"))


def _mask_reason(e: "Experiment", row: int, column: int) -> str:
    """Return why a query may not attend to a key, or ""."""
    reasons = []
    if e.config.causal and column > row:
        reasons.append(f"“{e.key_tokens[column]}” comes after “{e.tokens[row]}”: the future is masked")
    if e.config.mask is not None and not bool(e.config.mask[row, column]):
        reasons.append("the mask does not allow this pair")
    return " and ".join(reasons)


def masked(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a masked score: why it is hidden, or that it stays."""
    reason = _mask_reason(trace.experiment, cell.row, cell.column)
    if reason:
        return _made(trace, cell, line(reason), line("= ", Span("−∞", style="strong")))
    lines = (line(Span("allowed: stays as it is", style="muted")), *_chain(trace, cell, limit, "scaled", "scores"))
    return _made(trace, cell, *lines)


def weights(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a weight: its score's share of the row."""
    e = trace.experiment
    if e.config.mask is not None and trace.hidden is not None and bool(trace.hidden[cell.row].all()):
        nothing = line("nothing is left to attend to in this row")
        return _made(trace, cell, nothing, line("= ", Span("0", style="strong")))
    row = trace.array(_logits(trace))[cell.head or 0, cell.row]
    lines = NORMALIZERS[e.config.normalizer].explain(row, cell.column, limit)
    reason = _mask_reason(e, cell.row, cell.column)
    if reason:
        return _made(trace, cell, line(reason), *lines)
    return _made(trace, cell, *lines, *_chain(trace, cell, limit, "scaled", "scores"))


def _logits(trace: "Trace") -> str:
    return next(name for name in ("masked", "scaled", "scores") if name in trace)


def context(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain a context number: a column of the values, mixed by a row of weights."""
    row = trace.array("weights")[cell.head or 0, cell.row]
    column = trace.array("values")[cell.head or 0, :, cell.column]
    total = trace.array("context")[cell.head or 0, cell.row, cell.column]
    return _made(
        trace, cell,
        line(Span("weights", "attention"), " of this row · ", Span("values", "value"), f", column {cell.column}"),
        line("= ", products(row, column, ("attention", "value"), limit)),
        line("= ", Span(number(total), style="strong")),
    )  # fmt: skip


def output(trace: "Trace", cell: Cell, limit: int | None) -> Explanation:
    """Explain an output number: the heads side by side, times a column of W_o."""
    e = trace.experiment
    side_by_side = trace.array("context")[:, cell.row].reshape(-1)
    total = trace.array("output")[cell.row, cell.column]
    if e.weights.W_o is None:
        head, column = divmod(cell.column, e.d_v)
        lines = [line(Span(f"head {head}, column {column} of the context", style="muted"))]
        lines.append(line("= ", short(side_by_side[cell.column])))
    else:
        w = _numbers(trace, e.weights.W_o[:, cell.column])
        lines = [line("heads side by side · W", Span("o", style="sub"), f", column {cell.column}")]
        lines.append(line("= ", products(side_by_side, w, ("attention", ""), limit)))
    if e.weights.b_o is not None:
        lines.append(line("+ bias ", signed(_number(trace, e.weights.b_o[cell.column]))))
    return _made(trace, cell, *lines, line("= ", Span(number(total), style="strong")))

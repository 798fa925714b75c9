"""Explain cells of the stages from scores to output as arithmetic with their numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.registries import masks
from attnlab.attention.registries.entries import Entry
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import (
    Floats,
    Line,
    Span,
    bracket,
    decimals_for,
    decimals_of_products,
    line,
    number,
    plain,
    products,
    short,
)
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import (
    Cell,
    Explanation,
    describe_rounding,
    dtype_name,
    make_explanation,
    number_of,
    numbers_of,
    result_line,
    value_of,
)
from attnlab.attention.stages.presence import source


def _strong(value: float) -> Span:
    return Span(number(value), style="strong")


def _score_lines(trace: Computed, cell: Cell, limit: int | None) -> tuple[Line, ...]:
    """Return the score of the cell's query and key, written out."""
    e, head = trace.experiment, cell.head or 0
    query = trace.array(source(e, "scores"))[head, cell.row]
    key = trace.array(source(e, "scores", 1))[head, cell.column]
    score = SCORES[e.config.score]
    return score.explain(query, key, trace.plain_parameters(score), limit)


def find_exact_score(trace: Computed, cell: Cell) -> float:
    """Return the score of the cell's query and key without rounding: computed in float64."""
    e, head = trace.experiment, cell.head or 0
    score = SCORES[e.config.score]
    query = trace[source(e, "scores")][head : head + 1, cell.row : cell.row + 1]
    key = trace[source(e, "scores", 1)][head : head + 1, cell.column : cell.column + 1]
    return float(score.apply(_widest(query), _widest(key), _in_float64(trace, score)))


def _widest(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", torch.float64)


def _in_float64(trace: Computed, entry: Entry) -> dict[str, Any]:
    given = trace.plain_parameters(entry)
    return {key: torch.as_tensor(value) if isinstance(value, np.ndarray) else value for key, value in given.items()}


def scores(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a score: one query and one key."""
    result = result_line(trace, cell, find_exact_score(trace, cell))
    return make_explanation(trace, cell, *_score_lines(trace, cell, limit), result)


def _explain_scaled(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    e = trace.experiment
    before, after = value_of(trace, cell, "scores"), value_of(trace, cell, "scaled")
    sizes = {"sqrt_d_k": f"√{e.d_k}", "sqrt_d_model": f"√{e.d_model}"}
    divisor = float(e.divisor or 1)
    root = sizes.get(str(e.config.scale))
    digits = decimals_for([before], lambda x: float(x[0]) / divisor)
    if root is None:
        digits = decimals_for([before, divisor], lambda x: float(x[0] / x[1]))
    quotient = f" = {number(before, digits)} ÷ {root or short(divisor, digits)}"
    return (line("scaled ", _strong(after), quotient, describe_rounding(after, before / divisor, dtype_name(trace))),)


def _explain_biased(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    e = trace.experiment
    position = POSITIONS[e.config.positions]
    before, after = value_of(trace, cell, source(e, "biased")), value_of(trace, cell, "biased")
    assert position.explain_bias is not None
    why = position.explain_bias(cell.head or 0, e.n_heads, cell.row, cell.column, trace.plain_parameters(position))
    digits = decimals_for([before, after - before], lambda x: float(x.sum()))
    sum_of = f" = {number(before, digits)} + {bracket(after - before, digits)}"
    return (line("biased ", _strong(after), sum_of), *why)


def _explain_capped(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    e = trace.experiment
    cap = float(e.config.option("soft_cap"))
    before, after = value_of(trace, cell, source(e, "capped")), value_of(trace, cell, "capped")
    digits = decimals_for([before, cap], lambda x: float(x[1] * np.tanh(x[0] / x[1])))
    limit = short(cap, digits)
    written = f" = {limit} · tanh({number(before, digits)} ÷ {limit})"
    return (
        line(
            "capped ", _strong(after), written, describe_rounding(after, cap * np.tanh(before / cap), dtype_name(trace))
        ),
    )


_STEPS: dict[str, Callable[[Computed, Cell], tuple[Line, ...]]] = {
    "scaled": _explain_scaled,
    "biased": _explain_biased,
    "capped": _explain_capped,
}


def _chain(trace: Computed, cell: Cell, limit: int | None, name: str) -> tuple[Line, ...]:
    """Return the computation that leads to a stage of this cell: one line per stage, the score last."""
    lines: list[Line] = []
    while name != "scores":
        if name in _STEPS:
            lines += _STEPS[name](trace, cell)
        name = source(trace.experiment, name)
    first, *rest = _score_lines(trace, cell, limit)
    result = result_line(trace, cell, find_exact_score(trace, cell), "scores")
    return (*lines, line("score ", first), *rest, result)


def scaled(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a scaled score: the score divided by the scale."""
    return make_explanation(trace, cell, *_chain(trace, cell, limit, "scaled"))


def biased(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a score plus the bias of the position scheme."""
    return make_explanation(trace, cell, *_chain(trace, cell, limit, "biased"))


def capped(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a score after the soft cap."""
    return make_explanation(trace, cell, *_chain(trace, cell, limit, "capped"))


_FILLED = {"-inf": "−∞", "-1e9": "−1e9", "0": "0"}
EMPTY_ROW = line("every key of this row is masked")


def masked(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a masked score: why it is hidden, or that it stays."""
    e = trace.experiment
    reason = masks.reasons(e, cell.row, cell.column)
    if reason:
        fill = Span(_FILLED[e.config.option("fill")], style="strong")
        beyond = e.config.option("fill") != "-inf" and value_of(trace, cell) == -np.inf
        filled = line("= ", fill, f", which is beyond {dtype_name(trace)} and becomes −∞" if beyond else "")
        return make_explanation(trace, cell, line(reason), filled)
    stays = line(Span("allowed: unchanged", style="muted"))
    return make_explanation(trace, cell, stays, *_chain(trace, cell, limit, "masked"))


def weights(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a weight: the row of scores, normalised."""
    e = trace.experiment
    hidden = trace.hidden if "masked" in trace else None
    fill = e.config.option("fill")
    if hidden is not None and fill == "-inf" and bool(hidden[cell.row].all()):
        return make_explanation(trace, cell, EMPTY_ROW, line("= ", Span("0", style="strong")))
    lines = write_normalizer(trace, cell, limit)
    reason = masks.reasons(e, cell.row, cell.column) if hidden is not None else ""
    if not reason:
        return make_explanation(trace, cell, *lines, *_chain(trace, cell, limit, "weights"))
    empty = hidden is not None and bool(hidden[cell.row].all())
    said = say_filled(trace, cell)
    return make_explanation(trace, cell, *(said[:1] if empty else (line(reason),)), *lines, *said[empty:])


def say_filled(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    """Return what is odd about the weight of a masked key that is filled with a number, in sentences."""
    fill, hidden = trace.experiment.config.option("fill"), trace.hidden
    said: list[Line] = []
    if hidden is None or not bool(hidden[cell.row, cell.column]):
        return ()
    if bool(hidden[cell.row].all()):
        alike = f"every key of this row is masked, but all its scores are {_FILLED[fill]}, so all keys get equal weight"
        said.append(line(alike))
    if fill == "0" and value_of(trace, cell) != 0:
        said.append(line(Span("a score of 0 does not mean none: it gets a weight like any other", style="muted")))
    return tuple(said)


def prepare_row(trace: Computed, cell: Cell) -> tuple[Floats, dict[str, Any], tuple[Line, ...]]:
    """Return what the normaliser receives: the row of the cell, the options, and lines that say what was done first.

    The row has one number more with a sink.
    """
    e = trace.experiment
    normalizer = NORMALIZERS[e.config.normalizer]
    logits = trace[source(e, "weights")][cell.head or 0, cell.row]
    p = {**trace.plain_parameters(normalizer), "finfo": torch.finfo(trace.dtype)}
    lines: list[Line] = []
    if normalizer.tempered and p["temperature"] != 1:
        logits = logits / p["temperature"]  # in the trace's dtype, where it may overflow
        lines.append(line("all scores ÷ temperature ", Span(short(p["temperature"]), style="strong")))
    row = logits.to("cpu").double().numpy()
    if e.config.option("sink"):
        sink = number_of(trace, e.weights.extra["sinks"][cell.head or 0])
        row = np.append(row, sink)
        lines.append(line("the sink adds the score ", Span(short(sink), style="strong")))
    return row, p, tuple(lines)


def write_normalizer(trace: Computed, cell: Cell, limit: int | None) -> tuple[Line, ...]:
    """Return the weight of a cell of the weights as the normaliser computes it from the row of scores."""
    normalizer = NORMALIZERS[trace.experiment.config.normalizer]
    row, p, lines = prepare_row(trace, cell)
    written = normalizer.explain(row, cell.column, p, limit)
    exact = float(
        normalizer.apply(torch.from_numpy(row)[None, None], _in_float64(trace, normalizer))[0, 0, cell.column]
    )
    result = result_line(trace, cell, exact, "weights")
    rounded = len(result) > 2 and all(plain(each) != plain(result[:2]) for each in written)
    return (*lines, *written, *([result] if rounded else []))


def zeroed(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a weight that is masked after softmax, or one that stays although its row no longer sums to 1."""
    reason = masks.reasons(trace.experiment, cell.row, cell.column)
    before = value_of(trace, cell, "weights")
    if reason:
        alone = NORMALIZERS[trace.experiment.config.normalizer].alone
        then = "; the other weights do not depend on it" if alone else " too late: the row no longer sums to 1"
        late = line(Span(f"its weight {number(before)} is set to 0{then}", style="muted"))
        hidden = trace.hidden
        empty = hidden is not None and bool(hidden[cell.row].all())
        nothing = (EMPTY_ROW,) if empty else ()
        return make_explanation(trace, cell, *nothing, line(reason), line("= ", Span("0", style="strong")), late)
    total = float(trace.array("zeroed")[cell.head or 0, cell.row].sum())
    return make_explanation(
        trace, cell, line("weight ", _strong(before), " stays"), line(f"the row sums to {number(total)}")
    )


def dropped(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a weight after dropout."""
    e = trace.experiment
    share = e.config.option("dropout")
    before, after = value_of(trace, cell, source(e, "dropped")), value_of(trace, cell)
    if before == 0:
        first = line("its weight is already 0, dropped or not")
    elif after == 0:
        first = line(f"dropped: its weight {number(before)} is set to 0 with this seed")
    else:
        digits = decimals_for([before, share], lambda x: float(x[0] / (1 - x[1])))
        first = line(
            f"kept: {number(before, digits)} ÷ (1 − {short(share, digits)}) = ",
            _strong(after),
            describe_rounding(after, before / (1 - share), dtype_name(trace)),
        )
    total = float(trace.array("dropped")[cell.head or 0, cell.row].sum())
    return make_explanation(trace, cell, first, line(f"the row sums to {number(total)}"))


def context(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a context number: a column of the values, mixed by a row of weights."""
    e, head = trace.experiment, cell.head or 0
    if head in e.config.ablated:
        return make_explanation(trace, cell, line(f"head {head} is switched off: its context is set to 0"))
    row = trace.array(source(e, "context"))[head, cell.row]
    column = trace.array("values")[head, :, cell.column]
    return make_explanation(
        trace,
        cell,
        line(Span("weights", "attention"), " of this row · ", Span("values", "value"), f", column {cell.column}"),
        line("= ", products(row, column, ("attention", "value"), limit)),
        result_line(trace, cell, float(np.dot(row.astype(float), column.astype(float)))),
    )


def _name_column(trace: Computed, column: int) -> str:
    """Return which column of the context a column of the merged heads is; a single head is not named."""
    head, own = divmod(column, trace.experiment.d_v)
    whose = f"head {head}, " if trace.experiment.n_heads > 1 else ""
    return f"{whose}column {own} of the context"


def merged(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of the merged heads: its head and column."""
    whose = line(_name_column(trace, cell.column))
    return make_explanation(trace, cell, whose, line("= ", _strong(value_of(trace, cell))))


def output(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain an output number: the concatenated heads times a column of W_o."""
    e = trace.experiment
    side_by_side = trace.array("context")[:, cell.row].reshape(-1).astype(float)
    bias = 0.0 if e.weights.b_o is None else number_of(trace, e.weights.b_o[cell.column])
    if e.weights.W_o is None:
        exact = float(side_by_side[cell.column]) + bias
        digits = decimals_for([side_by_side[cell.column], bias], lambda x: float(x.sum()))
        lines = [line(_name_column(trace, cell.column))]
        if e.weights.b_o is not None:
            lines.append(line("= ", short(side_by_side[cell.column], digits)))
    else:
        w = numbers_of(trace, e.weights.W_o[:, cell.column])
        exact = float(np.dot(side_by_side, w)) + bias
        digits = decimals_of_products(side_by_side, w, bias)
        lines = [line("concatenated heads · W", Span("o", style="sub"), f", column {cell.column}")]
        lines.append(line("= ", products(side_by_side, w, ("attention", ""), limit, digits)))
    if e.weights.b_o is not None:
        lines.append(line("+ bias ", bracket(bias, digits)))
    return make_explanation(trace, cell, *lines, result_line(trace, cell, exact))

"""Explain cells of the stages from scores to output as arithmetic with their numbers."""

from collections.abc import Callable

import numpy as np
import torch

from attnlab.attention.registries import masks
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import Line, Span, line, number, products, short, signed
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import Cell, Explanation, make_explanation, number_of, numbers_of, value_of
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


def scores(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a score: one query and one key."""
    lines = _score_lines(trace, cell, limit)
    return make_explanation(trace, cell, *lines, line("= ", _strong(value_of(trace, cell))))


def _scaled_lines(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    e = trace.experiment
    before, after = value_of(trace, cell, "scores"), value_of(trace, cell, "scaled")
    sizes = {"sqrt_d_k": f"√{e.d_k}", "sqrt_d_model": f"√{e.d_model}"}
    divisor = sizes.get(str(e.config.scale)) or short(e.divisor or 1)
    return (line("scaled ", _strong(after), f" = {number(before)} ÷ {divisor}"),)


def _biased_lines(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    e = trace.experiment
    position = POSITIONS[e.config.positions]
    before, after = value_of(trace, cell, source(e, "biased")), value_of(trace, cell, "biased")
    assert position.explain_bias is not None
    why = position.explain_bias(cell.head or 0, e.n_heads, cell.row, cell.column, trace.plain_parameters(position))
    return (line("biased ", _strong(after), f" = {number(before)} + {signed(after - before)}"), *why)


def _capped_lines(trace: Computed, cell: Cell) -> tuple[Line, ...]:
    e = trace.experiment
    cap = short(e.config.option("soft_cap"))
    before, after = value_of(trace, cell, source(e, "capped")), value_of(trace, cell, "capped")
    return (line("capped ", _strong(after), f" = {cap} · tanh({number(before)} ÷ {cap})"),)


_STEPS: dict[str, Callable[[Computed, Cell], tuple[Line, ...]]] = {
    "scaled": _scaled_lines,
    "biased": _biased_lines,
    "capped": _capped_lines,
}


def _chain(trace: Computed, cell: Cell, limit: int | None, name: str) -> tuple[Line, ...]:
    """Return the computation that leads to a stage of this cell: one line per stage, the score last."""
    lines: list[Line] = []
    while name != "scores":
        if name in _STEPS:
            lines += _STEPS[name](trace, cell)
        name = source(trace.experiment, name)
    first, *rest = _score_lines(trace, cell, limit)
    return (*lines, line("score ", first), *rest, line(f"= {number(value_of(trace, cell, 'scores'))}"))


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


def masked(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a masked score: why it is hidden, or that it stays."""
    e = trace.experiment
    reason = masks.reasons(e, cell.row, cell.column)
    if reason:
        fill = Span(_FILLED[e.config.option("fill")], style="strong")
        beyond = e.config.option("fill") != "-inf" and value_of(trace, cell) == -np.inf
        dtype = str(trace.dtype).removeprefix("torch.")
        filled = line("= ", fill, f", which is beyond {dtype} and becomes −∞" if beyond else "")
        return make_explanation(trace, cell, line(reason), filled)
    stays = line(Span("allowed: unchanged", style="muted"))
    return make_explanation(trace, cell, stays, *_chain(trace, cell, limit, "masked"))


def weights(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a weight: the row of scores, normalised."""
    e = trace.experiment
    hidden = trace.hidden if "masked" in trace else None
    fill = e.config.option("fill")
    if hidden is not None and fill == "-inf" and bool(hidden[cell.row].all()):
        nothing = line("every key of this row is masked")
        return make_explanation(trace, cell, nothing, line("= ", Span("0", style="strong")))
    lines = _normalizer_lines(trace, cell, limit)
    reason = masks.reasons(e, cell.row, cell.column) if hidden is not None else ""
    if not reason:
        return make_explanation(trace, cell, *lines, *_chain(trace, cell, limit, "weights"))
    if fill == "0" and value_of(trace, cell) != 0:
        lines = (*lines, line(Span("a score of 0 does not mean none: it gets a weight like any other", style="muted")))
    if hidden is not None and bool(hidden[cell.row].all()):
        alike = f"every key of this row is masked, but all its scores are {_FILLED[fill]}, so all keys get equal weight"
        return make_explanation(trace, cell, line(alike), *lines)
    return make_explanation(trace, cell, line(reason), *lines)


def _normalizer_lines(trace: Computed, cell: Cell, limit: int | None) -> tuple[Line, ...]:
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
    return (*lines, *normalizer.explain(row, cell.column, p, limit))


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
        nothing = (line("every key of this row is masked"),) if empty else ()
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
        first = line(f"kept: {number(before)} ÷ (1 − {short(share)}) = ", _strong(after))
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
        line("= ", _strong(value_of(trace, cell))),
    )


def merged(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of the merged heads: its head and column."""
    head, column = divmod(cell.column, trace.experiment.d_v)
    whose = line(f"head {head}, column {column} of the context")
    return make_explanation(trace, cell, whose, line("= ", _strong(value_of(trace, cell))))


def output(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain an output number: the concatenated heads times a column of W_o."""
    e = trace.experiment
    side_by_side = trace.array("context")[:, cell.row].reshape(-1)
    if e.weights.W_o is None:
        head, column = divmod(cell.column, e.d_v)
        lines = [line(Span(f"head {head}, column {column} of the context", style="muted"))]
        lines.append(line("= ", short(side_by_side[cell.column])))
    else:
        w = numbers_of(trace, e.weights.W_o[:, cell.column])
        lines = [line("concatenated heads · W", Span("o", style="sub"), f", column {cell.column}")]
        lines.append(line("= ", products(side_by_side, w, ("attention", ""), limit)))
    if e.weights.b_o is not None:
        lines.append(line("+ bias ", signed(number_of(trace, e.weights.b_o[cell.column]))))
    return make_explanation(trace, cell, *lines, line("= ", _strong(value_of(trace, cell))))

"""Explain cells of inputs, queries, keys and values as arithmetic with their numbers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.arithmetic import (
    Floats,
    Line,
    Span,
    bracket,
    decimals_for,
    decimals_of_products,
    line,
    number,
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
from attnlab.attention.stages.presence import find_last, source
from attnlab.base.counted import format_range

if TYPE_CHECKING:
    from torch import Tensor


def inputs(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain an input: the number given plus the encoding of its position."""
    e = trace.experiment
    if e.layer and (below := trace.below) is not None:
        return make_explanation(
            trace, cell, *_explain_given(trace, cell, below[find_last(below.experiment)], f"layer {e.layer}")
        )
    return make_explanation(trace, cell, *_explain_given(trace, cell, e.embeddings))


def memory(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of the second sequence: the number given plus the encoding of its position."""
    return make_explanation(trace, cell, *_explain_given(trace, cell, trace.experiment.memory))


def _explain_given(trace: Computed, cell: Cell, embeddings: "Tensor", origin: str = "") -> tuple[Line, ...]:
    given = number_of(trace, embeddings[cell.row, cell.column])
    position, said = POSITIONS[trace.experiment.config.positions], f"what leaves {origin}" if origin else "given"
    if position.encode is None:
        return (line(f"{said}: ", Span(short(given), style="strong")),)
    encoding = position.encode(embeddings.shape[0], embeddings.shape[1], trace.parameters(position))
    added, total = float(encoding[cell.row, cell.column]), value_of(trace, cell)
    digits = decimals_for([given, added], lambda x: float(x.sum()))
    rounded = describe_rounding(total, given + added, dtype_name(trace))
    return (
        line(
            f"what leaves {origin} + " if origin else "given + ",
            Span(f"{position.title} position {cell.row}", style="muted"),
        ),
        line(f"= {short(given, digits)} + {bracket(added, digits)} = ", Span(number(total), style="strong"), rounded),
    )


@dataclass(frozen=True, slots=True)
class Projection:
    """The numbers of one cell of X W + b: the token's row ``x``, the column ``w``, None for the identity, the bias.

    ``letter`` names the sequence; ``owned`` says which columns of W belong to the head.
    """

    x: Floats
    w: Floats | None
    column: int
    letter: str
    bias: float | None
    owned: tuple[Line, ...]


def find_projection(trace: Computed, cell: Cell, symbol: str) -> Projection:
    """Return the numbers of a query, key or value; ``symbol`` is q, k or v."""
    e = trace.experiment
    weight: Tensor | None = getattr(e.weights, f"W_{symbol}")
    bias: Tensor | None = getattr(e.weights, f"b_{symbol}")
    n_heads = e.n_heads if symbol == "q" else e.n_kv_heads
    head = (cell.head or 0) * n_heads // e.n_heads
    size = trace.array(cell.stage).shape[-1]
    column = head * size + cell.column
    given = source(e, cell.stage)
    owned: tuple[Line, ...] = ()
    if n_heads > 1:
        own = format_range("column", head * size, (head + 1) * size - 1)
        shared = f", which {e.n_heads // n_heads} query heads share" if n_heads < e.n_heads else ""
        owned = (line(Span(f"head {head} owns {own}{shared}", style="muted")),)
    return Projection(
        numbers_of(trace, trace[given][cell.row]),
        None if weight is None else numbers_of(trace, weight[:, column]),
        column,
        "m" if given == "memory" else "x",
        None if bias is None else number_of(trace, bias[column]),
        owned,
    )


def _explain_projection(trace: Computed, cell: Cell, limit: int | None, symbol: str, role: str) -> Explanation:
    """Explain a cell of X W + b; ``symbol`` is q, k or v."""
    found = find_projection(trace, cell, symbol)
    x, w, column, letter, bias = found.x, found.w, found.column, found.letter, found.bias
    added = bias or 0.0
    if w is None:
        exact = float(x[column]) + added
        digits = decimals_for([x[column], added], lambda values: float(values.sum()))
        lines = [line(Span(symbol, role), " = ", Span(letter), f"[{column}] = ", short(x[column], digits))]
        lines.append(line(Span(f"W_{symbol} is the identity: untrained", style="muted")))
    else:
        exact = float(np.dot(x, w)) + added
        digits = decimals_of_products(x, w, added)
        where = line(Span(f"W_{symbol}", role), f", column {column}")
        lines = [line(Span(symbol, role), " = ", letter, " · ", where)]
        lines.append(line("= ", products(x, w, ("", role), limit, digits)))
    if bias is not None:
        lines.append(line("+ bias ", Span(bracket(added, digits), role)))
    lines.append(result_line(trace, cell, exact))
    return make_explanation(trace, cell, *lines, *found.owned)


def queries(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a query: its token's inputs times a column of W_q."""
    return _explain_projection(trace, cell, limit, "q", "query")


def keys(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a key: its token's inputs times a column of W_k."""
    return _explain_projection(trace, cell, limit, "k", "key")


def values(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a value: its token's inputs times a column of W_v."""
    return _explain_projection(trace, cell, limit, "v", "value")


def _explain_normed(trace: Computed, cell: Cell, place: int) -> Explanation:
    e = trace.experiment
    norm, before = NORMS[e.config.qk_norm], trace.array(source(e, cell.stage))
    row = before[cell.head or 0, cell.row]
    p = trace.parameters(norm)
    lines = list(norm.explain(row, cell.column, p))
    assert norm.apply is not None
    exact = float(norm.apply(torch.tensor(row, dtype=torch.float64, device="cpu"), p)[cell.column])
    if norm.tables:
        table = norm.tables[place]
        gain = number_of(trace, e.weights.extra[table.name][cell.column])
        digits = decimals_for([exact, gain], lambda x: float(x[0] * x[1]))
        times = line(short(exact, digits), "·", Span(bracket(gain, digits), table.role))
        lines.append(line("times the gain ", Span(f"{table.name}[{cell.column}]", table.role), ": ", times))
        exact *= gain
    return make_explanation(trace, cell, *lines, result_line(trace, cell, exact))


def normed_queries(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of a normalised query."""
    return _explain_normed(trace, cell, 0)


def normed_keys(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of a normalised key."""
    return _explain_normed(trace, cell, 1)


def _explain_rotated(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    e = trace.experiment
    position = POSITIONS[e.config.positions]
    assert position.explain_rotated is not None
    assert position.rotate is not None
    before, p = trace.array(source(e, cell.stage))[cell.head or 0].astype(float), trace.plain_parameters(position)
    exact = float(position.rotate(torch.from_numpy(before)[None], p)[0, cell.row, cell.column])
    lines = position.explain_rotated(before[cell.row], cell.row, cell.column, p, limit)
    return make_explanation(trace, cell, *lines, result_line(trace, cell, exact))


def rotated_queries(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of a rotated query."""
    return _explain_rotated(trace, cell, limit)


def rotated_keys(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of a rotated key."""
    return _explain_rotated(trace, cell, limit)

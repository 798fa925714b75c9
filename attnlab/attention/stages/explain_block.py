"""Explain cells of residuals, norms and the feed-forward as arithmetic with their numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from attnlab.attention.registries import registry
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS, activate
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
    raise_powers,
    short,
)
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.evaluate_block import find_norm_tables, find_place
from attnlab.attention.stages.explanation import (
    Cell,
    Explanation,
    make_explanation,
    number_of,
    numbers_of,
    result_line,
    value_of,
)
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.steps import SHOWN

if TYPE_CHECKING:
    from attnlab.attention.experiment import AttentionConfig, Experiment

WORDS = {
    "inputs": "input",
    "output": "output",
    "residual": "residual",
    "normed_residual": "normed residual",
    "activated": "activated",
    "feed_forward": "feed-forward",
}
MAPS = {"gates": ("W_gate", ""), "hidden": ("W_1", "b_1"), "feed_forward": ("W_2", "b_2")}
"""The matrix and the bias of each linear map of the feed-forward."""


def find_tables(e: "Experiment", stage: str) -> tuple[str, ...]:
    """Return the names of the tables of entries that a stage of a block is computed with; none for other stages."""
    used = registry.tables(e.config)
    return (*(name for name in MAPS.get(stage, ()) if name in used), *find_norm_tables(e, stage))


def list_unused_tables(e: "Experiment", stages: Iterable[str]) -> set[str]:
    """Return the tables of the block that none of the stages is computed with."""
    names = {table.name for entry in (*BLOCK_NORMS.values(), *FEED_FORWARDS.values()) for table in entry.tables}
    return names.difference(*(find_tables(e, stage) for stage in stages))


@dataclass(frozen=True, slots=True)
class Map:
    """The numbers of one cell of x W + b: the row x, the column of W, the bias, None for none, and their names."""

    x: Floats
    w: Floats
    bias: float | None
    source: str
    matrix: str


def find_map(trace: Computed, cell: Cell) -> Map:
    """Return the numbers of a cell of a linear map of the feed-forward."""
    e, (matrix, bias) = trace.experiment, MAPS[cell.stage]
    given, used = source(e, cell.stage), bias in registry.tables(e.config)
    return Map(
        trace.array(given)[cell.row].astype(np.float64),
        numbers_of(trace, e.weights.extra[matrix][:, cell.column]),
        number_of(trace, e.weights.extra[bias][cell.column]) if used else None,
        WORDS[given],
        matrix,
    )


def linear_map(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of the gates, of the hidden numbers or of the feed-forward: a row times a column of a matrix."""
    found = find_map(trace, cell)
    digits = decimals_of_products(found.x, found.w, found.bias or 0.0)
    with np.errstate(all="ignore"):
        exact = float(np.dot(found.x, found.w)) + (found.bias or 0.0)
    lines = [
        line(f"{found.source} · {found.matrix}, column {cell.column}"),
        line("= ", products(found.x, found.w, ("", ""), limit, digits)),
    ]
    if found.bias is not None:
        lines.append(line("+ bias ", bracket(found.bias, digits)))
    return make_explanation(trace, cell, *lines, result_line(trace, cell, exact))


def residual(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of a residual: what was there before plus what a part of the block adds."""
    e = trace.experiment
    names = [source(e, cell.stage, place) for place in (0, 1)]
    before, added = (value_of(trace, cell, name) for name in names)
    digits = decimals_for([before, added], lambda x: float(x.sum()))
    return make_explanation(
        trace,
        cell,
        line(" + ".join(WORDS[name] for name in names)),
        line(f"= {short(before, digits)} + {bracket(added, digits)}"),
        result_line(trace, cell, before + added),
    )


@dataclass(frozen=True, slots=True)
class NormedNumber:
    """The row that a number is normalised with, its mean, 0 if none is subtracted, its size, and gain and shift."""

    row: Floats
    mean: float
    size: float
    gain: float
    shift: float
    place: int


def find_normed(trace: Computed, cell: Cell) -> NormedNumber:
    """Return what a normalised number is computed from."""
    config, extra = trace.experiment.config, trace.experiment.weights.extra
    norm, place = BLOCK_NORMS[config.block_norm], find_place(config.block, cell.stage)
    row = trace.array(source(trace.experiment, cell.stage))[cell.row].astype(np.float64)
    with np.errstate(all="ignore"):
        mean = float(row.mean()) if norm.is_centred else 0.0
        size = math.sqrt(float(np.square(row - mean).mean()) + config.option("norm_eps"))
    gain = number_of(trace, extra[f"gamma_{place}"][cell.column])
    shift = number_of(trace, extra[f"beta_{place}"][cell.column]) if norm.is_centred else 0.0
    return NormedNumber(row, mean, size, gain, shift, place)


def normed(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of a normalised row."""
    config = trace.experiment.config
    norm, found = BLOCK_NORMS[config.block_norm], find_normed(trace, cell)
    if not found.size:
        zero = line("the numbers of the row are equal and Norm ε is 0: it divides by 0")
        return make_explanation(trace, cell, zero, result_line(trace, cell, math.nan))
    given = (float(found.row[cell.column]), found.mean, found.size, found.gain, found.shift)
    digits = decimals_for(given, lambda x: float((x[0] - x[1]) / x[2] * x[3] + x[4]))
    x, centre, by, times, plus = (bracket(value, digits) for value in given)
    above = f"({short(given[0], digits)} − {centre})" if norm.is_centred else x
    written = line(f"= {above} ÷ {by} · {times}", f" + {plus}" if norm.is_centred else "")
    lines = _name_size(found.row, found.mean, found.size, digits, config)
    index = (Span(str(found.place), style="sub"), Span(f"[{cell.column}]"))
    names = line("x ÷ root mean square · γ", index)
    if norm.is_centred:
        names = line("(x − mean) ÷ standard deviation · γ", index, " + β", index)
    exact = (given[0] - found.mean) / found.size * found.gain + found.shift
    return make_explanation(trace, cell, *lines, names, written, result_line(trace, cell, exact))


def _name_size(row: Floats, mean: float, size: float, digits: int, config: "AttentionConfig") -> tuple[Line, ...]:
    """Return the mean of a row, if it is subtracted, and what the row is divided by; of short rows written out."""
    is_centred, eps = BLOCK_NORMS[config.block_norm].is_centred, config.option("norm_eps")
    what = "standard deviation" if is_centred else "root mean square"
    if len(row) > SHOWN or not np.isfinite(row).all():
        of_eps = f" (with ε = {eps:g})".replace("-", "−") if eps else ""
        divided = line(f"{what} of the row{of_eps} is ", Span(number(size, digits), style="strong"))
        return (line("mean of the row is ", Span(number(mean, digits), style="strong")), divided)[not is_centred :]
    n, square = len(row), float(np.square(row - mean).mean())
    places = decimals_for(row, lambda x: float(x.mean()))
    summed = " + ".join(bracket(x, places) for x in row)
    centre = line(f"mean of the row: ({summed}) ÷ {n} = ", Span(number(mean), style="strong"))
    places = decimals_for([*row, mean], lambda x: float(np.square(x[:n] - (x[n] if is_centred else 0)).mean()))
    minus = f" − {bracket(mean, places)}" if is_centred else ""
    squares = " + ".join(f"({short(x, places)}{minus})^{{2}}" for x in row)
    squared = raise_powers(f"mean square: ({squares}) ÷ {n} = {number(square)}")
    places = decimals_for([square, eps], lambda x: float(np.sqrt(x.sum())))
    root = f"√({short(square, places)} + {short(eps, places)})"
    rooted = line(f"{what}: {root} = ", Span(number(size), style="strong"))
    return (centre, squared, rooted)[not is_centred :]


def activated(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number after the activation: that of a hidden number, or that of a gate times the hidden number."""
    e = trace.experiment
    feed_forward = FEED_FORWARDS[e.config.feed_forward]
    x = value_of(trace, cell, source(e, "activated"))
    times = value_of(trace, cell, "hidden") if feed_forward.is_gated else None
    exact = float(activate(feed_forward, torch.tensor([x], dtype=torch.float64, device="cpu"))[0])
    exact *= 1.0 if times is None else times
    name = feed_forward.title if times is None else f"{feed_forward.title}: the activation of the gate times hidden"
    said = feed_forward.explain(x, times) if math.isfinite(x) else ()
    return make_explanation(trace, cell, line(name), *said, result_line(trace, cell, exact))

"""The maps of a computed stage with everything that is drawn on them: labels, scale, masks, sinks and dropped cells."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.axes import labels
from attnlab.attention.stages.evaluate import find_dropped
from attnlab.attention.stages.presence import is_gradient
from attnlab.attention.stages.table import Stage, kind_of
from attnlab.figures.map_data import MapData, floor_power
from attnlab.figures.scales import AUTOMATIC, Colouring, Scale, find_scale, find_sinks

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

SINK = "sink"
"""The label of the column with the share of the sink."""


def find_stage_scale(trace: "Trace", stage: Stage, head: int | str, colouring: Colouring = AUTOMATIC) -> Scale:
    """Return the colour scale of a stage, common to all heads unless the reader chose one for each.

    ``head`` is a head, "all" or "mean".
    """
    alone = colouring.each_head and head == "mean" and stage.has_heads
    array = trace.mean(stage.name) if alone else trace.array(stage.name)
    muted = find_muted(trace, stage, colouring)
    mask = trace.find_shown_mask(stage.name)
    scale = find_scale(array, kind_of(stage, trace.experiment), mask, colouring, muted=muted)
    return scale.of(head, head + 1) if isinstance(head, int) else scale


def make_stage_data(
    trace: "Trace",
    stage: Stage,
    values: NDArray[np.floating],
    scale: Scale,
    head: int | str,
    titles: tuple[str, ...] = (),
    colouring: Colouring = AUTOMATIC,
    unknown: NDArray[np.bool_] | None = None,
) -> MapData:
    """Return the maps ``values`` [n, rows, columns] of a stage: those of a head, of "all" heads, or the "mean"."""
    e = trace.experiment
    rows, columns = (labels(e, axis, n) for axis, n in zip(stage.axes[-2:], values.shape[1:], strict=True))
    data = MapData(
        values,
        kind_of(stage, e),
        scale,
        trace.find_shown_mask(stage.name),
        rows,
        columns,
        titles,
        unknown=unknown,
        filled=trace.find_filled(stage.name),
        dropped=_choose_dropped(trace, stage, head),
        muted=find_muted(trace, stage, colouring),
        exponent=find_exponent(trace, stage),
    )
    return _add_sink(data) if stage.name == "weights" and e.config.option("sink") else data


_SMALL, _SMALL_LOSS = 0.1, 1e-3
"""Gradients and losses below these are written in a power of ten."""


def find_exponent(trace: "Trace", stage: Stage) -> int | None:
    """Return the power of ten in which the numbers of a gradient or a loss are written: 0 unless all are small.

    Other stages have None.
    """
    if not is_gradient(stage.name) and stage.name != "loss":
        return None
    return choose_exponent(trace.array(stage.name), _SMALL_LOSS if stage.name == "loss" else _SMALL)


def choose_exponent(values: NDArray[np.floating], small: float = _SMALL) -> int:
    """Return the power of ten in which derivatives are written: that of the largest if it is ``small``, else 0."""
    sizes = np.abs(values)
    largest = float(sizes[np.isfinite(sizes)].max(initial=0.0))
    return floor_power(largest) if 0 < largest < small else 0


def find_muted(trace: "Trace", stage: Stage, colouring: Colouring) -> tuple[int, ...]:
    """Return the columns of a stage that are grey."""
    return find_sinks(trace.experiment.key_tokens) if colouring.mute_sinks and stage.axes[-1] == "key" else ()


def _choose_dropped(trace: "Trace", stage: Stage, head: int | str) -> NDArray[np.bool_] | None:
    """Return which weights dropout has set to 0 on the maps shown; None on other stages and for a mean."""
    if stage.name != "dropped" or (head == "mean" and trace.experiment.n_heads > 1):
        return None
    dropped = find_dropped(trace.experiment).numpy()
    mask = trace.find_shown_mask(stage.name)
    dropped = dropped if mask is None else dropped & ~mask
    return dropped[head : head + 1] if isinstance(head, int) else dropped


def _add_sink(data: MapData) -> MapData:
    """Return maps of weights with one more column, the sink: what each row lacks to sum to 1."""
    return replace(
        data,
        values=np.concatenate([data.values, find_sink_share(data.values)[..., None]], -1),
        column_labels=(*data.column_labels, SINK),
        masked=_widen(data.masked),
        filled=_widen(data.filled),
        aside=1,
    ).cover(data.unknown)


def find_sink_share(weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return what rows of weights [..., keys] lack of 1, which the sink has taken."""
    share: NDArray[np.floating] = np.maximum(1 - weights.sum(-1, dtype=np.float64), 0).astype(weights.dtype)
    return share


def _widen(cells: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    return None if cells is None else np.concatenate([cells, np.zeros((*cells.shape[:-1], 1), bool)], -1)

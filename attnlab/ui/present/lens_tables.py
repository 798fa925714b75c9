"""The lenses that are tables, as values for a slide: statistics of rows or heads, and number formats."""

import math
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.stages.arithmetic import number
from attnlab.figures.slides.lens_content import Column, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attnlab.attention.measures.statistics import WeightsStatistics
    from attnlab.attention.stages.trace import Trace

_POWERS = -8.0, 0.0
"""The powers of ten over which a difference is tinted, as in the lens of the window."""


def make_statistics(trace: "Trace") -> Table:
    """Return a line for each row of weights, or with several heads one for each head: the mean of its rows."""
    from attnlab.attention.measures.statistics import statistics_of

    e = trace.experiment
    if e.n_heads > 1:
        s = statistics_of(trace, "weights", "all")
        first = Column("head", tuple(map(str, range(e.n_heads))))
        sentence = "Each head: the mean of its rows of weights."
        return Table((first, *_make_measures({name: s.mean(name) for name in _MEASURES}, e.T_k)), sentence)
    s = statistics_of(trace, "weights", 0)
    first = Column("query", tuple(token or "∅" for token in e.tokens))
    columns = _make_measures({name: getattr(s, name).ravel() for name in _MEASURES}, e.T_k)
    return Table((first, *columns, _make_strongest(s, trace)), "Each row of weights in numbers.")


_MEASURES = {"total": "sum", "entropy": "entropy", "effective": "effective tokens", "largest": "largest"}


def _make_measures(values: "dict[str, NDArray[np.floating]]", most: int) -> list[Column]:
    """Return a column for each measure, effective tokens with bars from 0 to the number of keys."""
    found = []
    for name, title in _MEASURES.items():
        cells = tuple(number(float(value)) for value in values[name])
        bars = tuple(_find_share(float(value), most) for value in values[name]) if name == "effective" else ()
        found.append(Column(title, cells, bars=bars, role="attention", right=True))
    return found


def _find_share(value: float, most: int) -> float:
    return min(max(value / max(most, 1), 0.0), 1.0) if math.isfinite(value) else 0.0


def _make_strongest(s: "WeightsStatistics", trace: "Trace") -> Column:
    from attnlab.attention.measures.statistics import name_strongest

    keys, found = trace.experiment.key_tokens, zip(s.strongest.ravel().tolist(), s.tied.ravel().tolist(), strict=True)
    return Column("strongest", tuple(name_strongest(keys, key, tied) for key, tied in found))


def make_precision(trace: "Trace") -> Table:
    """Return the largest difference of every stage from float64 in each format. Computes the experiment four times."""
    from attnlab.compute.precision import FORMATS, compare_formats, format_difference, summarize

    found = compare_formats(trace.experiment)
    titles = {each.stage: each.title for each in found}
    measured = {(each.stage, each.format): each.absolute for each in found}
    columns = [Column("largest difference from float64", tuple(titles.values()))]
    for name in FORMATS:
        values = [measured.get((stage, name), math.nan) for stage in titles]
        tints = tuple(map(_find_tint, values))
        columns.append(Column(name, tuple(map(format_difference, values)), tints=tints, right=True))
    return Table(tuple(columns), summarize(found))


def _find_tint(value: float) -> float:
    if not math.isfinite(value):
        return 0.0 if math.isnan(value) else 1.0
    low, high = _POWERS
    return 0.0 if value <= 0 else min(max((math.log10(value) - low) / (high - low), 0.0), 1.0)

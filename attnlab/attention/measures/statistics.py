"""Statistics of weights and stages: entropy, targets and distances of rows, ranges of stages, and cards' summaries."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.stages.arithmetic import Floats, number, short

if TYPE_CHECKING:
    from attnlab.attention.stages.table import Stage
    from attnlab.attention.stages.trace import Trace

_LEAST = 5e-324
"""The smallest positive float64: 0 · log(_LEAST) is 0, the limit of w · log w."""
_SMALL = 4096
"""Weights of up to this size fit the processor's cache with all their heads."""


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """Statistics of one row: entropy in nats, ``most`` its maximum (even weights), ``effective`` tokens exp(entropy).

    Entropy, effective tokens and distance are NaN if weights are negative, ∞ or NaN; ``strongest`` is None if there is
    no target, and the first of ``tied`` keys that have the largest weight. ``distance`` is the average distance of the
    attended tokens, NaN if the query's position is unknown.
    """

    total: float
    entropy: float
    most: float
    effective: float
    strongest: int | None
    largest: float = math.nan
    distance: float = math.nan
    tied: int = 1


@dataclass(frozen=True, slots=True)
class WeightsStatistics:
    """The fields of :class:`RowStatistics` for every row of a map of weights, arrays [h, T_q] (or [T_q]).

    ``strongest`` is −1 for a row without a target, where ``tied`` is 1; undefined values are NaN.
    """

    total: NDArray[np.float64]
    entropy: NDArray[np.float64]
    most: NDArray[np.float64]
    effective: NDArray[np.float64]
    largest: NDArray[np.float64]
    strongest: NDArray[np.int64]
    distance: NDArray[np.float64]
    tied: NDArray[np.int64]

    def mean(self, name: str) -> NDArray[np.float64]:
        """Return the mean of a statistic over the rows of each head that have a target and a defined value, [h]."""
        values = getattr(self, name)
        counted = (self.strongest >= 0) & ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):  # a head without any such row has no mean: NaN
            return np.asarray(np.where(counted, values, 0.0).sum(-1) / counted.sum(-1))


@dataclass(frozen=True, slots=True)
class StageSummary:
    """The range and mean of a stage's finite numbers (NaN if there are none), and the counts of NaN and ∞."""

    shape: tuple[int, ...]
    smallest: float
    largest: float
    mean: float
    nans: int
    infinities: int


def row_statistics(row: Floats, allowed: int, query: int | None = None) -> RowStatistics:
    """Return the statistics of one row of weights [T_k], the row of ``query``, which sees ``allowed`` keys."""
    weights = np.asarray(row, dtype=np.float64)
    away = np.full(len(weights), math.nan) if query is None else np.abs(np.arange(len(weights)) - float(query))
    s = _describe(weights, away, np.asarray(allowed))
    return RowStatistics(
        float(s.total),
        float(s.entropy),
        float(s.most),
        float(s.effective),
        int(s.strongest) if s.strongest >= 0 else None,
        float(s.largest),
        float(s.distance),
        int(s.tied),
    )


def name_strongest(keys: Sequence[str], strongest: int | None, tied: int) -> str:
    """Return the key with the largest weight of a row in words: "cat", "cat and 2 more tie", or "none".

    ``strongest`` is its index, None or negative for none, and ``tied`` how many keys have that weight.
    """
    if strongest is None or strongest < 0:
        return "none"
    name = keys[strongest] or "∅"
    return f"{name} and {tied - 1} more tie" if tied > 1 else name


def weights_statistics(weights: Floats, allowed: NDArray[np.bool_] | None = None) -> WeightsStatistics:
    """Return the statistics of every row of weights [h, T_q, T_k] or [T_q, T_k].

    ``allowed`` [T_q, T_k] is True where a query may attend; None means everywhere. The entropy is that of w ÷ Σ w,
    and the effective number of tokens its exponential, the perplexity. The distance is Σ w·|i − j| ÷ Σ w
    over the indices i of the query and j of the key (Vig and Belinkov, 2019, arXiv:1906.04284).
    """
    queries, keys = weights.shape[-2:]
    away = np.abs(np.subtract.outer(np.arange(queries, dtype=np.float64), np.arange(keys, dtype=np.float64)))
    count = np.full(queries, keys) if allowed is None else allowed.sum(-1)
    if weights.ndim == 2 or weights.size <= _SMALL:
        return _describe(np.asarray(weights, dtype=np.float64), away, count)
    # one head at a time fits the processor's cache, which halves the time
    heads = [_describe(np.asarray(head, dtype=np.float64), away, count) for head in weights]
    return WeightsStatistics(*(np.stack([getattr(head, f.name) for head in heads]) for f in fields(WeightsStatistics)))


def _describe(w: NDArray[np.float64], away: NDArray[np.float64], allowed: NDArray[np.integer]) -> WeightsStatistics:
    """Return the statistics of rows [..., T_k]: ``away`` are distances to the keys, ``allowed`` counts visible keys."""
    with np.errstate(all="ignore"):  # overflow and division by 0 give NaN, as documented
        total, largest, least = w.sum(-1), w.max(-1), w.min(-1)
        finite = np.isfinite(total)  # False if a weight is ∞ or NaN
        has_target = finite & ((largest != 0) | (least != 0))
        shares = finite & (least >= 0)
        entropy = np.log(total) - _products(w, np.log(np.maximum(w, _LEAST))) / total
        entropy = np.where(shares, np.where(has_target, np.maximum(entropy, 0.0), 0.0), math.nan)
        effective = np.where(shares & ~has_target, 0.0, np.exp(entropy))
        distance = np.where(shares & has_target, _products(w, away) / total, math.nan)
        most = np.broadcast_to(np.log(np.maximum(allowed, 1)), total.shape)
        tied = np.where(has_target, (w == largest[..., None]).sum(-1), 1)
    strongest = np.where(has_target, w.argmax(-1), -1)
    return WeightsStatistics(total, entropy, most, effective, largest, strongest, distance, tied)


def _products(w: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("...k,...k->...", w, other))


def is_weights(stage: "Stage") -> bool:
    """Return whether a stage holds weights, with a row for each query."""
    return stage.role == "attention" and stage.axes[-2:] == ("query", "key")


def part(trace: "Trace", name: str, head: int | str) -> Floats:
    """Return one head of a stage, the "mean" of its heads or "all"; a stage without heads is returned unchanged."""
    if head == "all" or not trace.stage(name).has_heads:
        return trace.array(name)
    return trace.mean(name) if isinstance(head, str) else trace.array(name)[head]


def statistics_of(trace: "Trace", name: str, head: int | str) -> WeightsStatistics:
    """Return the statistics of the rows of a stage that holds weights, [h, T_q] for "all" heads, else [T_q]."""
    mask = trace.find_shown_mask(name)
    return weights_statistics(part(trace, name, head), None if mask is None else ~mask)


def stage_summary(trace: "Trace", name: str, head: int | str) -> StageSummary:
    """Return the summary of a stage; the −∞ of masked cells is ignored.

    Raises:
        KeyError: there is no such stage.
    """
    values, mask = part(trace, name, head), trace.find_shown_mask(name)
    nans, infinite = np.isnan(values), np.isinf(values)
    if mask is not None:
        infinite &= ~(mask & (values < 0))
    good = values if not (bad := ~np.isfinite(values)).any() else values[~bad]
    if good.size == 0:
        return StageSummary(trace.array(name).shape, math.nan, math.nan, math.nan, int(nans.sum()), int(infinite.sum()))
    with np.errstate(over="ignore"):
        mean = float(good.mean(dtype=np.float64))
    range_ = float(good.min()), float(good.max())
    return StageSummary(trace.array(name).shape, *range_, mean, int(nans.sum()), int(infinite.sum()))


def describe_stage(trace: "Trace", name: str, head: int | str) -> str:
    """Return one short line on a stage, for its card: statistics of its rows if it holds weights, otherwise its range.

    Raises:
        KeyError: there is no such stage.
    """
    summary = stage_summary(trace, name, head)
    pieces = (
        _describe_rows(statistics_of(trace, name, head)) if is_weights(trace.stage(name)) else _describe_range(summary)
    )
    pieces += [f"{summary.nans} NaN"] if summary.nans else []
    pieces += [f"{summary.infinities} ∞"] if summary.infinities else []
    return " · ".join(pieces)


def _describe_rows(s: WeightsStatistics) -> list[str]:
    sums = s.total[~np.isnan(s.total)]
    if sums.size == 0:
        return ["row sums NaN"]
    low, high = float(sums.min()), float(sums.max())
    even = number(low) == number(high)
    pieces = [f"row sums {number(low)}" if even else f"row sums {format_brief(low)} … {format_brief(high)}"]
    entropy, effective = (_mean_of_rows(s, name) for name in ("entropy", "effective"))
    if not math.isnan(entropy):
        pieces += [f"entropy {format_brief(entropy)}", f"{effective:.1f} tokens"]
    return pieces


def _mean_of_rows(s: WeightsStatistics, name: str) -> float:
    values = getattr(s, name)[s.strongest >= 0]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else math.nan


def _describe_range(summary: StageSummary) -> list[str]:
    if math.isnan(summary.smallest):
        return ["no finite number"]
    return [f"{format_brief(summary.smallest)} … {format_brief(summary.largest)}", f"mean {format_brief(summary.mean)}"]


def format_brief(value: float) -> str:
    """Return a number with two decimals, or with as many as needed if it would be shown as 0."""
    if not math.isfinite(value) or 0 < abs(value) < 0.01:
        return number(value)
    return short(round(value, 2))

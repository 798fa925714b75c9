"""Compares number formats: computes one experiment in each of them and measures every stage's error from float64."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.statistics import is_weights
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import DeviceError
from attnlab.base.number_text import trim_exponent
from attnlab.compute.engine import check_size, compute

FORMATS = ("float32", "bfloat16", "float16")
"""The formats that are compared with float64, the most precise first."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The errors of one stage in one format, compared with the same stage in float64.

    ``title`` is the stage's. ``absolute`` and ``relative`` are the largest errors of all cells that are finite in both
    formats, the relative one of those that are not 0 in float64; NaN if there are none. ``moved`` of ``rows`` rows have
    another strongest target; None if the stage does not hold weights. ``non_finite`` counts NaN and ∞, except the −∞
    of the mask that both formats share.
    """

    stage: str
    title: str
    format: str
    absolute: float
    relative: float
    moved: int | None
    rows: int
    non_finite: int


def compare_formats(e: Experiment, formats: tuple[str, ...] = FORMATS) -> tuple[Difference, ...]:
    """Compute an experiment on the CPU in float64 and in each format, and compare them stage by stage.

    Raises:
        DeviceError: a format is unknown, the experiment is too large, or the CPU cannot compute it in a format.
    """
    check_size(e, "float64")
    exact = compute(e, "cpu", "float64")
    found: list[Difference] = []
    for name in formats:
        try:
            trace = compute(e, "cpu", name)
            found += [_compare_stage(exact, trace, stage, name) for stage in trace.all_stages]
        except (RuntimeError, MemoryError, NotImplementedError) as error:  # torch's errors for an unsupported format
            sentence = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DeviceError(f"The CPU could not compute this in {name}: {sentence}") from None
    return tuple(found)


def _compare_stage(exact: Trace, trace: Trace, stage: str, name: str) -> Difference:
    wanted = exact.array(stage).astype(np.float64)
    got = trace.array(stage).astype(np.float64)
    both = np.isfinite(wanted) & np.isfinite(got)
    gaps, sizes = np.abs(got[both] - wanted[both]), np.abs(wanted[both])
    relative = gaps[sizes > 0] / sizes[sizes > 0]
    shared = (got == -np.inf) & (wanted == -np.inf)
    moved = _count_moved(wanted, got) if is_weights(trace.stage(stage)) else None
    return Difference(
        stage,
        trace.stage(stage).title,
        name,
        float(gaps.max(initial=0.0)) if gaps.size else math.nan,
        float(relative.max()) if relative.size else math.nan,
        moved,
        math.prod(wanted.shape[:-1]),
        int((~np.isfinite(got) & ~shared).sum()),
    )


def _count_moved(wanted: NDArray[np.float64], got: NDArray[np.float64]) -> int:
    """Return the number of rows whose strongest key is no longer among the strongest; ties do not count."""
    with np.errstate(invalid="ignore"):
        there = np.take_along_axis(got, wanted.argmax(-1)[..., None], -1)[..., 0]
        kept = there >= got.max(-1)  # False if the row became NaN
    return int((np.isfinite(wanted).all(-1) & ~kept).sum())


def summarize(differences: tuple[Difference, ...]) -> str:
    """Return one sentence on the effect of the formats: changed strongest targets, overflow, or the largest error."""
    clauses = [
        clause for name in dict.fromkeys(d.format for d in differences) for clause in _clauses(differences, name)
    ]
    if clauses:
        return "; ".join(clauses) + "."
    finite = [d for d in differences if not math.isnan(d.absolute)]
    if not finite:
        return ""
    worst = max(finite, key=lambda d: d.absolute)
    if worst.absolute == 0:
        return "Every format gives the numbers of float64."
    return (
        "Every format keeps the strongest target of each row; "
        f"{worst.format} is furthest from float64, by {format_difference(worst.absolute)} in {worst.title}."
    )


def _clauses(differences: tuple[Difference, ...], name: str) -> list[str]:
    mine = [d for d in differences if d.format == name]
    said = []
    moved = next((d for d in mine if d.moved), None)
    if moved is not None:
        rows = f"{moved.rows} row" + ("s" if moved.rows != 1 else "")
        said.append(f"changes the strongest target of {moved.moved} of {rows}")
    overflow = next((d for d in mine if d.non_finite), None)
    if overflow is not None:
        said.append(f"overflows in {overflow.title}")
    return [f"{name} {' and '.join(said)}"] if said else []


def format_difference(value: float) -> str:
    """Return a difference with two digits, 3.1e−4; no difference is 0."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if value == 0:
        return "0"
    return trim_exponent(f"{value:.1e}").replace("-", "−")

"""The results of several runs as a table of values, as text and as CSV; and the range of their curves."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.base.counted import format_percent
from attnlab.base.number_text import four_decimals
from attnlab.training.messages import Metric
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec


@dataclass(frozen=True, slots=True)
class BestHead:
    """The head with the highest score for a pattern: the names of both, and the mean score on held-out examples."""

    pattern: str
    head: str
    score: float


@dataclass(frozen=True, slots=True)
class Result:
    """One run of several. ``status`` is that of the run; ``loss``, ``right`` and ``exact`` are the last on held-out
    examples, NaN without any; ``patterns`` are the best heads, empty for a model without attention."""

    name: str
    spec: RunSpec
    status: str
    step: int
    seconds: float
    loss: float
    right: float
    exact: float
    patterns: tuple[BestHead, ...] = ()


COLUMNS = ("run", "task", "model", "seed", "rate", "heads", "status", "steps", "seconds", "loss", "right", "exact")
"""The columns of the CSV before those of the patterns."""


def make_result(name: str, run: Run, patterns: tuple[BestHead, ...] = ()) -> Result:
    """Return the result of a run as it stands."""
    last = run.metrics[-1] if run.metrics else Metric(0, math.nan, math.nan, math.nan)
    return Result(name, run.spec, run.status, run.step, run.seconds, last.loss, last.right, last.exact, patterns)


def list_patterns(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the names of the patterns that any of the results have, in order."""
    return tuple(dict.fromkeys(best.pattern for result in results for best in result.patterns))


def find_best(result: Result, pattern: str) -> BestHead | None:
    """Return the best head of a result for a pattern, None if it has no score for it."""
    return next((best for best in result.patterns if best.pattern == pattern), None)


def to_csv(results: Sequence[Result]) -> str:
    """Return results as CSV: shares from 0 to 1, all digits of every number, and an empty field where there is none.

    After the columns of :data:`COLUMNS` each pattern has two: its score, by its name, and the head that has it.
    """
    patterns = list_patterns(results)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([*COLUMNS, *(title for pattern in patterns for title in (pattern, f"{pattern}, head"))])
    for result in results:
        spec = result.spec
        numbers = (result.seconds, result.loss, result.right, result.exact)
        row = [
            result.name,
            spec.task,
            spec.model.kind,
            spec.train.seed,
            write_number(spec.train.rate),
            spec.model.heads,
        ]
        row += [result.status, result.step, *map(write_number, numbers)]
        for pattern in patterns:
            best = find_best(result, pattern)
            row += ["", ""] if best is None else [write_number(best.score), best.head]
        writer.writerow(row)
    return written.getvalue()


def to_text(results: Sequence[Result]) -> str:
    """Return results as a table for people."""
    patterns = list_patterns(results)
    rows = [("run", "steps", "loss", "tokens right", "examples right", *patterns)]
    for result in results:
        found = [find_best(result, pattern) for pattern in patterns]
        bests = ["" if best is None else f"{best.score:.2f} ({best.head})" for best in found]
        shares = [format_share(result.right), format_share(result.exact)]
        rows.append((result.name, f"{result.step:,}", format_loss(result.loss), *shares, *bests))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def format_loss(loss: float) -> str:
    """Return a loss as every table writes it, "" if there is none."""
    return four_decimals(loss) if math.isfinite(loss) else ""


def format_share(share: float) -> str:
    """Return a share as per cent, "" if there is none."""
    return format_percent(share) if math.isfinite(share) else ""


def find_range(
    runs: Iterable[Run], measure: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the steps [n] at which at least two runs were evaluated, and the least and the largest value at each.

    ``measure`` is a field of :class:`Metric`: "loss", "right" or "exact". Values that are not finite do not count.
    """
    found: dict[int, list[float]] = {}
    for run in runs:
        for metric in run.metrics:
            value = float(getattr(metric, measure))
            if math.isfinite(value):
                found.setdefault(metric.step, []).append(value)
    steps = sorted(step for step, values in found.items() if len(values) > 1)
    low, high = ([choose(found[step]) for step in steps] for choose in (min, max))
    return np.array(steps, np.float64), np.array(low, np.float64), np.array(high, np.float64)


def write_number(value: float) -> str:
    """Return a number for CSV with all its digits, "" if it is not finite."""
    return f"{value:.17g}" if math.isfinite(value) else ""

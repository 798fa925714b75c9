"""Measurements: two ways of doing the same, timed alternately; medians, ratios, and their printing."""

import json
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields

from PySide6.QtCore import QObject

FIELDS = ("bench", "case", "ours", "baseline", "unit", "ratio", "p95", "runs")
NUMBERS = (2, 3, 5, 6, 7)
"""The right-aligned columns of the table."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a benchmark: medians of ours and of the baseline in ``unit``, and how many times better ours is.

    ``p95`` and ``runs`` are of ours. ``target`` is the target in words, "" for none; it is not part of the JSON.
    """

    bench: str
    case: str
    ours: float
    baseline: float
    unit: str
    ratio: float
    p95: float
    runs: int
    target: str = ""


def make_case(
    bench: str,
    name: str,
    ours: Sequence[float],
    baseline: Sequence[float],
    unit: str,
    target: str = "",
    *,
    rate: bool = False,
) -> Case:
    """Return the case for the runs of both; for a ``rate`` more is better, otherwise less."""
    mine, other = statistics.median(ours), statistics.median(baseline)
    ratio = compute_ratio(mine, other, rate=rate)
    return Case(bench, name, mine, other, unit, ratio, find_percentile(ours, 95), len(ours), target)


def compute_ratio(ours: float, baseline: float, *, rate: bool = False) -> float:
    """Return baseline ÷ ours, or for a rate ours ÷ baseline; 1 if both are equal, even if both are 0."""
    if ours == baseline:
        return 1.0
    above, below = (ours, baseline) if rate else (baseline, ours)
    return above / below if below else float("inf")


def find_percentile(runs: Sequence[float], share: float) -> float:
    """Return the smallest run that ``share`` per cent of all runs do not exceed."""
    ordered = sorted(runs)
    return ordered[max(math.ceil(len(ordered) * share / 100) - 1, 0)]


def run_in_turns(rounds: int, *ways: Callable[[], float]) -> tuple[list[float], ...]:
    """Return the measurements of each way in every round; the ways alternate, and the first round is discarded."""
    for way in ways:
        way()
    measured: tuple[list[float], ...] = tuple([] for _ in ways)
    for _ in range(rounds):
        for results, way in zip(measured, ways, strict=True):
            results.append(way())
    return measured


@contextmanager
def collect_garbage_like_the_program(parent: QObject) -> Iterator[None]:
    """Collect garbage like the running program: on a timer, in the window's thread."""
    from attnlab.ui.app.application import GarbageTimer

    timer = GarbageTimer(parent)
    timer.start()
    try:
        yield
    finally:
        timer.stop()


def to_json(cases: Sequence[Case]) -> str:
    """Return the cases as a JSON list of objects with the fields of the contract."""
    lines = [
        json.dumps({name: getattr(each, name) for name in FIELDS}, ensure_ascii=False, allow_nan=False)
        for each in cases
    ]
    return "[" + ",\n ".join(lines) + "]\n"


def to_table(cases: Sequence[Case]) -> str:
    """Return the cases as a text table with their targets."""
    rows = [("bench", "case", "ours", "baseline", "unit", "ratio", "p95", "runs", "target"), *map(_make_row, cases)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join("  ".join(map(_pad, row, widths, range(len(row)))).rstrip() + "\n" for row in rows)


def _pad(text: str, width: int, column: int) -> str:
    return text.rjust(width) if column in NUMBERS else text.ljust(width)


def _make_row(each: Case) -> tuple[str, ...]:
    ours, baseline, p95 = map(_shorten, (each.ours, each.baseline, each.p95))
    return (each.bench, each.case, ours, baseline, each.unit, f"{each.ratio:.2f}×", p95, str(each.runs), each.target)


def _shorten(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


assert {*FIELDS, "target"} == {field.name for field in fields(Case)}

"""Marks on the time line of a run: those the user sets, and suggested ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW = 20
"""The number of points averaged on either side of a step, because the loss of single batches scatters."""
DROP, NOISE = 0.25, 4.0
"""A sudden drop: between two windows the loss falls by at least this share and this many standard errors."""
FLOOR = 0.1
"""A sudden drop also is at least this large, in the unit of the loss: near 0, a share is soon noise."""
SCORE, RISE = 0.4, 0.25
"""A pattern appears if its last score is at least the first value, and higher than its first score by the second."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A step that is worth looking at; ``suggested`` if the program set it, not the user."""

    step: int
    title: str
    suggested: bool = False


def find_loss_drops(steps: NDArray[np.int64], losses: NDArray[np.float64]) -> tuple[Mark, ...]:
    """Return a mark in the middle of every sudden drop of a loss curve [n], in order of steps.

    The means of the :data:`WINDOW` points before and after a step are compared; of adjacent drops the largest counts.
    """
    n = len(losses)
    if n < 2 * WINDOW:
        return ()
    windows = np.lib.stride_tricks.sliding_window_view(losses, WINDOW)  # [n - WINDOW + 1, WINDOW]
    means, deviations = windows.mean(1), windows.std(1)
    before, after = means[:-WINDOW], means[WINDOW:]
    fall = before - after
    noise = NOISE * (deviations[:-WINDOW] + deviations[WINDOW:]) / (2 * WINDOW**0.5)
    sudden = (fall > DROP * before) & (fall > noise) & (fall > FLOOR)
    found = []
    for run in np.split(np.flatnonzero(sudden), np.flatnonzero(np.diff(np.flatnonzero(sudden)) > WINDOW) + 1):
        if len(run):
            peak = int(run[np.argmax(fall[run] / before[run])])
            title = f"loss falls from {before[peak]:.2g} to {after[peak]:.2g}"
            found.append(Mark(int(steps[peak + WINDOW]), title, suggested=True))
    return tuple(found)


def find_pattern_rises(
    steps: Sequence[int], scores: NDArray[np.float64], patterns: Sequence[str], heads: Sequence[str]
) -> tuple[Mark, ...]:
    """Return a mark where each pattern appears, in order of steps, from its scores [n, patterns, heads] at ``steps``.

    It appears in the head with the highest last score, if that is at least :data:`SCORE` and higher than the first by
    :data:`RISE`: at the moment from which the score stays above the middle of both.
    """
    found = []
    for pattern, course in zip(patterns, scores.swapaxes(0, 1), strict=True):
        known = np.flatnonzero(np.isfinite(course).all(0))
        if len(course) < 2 or not len(known):
            continue
        head = int(known[course[-1, known].argmax()])
        first, last = course[0, head], course[-1, head]
        if last >= SCORE and last - first >= RISE:
            turned = int(np.flatnonzero(course[:, head] < (first + last) / 2)[-1]) + 1
            title = f"{heads[head]}: {pattern} reaches {course[turned, head]:.2f}"
            found.append(Mark(int(steps[turned]), title, suggested=True))
    return tuple(sorted(found, key=lambda mark: mark.step))

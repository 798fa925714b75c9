"""Marks on the time line of a run: those the user sets, and suggested ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from attnlab.training.look import Look

WINDOW = 20
"""The number of points averaged on either side of a step, because the loss of single batches scatters."""
DROP, NOISE = 0.25, 4.0
"""A sudden drop: between two windows the loss falls by at least this share and this many standard errors."""
BLURRED, SHARP = 0.6, 0.9
"""A head turns sharp when the mean over rows of the largest weight was below the first value and then stays above the
second."""


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
    sudden = (fall > DROP * before) & (fall > noise) & (before > 0)
    found = []
    for run in np.split(np.flatnonzero(sudden), np.flatnonzero(np.diff(np.flatnonzero(sudden)) > WINDOW) + 1):
        if len(run):
            peak = int(run[np.argmax(fall[run] / before[run])])
            title = f"loss falls from {before[peak]:.2g} to {after[peak]:.2g}"
            found.append(Mark(int(steps[peak + WINDOW]), title, suggested=True))
    return tuple(found)


def find_sharp_heads(looks: Sequence["Look"]) -> tuple[Mark, ...]:
    """Return a mark where each head turns sharp and stays so until the last of these looks at one probe, by steps."""
    if len(looks) < 2:
        return ()
    found = []
    for place, last in enumerate(looks[-1].maps):
        course = np.array([_measure_sharpness(look.maps[place].weights) for look in looks])  # [looks, heads]
        for head in range(course.shape[1]):
            blurred = np.flatnonzero(course[:, head] < SHARP)
            turned = int(blurred[-1]) + 1 if len(blurred) else 0
            if 0 < turned < len(looks) and course[:turned, head].min() < BLURRED:
                found.append(Mark(looks[turned].step, f"{last.layer}, head {head} turns sharp", suggested=True))
    return tuple(sorted(found, key=lambda mark: mark.step))


def _measure_sharpness(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean over queries of the largest weight, [h], of weights [h, T_q, T_k]."""
    return np.asarray(weights.max(-1).mean(-1))

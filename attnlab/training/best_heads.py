"""Which head shows each pattern of a task best, over many held-out examples instead of one probe."""

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from attnlab.training.look import Viewer
from attnlab.training.messages import Arrays
from attnlab.training.results import BestHead
from attnlab.training.task_patterns import list_patterns, measure_patterns, name_heads

MOST_EXAMPLES = 64
"""How many held-out examples are read."""


def measure_best_heads(viewer: Viewer, weights: Arrays, most: int = MOST_EXAMPLES) -> tuple[BestHead, ...]:
    """Return the best head of each pattern of the task, in the order of the task; none without attention.

    A score is the mean over those of the first ``most`` held-out examples that have places for the pattern; a pattern
    without any such example is left out.

    Raises:
        TrainingError: the weights do not fit.
    """
    viewer.load(weights)
    task, n = viewer.spec.task, min(most, len(viewer.data.held_out.inputs))
    looks = [viewer.look_at_held_out(i) for i in range(n if viewer.layers else 0)]
    if not looks:
        return ()
    names, heads = [pattern.name for pattern in list_patterns(task, looks[0])], name_heads(looks[0].maps)
    scores = _average([measure_patterns(task, look) for look in looks])
    return tuple(
        BestHead(name, heads[int(np.nanargmax(row))], float(np.nanmax(row)))
        for name, row in zip(names, scores, strict=True)
        if not all(map(math.isnan, row))
    )


def _average(scores: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the mean over examples, NaN where none has a score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is NaN, as wanted
        return np.asarray(np.nanmean(scores, axis=0), np.float64)

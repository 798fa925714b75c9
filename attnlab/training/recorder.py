"""The recorded moments of a run: steps with their weights, thinned out as the run grows, within a memory limit."""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.training.messages import Arrays, Metric

MIB = 1 << 20
LIMIT, LARGEST_LIMIT = 128 * MIB, 256 * MIB
"""Bytes that the moments of a run may take."""
_PER_ARRAY, _PER_MOMENT = 256, 512
"""Bytes of overhead in Python: of an array with its name, and of a moment."""
_MANY = 64
"""Of more moments than this, one in so many is dropped at once."""
MOST = LIMIT // _PER_MOMENT
"""The maximum number of moments within the limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The weights after ``step`` steps, the loss of the batch before, and the held-out metric if there is one."""

    step: int
    weights: Arrays
    loss: float
    metric: Metric | None = None

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return _PER_MOMENT + sum(array.nbytes + _PER_ARRAY for array in self.weights.values())


class Recorder:
    """Moments in the order of their steps, in at most ``limit`` bytes.

    When they would take more, the one whose neighbours are the closest to each other is dropped, so that the others
    stay evenly spaced: if each is added when it is due, no gap but the last one is more than twice another. Where none
    came for a while, there is nothing to keep: such a gap stays longer until the others have become as long.
    ``interval`` is the least number of steps between two of them; it grows. The first, the last and the marked ones
    stay. If these alone are too large, marked ones are dropped, oldest first.
    ``refused`` says that a single moment exceeds the limit, "" otherwise: such a run has no moments to go back to, only
    its newest weights and the checkpoint from which it can continue.
    """

    def __init__(self, limit: int = LIMIT, interval: int = 1) -> None:
        self.limit, self.interval, self.refused = limit, interval, ""
        self._moments: list[Moment] = []
        self._marked: set[int] = set()
        self._bytes = 0

    @property
    def moments(self) -> tuple[Moment, ...]:
        """All moments, in order of steps."""
        return tuple(self._moments)

    @property
    def bytes(self) -> int:
        """The memory that the moments take."""
        return self._bytes

    @property
    def marked(self) -> frozenset[int]:
        """The steps whose moments are marked and stay."""
        return frozenset(self._marked)

    def add(self, moment: Moment) -> None:
        """Keep a moment, replacing one of the same step; a moment larger than the limit is not kept."""
        moment = Moment(moment.step, _copy_weights(moment.weights), moment.loss, moment.metric)
        if moment.bytes > self.limit:
            size, limit = (f"{n / MIB:,.0f}" if n >= MIB else f"{n / MIB:.2g}" for n in (moment.bytes, self.limit))
            self.refused = f"This model is too large to record: {size} MiB a moment, limit {limit} MiB."
            return
        place = self._find_index(moment.step)
        if self._moments[place : place + 1] and self._moments[place].step == moment.step:
            self._bytes -= self._moments.pop(place).bytes
        self._moments.insert(place, moment)
        self._bytes += moment.bytes
        self._drop_last_but_one()
        while self._bytes > self.limit:
            self._thin()

    def set_limit(self, limit: int) -> None:
        """Keep at most ``limit`` bytes from now on; moments beyond it are dropped at once, the last one excepted."""
        self.limit = limit
        while self._bytes > limit and len(self._moments) > 1:
            self._thin()

    def mark(self, step: int) -> Moment | None:
        """Mark the moment nearest to a step, so that it stays, and return it; None if there is none."""
        moment = self.find_nearest(step)
        if moment is not None:
            self._marked.add(moment.step)
        return moment

    def unmark(self, step: int) -> None:
        """Unmark the moment of a step, so that it may be dropped."""
        self._marked.discard(step)

    def find_nearest(self, step: int) -> Moment | None:
        """Return the moment nearest to a step, the earlier of two; None if there is none."""
        place = self._find_index(step)
        around = self._moments[max(0, place - 1) : place + 1]
        return min(around, key=lambda moment: abs(moment.step - step), default=None)

    def forget_after(self, step: int) -> None:
        """Drop all moments later than a step, from which the run continues."""
        self._drop({moment.step for moment in self._moments if moment.step > step})

    def _find_index(self, step: int) -> int:
        return bisect_left(self._moments, step, key=lambda moment: moment.step)

    def _drop_last_but_one(self) -> None:
        """Drop the moment before the last one if it came before it was due; it was kept as the last one."""
        if len(self._moments) > 2:
            before, late = self._moments[-3].step, self._moments[-2].step
            if late - before < self.interval and late not in self._marked:
                self._bytes -= self._moments.pop(-2).bytes

    def _thin(self) -> None:
        """Drop at least one moment: of the unmarked ones, that whose neighbours are the closest to each other."""
        steps, gaps = self._measure_gaps()
        if not len(steps):
            first, last = self._moments[0].step, self._moments[-1].step
            between = sorted(self._marked - {first, last})
            self._drop({between[0] if between else first})
            return
        free = self.limit // _MANY if len(self._moments) > _MANY else 0  # so that not every moment begins a search
        count = math.ceil((self._bytes + free - self.limit) / self._moments[-1].bytes)
        closest = steps[gaps == gaps.min()].tolist()
        self._drop(set(_leave_neighbours(closest, int(gaps.min()))[: max(count, 1)]))
        _, gaps = self._measure_gaps()
        least = gaps.min(initial=self._moments[-1].step - self._moments[0].step)
        while 4 * self.interval <= least:  # moments that are closer would soon be dropped
            self.interval *= 2

    def _measure_gaps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the steps that may be dropped, [n], and how far the moments before and after them are apart, [n]."""
        steps = np.array([moment.step for moment in self._moments], np.int64)
        if len(steps) > 1:  # a last one that comes long before it is due would always replace the one before it
            steps[-1] = max(steps[-1], steps[-2] + self.interval // 2)
        inner, gaps = steps[1:-1], steps[2:] - steps[:-2]
        free = ~np.isin(inner, list(self._marked))
        return inner[free], gaps[free]

    def _drop(self, steps: set[int]) -> None:
        """Drop the moments of these steps."""
        gone = [moment for moment in self._moments if moment.step in steps]
        self._moments = [moment for moment in self._moments if moment.step not in steps]
        self._bytes -= sum(moment.bytes for moment in gone)
        self._marked -= steps


def _leave_neighbours(steps: list[int], gap: int) -> list[int]:
    """Return steps of which none is a neighbour of another, the earliest first; ``gap`` is that of their neighbours."""
    kept: list[int] = []
    for step in steps:
        if not kept or step - kept[-1] >= gap:
            kept.append(step)
    return kept


def _copy_weights(weights: Arrays) -> Arrays:
    """Return arrays that own their memory: a slice would keep the whole array that it belongs to."""
    return {name: array if array.base is None else array.copy() for name, array in weights.items()}

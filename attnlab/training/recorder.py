"""The recorded moments of a run: steps with their weights, thinned out as the run grows, within a memory limit."""

from bisect import bisect_left
from dataclasses import dataclass

from attnlab.training.messages import Arrays, Metric

MIB = 1 << 20
LIMIT, LARGEST_LIMIT = 128 * MIB, 256 * MIB
"""Bytes that the moments of a run may take."""
_PER_ARRAY, _PER_MOMENT = 256, 512
"""Bytes of overhead in Python: of an array with its name, and of a moment."""
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

    When they would take more, ``interval``, the steps between two moments, is doubled and those in between are dropped;
    the first, the last and the marked ones stay. If these alone are too large, marked ones are dropped, oldest first.
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

    def _thin(self) -> None:
        """Drop at least one moment."""
        first, last = self._moments[0].step, self._moments[-1].step
        if len(self._moments) > len({first, last} | self._marked):
            while not self._drop(self._choose_droppable()):
                self.interval *= 2
        else:
            between = sorted(self._marked - {first, last})
            self._drop({between[0] if between else first})

    def _choose_droppable(self) -> set[int]:
        """Return the steps of unmarked moments closer than the interval to the kept moment before them."""
        needed = self._marked | {self._moments[0].step, self._moments[-1].step}
        found, before = set[int](), self._moments[0].step
        for moment in self._moments[1:]:
            if moment.step not in needed and moment.step - before < self.interval:
                found.add(moment.step)
            else:
                before = moment.step
        return found

    def _drop(self, steps: set[int]) -> bool:
        """Drop the moments of these steps, and return whether there were any."""
        gone = [moment for moment in self._moments if moment.step in steps]
        self._moments = [moment for moment in self._moments if moment.step not in steps]
        self._bytes -= sum(moment.bytes for moment in gone)
        self._marked -= steps
        return bool(gone)


def _copy_weights(weights: Arrays) -> Arrays:
    """Return arrays that own their memory: a slice would keep the whole array that it belongs to."""
    return {name: array if array.base is None else array.copy() for name, array in weights.items()}

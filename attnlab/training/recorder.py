"""The moments of a run that are kept: steps with their weights, thinned out as the run grows, within a limit."""

from bisect import bisect_left
from dataclasses import dataclass

from attnlab.training.messages import Arrays, Metric

MIB = 1 << 20
LIMIT = 64 * MIB
"""Bytes that the moments of a run may take."""
_PER_ARRAY, _PER_MOMENT = 256, 512
"""Bytes beside the numbers: what Python holds of an array and its name, and of a moment."""
MOST = LIMIT // _PER_MOMENT
"""Moments that there can be within the limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The weights after ``step`` steps, the loss of the batch before, and what the held-out examples gave, if asked."""

    step: int
    weights: Arrays
    loss: float
    metric: Metric | None = None

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return _PER_MOMENT + sum(array.nbytes + _PER_ARRAY for array in self.weights.values())


class Recorder:
    """Moments in the order of their steps, in at most ``limit`` bytes.

    When they would take more, ``interval``, the steps between two of them, is doubled, and those in between go; the
    first, the last and those that are marked stay. When these alone are too much, marked ones go, the oldest first.
    ``refused`` says that a moment alone is more than the limit, "" while none was: such a run has no moments to go back
    to, only its newest weights, and the checkpoint that it goes on from.
    """

    def __init__(self, limit: int = LIMIT, interval: int = 1) -> None:
        self.limit, self.interval, self.refused = limit, interval, ""
        self._moments: list[Moment] = []
        self._marked: set[int] = set()
        self._bytes = 0

    @property
    def moments(self) -> tuple[Moment, ...]:
        """All moments, by their steps."""
        return tuple(self._moments)

    @property
    def bytes(self) -> int:
        """How much memory the moments take."""
        return self._bytes

    @property
    def marked(self) -> frozenset[int]:
        """The steps whose moments stay."""
        return frozenset(self._marked)

    def add(self, moment: Moment) -> None:
        """Keep a moment, in the place of one of the same step; one that is larger than the limit is not kept."""
        moment = Moment(moment.step, _owned(moment.weights), moment.loss, moment.metric)
        if moment.bytes > self.limit:
            size, limit = (f"{n / MIB:,.0f}" if n >= MIB else f"{n / MIB:.2g}" for n in (moment.bytes, self.limit))
            self.refused = f"This model is too large to record: {size} MiB a moment, limit {limit} MiB."
            return
        place = self._place(moment.step)
        if self._moments[place : place + 1] and self._moments[place].step == moment.step:
            self._bytes -= self._moments.pop(place).bytes
        self._moments.insert(place, moment)
        self._bytes += moment.bytes
        while self._bytes > self.limit:
            self._thin()

    def mark(self, step: int) -> Moment | None:
        """Keep the moment nearest to a step from now on, and return it; None when there is none."""
        moment = self.nearest(step)
        if moment is not None:
            self._marked.add(moment.step)
        return moment

    def unmark(self, step: int) -> None:
        """Let the moment of a step go when its turn comes."""
        self._marked.discard(step)

    def nearest(self, step: int) -> Moment | None:
        """Return the moment nearest to a step, the earlier of two; None when there is none."""
        place = self._place(step)
        around = self._moments[max(0, place - 1) : place + 1]
        return min(around, key=lambda moment: abs(moment.step - step), default=None)

    def forget_after(self, step: int) -> None:
        """Drop all moments later than a step: the run goes on from there."""
        self._drop({moment.step for moment in self._moments if moment.step > step})

    def _place(self, step: int) -> int:
        return bisect_left(self._moments, step, key=lambda moment: moment.step)

    def _thin(self) -> None:
        """Drop at least one moment."""
        first, last = self._moments[0].step, self._moments[-1].step
        if len(self._moments) > len({first, last} | self._marked):
            while not self._drop(self._between()):
                self.interval *= 2
        else:
            between = sorted(self._marked - {first, last})
            self._drop({between[0] if between else first})

    def _between(self) -> set[int]:
        """Return the steps of what lies closer than the interval to what is kept before it, and need not be kept."""
        needed = self._marked | {self._moments[0].step, self._moments[-1].step}
        found, before = set[int](), self._moments[0].step
        for moment in self._moments[1:]:
            if moment.step not in needed and moment.step - before < self.interval:
                found.add(moment.step)
            else:
                before = moment.step
        return found

    def _drop(self, steps: set[int]) -> bool:
        """Drop the moments of these steps, and say whether there were any."""
        gone = [moment for moment in self._moments if moment.step in steps]
        self._moments = [moment for moment in self._moments if moment.step not in steps]
        self._bytes -= sum(moment.bytes for moment in gone)
        self._marked -= steps
        return bool(gone)


def _owned(weights: Arrays) -> Arrays:
    """Return arrays that hold nothing but their own numbers: a slice would keep the whole that it is cut from."""
    return {name: array if array.base is None else array.copy() for name, array in weights.items()}

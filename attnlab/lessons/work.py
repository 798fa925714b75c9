"""How much the states of one lesson may take, so that a stranger's file fills neither the memory nor the evening."""

from attnlab.attention.experiment import PROJECTIONS, Experiment, Sample

MOST = 1 << 30
"""Bytes that the states of all steps, and of all their edits, may hold together."""
LEAST = 256 << 10
"""Bytes that a state counts as, however small it is: so many edits take time too."""


class Work:
    """What the states of a lesson hold so far."""

    def __init__(self) -> None:
        self._held = 0

    def is_done(self) -> bool:
        """Whether no more states are made."""
        return self._held > MOST

    def add(self, e: Experiment) -> None:
        """Count a state that was made."""
        self._held += max(LEAST, held(e))


def held(e: Experiment) -> int:
    """Return the bytes that the numbers of an experiment take."""
    sequences: tuple[Experiment | Sample, ...] = (e, *e.others)
    given = [table for each in sequences for table in (each.embeddings, each.memory_embeddings)]
    own = [getattr(e.weights, name) for name in PROJECTIONS]
    return sum(t.nbytes for t in (*own, *e.weights.extra.values(), *given, e.config.mask) if t is not None)

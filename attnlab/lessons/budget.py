"""The memory budget for the states of one lesson, so that no file can fill the memory or take hours."""

from attnlab.attention.experiment import PROJECTIONS, Experiment, Sample

MAX_BYTES = 1 << 30
"""The maximum memory of the states of all steps and of all their edits together."""
MIN_BYTES = 256 << 10
"""The least that a state counts, however small it is, because edits of a small state take time as well."""


class Budget:
    """The memory that the states of a lesson have used so far."""

    def __init__(self) -> None:
        self._used = 0

    def is_exhausted(self) -> bool:
        """Whether no further state may be created."""
        return self._used > MAX_BYTES

    def add(self, e: Experiment) -> None:
        """Count a new state."""
        self._used += max(MIN_BYTES, count_bytes(e))


def count_bytes(e: Experiment) -> int:
    """Return the size in bytes of all numbers of an experiment."""
    sequences: tuple[Experiment | Sample, ...] = (e, *e.others)
    given = [table for each in sequences for table in (each.embeddings, each.memory_embeddings)]
    for weights, config in ((e.weights, e.config), *e.other_layers):
        given += [*(getattr(weights, name) for name in PROJECTIONS), *weights.extra.values(), config.mask]
    return sum(t.nbytes for t in given if t is not None)

"""Checks that the arrays of an experiment are those with which it was created."""

from torch import Tensor

from attnlab.attention.arrays import is_written, make_write_error
from attnlab.attention.experiment import PROJECTIONS, Experiment, Weights


def check_unwritten(e: Experiment) -> None:
    """Check that no array of an experiment was changed in place since its creation.

    Raises:
        ExperimentError: one was; the sentence names it.
    """
    given: dict[str, Tensor | None] = {
        "embeddings": e.embeddings,
        "memory_embeddings": e.memory_embeddings,
        "config.mask": e.config.mask,
    }
    given |= _list_weights("weights", e.weights)
    for place, (weights, config) in enumerate(e.other_layers):
        given |= _list_weights(f"other_layers[{place}].weights", weights)
        given[f"other_layers[{place}].config.mask"] = config.mask
    for place, other in enumerate(e.others):
        given[f"others[{place}].embeddings"] = other.embeddings
        given[f"others[{place}].memory_embeddings"] = other.memory_embeddings
    for name, array in given.items():
        if array is not None and is_written(array):
            raise make_write_error(name)


def _list_weights(prefix: str, weights: Weights) -> dict[str, Tensor | None]:
    own = {f"{prefix}.{name}": getattr(weights, name) for name in PROJECTIONS}
    return own | {f"{prefix}.extra[{name!r}]": array for name, array in weights.extra.items()}

"""The residual stream of a model on one probe, as a value: the answer after each layer, and what each part adds."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attnlab.training.answers import Place


@dataclass(frozen=True, slots=True)
class Stage:
    """What a model would answer if it stopped after the embedding or after a layer, called ``name``.

    The last norm and the output layer are applied to the residual stream there; ``places`` are the places in question,
    and ``chances`` the probabilities there of the tokens that the :class:`Stream` is about.
    """

    name: str
    places: tuple[Place, ...]
    chances: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A part of a model that adds to the residual stream: the embedding, a ``head`` of a layer of attention, a
    feed-forward part, or all biases together. ``layer`` names its layer, "" without one; other parts have no head.
    """

    name: str
    layer: str = ""
    head: int | None = None


def _no_sums() -> NDArray[np.float64]:
    return np.zeros((0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The residual stream of a model, at the places of a probe in question.

    ``stages`` are the answers after the embedding and after each layer; the last are the model's own. ``added`` [parts,
    places] is what each part adds to the logit of the token in ``tokens``: the right answer, or without one the model's
    own. The sum over the parts is that logit, ``logits`` [places]. ``missing`` says why a model has no residual stream,
    "" if it has one.
    """

    stages: tuple[Stage, ...] = ()
    parts: tuple[StreamPart, ...] = ()
    added: NDArray[np.float64] = field(default_factory=_no_sums)
    tokens: tuple[str, ...] = ()
    logits: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    missing: str = ""

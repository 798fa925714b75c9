"""A stage of the computation: the type of the entries of the stage table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from attnlab.attention.stages import presence, spelling
from attnlab.attention.stages.computed import Computed

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.explanation import Cell, Explanation


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the computation.

    ``axes`` are the names of the axes (see :mod:`attnlab.attention.axes`). ``kind`` is ``"signed"``, ``"probability"``
    or ``"positive"``. ``about`` is one sentence for a lecture.

    ``code(e)`` is PyTorch that assigns :attr:`variable`. The code of all stages in order needs ``torch``, ``x`` (the
    embeddings), in cross-attention ``memory`` (its embeddings), and the weights, biases, tables of entries and ``mask``
    of the experiment, by the names of their fields.
    """

    name: str
    title: str
    symbol: str
    axes: tuple[str, ...]
    role: str
    kind: str
    about: str
    formula: Callable[["Experiment"], str]
    compute: Callable[[Computed], Tensor]
    explain: Callable[[Computed, "Cell", int | None], "Explanation"]
    code: Callable[["Experiment"], str]
    beside: bool = False
    """Shown like any other, but not listed in a trace's ``stages``, whose names scripts rely on."""
    is_backward: bool = False
    """Whether it belongs to the backward pass: the loss, and everything computed from it."""

    @property
    def noun(self) -> str:
        """The title within a sentence: "weights", "rotated queries", "dW_q"."""
        return self.title[:1].lower() + self.title[1:]

    @property
    def has_heads(self) -> bool:
        """Whether the first axis is the head."""
        return self.axes[0] == "head"

    @property
    def is_map(self) -> bool:
        """Whether it is a map of query by key."""
        return self.axes[-2:] == ("query", "key")

    @property
    def variable(self) -> str:
        """The variable name of the stage in ``code``."""
        return spelling.variable(self.name)

    def present(self, e: "Experiment") -> bool:
        """Return whether a configuration has this stage."""
        return presence.has_stage(e, self.name)

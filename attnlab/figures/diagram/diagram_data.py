"""What a diagram is drawn from: a model on a probe, its maps, and what is open in the drawing."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from attnlab.training.model_view import Inside

Maps = Mapping[str, tuple[NDArray[np.float32], NDArray[np.bool_] | None]]
"""The maps [h, T_q, T_k] of each layer by its name, and the cells [T_q, T_k] that its mask hides."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What is open: the ``layers`` chosen in each stack by its title, counted from 0; the stacks that are
    ``unfolded``; and the ``step`` of a recurrent decoder that is pointed at, −1 for the last.
    """

    layers: Mapping[str, int] = field(default_factory=dict)
    unfolded: frozenset[str] = frozenset()
    step: int = -1

    def choose(self, stack: str, layer: int) -> "Opened":
        """Return the same with another layer of a stack open."""
        return replace(self, layers={**self.layers, stack: layer})

    def toggle(self, stack: str) -> "Opened":
        """Return the same with a stack unfolded, or folded again."""
        return replace(self, unfolded=self.unfolded ^ {stack})

    def layer_of(self, stack: str, count: int) -> int:
        """Return the open layer of a stack: the last one, unless another was chosen."""
        return min(self.layers.get(stack, count - 1), count - 1)


@dataclass(frozen=True, slots=True, eq=False)
class DiagramData:
    """A model on a probe after ``step`` steps, with its maps, whose colours end at the weight ``limit``.

    ``heading`` names the model in a figure; ``off`` are the heads that are switched off, each a layer and
    a head.
    """

    inside: Inside
    maps: Maps
    step: int = 0
    heading: str = ""
    limit: float = 1.0
    off: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Diagram:
    """A model with what is open in its drawing, as it is presented or exported, alone or beside another."""

    data: DiagramData
    opened: Opened

    @property
    def heading(self) -> str:
        """The name of the model, or else its kind."""
        return self.data.heading or self.data.inside.tree.title

    @property
    def at(self) -> str:
        """The step at which it is shown, as the end of a title."""
        return f", step {self.data.step:,}"

    @property
    def title(self) -> str:
        """The heading of the model and the step at which it is shown."""
        return self.heading + self.at

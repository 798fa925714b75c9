"""What is computed of a model and a text, as values that the cards show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnlab.ui.models.model_state import Edited, ModelState

if TYPE_CHECKING:
    from attnlab.pretrained.layer_edits import LayerEdit
    from attnlab.pretrained.stack_pass import Part

TRUE = 1e-5
"""The largest difference from the model that counts as true."""
CLOSE = 1e-3
"""The largest difference with which a layer can be opened in the playground."""
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a model: its sizes, and what it predicts. A ``fixed`` one is a capture: of one text, and nothing
    can be changed.
    """

    name: str
    about: str
    n_layers: int
    n_heads: int
    d_model: int
    n_parameters: int
    parts: "tuple[Part, ...]"
    predicts: str | None
    mask: str | None
    limit: int
    fixed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """All heads of a part of a model on a text: ``maps`` [layers, heads, rows, columns], reduced if they are long.

    ``asked`` is the state that was asked for; ``state`` differs in the text where the model could not read that of
    another, and leaves out edited layers that are as the model's own. ``hidden`` [layers, rows, columns] are the masked
    cells, None without a mask. ``queries`` and ``keys`` are the tokens as people read them; ``specials`` are the keys
    that are no text. ``on_words`` [layers, heads] is the share of the average row that is on other keys than these and
    the first, None if there are no others. ``edits`` are the differences of each edited layer from the model's own.
    """

    state: ModelState
    asked: ModelState
    facts: Facts
    part: "Part"
    maps: Floats
    hidden: NDArray[np.bool_] | None
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    specials: tuple[int, ...]
    on_words: Floats | None
    edits: "Mapping[Edited, tuple[LayerEdit, ...]]"

    @property
    def n_layers(self) -> int:
        """Layers of this part."""
        return len(self.maps)


@dataclass(frozen=True, slots=True, eq=False)
class LayerMaps:
    """One layer: weights [h, T_q, T_k], what each key moves [h, T_q, T_k], masked cells, and two differences.

    ``difference`` is the largest between the weights and those that the playground computes from the layer, or for a
    capture between its output and the model's own; None if there is nothing to compare. ``why`` is the reason why the
    layer cannot be opened in the playground, "" if it can. ``sum_difference`` is the difference between the sum of the
    heads with the residual, and what the layer computes; None for a capture, which does not know W_o.
    """

    overview: Overview
    layer: int
    weights: Floats
    moved: Floats
    hidden: NDArray[np.bool_] | None
    difference: float | None
    why: str
    sum_difference: float | None
    tolerance: float = TRUE

    @property
    def is_true(self) -> bool:
        """Whether the difference is no larger than rounding explains."""
        return self.difference is not None and self.difference <= self.tolerance

    @property
    def is_close(self) -> bool:
        """Whether the layer may be opened, with the difference said: texts of thousands of tokens round more."""
        return self.difference is not None and self.difference <= CLOSE


@dataclass(frozen=True, slots=True)
class Prediction:
    """The probabilities of tokens at a place, with nothing off and with what is off: (token, before, after).

    ``before`` and ``after`` are the likeliest tokens of all with nothing off and with what is off; ``rows`` are those
    that are listed. ``write(text, i)`` returns a text with the token of a row written behind it.
    """

    place: str
    before: tuple[str, float, float]
    after: tuple[str, float, float]
    rows: tuple[tuple[str, float, float], ...]
    write: Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Effect:
    """What becomes of the answer. ``prediction`` is None for a model that predicts nothing, otherwise it predicts.

    ``same`` is the cosine of the sentence's vector with what is off and without; ``similar`` are other texts with their
    cosines before and after; ``moved`` tokens with 1 − cosine of their last hidden states, the largest first.
    """

    state: ModelState
    prediction: Prediction | None
    same: float
    similar: tuple[tuple[str, float, float], ...]
    moved: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class HeadChanges:
    """How much the answer of ``of`` changes at a token when each head alone is off, every other one being on.

    ``sizes`` [layers, heads] are NaN in layers that are not computed yet. They are how far the probability of the
    likeliest token moves; for a model that predicts nothing, 1 − cosine of the sentence's vector.
    """

    of: Overview
    place: int
    sizes: NDArray[np.float64]

    @property
    def layers_done(self) -> int:
        """How many layers are computed."""
        return int((~np.isnan(self.sizes).any(1)).sum())

    @property
    def is_complete(self) -> bool:
        """Whether every head was tried."""
        return self.layers_done == len(self.sizes)

    def find_rank(self, layer: int, head: int) -> int:
        """Return the place of a head when all are sorted by their changes, 1 for the largest."""
        return int((self.sizes > self.sizes[layer, head]).sum()) + 1

    def with_layer(self, layer: int, sizes: NDArray[np.float64]) -> "HeadChanges":
        """Return the changes with those of one more layer [heads]."""
        found = self.sizes.copy()
        found[layer] = sizes
        return replace(self, sizes=found)

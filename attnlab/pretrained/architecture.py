"""A model as the program sees it: stacks of layers, each layer read when it is needed, and what it predicts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from torch import Tensor

from attnlab.pretrained.layers import Layer, Map

StackName = Literal["encoder", "decoder"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stack:
    """Layers in a row. ``embed(ids [T])`` gives [T, d_model], ``layer(i)`` reads a layer, ``norm()`` the last norm."""

    name: StackName
    n_layers: int
    embed: Callable[[Tensor], Tensor]
    layer: Callable[[int], Layer]
    norm: Callable[[], Map] | None = None

    def __post_init__(self) -> None:
        """Keep each layer that was read; its tensors are those that the folder keeps."""
        object.__setattr__(self, "layer", cache(self.layer))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Architecture:
    """What a family builds from a folder: its stacks, an encoder before a decoder, its sizes and its predictions.

    ``predict(hidden [n, d_model])`` gives the logits [n, vocabulary] of the last hidden states; None if the model
    predicts no tokens. ``predicts`` is "next" or "masked". ``words`` is the size of the vocabulary; ``limit`` is the
    number of positions, None without a limit; ``start`` the token with which a decoder behind an encoder begins.
    """

    about: str
    stacks: tuple[Stack, ...]
    n_heads: int
    d_model: int
    words: int
    limit: int | None
    predicts: Literal["next", "masked"] | None = None
    predict: Callable[[Tensor], Tensor] | None = None
    start: int | None = None

"""What a model does with one probe, as a value: its blocks, tokens, masks, positions, states and answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.training.model_tree import ModelTree

Numbers = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a model answers at a place: ``wanted`` is the right token, "" where the task asks for none or knows none;
    ``likeliest`` are its first choices with their probabilities, the most probable first.
    """

    wanted: str
    likeliest: tuple[tuple[str, float], ...]
    chance: float = 0.0
    """The probability of the right token; 0 without one."""

    @property
    def right(self) -> bool | None:
        """Whether the first choice is the right token; None if none is asked for."""
        return self.likeliest[0][0] == self.wanted if self.wanted else None


@dataclass(frozen=True, slots=True, eq=False)
class MaskPicture:
    """A mask of a padded row in a batch: the cells [T_q, T_k] that are hidden."""

    title: str
    cells: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The states of a recurrent model: of its encoder [S, d] and its decoder [T, d], and the one vector [d]."""

    reading: Numbers
    writing: Numbers
    vector: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """A model on a probe: the tokens of its ``source`` and ``inputs``, and its ``guesses`` at each input.

    ``positions`` are the first columns of the numbers that are added to the embeddings of each half, by the name of
    that block. ``padded`` is the length of the row whose ``masks`` are given. ``states`` are a recurrent model’s.
    """

    tree: ModelTree
    source: tuple[str, ...]
    inputs: tuple[str, ...]
    guesses: tuple[Guess, ...]
    masks: tuple[MaskPicture, ...]
    padded: int
    positions: Mapping[str, Numbers]
    states: States | None = None
    reads_before: bool = True
    """Whether an answer depends on the tokens before it alone, which are then the right ones."""

    def count_right(self) -> tuple[int, int]:
        """Return how many answers are right, of how many that are asked for."""
        said = [guess.right for guess in self.guesses if guess.right is not None]
        return sum(said), len(said)

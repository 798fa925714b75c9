"""What a task gives a model to learn from, as every other part of training sees it."""

from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor

from attnlab.training.batch import Batch


class Data(Protocol):
    """The examples of a task, arranged for one kind of model.

    ``vocabulary`` begins with :data:`attnlab.training.batch.SPECIAL` and is empty where numbers are learned; then
    ``features`` is how many columns they have, else 0. ``longest`` is the most places of ``inputs``,
    ``longest_source`` that of ``source``, 0 where there is none. ``causal``: no place may look at a later one.
    ``held_out`` are fixed examples of which ``batch`` never gives one; ``held_out_lengths`` are how long each is as a
    person would count, empty where all are alike. ``baselines`` are losses of simpler ways, by their names.
    """

    @property
    def vocabulary(self) -> tuple[str, ...]: ...
    @property
    def features(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def longest_source(self) -> int: ...
    @property
    def causal(self) -> bool: ...
    @property
    def held_out(self) -> Batch: ...
    @property
    def held_out_lengths(self) -> tuple[int, ...]: ...
    @property
    def probe_text(self) -> str: ...
    @property
    def baselines(self) -> Mapping[str, float]: ...

    def batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` examples to learn from, drawn with ``g`` alone."""
        ...

    def probe(self, text: str) -> Batch:
        """Return what a person wrote as a batch of one, with what is right for it where the task knows.

        Raises:
            TrainingError: the task cannot read it; the sentence says what would do.
        """
        ...

    def tokens(self, row: Tensor) -> tuple[str, ...]:
        """Return how the tokens of a row [T] of numbers are written, "" where nothing is asked."""
        ...

"""The protocol of a task's examples, which is all that the rest of the training knows of them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from attnlab.training.batch import IGNORED, Batch


class Data(Protocol):
    """The examples of a task, arranged for one kind of model.

    ``vocabulary`` begins with :data:`attnlab.training.batch.SPECIAL`; it is empty for a task on numbers, which have
    ``features`` columns (0 for tokens). ``longest`` is the maximum length of ``inputs``, ``longest_source`` that of
    ``source``, 0 without a source. ``causal``: no position may attend to a later one.

    ``held_out`` are fixed examples that ``draw_batch`` never returns; ``held_out_lengths`` are their lengths without
    padding, empty if all are equal. ``baselines`` are the losses of simpler methods by name. ``unknown_share`` of the
    tokens of the text are read as one and the same, because they are not in the vocabulary.
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
    @property
    def unknown_share(self) -> float: ...

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` training examples, drawn with ``g`` alone."""
        ...

    def make_probe(self, text: str) -> Batch:
        """Return the user's text as a batch of one, with its targets if the task knows them.

        Raises:
            TrainingError: the task cannot read the text; the sentence says what it accepts.
        """
        ...

    def decode(self, row: Tensor) -> tuple[str, ...]:
        """Return the text of each token in a row [T] of token numbers, "" at positions without a target."""
        ...


class TokenData:
    """The part that tasks on tokens share: how token numbers are written."""

    features = 0
    vocabulary: tuple[str, ...]
    unknown_share = 0.0

    def decode(self, row: Tensor) -> tuple[str, ...]:
        """Return the text of each token in a row, "" at positions without a target."""
        return tuple("" if number == IGNORED else self.vocabulary[number] for number in row.tolist())


def join_tokens(tokens: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Return tokens as a text: words of a vocabulary with spaces between them, characters and pieces as they are."""
    has_pieces = any(len(token) > 1 and token.startswith(" ") for token in vocabulary)
    return (" " if not has_pieces and any(len(token) > 1 for token in vocabulary) else "").join(tokens)

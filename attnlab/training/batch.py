"""A batch of examples: token numbers or rows of numbers, and their targets."""

from dataclasses import dataclass

from torch import Tensor

IGNORED = -100
"""The target of a position without one; torch's cross-entropy ignores it."""
PAD, BEGIN, END = 0, 1, 2
"""The first three tokens of every vocabulary: padding, begin of sequence and end of sequence."""
SPECIAL = ("·", "⟨", "⟩")
"""The text of these three tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B examples.

    ``inputs`` [B, T] are the token numbers that the model reads and continues, or rows of numbers [B, T, d].
    ``targets`` [B, T] are the right tokens, :data:`IGNORED` at positions without a target; [B, T, d] for numbers.
    ``source`` [B, S] is what the encoder of an encoder–decoder reads, else None. PAD is never attended to.
    """

    inputs: Tensor
    targets: Tensor
    source: Tensor | None = None

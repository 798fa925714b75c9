"""What a model is shown at once: numbered tokens, or rows of numbers, and what is asked of them."""

from dataclasses import dataclass

from torch import Tensor

IGNORED = -100
"""In targets: nothing is asked here (the number that torch's cross-entropy leaves out)."""
PAD, BEGIN, END = 0, 1, 2
"""The first three tokens of every vocabulary: a place that holds nothing, the begin and the end of what is written."""
SPECIAL = ("·", "⟨", "⟩")
"""How they are written."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B examples side by side.

    ``inputs`` [B, T] are what the model reads and goes on from: token numbers, or numbers themselves [B, T, d].
    ``targets`` [B, T] are what is asked at each place, :data:`IGNORED` where nothing is ([B, T, d] for numbers).
    ``source`` [B, S] is what an encoder reads where there is one beside a decoder. PAD is never attended to.
    """

    inputs: Tensor
    targets: Tensor
    source: Tensor | None = None

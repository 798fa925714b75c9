"""Examples that are pairs of a source and a target row: copy, reverse, sort and dates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.training.batch import PAD, Batch
from attnlab.training.tasks.data import TokenData
from attnlab.training.tasks.rows import arrange, pad
from attnlab.training.tasks.task import WITH_SOURCE

HELD_OUT = 256
SEED = 20
"""The seed of the held-out examples, the same for every run, so that runs can be compared."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """A source of pairs. ``widths`` are the maximum lengths of a source and of a target.

    ``draw(g, n, held_out)`` returns padded sources [n, S] and targets [n, T], either held out or for training.
    ``read(text)`` returns one such pair as two lists, or raises TrainingError.
    """

    vocabulary: tuple[str, ...]
    widths: tuple[int, int]
    draw: Callable[[torch.Generator, int, bool], tuple[Tensor, Tensor]]
    read: Callable[[str], tuple[list[int], list[int]]]
    probe_text: str


class PairData(TokenData):
    """Pairs laid out for one kind of model; see :class:`attnlab.training.tasks.data.Data`."""

    def __init__(self, pairs: Pairs, kind: str, n_held_out: int = HELD_OUT) -> None:
        self._pairs, self._kind = pairs, kind
        self.vocabulary = pairs.vocabulary
        self.probe_text = pairs.probe_text
        self.causal = kind != "encoder"
        source, target = pairs.widths
        beside = kind in WITH_SOURCE
        self.longest_source = source if beside else 0
        self.longest = source if kind == "encoder" else target + 1 if beside else source + 1 + target
        drawn = pairs.draw(torch.Generator().manual_seed(SEED), n_held_out, True)
        self.held_out = arrange(kind, *drawn)
        lengths = [int(length) for length in (drawn[0] != PAD).sum(1)]
        self.held_out_lengths = tuple(lengths) if len(set(lengths)) > 1 else ()
        self.baselines: Mapping[str, float] = {}

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` training pairs."""
        return arrange(self._kind, *self._pairs.draw(g, n, False))

    def make_probe(self, text: str) -> Batch:
        """Return the user's source and its target, as a batch of one without padding."""
        source, target = self._pairs.read(text)
        return arrange(self._kind, pad([source], len(source)), pad([target], len(target)))

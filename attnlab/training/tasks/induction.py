"""Rows of letters that come again: what followed last time follows again."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import IGNORED, PAD, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.letters import FIRST, alphabet
from attnlab.training.tasks.rows import held_out
from attnlab.training.tasks.task import Task

NAME = "induction"
JUMPS = 0.2
"""How often a row goes on from any of its letters: else it would go in a circle, and the letter that has not been for
longest would be right without looking at what followed.
"""
HELD_OUT, SEED = 256, 20
OPTIONS = (
    Option("symbols", "Letters", "How many different letters there are", "whole", 16, 8, 26),
    Option("length", "Length", "How many letters a row has", "whole", 32, 8, 128),
)


class InductionData:
    """Different letters, then stretches of them; see :class:`attnlab.training.tasks.data.Data`.

    Asked is what followed each letter last time, where it follows again.
    """

    features = 0
    longest_source = 0
    causal = True
    held_out_lengths: tuple[int, ...] = ()

    def __init__(self, symbols: int, length: int) -> None:
        self._symbols, self.longest = symbols, length
        self.vocabulary = (*SPECIAL, *alphabet(symbols))
        g = torch.Generator().manual_seed(SEED)
        self.held_out = self._drawn(g, HELD_OUT, True)
        first = self.held_out.inputs[0, : min(length, 18)]
        self.probe_text = " ".join(self.tokens(first))
        self.baselines: Mapping[str, float] = {"any letter": float(torch.tensor(float(symbols)).log())}

    def batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` rows, asked what followed each letter last time, where it does so again."""
        return self._drawn(g, n, False)

    def probe(self, text: str) -> Batch:
        """Return a row of letters; asked is what followed each letter last time, where it has been before."""
        letters, written = self.vocabulary[FIRST:], "".join(text.split())
        strange = next((letter for letter in written if letter not in letters), "")
        if strange:
            raise TrainingError(f"{strange!r} is no letter of this task; there are {letters[0]} to {letters[-1]}.")
        if not 1 <= len(written) <= self.longest:
            raise TrainingError(f"The row has {len(written)} letters; this task needs 1 to {self.longest}.")
        row = torch.tensor([[FIRST + letters.index(letter) for letter in written]])
        asked = followed(row)
        return Batch(row, asked.masked_fill(asked == PAD, IGNORED))

    def tokens(self, row: Tensor) -> tuple[str, ...]:
        """Return how the tokens of a row are written, "" where nothing is asked."""
        return tuple("" if number == IGNORED else self.vocabulary[number] for number in row.tolist())

    def _drawn(self, g: torch.Generator, n: int, of_held_out: bool) -> Batch:
        rows = self._rows(g, n)
        wrong = (held_out(rows) != of_held_out).nonzero().squeeze(1)
        while len(wrong):
            rows[wrong] = self._rows(g, len(wrong))
            wrong = wrong[held_out(rows[wrong]) != of_held_out]
        inputs, following = rows[:, :-1], rows[:, 1:]
        return Batch(inputs, following.masked_fill(followed(inputs) != following, IGNORED))

    def _rows(self, g: torch.Generator, n: int) -> Tensor:
        """Return rows [n, length + 1]."""
        letters = FIRST + torch.rand(n, self._symbols, generator=g).argsort(1)
        new = torch.randint(self._symbols // 2, self._symbols + 1, (n, 1), generator=g).clamp(max=self.longest // 2)
        place = torch.arange(self.longest + 1)
        jumps = (torch.rand(n, self.longest + 1, generator=g) < JUMPS) | (place == new)
        jumped = torch.where(jumps, place, 0).cummax(1).values  # where the stretch began that each place is in
        begin = torch.randint(self._symbols, (n, self.longest + 1), generator=g).gather(1, jumped)
        return letters.gather(1, torch.where(place < new, place, (begin + place - jumped) % new))


def followed(rows: Tensor) -> Tensor:
    """Return what followed each letter of rows [n, T] when it came last before, PAD where it is new."""
    place = torch.arange(rows.shape[1])
    alike = (rows[:, :, None] == rows[:, None, :]) & (place[:, None] > place)
    last = torch.where(alike, place, -1).amax(2)
    return rows.gather(1, (last + 1).clamp(max=rows.shape[1] - 1)).masked_fill(last < 0, PAD)


def make(spec: RunSpec) -> Data:
    """Return the rows of a run."""
    symbols, length = (int(spec.options.get(option.name, option.default)) for option in OPTIONS)
    return InductionData(symbols, length)


def settings(kind: str) -> RunSpec:
    """Return what it is learned with: two layers, for an induction head needs another one before it."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=2, heads=2, d_model=48, d_ff=96, positions="learned")
    return RunSpec(NAME, options, model, TrainSpec(rate=3e-3, batch=32, steps=2500))


TASK = Task(
    name=NAME,
    title="Induction",
    about="Letters come again, and what followed last time follows again. It takes two layers: one lets each letter "
    "know the one before it, the next finds where the present letter was that one (Olsson et al. 2022).",
    look_for="In the first layer a stripe just below the diagonal: each place looks at the one before. In the second, "
    "stripes further down: each letter looks at what followed it last time.",
    kinds=("attention", "decoder"),
    options=OPTIONS,
    settings=settings,
    make=make,
)

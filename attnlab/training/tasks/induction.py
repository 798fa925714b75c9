"""Rows of letters that come again: what followed last time follows again."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attnlab.attention.entries import Option
from attnlab.errors import TrainingError
from attnlab.training.batch import IGNORED, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.letters import FIRST, alphabet
from attnlab.training.tasks.rows import held_out
from attnlab.training.tasks.task import Task

NAME = "induction"
LEAST = 5
"""Letters before the first comes again, at least; and letters in what comes again."""
HELD_OUT, SEED = 256, 20
OPTIONS = (
    Option("symbols", "Letters", "How many different letters there are", "whole", 16, 8, 26),
    Option("length", "Length", "How many letters a row has", "whole", 24, 12, 128),
)


class InductionData:
    """Different letters, then the last few of them over and over; see :class:`attnlab.training.tasks.data.Data`.

    How many letters come first and how many come again differs from row to row, so that no place tells what follows:
    only the letter's own last time does. Asked is every place whose letter has been before.
    """

    features = 0
    longest_source = 0
    causal = True
    held_out_lengths: tuple[int, ...] = ()

    def __init__(self, symbols: int, length: int) -> None:
        self._symbols, self.longest = symbols, length
        self._most = min(symbols, length // 2)
        self.vocabulary = (*SPECIAL, *alphabet(symbols))
        g = torch.Generator().manual_seed(SEED)
        self.held_out = self._drawn(g, HELD_OUT, True)
        first = self.held_out.inputs[0, : min(length, 18)]
        self.probe_text = " ".join(self.tokens(first))
        self.baselines: Mapping[str, float] = {"any letter": float(torch.tensor(float(symbols)).log())}

    def batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` rows, each letter's successor asked from where one has been before."""
        return self._drawn(g, n, False)

    def probe(self, text: str) -> Batch:
        """Return a row of letters; asked is what followed each letter last time, where it has been before."""
        letters, written = self.vocabulary[FIRST:], "".join(text.split())
        strange = next((letter for letter in written if letter not in letters), "")
        if strange:
            raise TrainingError(f"{strange!r} is no letter of this task; there are {letters[0]} to {letters[-1]}.")
        if not 1 <= len(written) <= self.longest:
            raise TrainingError(f"The row has {len(written)} letters; this task needs 1 to {self.longest}.")
        followed: dict[str, str] = {}
        asked = []
        for i, letter in enumerate(written):
            if i:
                followed[written[i - 1]] = letter
            asked.append(FIRST + letters.index(followed[letter]) if letter in followed else IGNORED)
        return Batch(torch.tensor([[FIRST + letters.index(letter) for letter in written]]), torch.tensor([asked]))

    def tokens(self, row: Tensor) -> tuple[str, ...]:
        """Return how the tokens of a row are written, "" where nothing is asked."""
        return tuple("" if number == IGNORED else self.vocabulary[number] for number in row.tolist())

    def _drawn(self, g: torch.Generator, n: int, of_held_out: bool) -> Batch:
        rows, first = self._rows(g, n)
        wrong = (held_out(rows) != of_held_out).nonzero().squeeze(1)
        while len(wrong):
            rows[wrong], first[wrong] = self._rows(g, len(wrong))
            wrong = wrong[held_out(rows[wrong]) != of_held_out]
        asked = rows[:, 1:].masked_fill(torch.arange(self.longest) < first, IGNORED)
        return Batch(rows[:, :-1], asked)

    def _rows(self, g: torch.Generator, n: int) -> tuple[Tensor, Tensor]:
        """Return rows [n, length + 1] and how many letters of each are new [n, 1]."""
        letters = FIRST + torch.rand(n, self._symbols, generator=g).argsort(1)
        first = torch.randint(LEAST, self._most + 1, (n, 1), generator=g)
        period = LEAST + (torch.rand(n, 1, generator=g) * (first - LEAST + 1)).long()
        place = torch.arange(self.longest + 1).expand(n, -1)
        again = first - period + (place - first) % period
        return letters.gather(1, torch.where(place < first, place, again)), first


def make(spec: RunSpec) -> Data:
    """Return the rows of a run."""
    symbols, length = (int(spec.options.get(option.name, option.default)) for option in OPTIONS)
    return InductionData(symbols, length)


def settings(kind: str) -> RunSpec:
    """Return what it is learned with: two layers, for an induction head needs another one before it."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=2, heads=2, d_model=48, d_ff=96, positions="rope")
    return RunSpec(NAME, options, model, TrainSpec(rate=3e-3, batch=32, steps=2000))


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

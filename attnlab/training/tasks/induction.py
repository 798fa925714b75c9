"""The induction task: rows of letters in which a repeated letter is followed by the same letter as before."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import IGNORED, PAD, SPECIAL, Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks.data import Data, TokenData
from attnlab.training.tasks.letters import FIRST, list_letters
from attnlab.training.tasks.rows import is_held_out
from attnlab.training.tasks.task import Task

NAME = "induction"
JUMPS = 0.2
"""The probability that a row jumps to another of its letters. Without jumps a row would be a cycle, and a model could
predict the letter that is oldest instead of the letter that followed.
"""
HELD_OUT, SEED = 256, 20
OPTIONS = (
    Option("symbols", "Letters", "The number of different letters", "whole", 16, 8, 26),
    Option("length", "Length", "The number of letters in an input", "whole", 32, 8, 128),
)


class InductionData(TokenData):
    """Rows of different letters, then stretches of these again; see :class:`attnlab.training.tasks.data.Data`.

    A letter's target is the letter that followed it last time, at positions where it follows again.
    """

    longest_source = 0
    causal = True
    held_out_lengths: tuple[int, ...] = ()

    def __init__(self, symbols: int, length: int) -> None:
        self._symbols, self.longest = symbols, length
        self.vocabulary = (*SPECIAL, *list_letters(symbols))
        g = torch.Generator().manual_seed(SEED)
        self.held_out = self._draw(g, HELD_OUT, True)
        first = self.held_out.inputs[0, : min(length, 18)]
        self.probe_text = " ".join(self.decode(first))
        self.baselines: Mapping[str, float] = {"any letter": float(torch.tensor(float(symbols)).log())}

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` rows; the targets are the letters that follow again as they did last time."""
        return self._draw(g, n, False)

    def make_probe(self, text: str) -> Batch:
        """Return a row of letters; a repeated letter's target is the letter that followed it last time."""
        letters, written = self.vocabulary[FIRST:], "".join(text.split())
        strange = next((letter for letter in written if letter not in letters), "")
        if strange:
            raise TrainingError(
                f"{strange!r} is not a letter of this task; its letters are {letters[0]} to {letters[-1]}."
            )
        if not 1 <= len(written) <= self.longest:
            raise TrainingError(f"The input has {len(written)} letters; this task needs 1 to {self.longest}.")
        row = torch.tensor([[FIRST + letters.index(letter) for letter in written]])
        asked = find_followers(row)
        return Batch(row, asked.masked_fill(asked == PAD, IGNORED))

    def _draw(self, g: torch.Generator, n: int, of_held_out: bool) -> Batch:
        rows = self._draw_rows(g, n)
        wrong = (is_held_out(rows) != of_held_out).nonzero().squeeze(1)
        while len(wrong):
            rows[wrong] = self._draw_rows(g, len(wrong))
            wrong = wrong[is_held_out(rows[wrong]) != of_held_out]
        inputs, following = rows[:, :-1], rows[:, 1:]
        return Batch(inputs, following.masked_fill(find_followers(inputs) != following, IGNORED))

    def _draw_rows(self, g: torch.Generator, n: int) -> Tensor:
        """Return rows [n, length + 1]."""
        letters = FIRST + torch.rand(n, self._symbols, generator=g).argsort(1)
        new = torch.randint(self._symbols // 2, self._symbols + 1, (n, 1), generator=g).clamp(max=self.longest // 2)
        place = torch.arange(self.longest + 1)
        jumps = (torch.rand(n, self.longest + 1, generator=g) < JUMPS) | (place == new)
        jumped = torch.where(jumps, place, 0).cummax(1).values  # the start of each position's stretch
        begin = torch.randint(self._symbols, (n, self.longest + 1), generator=g).gather(1, jumped)
        return letters.gather(1, torch.where(place < new, place, (begin + place - jumped) % new))


def find_followers(rows: Tensor) -> Tensor:
    """Return the letter that followed each letter of rows [n, T] at its last occurrence, PAD at its first."""
    place = torch.arange(rows.shape[1])
    alike = (rows[:, :, None] == rows[:, None, :]) & (place[:, None] > place)
    last = torch.where(alike, place, -1).amax(2)
    return rows.gather(1, (last + 1).clamp(max=rows.shape[1] - 1)).masked_fill(last < 0, PAD)


def make(spec: RunSpec) -> Data:
    """Return the rows of a run."""
    symbols, length = (int(spec.options.get(option.name, option.default)) for option in OPTIONS)
    return InductionData(symbols, length)


def choose_settings(kind: str) -> RunSpec:
    """Return settings that learn the task: two layers, because an induction head needs a head in the layer below."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=2, heads=2, d_model=48, d_ff=96, positions="learned")
    return RunSpec(NAME, options, model, TrainSpec(rate=3e-3, batch=32, steps=2500))


TASK = Task(
    name=NAME,
    title="Induction",
    about="Letters repeat, and each is followed by the same letter as last time. This takes two layers: the first "
    "tells each letter its predecessor, the second finds the letter whose predecessor is the current letter (Olsson et "
    "al. 2022).",
    look_for="The first layer shows a stripe just below the diagonal: each position attends to the one before. The "
    "second shows stripes further down: each letter attends to the letter that followed it last time.",
    kinds=("attention", "decoder"),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
)

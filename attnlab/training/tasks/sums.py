"""Rows of random numbers, every third the sum of the two before it: what attention cannot do without order."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import Batch
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.task import Task, Variant

NAME = "sum"
SEEDS = (0xA11E57ED, 0xA11E57EE)
"""Of the generators of the rows to learn from and of those held out; no run that draws fresh rows begins with them."""
HELD_OUT = 200
MOST_NUMBERS = 1 << 24
"""In all rows together: 64 MiB."""
OPTIONS = (
    Option("sequences", "Rows", "How many rows there are to learn from", "whole", 1000, 1, 10_000),
    Option("fresh", "Fresh rows", "New rows at every step, so that none can be learned by heart", "switch", False),
    Option("length", "Length", "How many places a row has", "whole", 10, 3, 64),
    Option("columns", "Columns", "How many numbers stand at each place: d_model", "whole", 512, 1, 1024),
)


def summed(rows: Tensor) -> Tensor:
    """Return what is asked of rows [n, T, d]: themselves, but at places 2, 5, 8, … the sum of the two places before."""
    targets = rows.clone()
    targets[:, 2::3] = rows[:, 1:-1:3] + rows[:, 0:-2:3]
    return targets


class SumData:
    """Rows from a standard normal distribution; see :class:`attnlab.training.tasks.data.Data`."""

    vocabulary: tuple[str, ...] = ()
    longest_source = 0
    causal = False
    held_out_lengths: tuple[int, ...] = ()
    probe_text = "0"

    def __init__(self, sequences: int, fresh: bool, length: int, columns: int) -> None:
        self.longest, self.features = length, columns
        self._fresh = fresh
        learned, held_out = (torch.Generator().manual_seed(seed) for seed in SEEDS)
        self._rows = self._drawn(learned, 0 if fresh else sequences)
        self.held_out = self._batch(self._drawn(held_out, HELD_OUT))
        mean = float(self.held_out.targets.square().mean())
        alone = float((0.7 * self.held_out.inputs - self.held_out.targets).square().mean())
        self.baselines: Mapping[str, float] = {"always 0": mean, "best without order": alone}

    def batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` rows: all there are, in order, when as many are asked for or more."""
        if self._fresh:
            return self._batch(self._drawn(g, n))
        if n >= len(self._rows):
            return self._batch(self._rows)
        return self._batch(self._rows[torch.randint(len(self._rows), (n,), generator=g)])

    def probe(self, text: str) -> Batch:
        """Return the held-out row of that number."""
        number = int(text) if text.strip().isdecimal() else -1
        if not 0 <= number < HELD_OUT:
            raise TrainingError(f"{text!r} is no held-out row; this task needs its number, 0 to {HELD_OUT - 1}.")
        return Batch(self.held_out.inputs[number : number + 1], self.held_out.targets[number : number + 1])

    def tokens(self, row: Tensor) -> tuple[str, ...]:
        """Return the number of each place."""
        return tuple(str(place) for place in range(len(row)))

    def _drawn(self, g: torch.Generator, n: int) -> Tensor:
        return torch.randn(n, self.longest, self.features, generator=g)

    def _batch(self, rows: Tensor) -> Batch:
        return Batch(rows, summed(rows))


def chosen(spec: RunSpec) -> tuple[int, bool, int, int]:
    """Return the options of a run, those that are not given as they are by default."""
    values = [spec.options.get(option.name, option.default) for option in OPTIONS]
    return int(values[0]), bool(values[1]), int(values[2]), int(values[3])


def make(spec: RunSpec) -> Data:
    """Return the rows of a run."""
    return SumData(*chosen(spec))


def check(spec: RunSpec) -> str:
    """Return why the rows do not go with the model or are too many, "" when all is well."""
    sequences, fresh, length, columns = chosen(spec)
    if spec.model.d_model != columns:
        return f"d_model is {spec.model.d_model} and the rows have {columns} columns; both need to be the same."
    if not fresh and sequences * length * columns > MOST_NUMBERS:
        fits = MOST_NUMBERS // (length * columns)
        return f"{sequences:,} rows of {length} places with {columns} numbers are too many; {fits:,} rows would do."
    return ""


def settings(kind: str) -> RunSpec:
    """Return what courses have: one bare layer of 8 heads, no positions; Adam at its default rate, all rows at once."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=1, heads=8, d_model=512, d_ff=0, norm="none", positions="none")
    train = TrainSpec(
        "adam", 1e-3, "constant", warmup=0, batch=1000, steps=50, weight_decay=0.0, clip=0.0, evaluate_every=5
    )
    return RunSpec(NAME, options, model, train)


def mended() -> RunSpec:
    """Return settings with which it is learned: positions, and rows that are never seen twice."""
    spec = settings("attention")
    return replace(
        spec,
        options={**spec.options, "columns": 64, "fresh": True},
        model=replace(spec.model, d_model=64, positions="learned"),
        train=replace(spec.train, batch=64, steps=3000, rate=3e-3, warmup=50, schedule="cosine", evaluate_every=100),
    )


TASK = Task(
    name=NAME,
    title="Sum of the previous two",
    about="Every third place is to become the sum of the two before it, all others stay. Without positions a layer "
    "cannot know which place is the third: it learns its rows by heart, and the held-out loss stays high.",
    look_for="Without positions no row of a map differs from another by its place, and the held-out loss stays near "
    "1. With positions and fresh rows, places 2, 5 and 8 look at the two before them, and both losses fall.",
    row="G1",
    kinds=("attention",),
    options=OPTIONS,
    settings=settings,
    make=make,
    check=check,
    variants=(
        Variant(
            "positions",
            "With positions and fresh rows",
            "Each place has its own learned vector and no row comes twice: where to look is learned, not the rows.",
            mended(),
        ),
        Variant(
            "fresh",
            "Fresh rows, no positions",
            "No row comes twice, so none can be learned by heart; without order the loss stays where guessing is.",
            replace(mended(), model=replace(mended().model, positions="none")),
        ),
    ),
)

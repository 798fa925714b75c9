"""The task of adding the previous two positions, which attention without positions cannot learn."""

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
"""The seeds of the training rows and of the held-out rows; no run that draws fresh rows uses them."""
HELD_OUT = 200
MOST_NUMBERS = 1 << 24
"""The maximum of numbers in all rows: 64 MiB."""
OPTIONS = (
    Option("sequences", "Rows", "The number of training rows", "whole", 1000, 1, 10_000),
    Option("fresh", "Fresh rows", "New rows at every step, so that none can be memorised", "switch", False),
    Option("length", "Length", "The number of positions in a row", "whole", 10, 3, 64),
    Option("columns", "Columns", "The number of columns at each position: d_model", "whole", 512, 1, 1024),
)


def add_previous(rows: Tensor) -> Tensor:
    """Return the targets of rows [n, T, d]: at positions 2, 5, 8, … the sum of the previous two."""
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
        self.longest, self.features, self.unknown_share = length, columns, 0.0
        self._fresh = fresh
        learned, held_out = (torch.Generator().manual_seed(seed) for seed in SEEDS)
        self._rows = self._draw(learned, 0 if fresh else sequences)
        self.held_out = self._make_batch(self._draw(held_out, HELD_OUT))
        mean = float(self.held_out.targets.square().mean())
        alone = float((0.7 * self.held_out.inputs - self.held_out.targets).square().mean())
        self.baselines: Mapping[str, float] = {"always 0": mean, "best without order": alone}

    def draw_batch(self, g: torch.Generator, n: int) -> Batch:
        """Return ``n`` random rows, or all rows in order if there are no more than ``n``."""
        if self._fresh:
            return self._make_batch(self._draw(g, n))
        if n >= len(self._rows):
            return self._make_batch(self._rows)
        return self._make_batch(self._rows[torch.randint(len(self._rows), (n,), generator=g)])

    def make_probe(self, text: str) -> Batch:
        """Return the held-out row with this number."""
        number = int(text) if text.strip().isdecimal() else -1
        if not 0 <= number < HELD_OUT:
            raise TrainingError(f"{text!r} is not a held-out row; this task needs its number, 0 to {HELD_OUT - 1}.")
        return Batch(self.held_out.inputs[number : number + 1], self.held_out.targets[number : number + 1])

    def decode(self, row: Tensor) -> tuple[str, ...]:
        """Return the number of each position."""
        return tuple(str(place) for place in range(len(row)))

    def _draw(self, g: torch.Generator, n: int) -> Tensor:
        return torch.randn(n, self.longest, self.features, generator=g)

    def _make_batch(self, rows: Tensor) -> Batch:
        return Batch(rows, add_previous(rows))


def read_options(spec: RunSpec) -> tuple[int, bool, int, int]:
    """Return the options of a run: rows, fresh rows, length and columns."""
    values = [spec.options.get(option.name, option.default) for option in OPTIONS]
    return int(values[0]), bool(values[1]), int(values[2]), int(values[3])


def make(spec: RunSpec) -> Data:
    """Return the rows of a run."""
    return SumData(*read_options(spec))


def check(spec: RunSpec) -> str:
    """Return why the rows do not match the model or need too much memory, "" if they are valid."""
    sequences, fresh, length, columns = read_options(spec)
    if spec.model.d_model != columns:
        return f"d_model is {spec.model.d_model} and the rows have {columns} columns; both must be equal."
    if not fresh and sequences * length * columns > MOST_NUMBERS:
        fits = MOST_NUMBERS // (length * columns)
        return (
            f"{sequences:,} rows of {length} positions × {columns} columns are too many; the maximum is {fits:,} rows."
        )
    return ""


def choose_settings(kind: str) -> RunSpec:
    """Return the usual exercise: one layer, 8 heads, no positions, Adam at its default rate, a single batch."""
    options = {option.name: option.default for option in OPTIONS}
    model = ModelSpec(kind, layers=1, heads=8, d_model=512, d_ff=0, norm="none", positions="none")
    train = TrainSpec(
        "adam", 1e-3, "constant", warmup=0, batch=1000, steps=50, weight_decay=0.0, clip=0.0, evaluate_every=5
    )
    return RunSpec(NAME, options, model, train)


def choose_learnable() -> RunSpec:
    """Return settings that learn the task: with positions, and with fresh rows at every step."""
    spec = choose_settings("attention")
    return replace(
        spec,
        options={**spec.options, "columns": 64, "fresh": True},
        model=replace(spec.model, d_model=64, positions="learned"),
        train=replace(spec.train, batch=64, steps=3000, rate=3e-3, warmup=50, schedule="cosine", evaluate_every=100),
    )


TASK = Task(
    name=NAME,
    title="Sum of the previous two",
    about="Every third position becomes the sum of the previous two, and the others stay as they are. Without "
    "positional encodings a layer cannot know which position is the third: it memorises its rows, and the held-out "
    "loss stays high.",
    look_for="Without positional encodings, the rows of a map do not depend on their position, and the held-out loss "
    "stays near 1. With them and with fresh rows, positions 2, 5 and 8 attend to the two before them, and both losses "
    "fall.",
    row="G1",
    kinds=("attention",),
    options=OPTIONS,
    settings=choose_settings,
    make=make,
    check=check,
    variants=(
        Variant(
            "positions",
            "With positions and fresh rows",
            "Each position has its own learned vector and no row repeats, so the model learns where to attend.",
            choose_learnable(),
        ),
        Variant(
            "fresh",
            "Fresh rows, no positions",
            "No row repeats, so none can be memorised; without positions the loss stays at that of guessing.",
            replace(choose_learnable(), model=replace(choose_learnable().model, positions="none")),
        ),
    ),
)

"""Rows of letters and what becomes of them: copied, reversed, sorted. One entry each."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import PAD, SPECIAL
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks.data import Data
from attnlab.training.tasks.pair_data import PairData, Pairs
from attnlab.training.tasks.rows import held_out
from attnlab.training.tasks.task import RECURRENT, SEQUENCES, Task

FIRST = len(SPECIAL)
"""The number of the letter a."""
OPTIONS = (
    Option("symbols", "Letters", "How many different letters there are", "whole", 10, 4, 26),
    Option("shortest", "Shortest", "The fewest letters of a row", "whole", 4, 3, 64),
    Option("longest", "Longest", "The most letters of a row", "whole", 8, 3, 64),
)

Answer = Callable[[Tensor], Tensor]
"""What becomes of rows [n, T] of letters, padded at the end, as is the answer."""


def copied(rows: Tensor) -> Tensor:
    """Return the rows themselves."""
    return rows


def reversed_(rows: Tensor) -> Tensor:
    """Return each row backwards; what is padded stays at the end."""
    flipped = rows.flip(1)
    order = (flipped == PAD).to(torch.uint8).argsort(dim=1, stable=True)
    return flipped.gather(1, order)


def sorted_(rows: Tensor) -> Tensor:
    """Return each row in the order of the alphabet; what is padded stays at the end."""
    last = torch.iinfo(rows.dtype).max
    ordered = rows.masked_fill(rows == PAD, last).sort(dim=1).values
    return ordered.masked_fill(ordered == last, PAD)


def draw(
    answer: Answer, options: tuple[int, int, int], g: torch.Generator, n: int, of_held_out: bool
) -> tuple[Tensor, Tensor]:
    """Return ``n`` rows [n, longest] of letters, held out or not, and their answers; every length is as likely."""
    symbols, shortest, longest = options
    lengths = torch.randint(shortest, longest + 1, (n, 1), generator=g)
    beyond = torch.arange(longest) >= lengths
    rows = _letters(g, beyond, symbols)
    wrong = (held_out(rows) != of_held_out).nonzero().squeeze(1)
    while len(wrong):
        rows[wrong] = _letters(g, beyond[wrong], symbols)
        wrong = wrong[held_out(rows[wrong]) != of_held_out]
    return rows, answer(rows)


def _letters(g: torch.Generator, beyond: Tensor, symbols: int) -> Tensor:
    return torch.randint(FIRST, FIRST + symbols, beyond.shape, generator=g).masked_fill_(beyond, PAD)


def read(answer: Answer, options: tuple[int, int, int], text: str) -> tuple[list[int], list[int]]:
    """Return the row of letters that a person wrote, with or without blanks, and its answer."""
    symbols, _, longest = options
    letters, written = alphabet(symbols), "".join(text.split())
    strange = next((letter for letter in written if letter not in letters), "")
    if strange:
        raise TrainingError(f"{strange!r} is no letter of this task; there are {letters[0]} to {letters[-1]}.")
    if not 1 <= len(written) <= longest:
        raise TrainingError(f"The row has {len(written)} letters; this task needs 1 to {longest}.")
    row = [FIRST + letters.index(letter) for letter in written]
    return row, [int(number) for number in answer(torch.tensor([row]))[0]]


def alphabet(symbols: int) -> str:
    """Return the first so many letters."""
    return "abcdefghijklmnopqrstuvwxyz"[:symbols]


def make(answer: Answer, spec: RunSpec) -> Data:
    """Return the examples of a task of letters."""
    chosen = {option.name: int(spec.options.get(option.name, option.default)) for option in OPTIONS}
    options = chosen["symbols"], chosen["shortest"], chosen["longest"]
    vocabulary = (*SPECIAL, *alphabet(options[0]))
    probe = torch.randint(FIRST, FIRST + options[0], (min(6, options[2]),), generator=torch.Generator().manual_seed(5))
    pairs = Pairs(
        vocabulary,
        (options[2], options[2]),
        partial(draw, answer, options),
        partial(read, answer, options),
        " ".join(vocabulary[int(number)] for number in probe),
    )
    return PairData(pairs, spec.model.kind)


def check(spec: RunSpec) -> str:
    """Return why the lengths cannot be, "" when they can."""
    shortest, longest = (int(spec.options.get(option.name, option.default)) for option in OPTIONS[1:])
    if shortest <= longest:
        return ""
    return f"The shortest row has {shortest} letters and the longest {longest}; the longest cannot be shorter."


def settings(name: str, kind: str) -> RunSpec:
    """Return what the tasks of letters learn with; an encoder, which sees no end of a row, needs longer."""
    options = {option.name: option.default for option in OPTIONS}
    recurrent = kind in RECURRENT
    model = ModelSpec(kind, layers=1 if recurrent else 2, heads=1 if recurrent else 4, d_model=48, d_ff=96)
    return RunSpec(name, options, model, TrainSpec(rate=2e-3, batch=32, steps=4000 if kind == "encoder" else 2000))


TASKS = tuple(
    Task(
        name=name,
        title=title,
        about=about,
        look_for=look_for,
        kinds=SEQUENCES,
        options=OPTIONS,
        settings=partial(settings, name),
        make=partial(make, answer),
        check=check,
    )
    for name, title, about, look_for, answer in (
        (
            "copy",
            "Copy",
            "Read a row of letters and write it again. The smallest task that needs attention: each letter is fetched "
            "from its place.",
            "A diagonal: each letter is fetched from its own place in the row. In a decoder, in the rows from ⟨ on, it "
            "is spread over layers and heads; it is cleanest in the last cross-attention of an encoder–decoder.",
            copied,
        ),
        (
            "reverse",
            "Reverse",
            "Read a row of letters and write it backwards. Which place to look at depends on the position alone.",
            "An anti-diagonal, for a decoder in the rows from ⟨ on: what is written first looks at what was read last.",
            reversed_,
        ),
        (
            "sort",
            "Sort",
            "Read a row of letters and write it in the order of the alphabet. Which place to look at depends on the "
            "letters, not on where they stand.",
            "No fixed pattern: what is written looks at the places that hold the next letter, wherever they stand.",
            sorted_,
        ),
    )
)

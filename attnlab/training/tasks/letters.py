"""The tasks on rows of letters: copy, reverse and sort."""

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
from attnlab.training.tasks.rows import is_held_out
from attnlab.training.tasks.task import RECURRENT, SEQUENCES, Task

FIRST = len(SPECIAL)
"""The number of the letter a."""
OPTIONS = (
    Option("symbols", "Letters", "The number of different letters", "whole", 10, 4, 26),
    Option("shortest", "Shortest", "The minimum number of letters in an input", "whole", 4, 3, 64),
    Option("longest", "Longest", "The maximum number of letters in an input", "whole", 8, 3, 64),
)

Answer = Callable[[Tensor], Tensor]
"""A function from rows of letters [n, T] to their targets [n, T], both padded at the end."""


def copy(rows: Tensor) -> Tensor:
    """Return the rows themselves."""
    return rows


def reverse(rows: Tensor) -> Tensor:
    """Return each row backwards; the padding stays at the end."""
    flipped = rows.flip(1)
    order = (flipped == PAD).to(torch.uint8).argsort(dim=1, stable=True)
    return flipped.gather(1, order)


def sort(rows: Tensor) -> Tensor:
    """Return each row in alphabetical order; the padding stays at the end."""
    last = torch.iinfo(rows.dtype).max
    ordered = rows.masked_fill(rows == PAD, last).sort(dim=1).values
    return ordered.masked_fill(ordered == last, PAD)


def draw(
    answer: Answer, options: tuple[int, int, int], g: torch.Generator, n: int, of_held_out: bool
) -> tuple[Tensor, Tensor]:
    """Return ``n`` rows of letters [n, longest], held out or not, and their targets; all lengths are equally likely."""
    symbols, shortest, longest = options
    lengths = torch.randint(shortest, longest + 1, (n, 1), generator=g)
    beyond = torch.arange(longest) >= lengths
    rows = _draw_letters(g, beyond, symbols)
    wrong = (is_held_out(rows) != of_held_out).nonzero().squeeze(1)
    while len(wrong):
        rows[wrong] = _draw_letters(g, beyond[wrong], symbols)
        wrong = wrong[is_held_out(rows[wrong]) != of_held_out]
    return rows, answer(rows)


def _draw_letters(g: torch.Generator, beyond: Tensor, symbols: int) -> Tensor:
    return torch.randint(FIRST, FIRST + symbols, beyond.shape, generator=g).masked_fill_(beyond, PAD)


def read(answer: Answer, options: tuple[int, int, int], text: str) -> tuple[list[int], list[int]]:
    """Return the user's row of letters, written with or without spaces, and its target."""
    symbols, _, longest = options
    letters, written = list_letters(symbols), "".join(text.split())
    strange = next((letter for letter in written if letter not in letters), "")
    if strange:
        raise TrainingError(f"{strange!r} is not a letter of this task; its letters are {letters[0]} to {letters[-1]}.")
    if not 1 <= len(written) <= longest:
        raise TrainingError(f"The input has {len(written)} letters; this task needs 1 to {longest}.")
    row = [FIRST + letters.index(letter) for letter in written]
    return row, [int(number) for number in answer(torch.tensor([row]))[0]]


def list_letters(symbols: int) -> str:
    """Return the first ``symbols`` letters of the alphabet."""
    return "abcdefghijklmnopqrstuvwxyz"[:symbols]


def make(answer: Answer, spec: RunSpec) -> Data:
    """Return the examples of a run."""
    chosen = {option.name: int(spec.options.get(option.name, option.default)) for option in OPTIONS}
    options = chosen["symbols"], chosen["shortest"], chosen["longest"]
    vocabulary = (*SPECIAL, *list_letters(options[0]))
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
    """Return why the lengths are invalid, "" if they are valid."""
    shortest, longest = (int(spec.options.get(option.name, option.default)) for option in OPTIONS[1:])
    if shortest <= longest:
        return ""
    return f"The shortest row has {shortest} letters and the longest {longest}; the longest cannot be shorter."


def choose_settings(name: str, kind: str) -> RunSpec:
    """Return settings that learn the tasks; an encoder, which does not see where a row ends, trains longer."""
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
        settings=partial(choose_settings, name),
        make=partial(make, answer),
        check=check,
    )
    for name, title, about, look_for, answer in (
        (
            "copy",
            "Copy",
            "Read a row of letters and write it again. This is the smallest task that needs attention: each output "
            "position fetches the letter at its own position.",
            "A diagonal: each output position attends to its own position in the row. In a decoder it is in the rows "
            "from ⟨ on, spread over layers and heads; it is clearest in an encoder–decoder’s last cross-attention.",
            copy,
        ),
        (
            "reverse",
            "Reverse",
            "Read a row of letters and write it backwards. The position alone decides where to attend.",
            "An anti-diagonal: the first output attends to the last input. In a decoder it is in the rows from ⟨ on, "
            "divided among heads and in some shifted by one position; it is clearest in an encoder–decoder’s last "
            "cross-attention.",
            reverse,
        ),
        (
            "sort",
            "Sort",
            "Read a row of letters and write it in alphabetical order. The letters decide where to attend, not their "
            "positions.",
            "No fixed pattern: each output attends to the inputs with the next letter, at any position.",
            sort,
        ),
    )
)

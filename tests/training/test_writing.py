"""How a model writes, tested with one whose next token is known: 3, 4, 5, 3, …, and END after 6."""

import torch
from torch import Tensor
from torch.nn import functional

from attnlab.training.batch import END, IGNORED, PAD, Batch
from attnlab.training.models import Model
from attnlab.training.models.base_model import Memory

NEXT = torch.tensor([5, 5, 5, 4, 5, 3, END])
"""The next token of each; PAD, BEGIN and END are followed by 5, so that writing beyond the end is noticed."""


class Cycle(Model):
    """Gives the next token a logit of 1 and all others 0."""

    def __init__(self, longest: int = 8, onward: bool = True) -> None:
        super().__init__(longest, onward)

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        return functional.one_hot(NEXT[inputs], len(NEXT)).float()


def batch(*rows: list[int]) -> Batch:
    inputs = torch.tensor(rows)
    return Batch(inputs, torch.full_like(inputs, IGNORED))


def test_ended_rows_stay_empty_while_others_continue() -> None:
    assert Cycle().write(batch([3, 6], [3, 4]), 4).tolist() == [[END, PAD, PAD, PAD], [5, 3, 4, 5]]
    assert Cycle().write(batch([3, 6]), 3).tolist() == [[END, PAD, PAD]]


def test_writing_continues_from_the_last_tokens_that_fit() -> None:
    assert Cycle(longest=2).write(batch([3, 4, 5]), 5).tolist() == [[3, 4, 5, 3, 4]]


def test_an_encoder_writes_its_first_answers() -> None:
    assert Cycle(onward=False).write(batch([3, 4, 5, 6]), 2).tolist() == [[4, 5]]


def test_sampling_with_top_1_equals_greedy_writing() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = Cycle().write(batch([3, 4]), 20, generator=generator, temperature=5.0, top_k=1)
    assert drawn.tolist() == Cycle().write(batch([3, 4]), 20).tolist()
    assert drawn.tolist() != Cycle().write(batch([3, 4]), 20, generator=generator, temperature=5.0).tolist()

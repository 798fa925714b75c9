"""Rows of numbered tokens: a source and its target laid out for each kind of model, and which rows are held out."""

import torch
from torch import Tensor

from attnlab.training.batch import BEGIN, END, IGNORED, PAD, Batch
from attnlab.training.tasks.task import WITH_SOURCE

HELD_OUT_SHARE = 8
"""One in so many of all possible rows is held out."""


def pad(rows: list[list[int]], width: int) -> Tensor:
    """Return rows of different lengths as [n, width], PAD after the end of each."""
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def held_out(rows: Tensor) -> Tensor:
    """Return [n] bool: which rows [n, T] are never learned from. It depends on the tokens of the row alone.

    A multiplicative hash (Knuth, The Art of Computer Programming 3, section 6.4): neighbours fall apart, so that what
    is held out is of the same kind as the rest.
    """
    mixed = torch.zeros(rows.shape[0], dtype=torch.int64)
    for column in rows.unbind(1):
        mixed = (mixed * 31 + column) * 0x9E3779B1 % 0x1_0000_0000
    return (mixed >> 16) % HELD_OUT_SHARE == 0


def arrange(kind: str, source: Tensor, target: Tensor) -> Batch:
    """Return sources [n, S] and their targets [n, T] as a kind of model reads them, all padded at the end.

    An encoder answers in place; a decoder goes on after the source and ⟨; the others have the source beside them.
    """
    if kind == "encoder":
        return Batch(source, target.masked_fill(target == PAD, IGNORED))
    begin = torch.full((len(target), 1), BEGIN)
    asked = _closed(target)
    if kind in WITH_SOURCE:
        return Batch(torch.cat([begin, target], 1), asked, source)
    inputs = torch.cat([source, begin, target], 1)
    asked = torch.cat([torch.full_like(source, IGNORED), asked], 1)
    order = (inputs == PAD).to(torch.uint8).argsort(dim=1, stable=True)  # what is padded goes to the end
    return Batch(inputs.gather(1, order), asked.gather(1, order))


def _closed(target: Tensor) -> Tensor:
    """Return targets [n, T] as what is asked [n, T + 1]: END after each, and nothing after that."""
    asked = torch.cat([target, torch.full((len(target), 1), PAD)], 1)
    asked.scatter_(1, (target != PAD).sum(1, keepdim=True), END)
    return asked.masked_fill_(asked == PAD, IGNORED)

"""Rows of token numbers: padding, the choice of held-out rows, and the layout for each kind of model."""

import torch
from torch import Tensor

from attnlab.training.batch import BEGIN, END, IGNORED, PAD, Batch
from attnlab.training.tasks.task import WITH_SOURCE

HELD_OUT_SHARE = 8
"""One in eight of all possible rows is held out."""


def pad(rows: list[list[int]], width: int) -> Tensor:
    """Return rows of different lengths as [n, width], PAD after the end of each."""
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def is_held_out(rows: Tensor) -> Tensor:
    """Return [n] bool: which of the rows [n, T] are held out. This depends on the tokens of a row alone.

    It is a multiplicative hash (Knuth, The Art of Computer Programming 3, section 6.4). Similar rows get different
    hashes, so the held-out rows are a fair sample of all rows.
    """
    mixed = torch.zeros(rows.shape[0], dtype=torch.int64)
    for column in rows.unbind(1):
        mixed = (mixed * 31 + column) * 0x9E3779B1 % 0x1_0000_0000
    return (mixed >> 16) % HELD_OUT_SHARE == 0


def arrange(kind: str, source: Tensor, target: Tensor) -> Batch:
    """Return sources [n, S] and their targets [n, T] as a batch for a kind of model, padded at the end.

    An encoder predicts at the positions of the source; a decoder continues after the source and ⟨; the other kinds
    read the source separately.
    """
    if kind == "encoder":
        return Batch(source, target.masked_fill(target == PAD, IGNORED))
    begin = torch.full((len(target), 1), BEGIN)
    asked = _close(target)
    if kind in WITH_SOURCE:
        return Batch(torch.cat([begin, target], 1), asked, source)
    inputs = torch.cat([source, begin, target], 1)
    asked = torch.cat([torch.full_like(source, IGNORED), asked], 1)
    order = (inputs == PAD).to(torch.uint8).argsort(dim=1, stable=True)  # moves the padding to the end
    return Batch(inputs.gather(1, order), asked.gather(1, order))


def _close(target: Tensor) -> Tensor:
    """Return targets [n, T + 1] with END after each of the targets [n, T], and IGNORED after that."""
    asked = torch.cat([target, torch.full((len(target), 1), PAD)], 1)
    asked.scatter_(1, (target != PAD).sum(1, keepdim=True), END)
    return asked.masked_fill_(asked == PAD, IGNORED)

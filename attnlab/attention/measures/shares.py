"""How much of the attention of each head goes to keys of a kind, and which keys followed the same token before."""

from collections.abc import Sequence

import torch
from torch import Tensor


def find_share(weights: Tensor, kind: Tensor) -> Tensor:
    """Return for each head of weights [h, T_q, T_k] the mean weight on the keys of a kind, bool [T_q, T_k], over the
    queries that have one, [h]; 0 without any.
    """
    has = kind.any(-1)
    if not bool(has.any()):
        return torch.zeros(len(weights))
    return (weights * kind).sum(-1)[:, has].mean(-1)


def find_after(ids: Sequence[int]) -> Tensor:
    """Return for each place which earlier places follow the same token, bool [T, T]."""
    before = torch.tensor([-1, *ids[:-1]])
    here = torch.tensor(ids)[:, None]
    i, j = torch.arange(len(ids))[:, None], torch.arange(len(ids))[None]
    return (before == here) & (j <= i) & (j > 0)

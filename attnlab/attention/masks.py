"""Masks: which key a query may attend to. Boolean [T_q, T_k], True where it may."""

from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=8)
def causal(t_q: int, t_k: int) -> Tensor:
    """Return the mask that lets query i attend to key j ≤ i, counted from the top left, [T_q, T_k]."""
    return torch.ones(t_q, t_k, dtype=torch.bool).tril()


def combine(t_q: int, t_k: int, is_causal: bool, mask: Tensor | None) -> Tensor | None:
    """Return what all the masks given allow, [T_q, T_k], or None without any."""
    if not is_causal:
        return mask
    return causal(t_q, t_k) if mask is None else causal(t_q, t_k) & mask

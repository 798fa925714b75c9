"""Masks: which key a query may not attend to. Boolean [T_q, T_k], True where it is hidden."""

from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=8)
def future(t_q: int, t_k: int) -> Tensor:
    """Return what the causal mask hides from query i: key j > i, counted from the top left, [T_q, T_k].

    The tensor is shared by all who ask: it is read, never written into and never given away.
    """
    with torch.inference_mode(False):
        return torch.ones(t_q, t_k, dtype=torch.bool, device="cpu").triu(1)


def hidden(t_q: int, t_k: int, is_causal: bool, mask: Tensor | None) -> Tensor | None:
    """Return what any of the masks given hides, [T_q, T_k], or None without any; ``mask`` is True where allowed."""
    if mask is None:
        return future(t_q, t_k) if is_causal else None
    return future(t_q, t_k) | ~mask if is_causal else ~mask

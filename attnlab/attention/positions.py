"""Position schemes: added to the embeddings, turning queries and keys, or added to the scores. One entry each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.arithmetic import Floats, Line
from attnlab.attention.entries import Entry

Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Entry):
    """One scheme, which acts in one of three places; the hooks of the others are None.

    ``encode(T, d_model, p)`` gives what is added to the embeddings, [T, d_model]; ``rotate(x [h, T, d_k], p)`` the
    turned queries or keys, token i at position i; ``bias(h, T_q, T_k, p)`` what is added to the scores, [h, T_q, T_k]
    or what broadcasts to it. ``p`` holds the entry's tables and options by name: tensors on the device, or for
    ``explain_…`` float64 arrays. ``explain_rotated(x [d_k], position, column, p, limit)`` and
    ``explain_bias(head, h, query, key, p)`` write one cell out.

    ``formula`` is of the stage it changes, with ``{x}`` for q or k. ``code`` is an expression of ``x``: the embeddings,
    or the queries or keys [h, T, d_k]; of a bias an expression with Q and K in scope. ``setup`` are the lines before
    it. Options stand in both as ``{name}``.
    """

    formula: str
    code: str = "x"
    setup: tuple[str, ...] = ()
    encode: Callable[[int, int, Parameters], Tensor] | None = None
    rotate: Callable[[Tensor, Parameters], Tensor] | None = None
    bias: Callable[[int, int, int, Parameters], Tensor] | None = None
    explain_rotated: Callable[[Floats, int, int, Parameters, int | None], tuple[Line, ...]] | None = None
    explain_bias: Callable[[int, int, int, int, Parameters], tuple[Line, ...]] | None = None


def sinusoidal(length: int, d_model: int) -> Tensor:
    """Return PE(t, 2i) = sin(t / 10000^(2i/d)), PE(t, 2i+1) = cos(same), [T, d_model] float64 (Vaswani et al. 2017)."""
    t = torch.arange(length, dtype=torch.float64, device="cpu")[:, None]
    i = torch.arange(d_model, dtype=torch.float64, device="cpu")
    angle = t / 10000 ** ((i - i % 2) / d_model)  # [T, d_model]
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


POSITIONS = {
    position.name: position
    for position in (
        Position(
            name="none",
            title="none",
            about="No positions: attention does not know the order of the tokens.",
            formula="X",
        ),
        Position(
            name="sinusoidal",
            title="sinusoidal",
            about="Sines and cosines of each position are added to the embeddings (Vaswani et al. 2017).",
            formula=r"X + \mathrm{PE}",
            encode=lambda length, d_model, p: sinusoidal(length, d_model),
            setup=(
                "t = torch.arange(x.shape[0], dtype=torch.float64)[:, None]  # positions",
                "i = torch.arange(x.shape[1], dtype=torch.float64)  # columns",
                "angle = t / 10000 ** ((i - i % 2) / x.shape[1])",
            ),
            code="x + torch.where(i % 2 == 0, angle.sin(), angle.cos()).to(x.dtype)",
        ),
    )
}

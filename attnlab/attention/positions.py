"""Position schemes that are added to the embeddings. One entry each."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Position:
    """One scheme: ``encode(T, d_model)`` gives what is added to the embeddings, [T, d_model]; None adds nothing.

    ``code`` is the sum of both in PyTorch, an expression of ``x``, the embeddings; ``setup`` the lines before it.
    """

    name: str
    title: str
    about: str
    formula: str
    encode: Callable[[int, int], Tensor] | None
    code: str
    setup: tuple[str, ...] = ()


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
            encode=None,
            code="x",
        ),
        Position(
            name="sinusoidal",
            title="sinusoidal",
            about="Sines and cosines of each position are added to the embeddings (Vaswani et al. 2017).",
            formula=r"X + \mathrm{PE}",
            encode=sinusoidal,
            setup=(
                "t = torch.arange(x.shape[0], dtype=torch.float64)[:, None]  # positions",
                "i = torch.arange(x.shape[1], dtype=torch.float64)  # columns",
                "angle = t / 10000 ** ((i - i % 2) / x.shape[1])",
            ),
            code="x + torch.where(i % 2 == 0, angle.sin(), angle.cos()).to(x.dtype)",
        ),
    )
}

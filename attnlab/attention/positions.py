"""Position schemes that are added to the embeddings. One entry each."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Position:
    """One scheme: ``encode(T, d_model)`` gives what is added to the embeddings, [T, d_model]; None adds nothing.

    ``code`` is the same in PyTorch as an expression of ``x``, the embeddings.
    """

    name: str
    title: str
    about: str
    formula: str
    encode: Callable[[int, int], Tensor] | None
    code: str


def sinusoidal(length: int, d_model: int) -> Tensor:
    """Return PE(t, 2i) = sin(t / 10000^(2i/d)), PE(t, 2i+1) = cos(same), [T, d_model] float64 (Vaswani et al. 2017)."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    column = torch.arange(d_model)
    angle = position / 10000 ** ((column - column % 2) / d_model)  # [T, d_model]
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


_SINUSOIDAL_CODE = """(lambda t, c: x + torch.where(c % 2 == 0, (a := t / 10000 ** ((c - c % 2) / x.shape[1])).sin(), a.cos()).to(x.dtype))(
    torch.arange(x.shape[0], dtype=torch.float64)[:, None], torch.arange(x.shape[1]))"""

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
            code=_SINUSOIDAL_CODE,
        ),
    )
}

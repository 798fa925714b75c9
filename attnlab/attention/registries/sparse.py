"""Normalisers that give most keys a weight of exactly 0, sparsemax and entmax 1.5, as tensors and written out."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.arrays import widen
from attnlab.attention.stages.arithmetic import (
    Floats,
    Line,
    Span,
    bracket,
    decimals_for,
    join_terms,
    line,
    number,
    select_terms,
    short,
    subtract_maximum,
)

SPARSEMAX_CODE = """z = {x} - {x}.amax(-1, keepdim=True)
top = z.sort(dim=-1, descending=True).values
sums, n = top.cumsum(-1), torch.arange(1, top.shape[-1] + 1, dtype=z.dtype, device=z.device)
size = (1 + n * top > sums).sum(-1, keepdim=True).clamp_min(1)  # how many keys get a weight
tau = (sums.gather(-1, size - 1) - 1) / size
weights = (z - tau).clamp_min(0)"""

ENTMAX15_CODE = """z = ({x} - {x}.amax(-1, keepdim=True)) / 2
top = z.sort(dim=-1, descending=True).values
n = torch.arange(1, top.shape[-1] + 1, dtype=z.dtype, device=z.device)
mean, square = top.cumsum(-1) / n, top.square().cumsum(-1) / n
taus = mean - (1 / n - (square - mean.square())).clamp_min(0).sqrt()
size = (taus <= top).sum(-1, keepdim=True).clamp_min(1)  # how many keys get a weight
weights = (z - taus.gather(-1, size - 1)).clamp_min(0).square()"""


def sparsemax(logits: Tensor, p: Mapping[str, Any]) -> Tensor:
    """Return the closest probability distribution to each row (Martins & Astudillo 2016, algorithm 1)."""
    z = _subtract_maximum(logits)
    tau = _sparsemax_threshold(z)
    return (z - tau).clamp_min(0).to(logits.dtype)


def _sparsemax_threshold(z: Tensor) -> Tensor:
    top = z.sort(dim=-1, descending=True).values
    sums, n = top.cumsum(-1), _counts(top)
    size = (1 + n * top > sums).sum(-1, keepdim=True).clamp_min(1)
    return (sums.gather(-1, size - 1) - 1) / size


def entmax15(logits: Tensor, p: Mapping[str, Any]) -> Tensor:
    """Return max(0, z ÷ 2 − τ)² with τ such that each row sums to 1 (Peters, Niculae, Martins 2019, algorithm 2)."""
    z = _subtract_maximum(logits) / 2
    tau = _entmax15_threshold(z)
    if tau.requires_grad:
        tau = _solve_for_support(z, tau.detach())
    return (z - tau).clamp_min(0).square().to(logits.dtype)


def _entmax15_threshold(z: Tensor) -> Tensor:
    """Return τ: for the n largest, Σ (z − τ)² = 1 is solved by their mean minus √(1 ÷ n − their variance)."""
    top = z.sort(dim=-1, descending=True).values
    n = _counts(top)
    mean, square = top.cumsum(-1) / n, top.square().cumsum(-1) / n
    taus = mean - (1 / n - (square - mean.square())).clamp_min(0).sqrt()
    size = (taus <= top).sum(-1, keepdim=True).clamp_min(1)
    return taus.gather(-1, size - 1)


def _solve_for_support(z: Tensor, tau: Tensor) -> Tensor:
    """Return the same τ computed from the scores above it alone, for gradients: those of −∞ and of √0 are NaN."""
    above = z > tau
    n = above.sum(-1, keepdim=True).to(z.dtype)  # 1 ÷ whole numbers would be float32
    kept = torch.where(above, z, 0)
    mean, square = kept.sum(-1, keepdim=True) / n, kept.square().sum(-1, keepdim=True) / n
    return mean - (1 / n - (square - mean.square())).sqrt()


def _subtract_maximum(logits: Tensor) -> Tensor:
    """Return logits minus their row's maximum, which changes no weight, in float32 or better, since τ sums many."""
    wide = widen(logits)
    return wide - wide.amax(-1, keepdim=True)


def _counts(top: Tensor) -> Tensor:
    return torch.arange(1, top.shape[-1] + 1, dtype=top.dtype, device=top.device)


def explain_sparsemax(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    """Write out max(0, z − τ), with τ from the scores above it."""
    z: Floats = np.asarray(logits, dtype=np.float64)
    if z[j] == -np.inf or not np.isfinite(z.max()):
        return _without_share(z, j)
    z, said = subtract_maximum(z)
    tau = _threshold(z, _sparsemax_threshold)
    above = [int(i) for i in np.flatnonzero(z > tau)]
    which = select_terms(len(above), limit, above.index(j) if j in above else None)
    weight, total = max(0.0, float(z[j]) - tau), float(z[above].sum())
    digits = decimals_for([z[j], tau], lambda x: max(0.0, float(x[0] - x[1])))
    in_sum = decimals_for([*z[above], total], lambda x: float(x[:-1].sum()), lambda x: float(x[-1] - 1) / len(above))
    terms = [(Span(bracket(z[i], in_sum), "attention" if i == j else ""),) for i in above]
    share = f"({number(total, in_sum)} − 1) ÷ {len(above)} = {number(tau)}"
    return (
        *said,
        line("max(0, ", Span(short(z[j], digits), "attention"), " − ", bracket(tau, digits), ")"),
        line("= ", Span(number(weight), "attention")),
        *_support(z, j, tau, len(above)),
        line("their sum: ", join_terms(terms, which)),
        line(f"the threshold τ = (their sum − 1) ÷ their number: {share}"),
    )


def explain_entmax15(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    """Write out max(0, z ÷ 2 − τ)², with τ and the scores above it."""
    z: Floats = np.asarray(logits, dtype=np.float64)
    if z[j] == -np.inf or not np.isfinite(z.max()):
        return _without_share(z, j)
    z, said = subtract_maximum(z)
    half = z / 2
    tau = _threshold(half, _entmax15_threshold)
    above = [int(i) for i in np.flatnonzero(half > tau)]
    which = select_terms(len(above), limit, above.index(j) if j in above else None)
    weight, total = max(0.0, float(half[j]) - tau) ** 2, float(np.square(half[above] - tau).sum())
    digits = decimals_for([z[j], tau], lambda x: max(0.0, float(x[0] / 2 - x[1])) ** 2)
    in_sum = decimals_for([*half[above], tau], lambda x: float(np.square(x[:-1] - x[-1]).sum()))
    square = Span("2", style="sup")
    excess = [f"({short(half[i], in_sum)} − {bracket(tau, in_sum)})" for i in above]
    terms = [(Span(text, "attention" if i == j else ""), square) for i, text in zip(above, excess, strict=True)]
    return (
        *said,
        line("max(0, ", Span(short(z[j], digits), "attention"), " ÷ 2 − ", bracket(tau, digits), ")", square),
        line("= ", Span(number(weight), "attention")),
        *_support(half, j, tau, len(above)),
        line(f"the threshold τ is {number(tau)}, where the weights sum to 1"),
        line(join_terms(terms, which), f" = {number(total)}"),
    )


def _threshold(z: Floats, of: Callable[[Tensor], Tensor]) -> float:
    largest = z.max()
    return float(of(torch.from_numpy(z - largest))) + float(largest)


def _support(z: Floats, j: int, tau: float, count: int) -> tuple[Line, ...]:
    place = "one of them" if z[j] > tau else "not one of them: its weight is exactly 0"
    verb = "are" if count > 1 else "is"
    return (line(f"{count} of {len(z)} scores {verb} above the threshold τ; this is ", place),)


def _without_share(z: Floats, j: int) -> tuple[Line, ...]:
    if z[j] == -np.inf and np.isfinite(z.max()):
        return (line("−∞ is below any threshold"), line("= 0"))
    return (line("the scores of this row contain ∞ or NaN, so the weights are undefined"), line("= NaN"))

"""Why scores are scaled: their standard deviation grows with d_k, and the gradient of softmax vanishes."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

SIZES = tuple(2**i for i in range(10))
"""The d_k of the curves."""
QUERIES = 64
LEAST_KEYS = 64
"""The minimum number of random keys, drawn in several sets if needed, so that the averages are meaningful."""


@dataclass(frozen=True, slots=True)
class Saturation:
    """How saturated softmax is with given scores.

    ``spread`` is the scores' standard deviation, ``gradient`` the Frobenius norm of softmax's Jacobian
    diag(p) − p pᵀ and ``largest`` the largest weight, both averaged over the rows. NaN if there is no row.
    """

    spread: float
    gradient: float
    largest: float


@dataclass(frozen=True, slots=True)
class Pair:
    """The saturation of the same scores at one d_k, unscaled and scaled."""

    d_k: int
    raw: Saturation
    scaled: Saturation


@dataclass(frozen=True, slots=True)
class TraceSaturation:
    """The pair of each head of an experiment. ``divided`` is True if the experiment scales its scores.

    ``divisor`` is the experiment's, or √d_k if it has none.
    """

    heads: tuple[Pair, ...]
    divisor: float
    divided: bool

    @property
    def mean(self) -> Pair:
        """The average over the heads."""
        raw, scaled = [pair.raw for pair in self.heads], [pair.scaled for pair in self.heads]
        return Pair(self.heads[0].d_k, _mean(raw), _mean(scaled))


def _mean(of: list[Saturation]) -> Saturation:
    return Saturation(
        *(math.fsum(getattr(one, name) for one in of) / len(of) for name in ("spread", "gradient", "largest"))
    )


def jacobian_norms(weights: Tensor) -> Tensor:
    """Return the Frobenius norm of diag(p) − p pᵀ for each row p of weights [..., T_k], as [...].

    1 minus the largest weight is computed as the sum of the others, which avoids cancellation if it is nearly 1.
    """
    top, rest = weights.max(-1).values, weights.clone()
    rest.scatter_(-1, weights.argmax(-1, keepdim=True), 0)
    squares = rest.square()
    diagonal = (top * rest.sum(-1)).square() + (squares * (1 - rest).square()).sum(-1)
    beside = 2 * top.square() * squares.sum(-1) + (squares.sum(-1).square() - squares.square().sum(-1)).clamp(min=0)
    return (diagonal + beside).sqrt()


def measure(logits: Tensor, hidden: Tensor | None = None) -> Saturation:
    """Return the saturation of logits [..., T_q, T_k] without the ``hidden`` cells [T_q, T_k] and fully hidden rows."""
    logits = logits.double()
    seen = torch.ones_like(logits, dtype=torch.bool) if hidden is None else (~hidden).expand_as(logits)
    weights = torch.softmax(logits.masked_fill(~seen, -torch.inf), -1)[seen.any(-1)]
    if not len(weights):
        return Saturation(math.nan, math.nan, math.nan)
    spread = float(logits[seen].std(correction=0))
    return Saturation(spread, float(jacobian_norms(weights).mean()), float(weights.max(-1).values.mean()))


def measure_random(keys: int, seed: int) -> tuple[Pair, ...]:
    """Return the pair for each d_k of ``SIZES``, from 64 standard normal queries and ``keys`` such keys.

    A score is then a sum of d_k products with mean 0 and variance d_k (Vaswani et al. 2017, section 3.2.1).
    """
    g = torch.Generator(device="cpu").manual_seed(seed)
    sets = math.ceil(LEAST_KEYS / keys)
    q, k = (
        torch.randn(sets, count, SIZES[-1], generator=g, dtype=torch.float64, device="cpu") for count in (QUERIES, keys)
    )
    scores = {d_k: q[..., :d_k] @ k[..., :d_k].mT for d_k in SIZES}
    return tuple(Pair(d_k, measure(s), measure(s / math.sqrt(d_k))) for d_k, s in scores.items())


def measure_trace(trace: "Trace") -> TraceSaturation:
    """Return the pair of each head of an experiment; masked cells do not count."""
    e, scores = trace.experiment, trace["scores"].to("cpu", torch.float64)
    divisor = e.divisor
    used = math.sqrt(e.d_k) if divisor is None else divisor
    scaled = trace["scaled"].to("cpu", torch.float64) if "scaled" in trace else scores / used
    hidden = None if trace.hidden is None else trace.hidden.cpu()
    pairs = zip(scores, scaled, strict=True)
    heads = tuple(Pair(e.d_k, measure(s, hidden), measure(divided, hidden)) for s, divided in pairs)
    return TraceSaturation(heads, used, divisor is not None)

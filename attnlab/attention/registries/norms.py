"""The registry of normalisations of queries and keys before the scores (QK norm)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.arrays import widen
from attnlab.attention.products import in_one_thread
from attnlab.attention.registries.entries import Entry, Table
from attnlab.attention.registries.score_gradients import pull_length
from attnlab.attention.stages.arithmetic import Floats, Line, Span, decimals_for, line, number, short

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm(Entry):
    """One normalisation: ``apply(x [h, T, d_k], p)`` gives vectors of the same shape; None does nothing.

    An entry with tables has two: gains [d_k] for queries and for keys, in this order, which multiply the result.
    ``explain(x [d_k], column, p)`` writes out one number before the gain. ``p`` holds the entry's options by name.
    ``code`` is an expression of ``x``, with options as ``{name}``. ``backward(x, d)`` is the gradient of x from that
    of the result before the gain, ``d``; ``backward_code`` are lines of PyTorch, the last one an expression, with
    ``x`` and ``{d}``. Without them the backward pass differentiates ``apply`` automatically.
    """

    formula: str = ""
    apply: Callable[[Tensor, Options], Tensor] | None = None
    explain: Callable[[Floats, int, Options], tuple[Line, ...]] = lambda x, column, p: ()
    code: str = "x"
    backward: Callable[[Tensor, Tensor], Tensor] | None = None
    backward_code: str = ""


EPS = 1e-6
"""Added to the mean square before the square root, as in common networks."""


def _rms(x: Tensor, p: Options) -> Tensor:
    wide = widen(x)
    return (wide * in_one_thread(torch.rsqrt, wide.square().mean(-1, keepdim=True) + EPS)).to(x.dtype)


def _pull_rms(x: Tensor, d: Tensor) -> Tensor:
    root = in_one_thread(torch.rsqrt, x.square().mean(-1, keepdim=True) + EPS)
    return root * d - x * root**3 * (x * d).mean(-1, keepdim=True)


def _explain_rms(x: Floats, column: int, p: Options) -> tuple[Line, ...]:
    root = float(np.sqrt(np.square(x, dtype=np.float64).mean() + EPS))
    return _explain_quotient("root mean square", float(x[column]), root, f" = {number(float(x[column]) / root)}")


def _l2(x: Tensor, p: Options) -> Tensor:
    wide = widen(x)
    length: Tensor = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)
    return (wide / length.clamp_min(torch.finfo(wide.dtype).tiny)).to(x.dtype)


def _pull_l2(x: Tensor, d: Tensor) -> Tensor:
    length: Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    least = torch.finfo(x.dtype).tiny
    return pull_length(x / length.clamp_min(least), d, length, least)


def _explain_l2(x: Floats, column: int, p: Options) -> tuple[Line, ...]:
    length = float(np.sqrt(np.square(x, dtype=np.float64).sum()))
    if not length:
        return (line("the row is all zeros: its length is 0, and it stays 0"),)
    return _explain_quotient("length", float(x[column]), length)


def _explain_quotient(what: str, x: float, size: float, result: str = "") -> tuple[Line, ...]:
    digits = decimals_for([x, size], lambda values: float(values[0] / values[1]))
    return (
        line(f"{what} of the row = ", Span(number(size, digits), style="strong")),
        line(f"{short(x, digits)} ÷ {number(size, digits)}{result}"),
    )


NORMS = {
    norm.name: norm
    for norm in (
        Norm(name="none", title="none", about="Queries and keys are not normalised."),
        Norm(
            name="l2",
            title="length 1",
            about="Queries and keys are scaled to length 1, so that a score is a cosine (Henry et al. 2020).",
            formula=r"{x} \div |{x}|",
            apply=_l2,
            explain=_explain_l2,
            code="x / x.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)",
            backward=_pull_l2,
            backward_code="size = x.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)\n"
            "({d} - x / size * (x / size * {d}).sum(-1, keepdim=True)) / size",
        ),
        Norm(
            name="rms",
            title="RMS",
            about="Divided by their root mean square and multiplied by learned gains, as in Qwen 3 and Gemma 3.",
            tables=(
                Table("g_q", "The gain of each number of a query", ("d_k",), "ones", "query"),
                Table("g_k", "The gain of each number of a key", ("d_k",), "ones", "key"),
            ),
            formula=r"{x} \div \mathrm{rms}({x}) \cdot {g}",
            apply=_rms,
            explain=_explain_rms,
            code=f"x * torch.rsqrt(x.square().mean(-1, keepdim=True) + {EPS})",
            backward=_pull_rms,
            backward_code=f"root = torch.rsqrt(x.square().mean(-1, keepdim=True) + {EPS})\n"
            "root * {d} - x * root**3 * (x * {d}).mean(-1, keepdim=True)",
        ),
    )
}

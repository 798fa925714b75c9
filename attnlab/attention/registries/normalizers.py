"""The registry of normalisers, which turn the scores of a row into weights."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.products import in_one_thread
from attnlab.attention.registries import normalizer_gradients as gradients
from attnlab.attention.registries import sparse
from attnlab.attention.registries.entries import Entry, Option
from attnlab.attention.stages.arithmetic import (
    DECIMALS,
    Floats,
    Line,
    Parts,
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

TEMPERATURE = Option(
    "temperature",
    "Temperature",
    "Divides the scores first: below 1 makes the weights sharper, above 1 more even",
    "number",
    1.0,
    least=0,
    above=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalizer(Entry):
    """One normaliser: ``apply(logits [h, T_q, T_k], p)`` gives weights of the same shape.

    ``p`` holds the entry's tables and options by name. Masked cells have logits -∞ and must get weight 0.
    ``explain(logits [T_k], j, p, limit)`` writes out the weight of key j; ``logits`` are float64, ``p["finfo"]`` has
    the limits of the dtype of the computation. ``code`` is PyTorch that assigns ``weights``, with ``{x}`` for the
    logits. ``kind`` is "probability" if every weight lies in 0 to 1, otherwise "signed". ``competes`` is True if the
    keys of a row share a total of 1, so that a sink can take part of it. An entry with the option :data:`TEMPERATURE`
    receives logits that are already divided by it. ``parts(logits [T_k], p)`` are the numbers whose share of their sum
    is the weight, for entries that divide by a sum; None where the division is undefined.

    ``backward(logits, weights, d)`` is the gradient of the logits from that of the weights, ``d``, all of one shape;
    ``backward_code`` are lines of PyTorch, the last one an expression for it, with ``{x}``, ``{a}`` and ``{d}``.
    Without them the backward pass differentiates ``apply`` automatically.
    """

    formula: str
    apply: Callable[[Tensor, Mapping[str, Any]], Tensor]
    explain: Callable[[Floats, int, Mapping[str, Any], int | None], tuple[Line, ...]]
    code: str
    parts: Callable[[Floats, Mapping[str, Any]], Parts | None] | None = None
    kind: str = "probability"
    competes: bool = True
    backward: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None
    backward_code: str = ""

    @property
    def alone(self) -> bool:
        """Whether the weight of a key does not depend on the other keys of its row."""
        return self.kind == "probability" and not self.competes

    @property
    def tempered(self) -> bool:
        """Whether the entry has a temperature."""
        return TEMPERATURE in self.options


def _explain_softmax(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    logits = np.asarray(logits, dtype=np.float64)
    if not np.isfinite(logits.max()):  # all −∞ counts too: 0 ÷ 0
        return (line("the scores of this row contain ∞ or NaN, so the weights are undefined"), line("= NaN"))
    if logits[j] == -np.inf:
        return (line("e", Span("−∞", style="sup"), " = 0"),)
    shifted, said = subtract_maximum(logits)
    powers = np.exp(shifted)
    weight = float(powers[j] / powers.sum())
    return (*said, *_fraction(shifted, powers, j, limit), line("= ", Span(number(weight), "attention")))


_POWER = (Span("e"), Span("{x}", style="sup"))


def _find_softmax_parts(logits: Floats, p: Mapping[str, Any]) -> Parts | None:
    logits = np.asarray(logits, dtype=np.float64)
    if not np.isfinite(logits.max()):
        return None
    shifted, said = subtract_maximum(logits)
    powers = np.exp(shifted)
    return Parts(powers, float(powers.sum()), (Span("e"), Span("{x} − max", style="sup")) if said else _POWER, said)


def _find_unshifted_parts(logits: Floats, p: Mapping[str, Any]) -> Parts | None:
    powers, total = _compute_powers(np.asarray(logits, dtype=np.float64), p["finfo"])
    return Parts(powers, total, _POWER) if 0 < total < np.inf else None


def _find_sum_parts(logits: Floats, p: Mapping[str, Any]) -> Parts | None:
    logits = np.asarray(logits, dtype=np.float64)
    kept = np.where(logits == -np.inf, 0.0, logits)
    total = float(kept.sum())
    return Parts(kept, total, (Span("{x}"),)) if total != 0 and np.isfinite(total) else None


def _fraction(logits: Floats, powers: Floats, j: int, limit: int | None) -> tuple[Line, ...]:
    """Write out e^x ÷ Σ e^x for key j: with the exponents, with the exponentials, and with their sum."""
    kept = np.flatnonzero(logits != -np.inf)
    own = int(np.searchsorted(kept, j)) if j in kept else None
    total = float(powers.sum())
    which = select_terms(len(kept), limit, own)
    exact = DECIMALS if len(which) < len(kept) else decimals_for(logits[kept], lambda x: _share(np.exp(x), own))
    digits = _decimals_of_share(powers[kept], total, own, which)
    exponents: list[Line] = [()] * len(kept)
    values: list[Line] = [()] * len(kept)
    for i in which:
        role = "attention" if i == own else ""
        exponents[i] = (Span("e"), Span(short(logits[kept[i]], exact), role, "sup"))
        values[i] = (Span(short(powers[kept[i]], digits), role),)
    return (
        line("e", Span(short(logits[j], exact), "attention", "sup"), " ÷ (", join_terms(exponents, which), ")"),
        line("= ", Span(short(powers[j], digits), "attention"), " ÷ (", join_terms(values, which), ")"),
        line("= ", Span(number(powers[j], digits), "attention"), " ÷ ", number(total, digits)),
    )


def _share(parts: Floats, own: int | None) -> float:
    """Return a part's share of the total, 0 for none."""
    return float(parts[own] / parts.sum()) if own is not None else 0.0


def _decimals_of_share(parts: Floats, total: float, own: int | None, which: list[int]) -> int:
    """Return the decimals with which the parts give the share and the total, and the total gives the share.

    If only the parts ``which`` are written, nobody can add them up: then only the total has to give the share.
    """
    if own is not None and len(which) < len(parts):
        return decimals_for([parts[own], total], lambda x: float(x[0] / x[1]))
    if own is None:
        return decimals_for(parts, lambda x: float(x.sum()))
    return decimals_for(
        [*parts, total],
        lambda x: _share(x[:-1], own),
        lambda x: float(x[:-1].sum()),
        lambda x: float(x[own] / x[-1]),
    )


def _apply_unshifted(logits: Tensor, p: Mapping[str, Any]) -> Tensor:
    powers = logits.exp()
    return powers / powers.sum(-1, keepdim=True)


def _explain_unshifted(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    logits = np.asarray(logits, dtype=np.float64)
    powers, total = _compute_powers(logits, p["finfo"])
    kept = [int(i) for i in np.flatnonzero(logits != -np.inf)]
    if not kept:
        return (line("every key is masked: 0 ÷ 0 is undefined"), line("= NaN"))
    if logits[j] == -np.inf and total > 0:
        return (line("e", Span("−∞", style="sup"), " = 0"),)
    return (*_fraction(logits, powers, j, limit), *_quotient(powers[j], total, p["finfo"]))


def _compute_powers(logits: Floats, finfo: torch.finfo) -> tuple[Floats, float]:
    """Return the exponentials and their sum, as ∞ or 0 where they exceed the range of the dtype."""
    with np.errstate(over="ignore"):
        powers = np.exp(logits)
        powers[powers > finfo.max] = np.inf
        powers[powers < finfo.tiny * finfo.eps / 2] = 0
        total = float(powers.sum())
    return powers, np.inf if total > finfo.max else total


def _quotient(power: float, total: float, finfo: torch.finfo) -> tuple[Line, ...]:
    if total == 0:
        return (line("every exponential is too small for this precision: 0 ÷ 0 is undefined"), line("= NaN"))
    if not np.isinf(total):
        return (line("= ", Span(number(power / total), "attention")),)
    beyond = line(f"overflow: above {number(finfo.max)}, the largest number of this precision, the value is ∞")
    if np.isinf(power):
        return (beyond, line("∞ ÷ ∞ is undefined"), line("= NaN"))
    return (beyond, line("a finite number divided by ∞ is 0"), line(f"= {number(0)}"))


def _by_sum(logits: Tensor, p: Mapping[str, Any]) -> Tensor:
    out = logits == -torch.inf
    kept = logits.masked_fill(out, 0)
    return (kept / kept.sum(-1, keepdim=True)).masked_fill(out, 0)  # masked keys get 0 even if the scores sum to 0


def _explain_sum(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    logits = np.asarray(logits, dtype=np.float64)
    if logits[j] == -np.inf:
        return (line("masked: counts as 0"),)
    kept = np.flatnonzero(logits != -np.inf)
    own = int(np.searchsorted(kept, j))
    with np.errstate(all="ignore"):
        total = float(logits[kept].sum())
        weight = float(logits[j] / np.float64(total))
    which = select_terms(len(kept), limit, own)
    digits = _decimals_of_share(logits[kept], total, own, which)
    terms = [(Span(bracket(logits[i], digits), "attention" if i == j else ""),) for i in kept]
    undefined = (line("the scores sum to 0, so the division is undefined"),) if total == 0 else ()
    return (
        line(Span(short(logits[j], digits), "attention"), " ÷ (", join_terms(terms, which), ")"),
        line("= ", Span(number(logits[j], digits), "attention"), " ÷ ", number(total, digits)),
        *undefined,
        line("= ", Span(number(weight), "attention")),
    )


def _explain_sigmoid(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    exponent = -float(logits[j])
    with np.errstate(over="ignore"):
        power = float(np.exp(exponent))
    weight = 1 / (1 + power)
    exact = decimals_for([exponent], lambda x: float(1 / (1 + np.exp(x[0]))))
    digits = decimals_for([power], lambda x: float(1 / (1 + x[0])))
    return (
        line("1 ÷ (1 + e", Span(short(exponent, exact), "attention", "sup"), ")"),
        line("= 1 ÷ (1 + ", bracket(power, digits), ")"),
        line("= ", Span(number(weight), "attention")),
        line(Span("each weight depends only on its own score: the row need not sum to 1", style="muted")),
    )


NORMALIZERS = {
    normalizer.name: normalizer
    for normalizer in (
        Normalizer(
            name="softmax",
            title="softmax",
            about="Exponentials divided by their sum: positive, and each row sums to 1.",
            options=(TEMPERATURE,),
            formula=r"\mathrm{softmax}",
            apply=lambda logits, p: torch.softmax(logits, -1),
            explain=_explain_softmax,
            code="weights = torch.softmax({x}, dim=-1)",
            parts=_find_softmax_parts,
            backward=gradients.softmax,
            backward_code=gradients.SOFTMAX_CODE,
        ),
        Normalizer(
            name="softmax-unshifted",
            title="softmax, no shift",
            about="Softmax without subtracting the largest score first: above a score of 88.7 (float32; 11.1 in "
            "float16) the exponential overflows to ∞, and ∞ ÷ ∞ is NaN.",
            options=(TEMPERATURE,),
            formula=r"e^{x_j} \div \sum_j e^{x_j}",
            apply=_apply_unshifted,
            explain=_explain_unshifted,
            code="weights = {x}.exp()\nweights = weights / weights.sum(-1, keepdim=True)",
            parts=_find_unshifted_parts,
            backward=gradients.softmax,
            backward_code=gradients.SOFTMAX_CODE,
        ),
        Normalizer(
            name="sum",
            title="÷ sum",
            about="Scores divided by their sum: a simple idea that fails when scores are negative.",
            formula=r"x_j \div \sum_j x_j",
            apply=_by_sum,
            explain=_explain_sum,
            code="out = {x} == -torch.inf\nkept = {x}.masked_fill(out, 0)\n"
            "weights = (kept / kept.sum(-1, keepdim=True)).masked_fill(out, 0)",
            parts=_find_sum_parts,
            kind="signed",
            competes=False,
            backward=gradients.by_sum,
            backward_code=gradients.SUM_CODE,
        ),
        Normalizer(
            name="sparsemax",
            title="sparsemax",
            about="The closest probability distribution: scores above a threshold τ keep their excess over τ, all "
            "others get exactly 0 (Martins & Astudillo 2016).",
            options=(TEMPERATURE,),
            formula=r"\mathrm{sparsemax}",
            apply=sparse.sparsemax,
            explain=sparse.explain_sparsemax,
            code=sparse.SPARSEMAX_CODE,
            backward=gradients.sparsemax,
            backward_code=gradients.SPARSEMAX_CODE,
        ),
        Normalizer(
            name="entmax15",
            title="entmax 1.5",
            about="Halfway from softmax to sparsemax: max(0, x ÷ 2 − τ) squared, so that weak keys get exactly 0 "
            "(Peters, Niculae & Martins 2019).",
            options=(TEMPERATURE,),
            formula=r"\mathrm{entmax}_{1.5}",
            apply=sparse.entmax15,
            explain=sparse.explain_entmax15,
            code=sparse.ENTMAX15_CODE,
            backward=gradients.entmax15,
            backward_code=gradients.ENTMAX15_CODE,
        ),
        Normalizer(
            name="sigmoid",
            title="sigmoid",
            about="Each weight is between 0 and 1 on its own: keys do not compete, and rows need not sum to 1 "
            "(Ramapuram et al. 2024).",
            options=(TEMPERATURE,),
            formula=r"1 \div (1 + e^{-x})",
            apply=lambda logits, p: in_one_thread(torch.sigmoid, logits),
            explain=_explain_sigmoid,
            code="weights = torch.sigmoid({x})",
            competes=False,
            backward=gradients.sigmoid,
            backward_code=gradients.SIGMOID_CODE,
        ),
    )
}

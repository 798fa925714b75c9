"""Normalisers: from the scores of a row to weights. One entry each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.arithmetic import Floats, Line, Span, joined, line, number, short, shown, signed
from attnlab.attention.entries import Entry, Option

LARGE = 30.0
"""From this size on, exponentials are written with the largest score subtracted, as they are computed."""


TEMPERATURE = Option(
    "temperature",
    "Temperature",
    "Scores are divided by it first: below 1 sharpens the weights, above 1 evens them out",
    "number",
    1.0,
    least=0,
    above=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalizer(Entry):
    """One normaliser: ``apply(logits [h, T_q, T_k], p)`` gives weights of the same shape.

    ``p`` holds the entry's tables and options by name. Cells that may not be attended to arrive as -∞ and leave as 0.
    ``explain(logits [T_k], j, p, limit)`` writes the weight of key j out. ``code`` is PyTorch that assigns ``weights``,
    with ``{x}`` standing for the logits. ``kind`` is "probability" where every weight lies in 0 to 1, else "signed".
    ``competes`` says whether the keys of a row share a whole, so that a sink can take a part of it. An entry with the
    option :data:`TEMPERATURE` gets its logits divided by it already.
    """

    formula: str
    apply: Callable[[Tensor, Mapping[str, Any]], Tensor]
    explain: Callable[[Floats, int, Mapping[str, Any], int | None], tuple[Line, ...]]
    code: str
    kind: str = "probability"
    competes: bool = True

    @property
    def tempered(self) -> bool:
        """Whether the entry takes a temperature."""
        return TEMPERATURE in self.options


def _explain_softmax(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    logits = np.asarray(logits, dtype=np.float64)
    largest = float(logits.max())
    if not np.isfinite(largest):  # all −∞ counts too: 0 ÷ 0
        return (line("the scores of this row hold ∞ or NaN, so they have no shares"), line("= NaN"))
    if logits[j] == -np.inf:
        return (line("e", Span("−∞", style="sup"), " = 0"),)
    kept = [int(i) for i in np.flatnonzero(logits != -np.inf)]
    shift = largest if abs(largest) > LARGE else 0.0
    powers = np.exp(logits - shift)
    lines: list[Line] = []
    if shift:
        lines.append(line("the largest, ", Span(number(shift), style="strong"), ", is subtracted from all first"))
    which = shown(len(kept), limit, kept.index(j))
    terms = [(Span("e"), Span(short(logits[i] - shift), "attention" if i == j else "", "sup")) for i in kept]
    lines.append(line("e", Span(short(logits[j] - shift), "attention", "sup"), " ÷ (", joined(terms, which), ")"))
    values = [(Span(short(powers[i]), "attention" if i == j else ""),) for i in kept]
    lines.append(line("= ", Span(short(powers[j]), "attention"), " ÷ (", joined(values, which), ")"))
    lines.append(line("= ", Span(number(powers[j]), "attention"), " ÷ ", number(powers[kept].sum())))
    return tuple(lines)


def _by_sum(logits: Tensor, p: Mapping[str, Any]) -> Tensor:
    kept = logits.masked_fill(logits == -torch.inf, 0)
    return kept / kept.sum(-1, keepdim=True)


def _explain_sum(logits: Floats, j: int, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    logits = np.asarray(logits, dtype=np.float64)
    if logits[j] == -np.inf:
        return (line("masked: counts as 0"),)
    kept = [int(i) for i in np.flatnonzero(logits != -np.inf)]
    which = shown(len(kept), limit, kept.index(j))
    terms = [(Span(signed(logits[i]), "attention" if i == j else ""),) for i in kept]
    return (
        line(Span(short(logits[j]), "attention"), " ÷ (", joined(terms, which), ")"),
        line("= ", Span(number(logits[j]), "attention"), " ÷ ", number(logits[kept].sum())),
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
        ),
        Normalizer(
            name="sum",
            title="÷ sum",
            about="Scores divided by their sum: the first idea, which breaks when scores are negative.",
            formula=r"x_j \div \sum_j x_j",
            apply=_by_sum,
            explain=_explain_sum,
            code="weights = {x}.masked_fill({x} == -torch.inf, 0)\nweights = weights / weights.sum(-1, keepdim=True)",
            kind="signed",
            competes=False,
        ),
    )
}

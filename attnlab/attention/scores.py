"""Score functions: how much a query and a key have to do with each other. One entry each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.arithmetic import Floats, Line, Span, line, products
from attnlab.attention.entries import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Entry):
    """One score function: ``apply(queries [h, T_q, d_k], keys [h, T_k, d_k], p)`` gives scores [h, T_q, T_k].

    ``p`` holds the entry's tables and options by name: tensors on the device for ``apply``, float64 arrays for
    ``explain(query [d_k], key [d_k], p, limit)``, which writes one score out. ``code`` is an expression of PyTorch with
    Q, K and the tables in scope.
    """

    formula: str
    apply: Callable[[Tensor, Tensor, Mapping[str, Any]], Tensor]
    explain: Callable[[Floats, Floats, Mapping[str, Any], int | None], tuple[Line, ...]]
    code: str


def _explain_dot(query: Floats, key: Floats, p: Mapping[str, Any], limit: int | None) -> tuple[Line, ...]:
    return (line(Span("q", "query"), "·", Span("k", "key"), " = ", products(query, key, ("query", "key"), limit)),)


SCORES = {
    score.name: score
    for score in (
        Score(
            name="dot",
            title="dot",
            about="The sum of the products of query and key (Luong et al. 2015; Vaswani et al. 2017).",
            formula=r"Q K^{\top}",
            apply=lambda queries, keys, p: torch.bmm(queries, keys.mT),  # half the time of @ on small heads
            explain=_explain_dot,
            code="Q @ K.mT",
        ),
    )
}

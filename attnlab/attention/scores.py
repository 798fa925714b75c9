"""Score functions: how much a query and a key have to do with each other. One entry each."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.attention.arithmetic import Floats, Line, Span, line, products


@dataclass(frozen=True, slots=True)
class Score:
    """One score function: ``apply(queries [h, T_q, d_k], keys [h, T_k, d_k])`` gives scores [h, T_q, T_k].

    ``explain(query [d_k], key [d_k], limit)`` writes one score out; ``code`` is PyTorch with Q and K in scope.
    """

    name: str
    title: str
    about: str
    formula: str
    apply: Callable[[Tensor, Tensor], Tensor]
    explain: Callable[[Floats, Floats, int | None], tuple[Line, ...]]
    code: str


def _explain_dot(query: Floats, key: Floats, limit: int | None) -> tuple[Line, ...]:
    return (line(Span("q", "query"), "·", Span("k", "key"), " = ", products(query, key, ("query", "key"), limit)),)


SCORES = {
    score.name: score
    for score in (
        Score(
            name="dot",
            title="dot",
            about="The sum of the products of query and key (Luong et al. 2015; Vaswani et al. 2017).",
            formula=r"Q K^{\top}",
            apply=lambda queries, keys: torch.bmm(queries, keys.mT),  # half the time of @ on small heads
            explain=_explain_dot,
            code="Q @ K.mT",
        ),
    )
}

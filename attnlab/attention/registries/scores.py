"""The registry of score functions, which measure how well a query matches a key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from attnlab.attention.registries import score_functions as functions
from attnlab.attention.registries import score_gradients as gradients
from attnlab.attention.registries.entries import Entry, Table
from attnlab.attention.stages.arithmetic import Floats, Line, Products


@dataclass(frozen=True, slots=True)
class TableGradient:
    """How the gradient of a table of a score is computed from ``d``, that of the scores.

    ``compute(queries, keys, p, d)`` has the table's shape. ``code`` is a PyTorch expression with Q, K, the tables,
    ``d_scores`` and the variables of the score's ``backward_code`` in scope. ``slope`` says how much a score moves with
    the number at ``{row}``, ``{column}`` of the table, in words.
    """

    compute: Callable[[Tensor, Tensor, Mapping[str, Any], Tensor], Tensor]
    formula: str
    code: str
    slope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Entry):
    """One score function: ``apply(queries [h, T_q, d_k], keys [h, T_k, d_k], p)`` gives scores [h, T_q, T_k].

    ``p`` holds the entry's tables and options by name: tensors on the device for ``apply``, float64 arrays for
    ``explain(query [d_k], key [d_k], p, limit)``, which writes out one score. ``code`` is a PyTorch expression with Q,
    K and the tables in scope, and with options as ``{name}``. ``factors(query, key, p)`` are the numbers whose products
    sum to the score, for scores that are such a sum.

    ``backward(queries, keys, p, d)`` are the gradients of queries and keys from that of the scores, ``d``;
    ``backward_code`` are lines of PyTorch for each of the two, the last one an expression, with Q, K and the tables in
    scope, options as ``{name}``, and ``{d}``. ``table_gradients`` are those of the tables by name. Without them the
    backward pass differentiates ``apply`` automatically.
    """

    formula: str
    apply: Callable[[Tensor, Tensor, Mapping[str, Any]], Tensor]
    explain: Callable[[Floats, Floats, Mapping[str, Any], int | None], tuple[Line, ...]]
    code: str
    factors: Callable[[Floats, Floats, Mapping[str, Any]], Products] | None = None
    backward: Callable[[Tensor, Tensor, Mapping[str, Any], Tensor], tuple[Tensor, Tensor]] | None = None
    backward_code: tuple[str, str] = ("", "")
    table_gradients: Mapping[str, TableGradient] = field(default_factory=dict)
    is_bilinear: bool = False
    """Whether a score is a sum of products of one number of the query and one of the key, with fixed factors."""
    is_symmetric: bool = False
    """Whether a score stays the same when query and key swap places."""


_UNITS = r"\Sigma\, dS\, h"
_UNITS_CODE = "(d_scores[..., None] * inner).sum((0, 1, 2))"
_UNITS_SLOPE = "hidden unit {column}"
_HIDDEN = "The weight of each hidden unit in the score, shared by all heads"

SCORES = {
    score.name: score
    for score in (
        Score(
            name="dot",
            title="dot",
            about="The sum of the products of query and key (Luong et al. 2015). Divided by √d_k with the scale "
            "switch, it is the scaled dot product (Vaswani et al. 2017).",
            formula=r"Q K^{\top}",
            apply=functions.dot,
            explain=functions.explain_dot,
            code="Q @ K.mT",
            factors=functions.find_dot_factors,
            is_bilinear=True,
            is_symmetric=True,
            backward=gradients.dot,
            backward_code=gradients.DOT_CODE,
        ),
        Score(
            name="general",
            title="general",
            about="The dot product with a learned matrix between query and key (Luong et al. 2015), shared by all "
            "heads. It is initially the identity, which gives the plain dot product.",
            tables=(Table("W_a", "The matrix between query and key, shared by all heads", ("d_k", "d_k"), "identity"),),
            formula=r"Q W_a K^{\top}",
            apply=functions.general,
            explain=functions.explain_general,
            code="Q @ W_a @ K.mT",
            factors=functions.find_general_factors,
            is_bilinear=True,
            backward=gradients.general,
            backward_code=gradients.GENERAL_CODE,
            table_gradients={
                "W_a": TableGradient(
                    gradients.pull_general_table,
                    r"\Sigma\, Q^{\top} dS\, K",
                    "(Q.mT @ d_scores @ K).sum(0)",
                    "query, column {row} × key, column {column}",
                )
            },
        ),
        Score(
            name="concat",
            title="concat",
            about="Query and key concatenated, then one hidden layer with tanh (Luong et al. 2015), shared by all "
            "heads.",
            tables=(
                Table(
                    "W_c",
                    "From query (upper half) and key (lower half) to the hidden units, shared by all heads",
                    ("two_d_k", "hidden"),
                ),
                Table("v_c", _HIDDEN, ("hidden",)),
            ),
            formula=r"\tanh([q\; k]\, W_c)\, v_c",
            apply=functions.concat,
            explain=functions.explain_concat,
            code="torch.tanh(\n    (Q @ W_c.chunk(2)[0])[:, :, None] + (K @ W_c.chunk(2)[1])[:, None]\n) @ v_c",
            factors=functions.find_concat_factors,
            backward=gradients.concat,
            backward_code=gradients.CONCAT_CODE,
            table_gradients={
                "W_c": TableGradient(
                    gradients.pull_concat_table,
                    r"\Sigma\, [q\; k]^{\top} (dS\, v_c\, (1 - h^2))",
                    "torch.cat([(Q.mT @ through.sum(2)).sum(0), (K.mT @ through.sum(1)).sum(0)])",
                    "number {row} of [query key] × v_c × (1 − h²) of hidden unit {column}",
                ),
                "v_c": TableGradient(gradients.pull_concat_units, _UNITS, _UNITS_CODE, _UNITS_SLOPE),
            },
        ),
        Score(
            name="additive",
            title="additive",
            about="Query and key each multiplied by a matrix, added, passed through tanh and weighted by a vector "
            "(Bahdanau et al. 2015); shared by all heads.",
            tables=(
                Table("W_d", "From a query to the hidden units, shared by all heads", ("d_k", "hidden"), role="query"),
                Table("W_e", "From a key to the hidden units, shared by all heads", ("d_k", "hidden"), role="key"),
                Table("v_a", _HIDDEN, ("hidden",)),
            ),
            formula=r"\tanh(q W_d + k W_e)\, v_a",
            apply=functions.additive,
            explain=functions.explain_additive,
            code="torch.tanh((Q @ W_d)[:, :, None] + (K @ W_e)[:, None]) @ v_a",
            factors=functions.find_additive_factors,
            backward=gradients.additive,
            backward_code=gradients.ADDITIVE_CODE,
            table_gradients={
                "W_d": TableGradient(
                    gradients.pull_additive_queries,
                    r"\Sigma\, q^{\top} (dS\, v_a\, (1 - h^2))",
                    "(Q.mT @ through.sum(2)).sum(0)",
                    "query, column {row} × v_a × (1 − h²) of hidden unit {column}",
                ),
                "W_e": TableGradient(
                    gradients.pull_additive_keys,
                    r"\Sigma\, k^{\top} (dS\, v_a\, (1 - h^2))",
                    "(K.mT @ through.sum(1)).sum(0)",
                    "key, column {row} × v_a × (1 − h²) of hidden unit {column}",
                ),
                "v_a": TableGradient(gradients.pull_additive_units, _UNITS, _UNITS_CODE, _UNITS_SLOPE),
            },
        ),
        Score(
            name="cosine",
            title="cosine",
            about="The dot product divided by the lengths of query and key: only their directions count "
            "(Graves et al. 2014). It lies between −1 and 1, so weights are even unless the temperature is low.",
            formula=r"q \cdot k \div (|q|\,|k|)",
            apply=functions.cosine,
            explain=functions.explain_cosine,
            is_symmetric=True,
            code="(\n    torch.nn.functional.normalize(Q, dim=-1)\n"
            "    @ torch.nn.functional.normalize(K, dim=-1).mT\n)",
            backward=gradients.cosine,
            backward_code=gradients.COSINE_CODE,
        ),
    )
}

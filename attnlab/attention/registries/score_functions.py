"""The mathematics of the score functions, as tensors and written out for one query and one key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.arrays import widen
from attnlab.attention.products import bmm, matmul
from attnlab.attention.stages.arithmetic import (
    Floats,
    Line,
    Products,
    Span,
    bracket,
    decimals_for,
    join_terms,
    line,
    products,
    select_terms,
    short,
)

BLOCK_BYTES = 4 * 2**20
"""The maximum size of a temporary tensor in a score function; larger ones are computed in blocks of queries.

Blocks that fit the cache take a quarter of the time of those of 64 MiB on a CPU.
"""

EPS = 1e-12
"""The minimum length that a vector is divided by, so that a zero vector has the cosine 0."""

Parameters = Mapping[str, Any]


def dot(queries: Tensor, keys: Tensor, p: Parameters) -> Tensor:
    """Return q·k (Luong et al. 2015)."""
    return bmm(queries, keys.mT)  # half the time of @ on small heads


def general(queries: Tensor, keys: Tensor, p: Parameters) -> Tensor:
    """Return q W_a kᵀ (Luong et al. 2015)."""
    return bmm(matmul(queries, p["W_a"]), keys.mT)


def concat(queries: Tensor, keys: Tensor, p: Parameters) -> Tensor:
    """Return tanh([q k] W_c) v_c (Luong et al. 2015); the upper half of W_c is for the query, the lower for the key."""
    upper, lower = p["W_c"].chunk(2)
    return _through_tanh(matmul(queries, upper), matmul(keys, lower), p["v_c"])


def additive(queries: Tensor, keys: Tensor, p: Parameters) -> Tensor:
    """Return tanh(q W_d + k W_e) v_a (Bahdanau et al. 2015)."""
    return _through_tanh(matmul(queries, p["W_d"]), matmul(keys, p["W_e"]), p["v_a"])


def cosine(queries: Tensor, keys: Tensor, p: Parameters) -> Tensor:
    """Return q·k ÷ (|q| |k|) (Graves et al. 2014)."""
    return bmm(_of_length_1(queries), _of_length_1(keys).mT)


def _of_length_1(x: Tensor) -> Tensor:
    return torch.nn.functional.normalize(widen(x), dim=-1, eps=EPS).to(x.dtype)


def _through_tanh(of_queries: Tensor, of_keys: Tensor, v: Tensor) -> Tensor:
    """Return tanh(a + b)·v for every pair of a row of [h, T_q, n] and one of [h, T_k, n]."""
    h, t_q, t_k = (*of_queries.shape[:2], of_keys.shape[1])
    scores = of_queries.new_empty(h, t_q, t_k)
    for heads, rows in blocks(h, t_q, of_keys[0].nbytes):
        sums = of_queries[heads, rows, None] + of_keys[heads, None]
        scores[heads, rows] = matmul(sums.tanh_(), v)
    return scores


def blocks(h: int, t_q: int, row_bytes: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of heads and queries to compute at once, if one query of one head takes ``row_bytes``."""
    rows = max(1, BLOCK_BYTES // max(1, row_bytes))
    heads = max(1, rows // t_q)
    for head in range(0, h, heads):
        for row in range(0, t_q, rows):
            yield slice(head, head + heads), slice(row, row + rows)


def find_dot_factors(query: Floats, key: Floats, p: Parameters) -> Products:
    """Return q and k."""
    return Products(query, key, ("query", "key"))


def find_general_factors(query: Floats, key: Floats, p: Parameters) -> Products:
    """Return q W_a and k."""
    return Products(query @ p["W_a"], key, ("query", "key"))


def find_concat_factors(query: Floats, key: Floats, p: Parameters) -> Products:
    """Return v_c and the hidden units."""
    upper, lower = np.split(np.asarray(p["W_c"]), 2)
    return Products(np.asarray(p["v_c"]), np.tanh(query @ upper + key @ lower), ("", ""))


def find_additive_factors(query: Floats, key: Floats, p: Parameters) -> Products:
    """Return v_a and the hidden units."""
    return Products(np.asarray(p["v_a"]), np.tanh(query @ p["W_d"] + key @ p["W_e"]), ("", ""))


def explain_dot(query: Floats, key: Floats, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out q·k."""
    return (line(Span("q", "query"), "·", Span("k", "key"), " = ", products(query, key, ("query", "key"), limit)),)


def explain_general(query: Floats, key: Floats, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out (q W_a)·k."""
    mixed = query @ p["W_a"]
    name = (Span("q", "query"), Span(" W"), Span("a", style="sub"))
    return (
        line(*name, " = ", _vector(mixed, "query", limit)),
        line("(", *name, ")·", Span("k", "key"), " = ", products(mixed, key, ("query", "key"), limit)),
    )


def explain_concat(query: Floats, key: Floats, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out v_c·tanh([q k] W_c), unit by unit."""
    upper, lower = np.split(np.asarray(p["W_c"]), 2)
    inside = (Span("["), Span("q", "query"), Span(" "), Span("k", "key"), Span("] W"), Span("c", style="sub"))
    return _units("c", inside, query @ upper, key @ lower, p["v_c"], limit)


def explain_additive(query: Floats, key: Floats, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out v_a·tanh(q W_d + k W_e), unit by unit."""
    inside = (
        Span("q", "query"),
        Span(" W"),
        Span("d", style="sub"),
        Span(" + "),
        Span("k", "key"),
        Span(" W"),
        Span("e", style="sub"),
    )
    return _units("a", inside, query @ p["W_d"], key @ p["W_e"], p["v_a"], limit)


def _units(index: str, inside: Sequence[Span], a: Floats, b: Floats, v: Floats, limit: int | None) -> tuple[Line, ...]:
    """Write out v·tanh(a + b): first with the sums, then with their tanh."""
    n, tanh = len(v), np.tanh(a + b)
    digits = decimals_for([*v, *a, *b], lambda x: float(np.dot(x[:n], np.tanh(x[n : 2 * n] + x[2 * n :]))))
    after = decimals_for([*v, *tanh], lambda x: float(np.dot(x[:n], x[n:])))
    which = select_terms(n, limit)
    sums: list[Sequence[Span]] = [()] * n
    squeezed: list[Sequence[Span]] = [()] * n
    for i in which:
        inner = (Span(short(a[i], digits), "query"), Span(" + "), Span(bracket(b[i], digits), "key"))
        sums[i] = (Span(f"{bracket(v[i], digits)}·tanh("), *inner, Span(")"))
        squeezed[i] = (Span(f"{bracket(v[i], after)}·{bracket(tanh[i], after)}"),)
    return (
        line("v", Span(index, style="sub"), "·tanh(", *inside, ") = ", join_terms(sums, which)),
        line("= ", join_terms(squeezed, which)),
    )


def explain_cosine(query: Floats, key: Floats, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out q·k ÷ (|q| |k|)."""
    q, k = Span("q", "query"), Span("k", "key")
    lengths = [float(np.sqrt(np.square(x, dtype=np.float64).sum())) for x in (query, key)]
    for name, length in zip(("query", "key"), lengths, strict=True):
        if length == 0:
            return (line(f"the {name} is all zeros: it has no direction, so its cosine is set to 0"),)
    n = len(query)
    digits = decimals_for([*query, *key, *lengths], lambda x: float(np.dot(x[:n], x[n:-2]) / (x[-2] * x[-1])))
    lengths_product = line(Span(short(lengths[0], digits), "query"), "·", Span(short(lengths[1], digits), "key"))
    worded = line(q, "·", k, " ÷ (|", q, "|·|", k, "|)")
    above = products(query, key, ("query", "key"), limit, digits)
    return (line(worded, " = (", above, ") ÷ (", lengths_product, ")"),)


def _vector(x: Floats, role: str, limit: int | None) -> Line:
    """Return a row of numbers in brackets, with the count of omitted ones."""
    which = select_terms(len(x), limit)
    spans: list[Span] = []
    for before, i in zip([-1, *which], which, strict=False):
        spans.append(Span(f"… {i - before - 1} more …, " if i - before > 1 else "", style="muted"))
        spans += [Span(short(x[i]), role), Span(", ")]
    return line("(", *(span for span in spans[:-1] if span.text), ")")

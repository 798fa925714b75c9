"""The gradients of the score functions, by hand: from that of the scores to those of the queries and the keys.

Each function takes queries [h, T_q, d_k], keys [h, T_k, d_k], the parameters and the gradient of the scores
[h, T_q, T_k], and returns the gradients of queries and keys, or of a table that all heads share.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.products import bmm, matmul
from attnlab.attention.registries.score_functions import EPS, blocks

Parameters = Mapping[str, Any]
Pair = tuple[Tensor, Tensor]


def dot(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return dS K and dSᵀ Q."""
    return bmm(d, keys), bmm(d.mT, queries)


def general(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return dS K W_aᵀ and dSᵀ Q W_a."""
    return bmm(d, matmul(keys, p["W_a"].mT)), bmm(d.mT, matmul(queries, p["W_a"]))


def pull_general_table(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Tensor:
    """Return the gradient of W_a, [d_k, d_k]: Qᵀ dS K, over all heads."""
    return bmm(queries.mT, bmm(d, keys)).sum(0)


def concat(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return the gradients through tanh([q k] W_c) v_c."""
    of_query, of_key, v = _split_concat(p)
    d_a, d_b, _ = _pull_tanh(matmul(queries, of_query), matmul(keys, of_key), v, d)
    return matmul(d_a, of_query.mT), matmul(d_b, of_key.mT)


def pull_concat_table(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Tensor:
    """Return the gradient of W_c, [2·d_k, hidden]."""
    of_query, of_key, v = _split_concat(p)
    d_a, d_b, _ = _pull_tanh(matmul(queries, of_query), matmul(keys, of_key), v, d)
    return torch.cat([bmm(queries.mT, d_a).sum(0), bmm(keys.mT, d_b).sum(0)])


def pull_concat_units(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Tensor:
    """Return the gradient of v_c, [hidden]."""
    of_query, of_key, v = _split_concat(p)
    return _pull_tanh(matmul(queries, of_query), matmul(keys, of_key), v, d)[2]


def _split_concat(p: Parameters) -> tuple[Tensor, Tensor, Tensor]:
    upper, lower = p["W_c"].chunk(2)
    return upper, lower, p["v_c"]


def additive(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return the gradients through tanh(q W_d + k W_e) v_a."""
    d_a, d_b, _ = _pull_additive(queries, keys, p, d)
    return matmul(d_a, p["W_d"].mT), matmul(d_b, p["W_e"].mT)


def pull_additive_queries(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Tensor:
    """Return the gradient of W_d, [d_k, hidden]."""
    return bmm(queries.mT, _pull_additive(queries, keys, p, d)[0]).sum(0)


def pull_additive_keys(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Tensor:
    """Return the gradient of W_e, [d_k, hidden]."""
    return bmm(keys.mT, _pull_additive(queries, keys, p, d)[1]).sum(0)


def pull_additive_units(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Tensor:
    """Return the gradient of v_a, [hidden]."""
    return _pull_additive(queries, keys, p, d)[2]


def _pull_additive(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return _pull_tanh(matmul(queries, p["W_d"]), matmul(keys, p["W_e"]), p["v_a"], d)


def _pull_tanh(a: Tensor, b: Tensor, v: Tensor, d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of a, b and v from that of tanh(a + b)·v."""
    d_a, d_b, d_v = torch.empty_like(a), torch.zeros_like(b), torch.zeros_like(v)
    for heads, rows in blocks(len(a), a.shape[1], b[0].nbytes):
        inner, given = (a[heads, rows, None] + b[heads, None]).tanh_(), d[heads, rows, :, None]
        d_v += (given * inner).sum((0, 1, 2))
        through = (1 - inner.square_()) * (given * v)  # [h, T_q, T_k, hidden]
        d_a[heads, rows] = through.sum(2)
        d_b[heads] += through.sum(1)
    return d_a, d_b, d_v


def cosine(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return the gradients through q·k ÷ (|q| |k|): what turns the vectors, as their lengths have no effect."""
    (q, length_q), (k, length_k) = _of_length_1(queries), _of_length_1(keys)
    return pull_length(q, bmm(d, k), length_q, EPS), pull_length(k, bmm(d.mT, q), length_k, EPS)


def _of_length_1(x: Tensor) -> Pair:
    length: Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / length.clamp_min(EPS), length


def pull_length(unit: Tensor, d: Tensor, length: Tensor, least: float) -> Tensor:
    """Return the gradient of vectors from that of the vectors divided by their length, or by ``least`` if shorter."""
    along = torch.where(length < least, 0, (unit * d).sum(-1, keepdim=True))
    return (d - unit * along) / length.clamp_min(least)


DOT_CODE = ("{d} @ K", "{d}.mT @ Q")
GENERAL_CODE = ("{d} @ K @ W_a.T", "{d}.mT @ Q @ W_a")
_TANH_CODE = """inner = torch.tanh((Q @ {a})[:, :, None] + (K @ {b})[:, None])
through = {d}[..., None] * {v} * (1 - inner**2)
through.sum(2) @ {a}.T"""


def _write_tanh(a: str, b: str, v: str) -> tuple[str, str]:
    first = _TANH_CODE.replace("{a}", a).replace("{b}", b).replace("{v}", v)
    return first, f"through.sum(1) @ {b}.T"


CONCAT_CODE = _write_tanh("W_c.chunk(2)[0]", "W_c.chunk(2)[1]", "v_c")
ADDITIVE_CODE = _write_tanh("W_d", "W_e", "v_a")
COSINE_CODE = (
    "size_q, size_k = Q.norm(dim=-1, keepdim=True), K.norm(dim=-1, keepdim=True)\n"
    f"unit_q, unit_k = Q / size_q.clamp_min({EPS}), K / size_k.clamp_min({EPS})\n"
    "turned = {d} @ unit_k\n"
    f"(turned - unit_q * (unit_q * turned).sum(-1, keepdim=True) * (size_q >= {EPS})) / size_q.clamp_min({EPS})",
    "turned = {d}.mT @ unit_q\n"
    f"(turned - unit_k * (unit_k * turned).sum(-1, keepdim=True) * (size_k >= {EPS})) / size_k.clamp_min({EPS})",
)

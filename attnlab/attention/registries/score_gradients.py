"""The gradients of the score functions, by hand: from that of the scores to those of the queries and the keys.

Each function takes queries [h, T_q, d_k], keys [h, T_k, d_k], the parameters and the gradient of the scores
[h, T_q, T_k], and returns the gradients of queries and keys.
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


def concat(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return the gradients through tanh([q k] W_c) v_c."""
    upper, lower = p["W_c"].chunk(2)
    return _through_tanh(queries, keys, (upper, lower, p["v_c"]), d)


def additive(queries: Tensor, keys: Tensor, p: Parameters, d: Tensor) -> Pair:
    """Return the gradients through tanh(q W_d + k W_e) v_a."""
    return _through_tanh(queries, keys, (p["W_d"], p["W_e"], p["v_a"]), d)


def _through_tanh(queries: Tensor, keys: Tensor, tables: tuple[Tensor, Tensor, Tensor], d: Tensor) -> Pair:
    of_query, of_key, v = tables
    a, b = matmul(queries, of_query), matmul(keys, of_key)
    d_a, d_b = torch.empty_like(a), torch.zeros_like(b)
    for heads, rows in blocks(len(a), a.shape[1], b[0].nbytes):
        inner = (a[heads, rows, None] + b[heads, None]).tanh_()
        through = (1 - inner.square_()) * (d[heads, rows, :, None] * v)  # [h, T_q, T_k, hidden]
        d_a[heads, rows] = through.sum(2)
        d_b[heads] += through.sum(1)
    return matmul(d_a, of_query.mT), matmul(d_b, of_key.mT)


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

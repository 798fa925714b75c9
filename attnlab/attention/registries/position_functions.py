"""The mathematics of the position schemes, as tensors and written out for one number."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.stages.arithmetic import Floats, Line, Span, decimals_for, line, number, products, short

Parameters = Mapping[str, Any]


def sinusoidal(length: int, d_model: int) -> Tensor:
    """Return PE(t, 2i) = sin(t / 10000^(2i/d)), PE(t, 2i+1) = cos(same), [T, d_model] float64 (Vaswani et al. 2017)."""
    t = _places(length)[:, None]
    i = _places(d_model)
    angle = t / 10000 ** ((i - i % 2) / d_model)  # [T, d_model]
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def _places(count: int) -> Tensor:
    return torch.arange(count, dtype=torch.float64, device="cpu")


def find_frequencies(base: float, half: int) -> Tensor:
    """Return RoPE's frequencies base^(−c/half), one for each pair of columns, [half] float64, in rad per position."""
    return base ** (-_places(half) / half)


def rope(x: Tensor, base: float) -> Tensor:
    """Return queries or keys [h, T, d_k] rotated by their positions (Su et al. 2021).

    Columns c and c + d_k/2 are a pair, rotated by position · base^(−2c/d_k). The transformers library pairs them
    so; the paper and Meta's files pair neighbours.
    """
    return _rotate(x, find_frequencies(base, x.shape[-1] // 2), 1.0)


def scaled_rope(x: Tensor, p: Parameters) -> Tensor:
    """Return queries or keys [h, T, d_k] rotated by position · omega[c] and multiplied by ``rope_factor``."""
    return _rotate(x, read_frequencies(p), p["rope_factor"])


def rope_back(d: Tensor, base: float) -> Tensor:
    """Return the gradient [h, T, d_k] of queries or keys from that of the rotated ones: it is rotated back."""
    return _rotate(d, -find_frequencies(base, d.shape[-1] // 2), 1.0)


def scaled_rope_back(d: Tensor, p: Parameters) -> Tensor:
    """Return the gradient of queries or keys from that of those rotated by :func:`scaled_rope`."""
    return _rotate(d, -read_frequencies(p), p["rope_factor"])


def read_frequencies(p: Parameters) -> Tensor:
    """Return the table ``omega`` [d_k/2] in float64 on the CPU."""
    return torch.as_tensor(p["omega"], dtype=torch.float64, device="cpu")


def _rotate(x: Tensor, frequencies: Tensor, factor: float) -> Tensor:
    angle = _places(x.shape[1])[:, None] * frequencies  # [T, d_k/2]
    cos, sin = (factor * angle.cos()).to(x), (factor * angle.sin()).to(x)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def explain_rope(x: Floats, position: int, column: int, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out one number of a rotated query or key [d_k]."""
    half, base = len(x) // 2, p["rope_base"]
    pair = column % half
    rate = (f"{base:g}", Span(f"−{2 * pair}/{len(x)}", style="sup"))
    return _explain_turn(x, column, position, base ** (-pair / half), rate, 1.0, limit)


def explain_scaled_rope(x: Floats, position: int, column: int, p: Parameters, limit: int | None) -> tuple[Line, ...]:
    """Write out one number of a query or key [d_k] rotated by a table of frequencies."""
    pair = column % (len(x) // 2)
    frequency = float(p["omega"][pair])
    rate = (f"omega[{pair}] = {position} · {frequency:.6g}".replace("-", "−"),)
    return _explain_turn(x, column, position, frequency, rate, p["rope_factor"], limit)


def _explain_turn(
    x: Floats,
    column: int,
    position: int,
    frequency: float,
    rate: tuple[str | Span, ...],
    factor: float,
    limit: int | None,
) -> tuple[Line, ...]:
    """Write out one number of x [d_k], whose pair turns by ``frequency`` per position, which ``rate`` writes out."""
    half = len(x) // 2
    other = column + half if column < half else column - half
    angle = position * frequency
    sin = -math.sin(angle) if column < half else math.sin(angle)
    by = line(f"rotated with column {other} by the angle θ = {position} · ", *rate, f" = {number(angle)} rad")
    sign, times = "−" if column < half else "+", "" if factor == 1 else f"{factor:g} "
    what = line(f"x[{column}]·{times}cos θ {sign} x[{other}]·{times}sin θ")
    row, turn = x[[column, other]], factor * np.array([math.cos(angle), sin])
    return by, what, line("= ", products(row, turn, ("", ""), limit))


def slopes(n_heads: int) -> tuple[float, ...]:
    """Return ALiBi's slope of each head: 2^(−8/n), 2^(−16/n), … for n a power of two (Press et al. 2022).

    Other counts use the slopes of the power of two below, then every second slope of twice that power, as in the paper.
    """
    n = 2 ** (n_heads.bit_length() - 1)
    own = [2 ** (-8 * (head + 1) / n) for head in range(n)]
    between = [2 ** (-8 * (head + 0.5) / n) for head in range(n_heads - n)]
    return (*own, *between)


def alibi(n_heads: int, t_q: int, t_k: int) -> Tensor:
    """Return −slope · |i − j|, [h, T_q, T_k] float64 (Press et al. 2022)."""
    distance = (_places(t_q)[:, None] - _places(t_k)).abs()
    return -torch.tensor(slopes(n_heads), dtype=torch.float64, device="cpu")[:, None, None] * distance


def explain_alibi(head: int, n_heads: int, query: int, key: int, p: Parameters) -> tuple[Line, ...]:
    """Write out the bias that ALiBi adds to one score."""
    slope, distance = slopes(n_heads)[head], abs(query - key)
    digits = decimals_for([slope], lambda x: -float(x[0]) * distance)
    return (
        line(f"minus the slope of head {head} · distance {distance}, from {query} to {key}"),
        line(f"(−{short(slope, digits)}) · {distance} = ", Span(number(-slope * distance), style="strong")),
    )


def buckets(distance: Tensor, count: int, farthest: int, both_ways: bool) -> Tensor:
    """Return the bucket of each key − query, whole numbers from 0 to ``count`` − 1 (Raffel et al. 2020).

    With ``both_ways``, later keys use the upper half of the buckets, otherwise bucket 0. In each direction, half of the
    buckets hold one distance each, the others increasingly wide ranges; ``farthest`` and beyond share the last bucket.
    """
    ahead = torch.zeros_like(distance)
    far = (-distance).clamp_min(0)
    if both_ways:
        count //= 2
        ahead, far = (distance > 0) * count, distance.abs()
    exact = count // 2
    # float32, as in trained models: at the edge of a bucket, rounding decides which bucket a distance belongs to
    grown = torch.log(far.clamp_min(1).float() / exact) / math.log(farthest / exact) * (count - exact)
    wide = (exact + grown.long()).clamp_max(count - 1)
    return ahead + torch.where(far < exact, far, wide)


def _buckets(distance: Tensor, p: Parameters) -> Tensor:
    return buckets(distance, p["t5_buckets"], p["t5_distance"], p["t5_bidirectional"])


def t5(n_heads: int, t_q: int, t_k: int, p: Parameters) -> Tensor:
    """Return the learned bias B[bucket of j − i, head], [h, T_q, T_k] (Raffel et al. 2020)."""
    table: Tensor = p["B"]
    places = _buckets(torch.arange(1 - t_q, t_k, device="cpu"), p).to(table.device)
    by_distance = table.T[:, places]  # [h, T_q + T_k − 1]: a query's row is a window of it, the last query's the first
    return by_distance.unfold(-1, t_k, 1).flip(1)


def find_buckets(t_q: int, t_k: int, p: Parameters) -> Tensor:
    """Return the row of ``B`` that each pair reads, whole numbers [T_q, T_k] on the CPU."""
    return _buckets(torch.arange(t_k, device="cpu") - torch.arange(t_q, device="cpu")[:, None], p)


def explain_t5(head: int, n_heads: int, query: int, key: int, p: Parameters) -> tuple[Line, ...]:
    """Write out which number of the table ``B`` is added to one score."""
    bucket = int(_buckets(torch.tensor(key - query, device="cpu"), p))
    away = str(key - query).replace("-", "−")
    return (
        line(f"key {key} − query {query} = {away}: bucket {bucket}"),
        line(f"B[{bucket}, {head}] = ", Span(number(float(p["B"][bucket, head])), style="strong")),
    )

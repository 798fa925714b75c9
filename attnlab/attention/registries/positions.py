"""The registry of position schemes: added to the embeddings, rotating queries and keys, or added to the scores."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from attnlab.attention.layer import Layer
from attnlab.attention.registries.entries import Entry, Option, Table
from attnlab.attention.registries.position_functions import (
    Parameters,
    alibi,
    explain_alibi,
    explain_rope,
    explain_scaled_rope,
    explain_t5,
    find_frequencies,
    read_frequencies,
    rope,
    rope_back,
    scaled_rope,
    scaled_rope_back,
    sinusoidal,
    t5,
)
from attnlab.attention.stages.arithmetic import Floats, Line

__all__ = ["POSITIONS", "Parameters", "Position", "sinusoidal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Entry):
    """One scheme, which acts in one of three places; the functions for the other two are None.

    ``encode(T, d_model, p)`` returns the encoding added to the embeddings, [T, d_model]; ``rotate(x [h, T, d_k], p)``
    the rotated queries or keys, token i at position i, and ``rotate_back(d, p)`` their gradient from that of the
    result; ``bias(h, T_q, T_k, p)`` the bias added to the scores, broadcastable to [h, T_q, T_k].

    ``p`` holds the entry's tables and options by name: tensors on the device, or float64 arrays for ``explain_…``.
    ``explain_rotated(x [d_k], position, column, p, limit)`` and
    ``explain_bias(head, h, query, key, p)`` write out one cell.

    ``frequencies(d_k, p)`` are the turns of the pairs of columns in rad per position, [d_k/2], for the lens of RoPE.
    ``is_trained`` says whether models in training offer the scheme.

    ``formula`` is that of the stage it changes, with ``{x}`` for q or k. ``code`` is an expression of ``x`` (the
    embeddings, or the queries or keys [h, T, d_k]), for a bias an expression with Q and K in scope. ``setup`` are the
    lines before it. Both contain options as ``{name}``. ``back_code`` is the expression that ``rotate_back`` computes,
    after the same ``setup``, with ``x`` for the gradient of the result.
    """

    formula: str
    code: str = "x"
    back_code: str = ""
    setup: tuple[str, ...] = ()
    encode: Callable[[int, int, Parameters], Tensor] | None = None
    rotate: Callable[[Tensor, Parameters], Tensor] | None = None
    rotate_back: Callable[[Tensor, Parameters], Tensor] | None = None
    frequencies: Callable[[int, Parameters], Tensor] | None = None
    bias: Callable[[int, int, int, Parameters], Tensor] | None = None
    explain_rotated: Callable[[Floats, int, int, Parameters, int | None], tuple[Line, ...]] | None = None
    explain_bias: Callable[[int, int, int, int, Parameters], tuple[Line, ...]] | None = None
    is_trained: bool = True


def _check_learned(e: Layer) -> str:
    width = e.memory.shape[1]
    if width == e.d_model:
        return ""
    return (
        f"positions 'learned' adds P to both sequences, but d_memory is {width} and d_model is {e.d_model}; "
        f"use a second sequence of {e.d_model} columns, or positions 'sinusoidal'."
    )


def _check_rope(e: Layer, name: str = "rope") -> str:
    if e.d_k % 2 == 0:
        return ""
    fitting = "2" if e.d_k == 1 else f"{e.d_k - 1} or {e.d_k + 1}"
    return f"positions '{name}' rotates columns in pairs, but d_k is {e.d_k}; use an even d_k such as {fitting}."


def _t5_check(e: Layer) -> str:
    count, farthest = e.config.option("t5_buckets"), e.config.option("t5_distance")
    if count % 2:
        return (
            f"positions 't5' halves its buckets, but t5_buckets is {count}; "
            f"use an even number such as {count - 1} or {count + 1}."
        )
    exact = count // 4 if e.config.option("t5_bidirectional") else count // 2
    if farthest > exact:
        return ""
    return (
        f"t5_distance is {farthest}, but with {count} for t5_buckets each distance below {exact} has a bucket already; "
        f"use more than {exact}."
    )


_HALVES = (
    "Columns c and c + d_k/2 are a pair, as in the transformers library; the paper and Meta’s files pair neighbours."
)

POSITIONS = {
    position.name: position
    for position in (
        Position(
            name="none",
            title="none",
            about="No positions: attention does not know the order of the tokens.",
            formula="X",
        ),
        Position(
            name="sinusoidal",
            title="sinusoidal",
            about="Sines and cosines of each position are added to the embeddings (Vaswani et al. 2017).",
            formula=r"X + \mathrm{PE}",
            encode=lambda length, d_model, p: sinusoidal(length, d_model),
            setup=(
                "t = torch.arange(x.shape[0], dtype=torch.float64)[:, None]  # positions",
                "i = torch.arange(x.shape[1], dtype=torch.float64)  # columns",
                "angle = t / 10000 ** ((i - i % 2) / x.shape[1])",
            ),
            code="x + torch.where(i % 2 == 0, angle.sin(), angle.cos()).to(x.dtype)",
        ),
        Position(
            name="learned",
            title="learned",
            about="A learned row for each position is added to the embeddings (Gehring et al. 2017).",
            tables=(Table("P", "The vector added at each position", ("position", "d_model"), may_be_longer=True),),
            check=_check_learned,
            formula="X + P",
            encode=lambda length, d_model, p: p["P"][:length],
            code="x + P[:len(x)]",
        ),
        Position(
            name="rope",
            title="RoPE",
            about="Queries and keys are rotated by angles that grow with their position, so that scores depend on the "
            f"distance (Su et al. 2021). {_HALVES}",
            convention=_HALVES,
            options=(
                Option(
                    "rope_base",
                    "Base",
                    "The larger, the more slowly the last pairs of columns rotate",
                    "number",
                    default=10000.0,
                    least=1.0,
                    most=1e12,
                    above=True,
                ),
            ),
            check=_check_rope,
            formula=r"R_{t}\, {x}",
            rotate=lambda x, p: rope(x, p["rope_base"]),
            rotate_back=lambda d, p: rope_back(d, p["rope_base"]),
            frequencies=lambda d_k, p: find_frequencies(p["rope_base"], d_k // 2),
            explain_rotated=explain_rope,
            setup=(
                "half = x.shape[-1] // 2  # column c and column c + half are a pair",
                "t = torch.arange(x.shape[1], dtype=torch.float64)[:, None]  # positions",
                "angle = t * {rope_base} ** (-torch.arange(half, dtype=torch.float64) / half)",
                "cos, sin = angle.cos().to(x), angle.sin().to(x)",
                "a, b = x.split(half, dim=-1)",
            ),
            code="torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)",
            back_code="torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)",
        ),
        Position(
            name="rope_scaled",
            title="scaled RoPE",
            about="RoPE with a table of frequencies, one for each pair of columns, as in models that scale them for "
            f"long texts: Llama 3.1, or YaRN (Peng et al. 2023). {_HALVES}",
            convention=_HALVES,
            tables=(
                Table(
                    "omega",
                    "How fast each pair of columns rotates, in rad per position",
                    ("pair",),
                    fill="frequencies",
                    is_exact=True,
                ),
            ),
            options=(
                Option(
                    "rope_factor",
                    "Factor",
                    "Multiplies rotated queries and keys, as YaRN does; scores grow with its square",
                    "number",
                    default=1.0,
                    least=0.0,
                    most=1e6,
                    above=True,
                ),
            ),
            check=lambda e: _check_rope(e, "rope_scaled"),
            formula=r"R_{t,\,\omega}\, {x}",
            rotate=scaled_rope,
            rotate_back=scaled_rope_back,
            frequencies=lambda d_k, p: read_frequencies(p),
            explain_rotated=explain_scaled_rope,
            is_trained=False,
            setup=(
                "half = x.shape[-1] // 2  # column c and column c + half are a pair",
                "t = torch.arange(x.shape[1], dtype=torch.float64)[:, None]  # positions",
                "angle = t * omega.double()",
                "cos, sin = ({rope_factor} * angle.cos()).to(x), ({rope_factor} * angle.sin()).to(x)",
                "a, b = x.split(half, dim=-1)",
            ),
            code="torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)",
            back_code="torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)",
        ),
        Position(
            name="alibi",
            title="ALiBi",
            about="Each head subtracts a slope times the distance from its scores (Press et al. 2022).",
            formula=r"-\, m_h\, |i - j|",
            bias=lambda n_heads, t_q, t_k, p: alibi(n_heads, t_q, t_k),
            explain_bias=explain_alibi,
            setup=(
                "n = 2 ** (Q.shape[0].bit_length() - 1)  # the largest power of two within the heads",
                "slopes = [2 ** (-8 * (h + 1) / n) for h in range(n)]",
                "slopes += [2 ** (-8 * (h + 0.5) / n) for h in range(Q.shape[0] - n)]",
                "distance = (torch.arange(Q.shape[1])[:, None] - torch.arange(K.shape[1])).abs()",
                "bias = -torch.tensor(slopes, dtype=torch.float64)[:, None, None] * distance",
            ),
            code="bias.to(Q)",
        ),
        Position(
            name="t5",
            title="T5 bias",
            about="A learned number for each head and range of distances is added to the scores (Raffel et al. 2020).",
            tables=(
                Table(
                    "B",
                    "The bias of each head for each range of distances",
                    ("bucket", "head"),
                    free=(("bucket", "t5_buckets"),),
                ),
            ),
            options=(
                Option("t5_buckets", "Buckets", "Number of distance ranges; an even number", "whole", 32, 4, 512),
                Option(
                    "t5_distance",
                    "Farthest",
                    "Distances from this one on share the last bucket",
                    "whole",
                    default=128,
                    least=2,
                    most=2**31 - 1,
                ),
                Option(
                    "t5_bidirectional",
                    "Both ways",
                    "Later keys have their own buckets; if off, they share one, as with a causal mask",
                    "switch",
                    default=True,
                ),
            ),
            check=_t5_check,
            formula=r"+\, B_{b(j - i),\, h}",
            bias=t5,
            explain_bias=explain_t5,
            setup=(
                "import math",
                "d = torch.arange(K.shape[1]) - torch.arange(Q.shape[1])[:, None]  # key - query",
                "count, both = {t5_buckets}, {t5_bidirectional}",
                "count, ahead = (count // 2, (d > 0) * (count // 2)) if both else (count, 0)",
                "d = d.abs() if both else (-d).clamp_min(0)",
                "exact = count // 2  # this many distances have their own bucket, the others share",
                "grown = torch.log(d.clamp_min(1) / exact) / math.log({t5_distance} / exact)",
                "wide = (exact + (grown * (count - exact)).long()).clamp_max(count - 1)",
                "bucket = ahead + torch.where(d < exact, d, wide)",
            ),
            code="B.T[:, bucket]",
        ),
    )
}

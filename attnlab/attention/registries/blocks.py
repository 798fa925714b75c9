"""The registries of the whole block: where its norms stand, which norm it has, and its feed-forward."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from attnlab.attention.arrays import widen
from attnlab.attention.layer import Layer
from attnlab.attention.products import in_one_thread
from attnlab.attention.registries.entries import Entry, Option, Table
from attnlab.attention.stages.arithmetic import Floats, Line, Span, bracket, decimals_for, line, number, raise_powers


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Entry):
    """Whether attention is part of a block, and where the norms of the block stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockNorm(Entry):
    """A norm of the rows of the residual stream; ``is_centred`` if the mean is subtracted first and a shift added last.

    ``code`` assigns the normalised rows of ``{x}`` to ``{y}``; ``{eps}`` is the number added below the root.
    """

    is_centred: bool = False
    symbol: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward(Entry):
    """A feed-forward of two linear maps; with ``is_gated`` the activation acts on a third one, which multiplies.

    ``explain(x, times)`` writes out the activation of one number, times the number that it gates (None without a
    gate). ``code`` is an expression of ``{x}``. The activation of x is x times a share of it that passes:
    ``find_share`` returns this share and its slope. ``slope`` writes the slope of the activation, the share plus x
    times the slope of the share, and ``slope_code`` assigns that of ``{x}`` to ``slope``.
    """

    activate: Callable[[Tensor], Tensor] | None = None
    is_gated: bool = False
    symbol: str = ""
    explain: Callable[[float, float | None], tuple[Line, ...]] = lambda x, times: ()
    code: str = ""
    find_share: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None
    slope: str = ""
    slope_code: str = ""


def _check_width(e: Layer) -> str:
    if e.d_out == e.d_model:
        return ""
    return (
        f"The block adds the output (d_out = {e.d_out}) to the inputs (d_model = {e.d_model}); "
        f"both need the same number of columns: W_o with {e.d_model} columns would give it, or block 'none'."
    )


BLOCKS = {
    block.name: block
    for block in (
        Block(name="none", title="none", about="Attention alone: no residuals, norms or feed-forward."),
        Block(
            name="after",
            title="norms after",
            about="Residuals and a feed-forward; each sum is normalised (Vaswani et al. 2017, BERT).",
            check=_check_width,
        ),
        Block(
            name="before",
            title="norms before",
            about="Residuals and a feed-forward; each part reads normalised numbers (GPT-2, Llama).",
            check=_check_width,
        ),
    )
}

_EPS = Option(
    "norm_eps",
    "Norm ε",
    "Added to the mean square before the root, so that rows of equal numbers are not divided by 0",
    "number",
    1e-5,
    least=0,
    most=1,
)
_GAIN = "The gain of each column in the {} norm of the block"
_SHIFT = "The shift of each column in the {} norm of the block"


def _gain(place: int) -> Table:
    return Table(f"gamma_{place}", _GAIN.format(("first", "second")[place - 1]), ("d_model",), "ones")


def _shift(place: int) -> Table:
    return Table(f"beta_{place}", _SHIFT.format(("first", "second")[place - 1]), ("d_model",), "zeros")


BLOCK_NORMS = {
    norm.name: norm
    for norm in (
        BlockNorm(
            name="layer",
            title="LayerNorm",
            about="The mean is subtracted and the row divided by its standard deviation (Ba et al. 2016).",
            tables=(_gain(1), _shift(1), _gain(2), _shift(2)),
            options=(_EPS,),
            is_centred=True,
            symbol="LayerNorm",
            code="{y} = {x} - {x}.mean(-1, keepdim=True)\n"
            "{y} = {y} * torch.rsqrt({y}.square().mean(-1, keepdim=True) + {eps})",
        ),
        BlockNorm(
            name="rms",
            title="RMSNorm",
            about="The row is divided by its root mean square, as in Llama (Zhang and Sennrich 2019).",
            tables=(_gain(1), _gain(2)),
            options=(_EPS,),
            symbol="RMSNorm",
            code="{y} = {x} * torch.rsqrt({x}.square().mean(-1, keepdim=True) + {eps})",
        ),
        BlockNorm(name="none", title="none", about="The residual stream is not normalised."),
    )
}


def normalize(x: Tensor, is_centred: bool, eps: float) -> Tensor:
    """Return rows x [..., d] divided by their size, in float32 or better; gains and shifts are not applied."""
    return in_one_thread(partial(_normalize, is_centred=is_centred, eps=eps), widen(x))


def _normalize(x: Tensor, is_centred: bool, eps: float) -> Tensor:
    if is_centred:
        x = x - x.mean(-1, keepdim=True)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def activate(feed_forward: FeedForward, x: Tensor) -> Tensor:
    """Return the activation of each number of x, in the same dtype."""
    assert feed_forward.activate is not None
    return in_one_thread(feed_forward.activate, widen(x)).to(x.dtype)


def find_slope(feed_forward: FeedForward, x: Tensor) -> Tensor:
    """Return how much the activation of each number of x moves with it, in the same dtype."""
    assert feed_forward.find_share is not None
    wide = widen(x)
    share, slope = feed_forward.find_share(wide)
    return (share + wide * slope).to(x.dtype)


def _write(values: tuple[float, ...], times: float | None, *ways: tuple[str, Callable[..., float]]) -> tuple[Line, ...]:
    """Return a line for each way to write the result, times another number if one is given.

    A way is a text, whose ``{0}``, ``{1}`` … are the values and then the values in brackets where they are negative,
    and a function of the values that calculates the same.
    """
    given, n = [*values, *([] if times is None else [times])], len(values)

    def calculate(by_hand: Callable[..., float], x: Floats) -> float:
        return float(by_hand(*map(float, x[:n])) * (x[n] if times is not None else 1.0))

    digits = decimals_for(given, *(partial(calculate, by_hand) for _, by_hand in ways))
    texts = [*(number(value, digits) for value in values), *(bracket(value, digits) for value in values)]
    multiplied = "" if times is None else f" · {bracket(times, digits)}"
    return tuple(raise_powers(f"= {text.format(*texts)}{multiplied}") for text, _ in ways)


def _explain_relu(x: float, times: float | None) -> tuple[Line, ...]:
    return _write((x,), times, ("max(0, {0})", lambda x: max(0.0, x)))


def find_share_below(x: float) -> float:
    """Return Φ(x), the share of a standard normal distribution that lies below x."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _explain_gelu(x: float, times: float | None) -> tuple[Line, ...]:
    said = line(Span("Φ(x) is the share of a standard normal distribution that lies below x", style="muted"))
    share = find_share_below(x)
    return said, *_write(
        (x, share),
        times,
        ("{2} · Φ({0})", lambda x, _: x * find_share_below(x)),
        ("{2} · {1}", lambda x, share: x * share),
    )


_ROOT, _CUBE = math.sqrt(2 / math.pi), 0.044715


def _tanh_gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(_ROOT * (x + _CUBE * x * x * x)))


def _explain_tanh_gelu(x: float, times: float | None) -> tuple[Line, ...]:
    text = f"0.5 · {{1}} · (1 + tanh({_ROOT:.10f} · ({{0}} + {_CUBE} · ({{0}})^{{{{3}}}})))"
    return _write((x,), times, (text, _tanh_gelu))


def _silu(x: float) -> float:
    return x / (1 + math.exp(-x)) if x > -700 else -0.0


def _explain_silu(x: float, times: float | None) -> tuple[Line, ...]:
    power = "−{0}" if x >= 0 else "{1}"
    return _write((x, -x), times, (f"{{0}} ÷ (1 + e^{{{{{power}}}}})", lambda x, _: _silu(x)))


def _find_sign(x: Tensor) -> tuple[Tensor, Tensor]:
    return (x > 0).to(x.dtype), torch.zeros_like(x)


def _find_normal(x: Tensor) -> tuple[Tensor, Tensor]:
    return 0.5 * (1 + torch.erf(x / math.sqrt(2))), torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)


def _find_tanh(x: Tensor) -> tuple[Tensor, Tensor]:
    bent = torch.tanh(_ROOT * (x + _CUBE * x**3))
    return 0.5 * (1 + bent), 0.5 * (1 - bent.square()) * _ROOT * (1 + 3 * _CUBE * x.square())


def _find_sigmoid(x: Tensor) -> tuple[Tensor, Tensor]:
    share = torch.sigmoid(x)
    return share, share * (1 - share)


_TANH_SLOPE = (
    "bent = torch.tanh((2 / torch.pi) ** 0.5 * ({x} + 0.044715 * {x}**3))\n"
    "slope = (1 - bent.square()) * (2 / torch.pi) ** 0.5 * (1 + 3 * 0.044715 * {x}.square())\n"
    "slope = 0.5 * (1 + bent + {x} * slope)"
)
_TANH = "½ (1 + tanh u) + x · ½ (1 − tanh² u) u′ with u = √(2 ÷ π) (x + 0.044715 x³)"

_D = "d_model"
_W_1 = Table("W_1", "From the residual stream to the hidden numbers of the feed-forward", (_D, "d_ff"))
_B_1 = Table("b_1", "Added to the hidden numbers", ("d_ff",), "zeros")
_W_2 = Table("W_2", "From the hidden numbers back to the residual stream", ("d_ff", _D))
_B_2 = Table("b_2", "Added to the output of the feed-forward", (_D,), "zeros")
_W_GATE = Table("W_gate", "From the residual stream to the gate of each hidden number", (_D, "d_ff"))
_PLAIN, _GATED = (_W_1, _B_1, _W_2, _B_2), (_W_GATE, _W_1, _W_2)

_tanh_gelu_of = partial(nn.functional.gelu, approximate="tanh")

FEED_FORWARDS = {
    each.name: each
    for each in (
        FeedForward(
            name="relu",
            title="ReLU",
            about="Negative hidden numbers become 0 (Vaswani et al. 2017).",
            tables=_PLAIN,
            activate=torch.relu,
            symbol=r"\mathrm{ReLU}",
            explain=_explain_relu,
            code="torch.relu({x})",
            find_share=_find_sign,
            slope="1 where x is above 0, otherwise 0",
            slope_code="slope = ({x} > 0).to({x}.dtype)",
        ),
        FeedForward(
            name="gelu",
            title="GELU",
            about="Each hidden number times the share of a normal distribution below it (BERT).",
            tables=_PLAIN,
            activate=nn.functional.gelu,
            symbol=r"\mathrm{GELU}",
            explain=_explain_gelu,
            code="torch.nn.functional.gelu({x})",
            find_share=_find_normal,
            slope="Φ(x) + x · φ(x)",
            slope_code="slope = 0.5 * (1 + torch.erf({x} / 2**0.5))\n"
            "slope = slope + {x} * torch.exp(-{x}.square() / 2) / (2 * torch.pi) ** 0.5",
        ),
        FeedForward(
            name="gelu_tanh",
            title="GELU by tanh",
            about="GELU by the approximation with tanh that GPT-2 was trained with.",
            tables=_PLAIN,
            activate=_tanh_gelu_of,
            symbol=r"\mathrm{GELU}",
            explain=_explain_tanh_gelu,
            code='torch.nn.functional.gelu({x}, approximate="tanh")',
            find_share=_find_tanh,
            slope=_TANH,
            slope_code=_TANH_SLOPE,
        ),
        FeedForward(
            name="swiglu",
            title="SwiGLU",
            about="Hidden numbers multiplied by a gate x ÷ (1 + e^(−x)), without biases (Shazeer 2020, Llama).",
            tables=_GATED,
            activate=nn.functional.silu,
            is_gated=True,
            symbol=r"\mathrm{SiLU}",
            explain=_explain_silu,
            code="torch.nn.functional.silu({x})",
            find_share=_find_sigmoid,
            slope="σ(x) + x · σ(x) (1 − σ(x))",
            slope_code="slope = torch.sigmoid({x}) * (1 + {x} * (1 - torch.sigmoid({x})))",
        ),
        FeedForward(
            name="geglu",
            title="GEGLU",
            about="Hidden numbers multiplied by the GELU of a gate, without biases (Shazeer 2020, T5 1.1).",
            tables=_GATED,
            activate=_tanh_gelu_of,
            is_gated=True,
            symbol=r"\mathrm{GELU}",
            explain=_explain_tanh_gelu,
            code='torch.nn.functional.gelu({x}, approximate="tanh")',
            find_share=_find_tanh,
            slope=_TANH,
            slope_code=_TANH_SLOPE,
        ),
        FeedForward(name="none", title="none", about="No feed-forward: the block is attention and its residual."),
    )
}

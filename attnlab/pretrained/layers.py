"""The parts that all families are built from: linear maps, norms, attention, feed-forward, and a layer of these.

Vectors are rows, and matrices multiply from the right, as everywhere in attnlab: a linear map has W [in, out].
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": nn.functional.gelu,
    "gelu_new": partial(nn.functional.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(nn.functional.gelu, approximate="tanh"),
    "gelu_fast": partial(nn.functional.gelu, approximate="tanh"),
    "relu": nn.functional.relu,
    "silu": nn.functional.silu,
    "swish": nn.functional.silu,
}
"""The functions between the two linear maps of a feed-forward layer, by their names in config.json."""


def pass_on(x: Tensor) -> Tensor:
    """Return x: the norm of a model without norms."""
    return x


def find_activation(name: object) -> Callable[[Tensor], Tensor]:
    """Return an activation by its name in config.json.

    Raises:
        FileError: it is unknown.
    """
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise FileError(
            f"config.json names the activation {shorten_name(repr(name))}; attnlab knows {', '.join(ACTIVATIONS)}."
        )
    return ACTIVATIONS[name]


class Linear(NamedTuple):
    """x W + b, with W [in, out] and b [out] or None."""

    weight: Tensor
    bias: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the mapped rows of x [T, in], [T, out]."""
        return x @ self.weight if self.bias is None else torch.addmm(self.bias, x, self.weight)


class Norm(NamedTuple):
    """LayerNorm with a gain and a shift [d], or RMSNorm if the shift is None."""

    gain: Tensor
    shift: Tensor | None
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        """Return the normalised rows of x [..., d]."""
        if self.shift is not None:
            return nn.functional.layer_norm(x, self.gain.shape, self.gain, self.shift, self.eps)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.gain


Map: TypeAlias = Norm | Callable[[Tensor], Tensor]
"""A norm, or another function of the rows of a tensor."""


class Rotation(NamedTuple):
    """RoPE: pair c turns by position · frequencies[c]; ``factor`` multiplies queries and keys, as YaRN does.

    A text of more than ``length`` tokens has the frequencies ``of_long(T)``, if there are such.
    """

    frequencies: Tensor
    factor: float = 1.0
    base: float | None = None
    """The base of unscaled frequencies, base^(−2c/d_k); None if they are scaled."""
    length: int = 0
    of_long: Callable[[int], Tensor] | None = None

    def find_frequencies(self, count: int) -> Tensor:
        """Return the frequencies for a text of ``count`` tokens, [d_k/2], in rad per position."""
        return self.frequencies if self.of_long is None or count <= self.length else self.of_long(count)

    def __call__(self, x: Tensor) -> Tensor:
        """Return queries or keys [h, T, d_k] rotated by their positions."""
        count = x.shape[-2]
        angle = torch.arange(count, dtype=torch.float32)[:, None] * self.find_frequencies(count)
        cos, sin = angle.cos() * self.factor, angle.sin() * self.factor
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Bias(NamedTuple):
    """T5's bias: a number for each head and range of distances, ``table`` [buckets, h]."""

    table: Tensor
    farthest: int
    both_ways: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AttentionLayer:
    """The attention of one layer: its projections, and what its family does with queries, keys and scores.

    ``q`` [d_model, h·d_k], ``k`` and ``v`` [d_memory, h_kv·d_k], ``o`` [h·d_k, d_model]. Scores are divided by
    ``divisor``, if there is one. With ``window`` n, a query sees only the last n keys, itself included. ``norm_q`` and
    ``norm_k`` normalise each head's queries and keys [d_k].
    """

    q: Linear
    k: Linear
    v: Linear
    o: Linear
    n_heads: int
    n_kv_heads: int
    divisor: float | None
    causal: bool = False
    window: int | None = None
    rotation: Rotation | None = None
    bias: Bias | None = None
    norm_q: Norm | None = None
    norm_k: Norm | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FeedForward:
    """activation(x W_in) W_out, or, with a gate, (activation(x W_gate) · x W_in) W_out."""

    into: Linear
    out: Linear
    activation: Callable[[Tensor], Tensor]
    gate: Linear | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output for the rows of x [T, d_model]."""
        if self.gate is None:
            return self.out(self.activation(self.into(x)))
        return self.out(self.activation(self.gate(x)) * self.into(x))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layer:
    """One layer: attention, in a decoder that reads a second sequence also cross-attention, then feed-forward.

    ``norm_first`` says whether the norms come before each part, on what it reads (GPT-2), or after the sum (BERT).
    A layer of attention alone has no ``feed_forward``.
    """

    attention: AttentionLayer
    attention_norm: Map
    feed_forward: FeedForward | None
    feed_forward_norm: Map
    norm_first: bool
    cross: AttentionLayer | None = None
    cross_norm: Map | None = None

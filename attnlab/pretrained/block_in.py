"""The norms and the feed-forward around a layer's attention: the model's own or edited ones, and as a block."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.attend import NOTHING_OFF, Off
from attnlab.pretrained.layers import ACTIVATIONS, FeedForward, Layer, Linear, Map, Norm, pass_on

_ENTRIES = {
    (id(ACTIVATIONS[activation]), gated): entry
    for entry, activation, gated in (
        ("relu", "relu", False),
        ("gelu", "gelu", False),
        *(("gelu_tanh", name, False) for name in ("gelu_new", "gelu_pytorch_tanh", "gelu_fast")),
        ("swiglu", "silu", True),
        *(("geglu", name, True) for name in ("gelu_new", "gelu_pytorch_tanh", "gelu_fast")),
    )
}
"""The entry of each activation, without and with a gate."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The norm of one part of a layer, and whether it comes first, on what the part reads, or last, on the sum."""

    norm: Map
    comes_first: bool

    def add(self, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
        """Return x plus what a part of the layer makes of it."""
        return x + part(self.norm(x)) if self.comes_first else self.norm(x + part(x))

    def read(self, x: Tensor) -> Tensor:
        """Return what a part reads of x."""
        return self.norm(x) if self.comes_first else x


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What stands around the attention of a layer: norms, in a decoder also that of cross-attention, and feed-forward.

    ``feed_forward`` is None in a layer of attention alone.
    """

    attention: Around
    cross: Around | None
    last: Around
    feed_forward: FeedForward | None


def find_surroundings(layer: Layer, off: Off = NOTHING_OFF, cross_off: Off = NOTHING_OFF) -> Surroundings:
    """Return what stands around the attention of a layer; edited blocks replace what is theirs."""
    cross = None if layer.cross_norm is None else Around(layer.cross_norm, layer.norm_first)
    found = Surroundings(
        Around(layer.attention_norm, layer.norm_first),
        cross,
        Around(layer.feed_forward_norm, layer.norm_first),
        layer.feed_forward,
    )
    own, other = off.edited, cross_off.edited
    if own is not None and own.config.block != "none":
        found = replace(found, attention=_read_norm(own, 1))
    if other is not None and other.config.block != "none":
        found = replace(found, cross=_read_norm(other, 1))
    final = other if layer.cross is not None else own
    if final is not None and final.config.block != "none":
        found = replace(found, last=_read_norm(final, 2), feed_forward=_read_feed_forward(final))
    return found


def _read_norm(e: Experiment, place: int) -> Around:
    norm = BLOCK_NORMS[e.config.block_norm]
    made: Map = pass_on
    if norm.tables:
        shift = e.weights.extra[f"beta_{place}"] if norm.is_centred else None
        made = Norm(e.weights.extra[f"gamma_{place}"], shift, e.config.option("norm_eps"))
    return Around(made, e.config.block == "before")


def _read_feed_forward(e: Experiment) -> FeedForward | None:
    entry, extra = FEED_FORWARDS[e.config.feed_forward], e.weights.extra
    if entry.activate is None:
        return None
    if entry.is_gated:
        return FeedForward(
            into=Linear(extra["W_1"]), out=Linear(extra["W_2"]), gate=Linear(extra["W_gate"]), activation=entry.activate
        )
    return FeedForward(
        into=Linear(extra["W_1"], extra["b_1"]), out=Linear(extra["W_2"], extra["b_2"]), activation=entry.activate
    )


def with_block(
    weights: Weights, config: AttentionConfig, surroundings: Surroundings, cross: bool, is_last: bool
) -> tuple[Weights, AttentionConfig]:
    """Return the weights and settings of attention, or of cross-attention, with the norms and feed-forward around it.

    The feed-forward belongs to the part that ``is_last`` in its layer.

    Raises:
        ArgumentError: the norms differ in kind, or attnlab has no such feed-forward.
    """
    tables, settings = list_block(surroundings, cross, is_last)
    eps = settings.pop("norm_eps", None)
    options = {**config.options, **({} if eps is None else {"norm_eps": eps})}
    extra = {**weights.extra, **tables}
    return replace(weights, extra=extra), replace(config, options=options, **settings)


def list_block(surroundings: Surroundings, cross: bool, is_last: bool) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tables and the settings of the norms and the feed-forward around attention.

    Raises:
        ArgumentError: the norms differ in kind, or attnlab has no such feed-forward.
    """
    around = surroundings.cross if cross else surroundings.attention
    assert around is not None
    feed_forward = surroundings.feed_forward if is_last else None
    tables, settings = _list_norms(around, surroundings.last if feed_forward is not None else around)
    settings["feed_forward"] = "none"
    if feed_forward is not None:
        more, settings["feed_forward"] = _list_feed_forward(feed_forward)
        tables |= more
    return tables, settings


def _list_norms(first: Around, second: Around) -> tuple[dict[str, Tensor], dict[str, Any]]:
    settings: dict[str, Any] = {"block": "before" if first.comes_first else "after"}
    if first.norm is pass_on and second.norm is pass_on:
        return {}, {**settings, "block_norm": "none"}
    one, other = first.norm, second.norm
    if not isinstance(one, Norm) or not isinstance(other, Norm) or first.comes_first != second.comes_first:
        raise ArgumentError("The norms of this layer differ in kind, which a block of the playground does not have.")
    if (one.shift is None) != (other.shift is None) or one.eps != other.eps:
        raise ArgumentError("The norms of this layer differ in kind, which a block of the playground does not have.")
    tables = {f"gamma_{place}": norm.gain for place, norm in ((1, one), (2, other))}
    tables |= {f"beta_{place}": norm.shift for place, norm in ((1, one), (2, other)) if norm.shift is not None}
    return tables, {**settings, "block_norm": "rms" if one.shift is None else "layer", "norm_eps": one.eps}


def _list_feed_forward(feed: FeedForward) -> tuple[dict[str, Tensor], str]:
    entry = _find_entry(feed)
    tables = {"W_1": feed.into.weight, "W_2": feed.out.weight}
    if feed.gate is not None:
        if any(part.bias is not None for part in (feed.gate, feed.into, feed.out)):
            raise ArgumentError("The feed-forward of this layer has a gate and biases, which a block does not have.")
        return tables | {"W_gate": feed.gate.weight}, entry
    biases = {"b_1": feed.into, "b_2": feed.out}
    return tables | {
        name: torch.zeros(part.weight.shape[1]) if part.bias is None else part.bias for name, part in biases.items()
    }, entry


def _find_entry(feed: FeedForward) -> str:
    gated = feed.gate is not None
    for entry in FEED_FORWARDS.values():
        if entry.activate is feed.activation and entry.is_gated == gated:
            return entry.name  # that of an edited block
    name = _ENTRIES.get((id(feed.activation), gated))
    if name is None:
        raise ArgumentError("The feed-forward of this layer has an activation that a block of the playground has not.")
    return name

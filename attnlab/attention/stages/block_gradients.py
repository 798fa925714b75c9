"""The gradients of the stages and tables of a block, and of the inputs, by explicit formulas; a vector is one row."""

from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor

from attnlab.attention.products import matmul
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS, activate, find_slope, normalize
from attnlab.attention.stages import backward
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.evaluate_block import find_place

Computation = Callable[[Computed], Tensor]
MATRICES = {"gates": "W_gate", "hidden": "W_1", "feed_forward": "W_2"}
"""The matrix of each linear map of the feed-forward."""


def make_stream(name: str) -> Computation:
    """Return the function that computes the gradient of a stage of the block, of the output or of the inputs, [T, d].

    Its parts come from every stage that reads it; without one, it leaves the layer, and the loss is about it.
    """

    def compute(t: Computed) -> Tensor:
        readers = [source.removeprefix("d_") for source in t.sources(f"d_{name}")]
        if readers[:1] == ["loss"]:
            return backward.d_last(t)
        parts = [pull_reader(t, name, reader) for reader in readers]
        return reduce(torch.add, parts) if len(parts) > 1 else parts[0].clone()

    return compute


def pull_reader(t: Computed, name: str, reader: str) -> Tensor:
    """Return the part of the gradient of a stage that comes from one of the stages computed from it."""
    if reader in backward.PROJECTIONS:
        return backward.pull_projection(t, reader)
    d = t[f"d_{reader}"]
    if reader.startswith("normed"):
        return pull_norm(t, t[name], d, reader)
    if reader in MATRICES:
        return matmul(d, t.take(t.experiment.weights.extra[MATRICES[reader]]).mT)
    return d * find_slopes(t, name) if reader == "activated" else d


def find_slopes(t: Computed, name: str) -> Tensor:
    """Return how much each activated number moves with its gate or its hidden number, [T_q, d_ff]."""
    feed_forward = FEED_FORWARDS[t.experiment.config.feed_forward]
    if not feed_forward.is_gated:
        return find_slope(feed_forward, t["hidden"])
    return (
        activate(feed_forward, t["gates"]) if name == "hidden" else t["hidden"] * find_slope(feed_forward, t["gates"])
    )


def pull_norm(t: Computed, x: Tensor, d: Tensor, normed: str) -> Tensor:
    """Return the gradient of rows x [n, d_model] from ``d``, that of the rows normalised."""
    config = t.experiment.config
    d = d * t.take(t.experiment.weights.extra[f"gamma_{find_place(config.block, normed)}"])
    if BLOCK_NORMS[config.block_norm].is_centred:
        x, d = x - x.mean(-1, keepdim=True), d - d.mean(-1, keepdim=True)
    root = torch.rsqrt(x.square().mean(-1, keepdim=True) + config.option("norm_eps"))
    found: Tensor = root * d - x * root**3 * (x * d).mean(-1, keepdim=True)
    return found


def make_matrix(of: str) -> Computation:
    """Return the function that computes the gradient of a matrix of the feed-forward, [rows, columns]."""
    return lambda t: matmul(t[t.sources(f"d_{MATRICES[of]}")[0]].mT, t[f"d_{of}"])


def make_sum(table: str) -> Computation:
    """Return the function that computes the gradient of a table that is added to every token, [1, columns]."""
    return lambda t: t[t.sources(f"d_{table}")[-1]].sum(0, keepdim=True)


def find_units(t: Computed, gain: str) -> Tensor:
    """Return the rows of a norm of the block as they are normalised, before gain and shift, [T_q, d_model]."""
    config = t.experiment.config
    x = t[t.sources(f"d_{gain}")[0]]
    return normalize(x, BLOCK_NORMS[config.block_norm].is_centred, config.option("norm_eps"))


def make_gain(gain: str) -> Computation:
    """Return the function that computes the gradient of the gain of a norm of the block, [1, d_model]."""
    return lambda t: (t[t.sources(f"d_{gain}")[1]] * find_units(t, gain).to(t.dtype)).sum(0, keepdim=True)

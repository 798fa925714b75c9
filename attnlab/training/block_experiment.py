"""Conversion of the block around a model's layer to a playground experiment, and of its weights back."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attnlab.attention.edits import layer_tables
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import TrainingError
from attnlab.training.models.attention import Attention
from attnlab.training.models.base_model import Model
from attnlab.training.models.blocks import Block

ACTIVATIONS: dict[type[nn.Module], str] = {nn.ReLU: "relu", nn.GELU: "gelu"}
SETTINGS = ("block", "block_norm", "feed_forward")


def find_block(model: Model, layer: Attention) -> Block | None:
    """Return the block that a layer of attention is part of; None in a model without blocks."""
    blocks = (module for module in model.modules() if isinstance(module, Block))
    return next((block for block in blocks if layer is block.attention or layer is block.cross), None)


def find_norm(block: Block, layer: Attention) -> nn.Module:
    """Return the norm of a layer of attention in its block."""
    return next(norm for part, norm in block.list_parts() if part is layer)


def add_block(e: Experiment, block: Block, layer: Attention, x: Tensor) -> Experiment:
    """Return the experiment of a layer with the norms and the feed-forward of its block around it.

    ``x`` [T_q, d_model] is what enters the layer, before a norm that comes first. In a block with cross-attention the
    feed-forward belongs to that.
    """
    tables = {
        name: parameter.T if name.startswith("W") else parameter
        for name, (_, parameter) in _list_parameters(block, layer).items()
    }
    weights = replace(e.weights, extra={**e.weights.extra, **tables})
    return replace(e, embeddings=x, weights=weights, config=replace(e.config, **_find_settings(block, layer)))


def read_block(e: Experiment, block: Block | None, layer: Attention) -> dict[str, NDArray[np.float32]]:
    """Return the weights around a layer by the names of its block's parameters; none if the experiment has no block.

    Raises:
        TrainingError: the block of the experiment is another kind, or has other sizes.
    """
    if e.config.block == "none":
        return {}
    own = dict.fromkeys(SETTINGS, "none") if block is None else _find_settings(block, layer)
    for name in SETTINGS:
        there, here = getattr(e.config, name), own[name]
        if there != here:
            raise TrainingError(
                f"{name} is {there!r} in the playground and {here!r} in this layer; "
                "only the numbers of its weights and biases can go back."
            )
    assert block is not None
    found = {}
    for table, (name, parameter) in _list_parameters(block, layer).items():
        numbers = layer_tables.table(e, table).to(torch.float32)
        numbers = numbers.T if table.startswith("W") else numbers[0]
        if numbers.shape != parameter.shape:
            raise TrainingError(
                f"{table} has shape {list(layer_tables.table(e, table).shape)} in the playground; "
                f"this layer needs {list(reversed(parameter.shape))}."
            )
        found[name] = numbers.numpy().copy()
    return found


def _find_settings(block: Block, layer: Attention) -> dict[str, Any]:
    """Return the settings of a block as those of AttentionConfig."""
    feed_forward = _find_feed_forward(block, layer)
    normed = isinstance(find_norm(block, layer), nn.LayerNorm)
    return {
        "block": "before" if block.is_norm_first else "after",
        "block_norm": "layer" if normed else "none",
        "feed_forward": "none" if feed_forward is None else ACTIVATIONS[type(feed_forward[1])],
    }


def _find_feed_forward(block: Block, layer: Attention) -> nn.Sequential | None:
    """Return the feed-forward after a layer of attention; None if cross-attention comes first, or if there is none."""
    return block.feed_forward if block.cross is None or layer is block.cross else None


def _list_parameters(block: Block, layer: Attention) -> dict[str, tuple[str, Tensor]]:
    """Return the names and parameters of a block by the names of the playground's tables."""
    feed_forward, norms = _find_feed_forward(block, layer), list(block.norms)
    place = norms.index(find_norm(block, layer))
    found: dict[str, tuple[str, Tensor]] = {}
    for at, which in ((1, place), (2, place if feed_forward is None else place + 1)):
        norm = norms[which]
        if isinstance(norm, nn.LayerNorm):
            found[f"gamma_{at}"] = f"norms.{which}.weight", norm.weight
            found[f"beta_{at}"] = f"norms.{which}.bias", norm.bias
    if feed_forward is not None:
        for at, which in ((1, 0), (2, len(feed_forward) - 1)):
            linear = feed_forward[which]
            assert isinstance(linear, nn.Linear)
            found[f"W_{at}"] = f"feed_forward.{which}.weight", linear.weight
            found[f"b_{at}"] = f"feed_forward.{which}.bias", linear.bias
    return found

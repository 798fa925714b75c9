"""Conversion of a model's layer on one text to a playground experiment, and of its weights back."""

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.attention.edits import layer_tables
from attnlab.attention.experiment import PROJECTIONS, AttentionConfig, Experiment, Weights
from attnlab.base.errors import TrainingError
from attnlab.training.models.attention import Attention, LayerTrace

KEPT = ("n_heads", "n_kv_heads", "causal", "scale", "score", "normalizer", "positions", "qk_norm", "masks", "options")
"""The fields of a configuration that are fixed in a model and cannot be changed from the playground."""


def to_experiment(
    layer: Attention, trace: LayerTrace, tokens: tuple[str, ...], key_tokens: tuple[str, ...]
) -> Experiment:
    """Return an experiment that computes what a layer computed for the first example of a batch.

    Its embeddings are the inputs of the layer: with positions added, and normalised if the norm comes before the layer.
    Its mask hides the keys that are PAD.
    """
    across = "memory" in trace
    return Experiment(
        tokens,
        trace.join("inputs")[0],
        Weights(**{name: getattr(layer, name) for name in PROJECTIONS}, extra=layer.extra),
        _to_config(layer, trace),
        key_tokens if across else None,
        trace.join("memory")[0] if across else None,
    )


def find_hidden(trace: LayerTrace) -> NDArray[np.bool_] | None:
    """Return the masked cells of the first example of a batch, bool [T_q, T_k]; None without a mask."""
    cells = trace.hidden
    if cells is None:
        return None
    one = cells[0, 0] if cells.ndim == 4 else cells
    t_q = sum(part.shape[-2] for part in trace.collect_parts("inputs"))
    return one.expand(t_q, -1).cpu().numpy().copy()


def _to_config(layer: Attention, trace: LayerTrace) -> AttentionConfig:
    """Return the layer's configuration, with an explicit mask if PAD is hidden."""
    cells = find_hidden(trace)
    if cells is None or trace.hidden is None or trace.hidden.ndim < 4:
        return layer.config
    c = layer.config
    return AttentionConfig(
        c.n_heads,
        c.causal,
        c.scale,
        c.n_kv_heads,
        ~cells,
        c.score,
        c.normalizer,
        c.positions,
        ablated=c.ablated,
        options=c.options,
    )


def to_weights(layer: Attention, e: Experiment) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an experiment by the names of a layer's parameters, float32.

    Only weights go back; tokens, embeddings and a mask drawn by hand are ignored. A weight that was removed in the
    playground goes back as the identity, a bias as zeros.

    Raises:
        TrainingError: sizes differ, or the experiment computes something that this layer cannot.
    """
    _check_config(layer, e)
    names = [name for name, _ in layer.named_parameters()]
    for name in PROJECTIONS:
        if name not in names and getattr(e.weights, name) is not None:
            raise TrainingError(
                f"{name} was added in the playground, but this layer has none; {', '.join(names)} can go back."
            )
    return {name: _to_parameter(layer, e, name) for name in names}


def _check_config(layer: Attention, e: Experiment) -> None:
    for name in KEPT:
        there, here = getattr(e.config, name), getattr(layer.config, name)
        if there != here:
            raise TrainingError(
                f"{name} is {there!r} in the playground and {here!r} in this layer; "
                "only the numbers of its weights and biases can go back."
            )
    if e.config.ablated != layer.config.ablated:
        here, there = (", ".join(map(str, each.config.ablated)) or "none" for each in (e, layer))
        raise TrainingError(
            f"Heads off: {here} in the playground, {there} in this layer. Only numbers can go back; to train without "
            "a head, use the menu of its map in Train."
        )


def _to_parameter(layer: Attention, e: Experiment, name: str) -> NDArray[np.float32]:
    need = tuple(layer.get_parameter(name).shape)
    table = layer_tables.table(e, name)
    got = tuple(table.shape[-len(need) :])
    if got != need:
        raise TrainingError(f"{name} has shape {list(got)} in the playground; this layer needs {list(need)}.")
    return table.reshape(need).to(torch.float32).numpy().copy()

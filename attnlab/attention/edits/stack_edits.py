"""Edits of stacks: choose, add and remove a layer; and apply an edit of tokens or sizes to every layer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Concatenate, ParamSpec

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.registries.positions import POSITIONS
from attnlab.base.errors import ExperimentError

P = ParamSpec("P")
Layer = tuple[Weights, AttentionConfig]


def layers(e: Experiment) -> tuple[Layer, ...]:
    """Return the weights and configurations of all layers of a stack in order, including the present one."""
    return (*e.other_layers[: e.layer], (e.weights, e.config), *e.other_layers[e.layer :])


def with_layers(e: Experiment, every: tuple[Layer, ...], layer: int) -> Experiment:
    """Return the experiment with these layers; the one at index ``layer`` is the present one."""
    weights, config = every[layer]
    others = (*every[:layer], *every[layer + 1 :])
    return replace(e, weights=weights, config=config, other_layers=others, layer=layer)


def only_layer(e: Experiment, layer: int) -> Experiment:
    """Return one layer of a stack on the embeddings, without the others."""
    return with_layers(e, (layers(e)[layer],), 0)


def select_layer(e: Experiment, layer: int) -> Experiment:
    """Return the experiment with the layer at index ``layer`` as the present one.

    Raises:
        ExperimentError: there is no such layer.
    """
    if not 0 <= layer < e.n_layers:
        there = f"they are numbered from 1 to {e.n_layers}" if e.other_layers else "there is one"
        raise ExperimentError(f"There is no layer {layer + 1}; {there}.")
    return e if layer == e.layer else with_layers(e, layers(e), layer)


def add_layer(e: Experiment) -> Experiment:
    """Return the experiment with a copy of the present layer above it, without added positions; the copy is present.

    Raises:
        ExperimentError: its output has other columns than its inputs, or there is a batch or a second sequence.
    """
    every = layers(e)
    config = e.config
    if POSITIONS[config.positions].encode is not None:
        config = replace(config, positions="none")  # they were added below
    return with_layers(e, (*every[: e.layer + 1], (e.weights, config), *every[e.layer + 1 :]), e.layer + 1)


def remove_layer(e: Experiment, layer: int) -> Experiment:
    """Return the experiment without a layer; if it was the present one, the next below is.

    Raises:
        ExperimentError: it is the only one.
    """
    if e.n_layers == 1:
        raise ExperimentError("This is the only layer; a scene needs at least one.")
    every = layers(e)
    left = (*every[:layer], *every[layer + 1 :])
    return with_layers(e, left, max(e.layer - (layer <= e.layer), 0))


def in_every_layer(
    edit: Callable[Concatenate[Experiment, P], Experiment],
) -> Callable[Concatenate[Experiment, P], Experiment]:
    """Return an edit of tokens or sizes that edits every layer of a stack alike."""

    def edit_all(e: Experiment, /, *args: P.args, **kwargs: P.kwargs) -> Experiment:
        if not e.other_layers:
            return edit(e, *args, **kwargs)
        each = [edit(only_layer(e, layer), *args, **kwargs) for layer in range(e.n_layers)]
        return with_layers(each[e.layer], tuple((one.weights, one.config) for one in each), e.layer)

    edit_all.__name__, edit_all.__doc__ = edit.__name__, edit.__doc__
    return edit_all

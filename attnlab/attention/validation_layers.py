"""Check the other layers of a stack, and the place of the present one."""

import operator
import reprlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from attnlab.base.errors import ExperimentError

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

W = TypeVar("W")
C = TypeVar("C")
MOST_LAYERS = 12
"""The maximum number of layers of a stack: each is computed again when a number below it changes."""


def take_layers(given: Any, weights: type[W], config: type[C]) -> tuple[tuple[W, C], ...]:
    """Return the weights and configurations of the other layers of a stack."""
    if not isinstance(given, Iterable):
        raise ExperimentError(f"other_layers is {reprlib.repr(given)}; it needs pairs of weights and configuration.")
    taken = tuple(given)
    for place, each in enumerate(taken):
        pair = isinstance(each, tuple) and len(each) == 2
        if not (pair and isinstance(each[0], weights) and isinstance(each[1], config)):
            raise ExperimentError(
                f"other_layers[{place}] is {reprlib.repr(each)}; it needs (attnlab.Weights, attnlab.AttentionConfig)."
            )
    if len(taken) >= MOST_LAYERS:
        raise ExperimentError(f"The stack has {len(taken) + 1} layers; the maximum is {MOST_LAYERS}.")
    return taken


def take_layer(layer: Any, n_layers: int) -> int:
    """Return the index of the present layer in its stack as a plain int."""
    try:
        place = -1 if isinstance(layer, bool) else operator.index(layer)
    except TypeError:
        place = -1
    if not 0 <= place < n_layers:
        needs = "0, as there are no others" if n_layers == 1 else f"a place from 0 to {n_layers - 1} in the stack"
        raise ExperimentError(f"layer is {reprlib.repr(layer)}; it needs {needs}.")
    return place


def check_layers(e: "Experiment") -> None:
    """Check that the layers of a stack fit onto each other, and each the sequence."""
    if not e.other_layers:
        return
    if e.memory_tokens is not None or e.n_items > 1:
        what = "a second sequence" if e.memory_tokens is not None else "a batch"
        raise ExperimentError(f"There is {what} and a stack of {e.n_layers} layers; a stack reads one sequence alone.")
    _check_width(e, e.layer)
    for place, (weights, config) in enumerate(e.other_layers):
        index = place + (place >= e.layer)
        try:
            one = replace(e, weights=weights, config=config, other_layers=(), layer=0)
        except ExperimentError as error:
            raise ExperimentError(f"Layer {index + 1} of the stack: {error}") from None
        _check_width(one, index)


def _check_width(e: "Experiment", index: int) -> None:
    if e.d_out != e.d_model:
        raise ExperimentError(
            f"Layer {index + 1} of the stack has d_out = {e.d_out} and d_model = {e.d_model}; "
            "in a stack both need the same number of columns."
        )

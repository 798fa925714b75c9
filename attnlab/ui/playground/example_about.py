"""The sentence about an example, as long as it is true of what is open."""

from dataclasses import fields
from functools import lru_cache
from typing import Any

from attnlab.attention.edits.batches import items, select
from attnlab.attention.edits.stack_edits import select_layer
from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.experiment import AttentionConfig, Experiment

_FIELDS = tuple(field.name for field in fields(AttentionConfig) if field.name not in ("mask", "options"))


def find_about(name: str, e: Experiment) -> str:
    """Return what the preset with that name says of itself.

    It is "" without a preset, and once the words, sizes or settings of the experiment have changed. Edited numbers, and
    another sequence or layer of the same experiment, make no difference.
    """
    example = PRESETS.get(name)
    return example.about if example is not None and _describe(e) == _describe_preset(name) else ""


@lru_cache(maxsize=4)
def _describe_preset(name: str) -> tuple[Any, ...]:
    return _describe(PRESETS[name].make())


def _describe(e: Experiment) -> tuple[Any, ...]:
    """Return the words of every sequence, the sizes, and the settings of every layer."""
    first = select(e, 0)
    words = tuple((item.tokens, item.memory_tokens) for item in items(first))
    return words, *(_describe_layer(select_layer(first, layer)) for layer in range(e.n_layers))


def _describe_layer(e: Experiment) -> tuple[Any, ...]:
    """Return the sizes and settings of a layer, without the loss that its gradients start from."""
    options = {name: value for name, value in e.config.options.items() if not name.startswith("loss")}
    mask = None if e.config.mask is None else e.config.mask.numpy().tobytes()
    return e.d_model, e.d_k, e.d_v, *(getattr(e.config, name) for name in _FIELDS), options, mask

"""Converts experiments to JSON and named arrays and back; an array that several share is written once."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.experiment import (
    PROJECTIONS,
    AttentionConfig,
    Experiment,
    Sample,
    Weights,
)
from attnlab.attention.unwritten import check_unwritten
from attnlab.base.errors import ExperimentError
from attnlab.files.atomic import format_name

_SETTINGS = tuple(field.name for field in fields(AttentionConfig) if field.name != "mask")
_ARRAYS = frozenset({"embeddings", "memory_embeddings", "mask", *PROJECTIONS})
_LEFT_OUT = {
    field.name: field.default
    for field in fields(AttentionConfig)
    if field.name in ("qk_norm", "block", "block_norm", "feed_forward")
}
"""Settings that a session does not name at their default, so that versions without them can read it."""
_EXTRA, _OTHERS, _LAYERS = "extra/", "others/", "layers/"
"""Prefixes of the names of registry entries' tables, of the other sequences of a batch, of other layers of a stack."""
_OF_SAMPLE = ("tokens", "memory_tokens", "length")
_KINDS: Mapping[str, Any] = {
    "tokens": list,
    "memory_tokens": list | None,
    "config": dict,
    "others": list,
    "item": int,
    "layers": list,
    "layer": int,
    "shared": dict,
}
"""The keys of an experiment and their types; ``shared`` maps names of its arrays to their stored names."""


def experiments_to_json(experiments: Sequence[Experiment]) -> tuple[list[dict[str, Any]], dict[str, Tensor]]:
    """Return each experiment as JSON, and all arrays by name, with a prefix for every experiment but the first.

    An array that an experiment shares with an earlier one is named in ``shared`` instead.
    """
    plain, arrays, known = [], {}, dict[int, str]()
    for place, e in enumerate(experiments):
        check_unwritten(e)
        shared, own = {}, dict[int, str]()
        for name, array in arrays_of(e).items():
            if id(array) in known:
                shared[name] = known[id(array)]
                continue
            own[id(array)] = stored = _prefix(place) + name
            arrays[stored] = array.clone(memory_format=torch.contiguous_format)  # safetensors refuses shared memory
        known |= own  # only now: arrays are shared with earlier experiments, not within one
        plain.append(_experiment_to_json(e) | ({"shared": shared} if place else {}))
    return plain, arrays


def experiments_from_json(plain: Sequence[Any], arrays: Mapping[str, Tensor]) -> list[Experiment]:
    """Return the experiments in JSON and arrays; every array must belong to one of them.

    Raises:
        ValueError: wrong types or unknown keys.
        ExperimentError: invalid values.
    """
    left, known, found = dict(arrays), dict[str, Tensor](), []
    for place, each in enumerate(plain):
        prefix, where = _prefix(place), f"pins[{place - 1}] " if place else ""
        _check(each, where)
        own = {n.removeprefix(prefix): left.pop(n) for n in list(left) if n.startswith(prefix) and _is_own(n, place)}
        within = {prefix + name: array for name, array in own.items()}  # early versions of attnlab 0.1 shared these too
        found.append(_experiment(each, own | _find_shared(each, known | within, where), where))
        known |= {prefix + name: array for name, array in arrays_of(found[-1]).items() if name in own}
    if left:
        raise ValueError(f"it has arrays that this attnlab does not know: {_list(left)}")
    return found


def arrays_of(e: Experiment) -> dict[str, Tensor]:
    """Return all arrays of an experiment by their names in a session."""
    given = {"embeddings": e.embeddings, "memory_embeddings": e.memory_embeddings}
    given |= _arrays_of_layer("", e.weights, e.config)
    for place, (weights, config) in enumerate(e.other_layers):
        given |= _arrays_of_layer(f"{_LAYERS}{place}/", weights, config)
    for place, other in enumerate(e.others):
        given[f"{_OTHERS}{place}/embeddings"] = other.embeddings
        given[f"{_OTHERS}{place}/memory_embeddings"] = other.memory_embeddings
    return {name: array for name, array in given.items() if array is not None}


def _arrays_of_layer(prefix: str, weights: Weights, config: AttentionConfig) -> dict[str, Tensor | None]:
    given = {"mask": config.mask, **{name: getattr(weights, name) for name in PROJECTIONS}}
    given |= {f"{_EXTRA}{name}": array for name, array in weights.extra.items()}
    return {prefix + name: array for name, array in given.items()}


def _prefix(place: int) -> str:
    return f"pins/{place - 1}/" if place else ""


def _is_own(name: str, place: int) -> bool:
    return place > 0 or not name.startswith("pins/")


def _experiment_to_json(e: Experiment) -> dict[str, Any]:
    """Return an experiment as JSON, without empty settings."""
    others = [{name: getattr(other, name) for name in _OF_SAMPLE} for other in e.others]
    batch = {"others": others, "item": e.item} if others else {}
    stack = [_config_to_json(config) for _, config in e.other_layers]
    layers = {"layers": stack, "layer": e.layer} if stack else {}
    config = _config_to_json(e.config)
    return {"tokens": e.tokens, "memory_tokens": e.memory_tokens, "config": config, **batch, **layers}


def _config_to_json(config: AttentionConfig) -> dict[str, Any]:
    plain = {name: getattr(config, name) for name in _SETTINGS}
    plain |= {"masks": dict(config.masks), "options": dict(config.options), "ablated": list(config.ablated)}
    return {
        name: value for name, value in plain.items() if value not in ({}, []) and (name, value) not in _LEFT_OUT.items()
    }


def _find_shared(plain: Mapping[str, Any], known: Mapping[str, Tensor], where: str) -> dict[str, Tensor]:
    shared = plain.get("shared", {})
    for name, stored in shared.items():
        if not isinstance(stored, str) or stored not in known:
            raise ValueError(f"{where}shares {format_name(name[:60])} with no earlier experiment")
    return {name: known[stored] for name, stored in shared.items()}


def _check(plain: Any, where: str) -> None:
    """Check the keys and types of an experiment; the experiment itself checks the values."""
    if not isinstance(plain, dict):
        raise ValueError(f"{where or 'experiment '}must be an object")
    for key in ("tokens", "memory_tokens", "config"):
        if key not in plain:
            raise ValueError(f"{where}{key} is missing from its manifest")
    for key, value in plain.items():
        if key not in _KINDS:
            raise ValueError(f"{where}{format_name(key[:60])} is not known to this attnlab")
        if not isinstance(value, _KINDS[key]) or isinstance(value, bool):
            raise ValueError(f"{where}{key} has the wrong type")
    _check_config(plain["config"], where)
    _check_others(plain.get("others", []), where)
    for place, config in enumerate(plain.get("layers", [])):
        if not isinstance(config, dict):
            raise ValueError(f"{where}layers, the settings of the other layers, must be a list of objects")
        _check_config(config, f"{where}layers[{place}] ")


def _check_config(config: Mapping[str, Any], where: str) -> None:
    unknown = set(config) - set(_SETTINGS)
    if unknown:
        raise ValueError(f"{where or 'it '}has settings that this attnlab does not know: {_list(unknown)}")
    kinds = {"masks": (dict, "names and values"), "options": (dict, "names and values"), "ablated": (list, "a list")}
    for key, value in config.items():
        kind, needs = kinds.get(key, (str | int | float | None, "a text, number or boolean"))
        if not isinstance(value, kind):
            raise ValueError(f"{where}the setting {key} must be {needs}")


def _check_others(others: Sequence[Any], where: str) -> None:
    if not all(isinstance(other, dict) for other in others):
        raise ValueError(f"{where}others, the other sequences of its batch, must be a list of objects")
    for place, other in enumerate(others):
        unknown = set(other) - set(_OF_SAMPLE)
        if unknown:
            raise ValueError(f"{where}others[{place}] has fields that this attnlab does not know: {_list(unknown)}")
        if "tokens" not in other:
            raise ValueError(f"{where}others[{place}] has no tokens")


def _experiment(plain: dict[str, Any], arrays: dict[str, Tensor], where: str) -> Experiment:
    others, layers = plain.get("others", []), plain.get("layers", [])
    of_batch = {f"{_OTHERS}{i}/{name}" for i in range(len(others)) for name in ("embeddings", "memory_embeddings")}
    prefixes = ("", *(f"{_LAYERS}{place}/" for place in range(len(layers))))
    known = {prefix + name for prefix in prefixes for name in ("mask", *PROJECTIONS)} | _ARRAYS | of_batch
    unknown = {name for name in arrays if not name.startswith(tuple(p + _EXTRA for p in prefixes))} - known
    if unknown:
        raise ValueError(f"{where or 'it '}has arrays that this attnlab does not know: {_list(unknown)}")
    for name, array in arrays.items():
        if name.rpartition("/")[2] != "mask" and not array.is_floating_point():
            raise ValueError(f"{where}{name} contains booleans; it needs numbers")
    for name in ("embeddings", *(f"{_OTHERS}{i}/embeddings" for i in range(len(others)))):
        if name not in arrays:
            raise ValueError(f"{where}{name} is missing from its arrays")
    try:
        return Experiment(
            tokens=plain["tokens"],
            embeddings=arrays["embeddings"],
            weights=_weights("", arrays),
            config=AttentionConfig(**plain["config"], mask=arrays.get("mask")),
            memory_tokens=plain["memory_tokens"],
            memory_embeddings=arrays.get("memory_embeddings"),
            others=[_sample(other, place, arrays) for place, other in enumerate(others)],
            item=plain.get("item", 0),
            other_layers=[_layer(config, place, arrays) for place, config in enumerate(layers)],
            layer=plain.get("layer", 0),
        )
    except ExperimentError as error:
        raise ExperimentError(f"{where}{error}") from None


def _weights(prefix: str, arrays: Mapping[str, Tensor]) -> Weights:
    extra = {
        name.removeprefix(prefix + _EXTRA): array for name, array in arrays.items() if name.startswith(prefix + _EXTRA)
    }
    return Weights(**{name: arrays.get(prefix + name) for name in PROJECTIONS}, extra=extra)


def _layer(config: dict[str, Any], place: int, arrays: Mapping[str, Tensor]) -> tuple[Weights, AttentionConfig]:
    prefix = f"{_LAYERS}{place}/"
    try:
        return _weights(prefix, arrays), AttentionConfig(**config, mask=arrays.get(f"{prefix}mask"))
    except ExperimentError as error:
        raise ExperimentError(f"layers[{place}]: {error}") from None


def _sample(other: dict[str, Any], place: int, arrays: Mapping[str, Tensor]) -> Sample:
    embeddings, memory = (arrays.get(f"{_OTHERS}{place}/{name}") for name in ("embeddings", "memory_embeddings"))
    assert embeddings is not None  # checked before
    try:
        return Sample(embeddings=embeddings, memory_embeddings=memory, **other)
    except ExperimentError as error:
        raise ExperimentError(f"others[{place}].{error}") from None


def _list(names: Mapping[str, Any] | set[str]) -> str:
    """Return up to five names, for a sentence."""
    return ", ".join(format_name(name[:60]) for name in sorted(names)[:5]) + (", …" if len(names) > 5 else "")

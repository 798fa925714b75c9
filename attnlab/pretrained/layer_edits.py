"""What was edited in a layer of a model: each difference in plain words, and the layer without it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.experiment import PROJECTIONS, AttentionConfig, Experiment, Weights
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Option
from attnlab.attention.registries.masks import MASKS, find_hidden
from attnlab.attention.registries.positions import POSITIONS
from attnlab.base.counted import format_count

SCALES = {"sqrt_d_k": "√d_k", "sqrt_d_model": "√d_model", "none": "1"}
Own = tuple[Weights, AttentionConfig]
"""The weights and the settings of the model's own layer."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerEdit:
    """One difference: "temperature 1 → 2". ``rest`` is the layer without it; None if it is the only one."""

    words: str
    rest: Experiment | None


def list_edits(own: Own, e: Experiment) -> tuple[LayerEdit, ...]:
    """Return the differences between the model's own layer and an edited one.

    Projections whose shapes differ are one difference, with the number of key heads; a choice, such as the score
    function, is one with its settings and tables.
    """
    found = [*_find_projections(own, e), *_find_settings(own, e), *_find_choices(own, e)]
    return tuple(LayerEdit(words, rest if len(found) > 1 else None) for words, rest in found)


_Found = Iterator[tuple[str, Experiment]]


def _find_projections(own: Own, e: Experiment) -> _Found:
    weights, config = own
    reshaped: dict[str, Any] = {}
    for name in PROJECTIONS:
        before, after = getattr(weights, name), getattr(e.weights, name)
        if _shape(before) != _shape(after):
            reshaped[name] = before
        elif before is not None and (count := _count_changes(before, after)):
            yield f"{name} edited, {_count_numbers(count)}", _with_weights(e, **{name: before})
    heads = config.n_kv_heads or config.n_heads
    if reshaped or heads != e.n_kv_heads:
        fields = replace(e.config, n_kv_heads=config.n_kv_heads)
        words = f"{heads} key heads → {e.n_kv_heads}" if heads != e.n_kv_heads else _describe_shapes(reshaped, e)
        yield words, replace(e, weights=replace(e.weights, **reshaped), config=fields)


def _find_settings(own: Own, e: Experiment) -> _Found:
    _, before = own
    after = e.config
    if before.causal != after.causal:
        yield f"causal mask {'on' if after.causal else 'off'}", _with_config(e, causal=before.causal)
    if before.scale != after.scale:
        said = f"scores ÷ {_name_scale(before.scale)} → ÷ {_name_scale(after.scale)}"
        yield said, _with_config(e, scale=before.scale)
    if hidden := _count_painted(before, e):
        yield f"mask painted, {format_count(hidden, 'pair')} hidden", _with_config(e, mask=before.mask)
    for name in dict.fromkeys((*before.masks, *after.masks)):
        one, other = before.masks.get(name), after.masks.get(name)
        if one != other:
            masks = {key: value for key, value in after.masks.items() if key != name}
            masks |= {} if one is None else {name: one}
            yield f"{MASKS[name].title.lower()} mask {_say_change(one, other)}", _with_config(e, masks=masks)
    if after.ablated:
        heads = "head" if len(after.ablated) == 1 else "heads"
        yield f"{heads} {', '.join(map(str, after.ablated))} off", _with_config(e, ablated=())


def _find_choices(own: Own, e: Experiment) -> _Found:
    """Yield what differs in the entries of the registries, in their settings and in their tables."""
    weights, config = own
    told: set[str] = set()
    for choice in registry.CHOICES:
        before, after = (getattr(each, choice.field) for each in (config, e.config))
        if before != after:
            entries = choice.entries[before], choice.entries[after]
            options = {option.name for entry in entries for option in entry.options}
            tables = {table.name for entry in entries for table in entry.tables}
            told |= options | tables
            rest = _with_choice(own, e, {choice.field: before}, options, tables)
            yield f"{choice.title} {entries[0].title} → {entries[1].title}", rest
    known = registry.all_options()
    names = [name for name in dict.fromkeys((*config.options, *e.config.options)) if name not in told]
    differing = [
        name for name in names if config.option(name) != e.config.option(name) and _uses(config, e.config, name)
    ]
    for name in differing:
        if known[name].under not in differing:
            words = f"{_name_option(e.config, known[name])} {_say(config.option(name))} → {_say(e.config.option(name))}"
            below = {other for other in differing if known[other].under == name}
            yield words, _with_choice(own, e, {}, {name, *below}, set())
    for name in registry.tables(e.config):
        if name in told or name not in weights.extra:
            continue
        one, other = weights.extra[name], e.weights.extra[name]
        if one.shape != other.shape or (count := _count_changes(one, other)):
            changed = f", {_count_numbers(count)}" if one.shape == other.shape else ""
            yield f"{name} edited{changed}", _with_choice(own, e, {}, set(), {name})


def _with_choice(own: Own, e: Experiment, fields: Mapping[str, Any], options: set[str], tables: set[str]) -> Experiment:
    """Return the experiment with some settings, options and tables as the model has them."""
    weights, config = own
    kept = {name: value for name, value in e.config.options.items() if name not in options}
    kept |= {name: value for name, value in config.options.items() if name in options}
    extra = {**e.weights.extra, **{name: weights.extra[name] for name in tables if name in weights.extra}}
    return replace(e, config=replace(e.config, **fields, options=kept), weights=replace(e.weights, extra=extra))


def _uses(one: AttentionConfig, other: AttentionConfig, option: str) -> bool:
    """Return whether an option has an effect in one of two configurations."""
    entries = (*registry.list_entries(one), *registry.list_entries(other))
    return any(each.name == option for entry in entries for each in entry.options)


def _with_config(e: Experiment, **fields: Any) -> Experiment:
    return replace(e, config=replace(e.config, **fields))


def _with_weights(e: Experiment, **fields: Any) -> Experiment:
    return replace(e, weights=replace(e.weights, **fields))


def _count_painted(own: AttentionConfig, e: Experiment) -> int:
    """Return how many pairs the painted mask hides that not both the model's masks and the others of the layer hide."""
    if e.config.mask is None:
        return 0
    painted = ~e.config.mask
    both = [find_hidden(e.T_q, e.T_k, config.causal, config.masks, None) for config in (own, e.config)]
    if both[0] is not None and both[1] is not None:
        painted &= ~(both[0].cells & both[1].cells)
    return int(painted.sum())


def _shape(x: Tensor | None) -> object:
    return None if x is None else x.shape


def _count_changes(one: Tensor, other: Tensor) -> int:
    return 0 if one is other else int((one.to(torch.float64) != other.to(torch.float64)).sum())


def _count_numbers(count: int) -> str:
    return format_count(count, "number")


def _describe_shapes(reshaped: Mapping[str, Tensor | None], e: Experiment) -> str:
    """Return "W_o removed", or "b_q, b_k added", or the names alone where sizes differ."""
    names = ", ".join(reshaped)
    if all(before is None for before in reshaped.values()):
        return f"{names} added"
    if all(getattr(e.weights, name) is None for name in reshaped):
        return f"{names} removed"
    return f"{names} resized"


def _name_option(config: AttentionConfig, option: Option) -> str:
    """Return the name of a setting within a sentence: "temperature", but "RoPE base", which is no name alone."""
    position = POSITIONS[config.positions]
    of_position = any(each.name == option.name for each in position.options)
    return f"{position.title} {option.title.lower()}" if of_position else option.title.lower()


def _name_scale(scale: str | float) -> str:
    return SCALES[scale] if isinstance(scale, str) else _say(scale)


def _say_change(one: int | None, other: int | None) -> str:
    if one is None:
        return f"of {other}"
    return "removed" if other is None else f"{one} → {other}"


def _say(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, int | float) else str(value)

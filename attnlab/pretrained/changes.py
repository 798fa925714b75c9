"""What is changed in a model: heads and single arrows that are off, and layers that were edited as experiments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any

from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.attend import Off
from attnlab.pretrained.edited import check_edited
from attnlab.pretrained.stack_pass import Part


@dataclass(frozen=True, slots=True)
class Changes:
    """What is changed in each layer, by the part of the model and the layer."""

    off: Mapping[Part, Mapping[int, Off]] = field(default_factory=dict)

    def of(self, part: Part) -> Mapping[int, Off]:
        """Return what is off in the layers of a part."""
        return self.off.get(part, {})

    def without_tokens(self) -> "Changes":
        """Return the changes that hold for any text: without arrows and painted masks, which name tokens of one."""
        return Changes(
            {part: {layer: _forget_tokens(off) for layer, off in layers.items()} for part, layers in self.off.items()}
        )


NOTHING_CHANGED = Changes()


def take_changes(
    heads: Any,
    pairs: Any,
    layers: Mapping[Part, int],
    n_heads: int,
    sizes: Mapping[Part, tuple[int, int]],
    edited: Any = (),
    d_model: int = 0,
) -> Changes:
    """Return what is to be changed, from (layer, head) and (layer, head, query, key), alone or by part.

    ``layers`` are the numbers of layers of each part, ``sizes`` its numbers of queries and keys. ``edited`` are
    experiments by layer, {5: e}, or by part, {"cross": {5: e}}.

    Raises:
        ArgumentError: an entry is none, or there is no such layer, head or token; says which there are.
    """
    found: dict[Part, dict[int, Off]] = {}
    for given, length, name in ((heads, 2, "heads_off"), (pairs, 4, "pairs_off")):
        for part, entries in _by_part(given, name, layers).items():
            most = (layers[part], n_heads, *sizes[part])
            for entry in entries:
                layer, *rest = _take_entry(entry, length, most, name)
                before = found.setdefault(part, {}).get(layer, Off())
                if length == 2:
                    after = before._replace(heads=tuple(sorted({*before.heads, rest[0]})))
                else:
                    after = before._replace(pairs=tuple(sorted({*before.pairs, (rest[0], rest[1], rest[2])})))
                found[part][layer] = after
    for part, layer, e in _list_edited(edited, layers):
        check_edited(e, n_heads, d_model, d_model if part == "cross" else None)
        if part == "decoder" and "cross" in layers and e.config.block != "none" and e.config.feed_forward != "none":
            raise ArgumentError(
                "The edited layer has a feed-forward, which comes after cross-attention in this model; "
                "edit it in the part cross, and choose feed-forward none here."
            )
        of_part = found.setdefault(part, {})
        of_part[layer] = of_part.get(layer, Off())._replace(edited=e)
    return Changes(found)


def _forget_tokens(off: Off) -> Off:
    e = off.edited
    if e is not None and e.config.mask is not None:
        e = replace(e, config=replace(e.config, mask=None))
    return off._replace(pairs=(), edited=e)


def _list_edited(given: Any, layers: Mapping[Part, int]) -> list[tuple[Part, int, Any]]:
    """Return the parts, layers and experiments of a mapping."""
    entries = dict(given).items() if given else ()
    parts = {} if all(isinstance(key, int) for key, _ in entries) else dict(entries)
    found: list[tuple[Part, int, Any]] = []
    for part, of_part in parts.items() if parts else ((next(iter(layers)), dict(entries)),):
        if part not in layers:
            raise ArgumentError(f"layers names {part!r}; the parts of this model are {', '.join(layers)}.")
        for layer, e in of_part.items():
            if not isinstance(layer, int) or not 0 <= layer < layers[part]:
                raise ArgumentError(f"layers names layer {layer!r}; it needs {format_bounds(0, layers[part] - 1)}.")
            found.append((part, layer, e))
    return found


def _by_part(given: Any, name: str, layers: Mapping[Part, int]) -> dict[Part, list[Any]]:
    if not isinstance(given, Mapping):
        given = {next(iter(layers)): given}
    if unknown := [part for part in given if part not in layers]:
        raise ArgumentError(f"{name} names {unknown[0]!r}; the parts of this model are {', '.join(layers)}.")
    try:
        return {part: list(entries) for part, entries in given.items()}
    except TypeError:
        raise ArgumentError(f"{name} needs a list, such as [(0, 1)].") from None


def _take_entry(entry: Any, length: int, most: Iterable[int], name: str) -> tuple[int, ...]:
    parts = ("layer", "head", "query", "key")[:length]
    try:
        numbers = tuple(map(index, entry))
    except TypeError:
        numbers = ()
    if len(numbers) != length:
        raise ArgumentError(f"{name} contains {entry!r}; each entry needs {length} whole numbers: {', '.join(parts)}.")
    for number, count, what in zip(numbers, most, parts, strict=False):
        if not 0 <= number < count:
            raise ArgumentError(f"{name} names {what} {number}; it needs {format_bounds(0, count - 1)}.")
    return numbers

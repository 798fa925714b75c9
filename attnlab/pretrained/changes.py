"""What is switched off in a model: heads, and single arrows from a query to a key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Any

from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.attend import Off
from attnlab.pretrained.stack_pass import Part


@dataclass(frozen=True, slots=True)
class Changes:
    """What is off in each layer, by the part of the model and the layer."""

    off: Mapping[Part, Mapping[int, Off]] = field(default_factory=dict)

    def of(self, part: Part) -> Mapping[int, Off]:
        """Return what is off in the layers of a part."""
        return self.off.get(part, {})


NOTHING_CHANGED = Changes()


def take_changes(
    heads: Any, pairs: Any, layers: Mapping[Part, int], n_heads: int, sizes: Mapping[Part, tuple[int, int]]
) -> Changes:
    """Return what is to be switched off, from (layer, head) and (layer, head, query, key), alone or by part.

    ``layers`` are the numbers of layers of each part, ``sizes`` its numbers of queries and keys.

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
    return Changes(found)


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

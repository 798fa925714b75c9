"""The real model beside a session, as plain JSON: which model, its text, and what is switched off or edited in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_OFF, LONGEST, LONGEST_SOURCE = 4096, 200_000, 4096
PARTS = ("encoder", "decoder", "cross")
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class SavedModel:
    """``off`` are (part, layer, head, query, key), −1 for a whole head; ``edited`` are (part, layer, place), the place
    of an experiment among those that the session stores besides the open one. ``layer`` and ``head`` are looked at.
    """

    source: str
    text: str
    target: str = ""
    others: tuple[str, ...] = ()
    off: tuple[tuple[str, int, int, int, int], ...] = ()
    edited: tuple[tuple[str, int, int], ...] = ()
    part: str | None = None
    layer: int = 0
    head: int = 0


def model_to_plain(saved: SavedModel) -> dict[str, Any]:
    """Return a saved model as plain JSON values."""
    names = ("source", "text", "target", "part", "layer", "head")
    lists: dict[str, Any] = {"others": list(saved.others), "off": list(map(list, saved.off))}
    return {**{name: getattr(saved, name) for name in names}, **lists, "edited": list(map(list, saved.edited))}


def model_from_plain(plain: object) -> SavedModel:
    """Return the saved model in plain values.

    The source may be a stranger's: a path on a network share, whose server would learn who opened the session, is
    refused.

    Raises:
        ValueError: they are none.
    """
    if not isinstance(plain, Mapping):
        raise ValueError("no mapping")
    source = _text(plain.get("source"), LONGEST_SOURCE)
    if not source or source[:2].replace("\\", "/") == "//" or not source.isprintable():
        raise ValueError("no source")
    part = plain.get("part")
    if part is not None and part not in PARTS:
        raise ValueError("no part")
    return SavedModel(
        source,
        _text(plain.get("text"), LONGEST),
        _text(plain.get("target", ""), LONGEST),
        tuple(_text(each, LONGEST) for each in _list(plain.get("others", []), 8)),
        tuple(_take_off(each) for each in _list(plain.get("off", []), MOST_OFF)),
        tuple(_take_edited(each) for each in _list(plain.get("edited", []), MOST_OFF)),
        part,
        _whole(plain.get("layer", 0)),
        _whole(plain.get("head", 0)),
    )


def _text(value: object, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("no text")
    return value


def _list(value: object, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("no list")
    return value


def _whole(value: object, least: int = 0) -> int:
    if type(value) is not int or not least <= value < _MOST:
        raise ValueError("no whole number")
    return value


def _take_off(value: object) -> tuple[str, int, int, int, int]:
    part, layer, head, query, key = _take(value, 5)
    if (query < 0) != (key < 0):
        raise ValueError("half an arrow")
    return part, layer, head, query, key


def _take_edited(value: object) -> tuple[str, int, int]:
    part, layer, place = _take(value, 3)
    return part, layer, place


def _take(value: object, length: int) -> tuple[Any, ...]:
    found = _list(value, length)
    if len(found) != length or found[0] not in PARTS:
        raise ValueError("no entry")
    return found[0], *(_whole(each, -1 if place >= 3 else 0) for place, each in enumerate(found[1:], 1))

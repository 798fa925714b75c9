"""The heads that are off in a run, written as a text such as "decoder 2.1, cross 1.0": head 1 of layer "decoder 2"."""

from collections.abc import Iterable

Place = tuple[str, int]
"""A layer and a head."""


def read_heads(text: str) -> frozenset[Place]:
    """Return the heads that a text names.

    Raises:
        ValueError: a part of it is no layer with a head.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return frozenset(map(_read_head, parts))


def _read_head(part: str) -> Place:
    layer, point, head = part.rpartition(".")
    if not layer or not point or not head.isdecimal() or not head.isascii():
        raise ValueError(part)
    return layer, int(head)


def describe_heads(text: str) -> str:
    """Return in words which heads are off: "decoder 2.1 off", or "all heads on"."""
    return f"{text} off" if text else "all heads on"


def write_heads(places: Iterable[Place]) -> str:
    """Return heads as a text that :func:`read_heads` reads; "" for none."""
    return ", ".join(f"{layer}.{head}" for layer, head in sorted(places))

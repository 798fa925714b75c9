"""Parses untrusted JSON: its depth and number of values are checked first; and checks views for plain values."""

import json
import math
import re
from typing import Any, NoReturn

from attnlab.files.atomic import format_name

DEEPEST, MOST_VALUES, LONGEST_NUMBER = 32, 500_000, 1000
"""The maximum depth of JSON, number of values in it, and digits of a number."""
VIEW_DEEPEST, VIEW_LIMIT = 16, 1 << 20
"""The maximum depth of a session's view, and its maximum size as JSON in bytes."""

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def parse(text: bytes) -> Any:
    """Return the values in JSON, with memory and time within a small multiple of its length.

    Raises:
        ValueError: it is not JSON, too deep, has too many values, ∞, NaN, a huge number or a duplicate key.
    """
    check_structure(text)
    return json.loads(
        text.decode("utf-8", "surrogatepass"),
        parse_constant=_refuse_constant,
        parse_int=_whole,
        parse_float=_number,
        object_pairs_hook=_object,
    )


def check_structure(text: bytes) -> None:
    """Check the depth of JSON and the number of its values, without parsing it.

    Raises:
        ValueError: too deep, or too many.
    """
    plain = text.replace(rb"\\", b"").replace(rb"\"", b"")
    few = plain.count(b'"') <= 4 * MOST_VALUES  # a key and a value each, with two quotes
    bare = re.sub(rb'"[^"]*"?', b"", plain) if few else b""
    brackets = bare.translate(None, _NO_BRACKETS)
    if not few or bare.count(b",") + len(brackets) > MOST_VALUES:
        raise ValueError(f"its JSON holds more than {MOST_VALUES:,} values")
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > DEEPEST:
            raise ValueError(f"its JSON is nested more than {DEEPEST} deep")


def check_view(view: Any) -> None:
    """Check that a session's view is plain JSON of a limited size.

    Raises:
        ValueError: it is not; the sentence names the place.
    """
    _check_plain(view, "view", 0, [VIEW_LIMIT // 2])
    size = len(json.dumps(view, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size > VIEW_LIMIT:
        raise ValueError(f"view takes {size:,} bytes as JSON; the maximum is {VIEW_LIMIT:,}")


def _check_plain(value: Any, place: str, depth: int, left: list[int]) -> None:
    left[0] -= 1  # ends the walk of a list that contains itself
    if depth > VIEW_DEEPEST or left[0] < 0:
        raise ValueError(f"{place[:80]} is nested more than {VIEW_DEEPEST} deep or contains too much")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{place} has a key that is {type(key).__name__}; every key needs to be text")
            _check_plain(item, f"{place}.{format_name(key[:40])}", depth + 1, left)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _check_plain(item, f"{place}[{i}]", depth + 1, left)
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError(f"{place} is a whole number of more than 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place} is {value}, which JSON does not have")
    elif not isinstance(value, str | None):
        raise ValueError(
            f"{place} is {type(value).__name__}; it needs text, a number, a boolean, None, a list or an object"
        )


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a valid number in JSON")


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number in it has {len(text):,} digits")
    return int(text)


def _number(text: str) -> float:
    value = float(text) if len(text) <= LONGEST_NUMBER else math.inf
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is a number beyond 1.8e308 or with too many digits")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("one of its JSON objects has a duplicate key")
    return found

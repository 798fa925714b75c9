"""Reading and writing named arrays as safetensors files without blocking other threads.

The library's own ``save`` holds Python's lock while it copies: with 64 MB, no window is painted for half a second.
The format is a length of 8 bytes, a table as JSON, and the numbers: https://huggingface.co/docs/safetensors.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnlab.files.atomic import format_name
from attnlab.files.sessions.session_json import parse

Pieces = Mapping[str, tuple[tuple[int, ...], np.dtype[Any], Iterable[NDArray[np.generic]]]]
"""By name: the shape of an array, its dtype, and the pieces that it is concatenated from."""

HEADER_LIMIT = 4 << 20
"""The maximum size of the table in bytes."""
_NAMES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "|u1"}
_DTYPES = {name: np.dtype(code) for name, code in _NAMES.items()}
_MOST_AXES, _CHUNK = 8, 1 << 20


def pack(arrays: Mapping[str, NDArray[np.generic]]) -> bytearray:
    """Return arrays as the bytes of a safetensors file."""
    return pack_pieces({name: (array.shape, array.dtype, (array,)) for name, array in arrays.items()})


def pack_pieces(pieces: Pieces) -> bytearray:
    """Return arrays given in pieces as the bytes of a safetensors file, copied in small chunks."""
    table, end = {}, 0
    for name, (shape, dtype, _) in pieces.items():
        begin, end = end, end + math.prod(shape) * dtype.itemsize
        kind = next(known for known, code in _DTYPES.items() if code == dtype)
        table[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [begin, end]}
    head = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    packed = bytearray(len(head).to_bytes(8, "little") + head)
    for _, dtype, parts in pieces.values():
        for part in parts:
            data = np.ascontiguousarray(part, dtype).reshape(-1).view(np.uint8).data
            for at in range(0, len(data), _CHUNK):
                packed += data[at : at + _CHUNK]
    return packed


def unpack(packed: bytes) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a safetensors file as read-only views of its bytes.

    Raises:
        ValueError: it is not such a file, or is too short or too long; the sentence names the array.
    """
    size = int.from_bytes(packed[:8], "little")
    if len(packed) < 8 or size > min(len(packed) - 8, HEADER_LIMIT):
        raise ValueError("its table of arrays is missing or cut off")
    table = parse(packed[8 : 8 + size])
    if not isinstance(table, dict):
        raise ValueError("its arrays have no table of names")
    table.pop("__metadata__", None)
    found, end = {}, 0
    for name, entry in sorted(table.items(), key=lambda item: _begin(*item)):
        found[name], end = _array(format_name(name[:60]), entry, packed, 8 + size, end)
    if 8 + size + end != len(packed):
        raise ValueError("it holds more bytes than its arrays have")
    return found


def _begin(name: str, entry: Any) -> int:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not isinstance(offsets, list) or len(offsets) != 2 or any(type(n) is not int for n in offsets):
        raise ValueError(f"{format_name(name[:60])} in its table needs two data_offsets")
    return int(offsets[0])


def _array(name: str, entry: dict[str, Any], packed: bytes, base: int, end: int) -> tuple[NDArray[np.generic], int]:
    """Return an array that must begin at ``end``, where the previous one ended, and its own end."""
    shape, kind, (begin, stop) = entry.get("shape"), entry.get("dtype"), entry["data_offsets"]
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise ValueError(f"{name} is {format_name(str(kind)[:20])}, not a number format of a run")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"{name} has an invalid shape")
    count, dtype = math.prod(shape), _DTYPES[kind]
    if begin != end or stop - begin != count * dtype.itemsize or base + stop > len(packed):
        raise ValueError(f"{name} has a shape or a position that does not match its bytes")
    array: NDArray[np.generic] = np.frombuffer(packed, dtype, count, base + begin).reshape(shape)
    return array, stop

"""Arrays of a session: safetensors whose header is checked before anything is made of it."""

from math import prod
from typing import Any

from safetensors.torch import load
from torch import Tensor, uint8

from attnlab.files.atomic import shown
from attnlab.files.sessions.session_json import parse

HEADER_LIMIT = 4 << 20
"""Bytes that the table of names, dtypes and shapes may take; safetensors itself takes 100 MB."""

_BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "BOOL": 1}
_MOST = 1 << 40


def read_arrays(packed: bytes) -> dict[str, Tensor]:
    """Return arrays by name.

    Raises:
        ValueError, safetensors.SafetensorError: as :func:`check_header`, or truth values that are none.
    """
    check_header(packed)
    arrays: dict[str, Tensor] = load(packed)
    for name, array in arrays.items():
        if not array.is_floating_point() and bool((array.view(uint8) > 1).any()):
            raise ValueError(f"{shown(name)} holds what is neither true nor false")
    return arrays


def check_header(packed: bytes) -> None:
    """Check what safetensors say of themselves.

    Raises:
        ValueError: not safetensors, too many arrays, other dtypes, or shapes that are not their bytes.
    """
    size = int.from_bytes(packed[:8], "little")
    if len(packed) < 8 or size > len(packed) - 8:
        raise ValueError("its arrays end before their table does")
    if size > HEADER_LIMIT:
        raise ValueError(f"the table of its arrays is longer than {HEADER_LIMIT >> 20} MiB")
    header = parse(packed[8 : 8 + size])
    if not isinstance(header, dict):
        raise ValueError("its arrays have no table of names")
    for name, entry in header.items():
        _check_entry(shown(name[:60]), entry)


def _check_entry(name: str, entry: Any) -> None:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name} in the table of its arrays needs dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BYTES:
        raise ValueError(f"{name} is {shown(str(dtype)[:20])}, not a number format of attnlab")
    if not (_sizes(shape) and _sizes(offsets) and len(offsets) == 2 and len(shape) <= 4):
        raise ValueError(f"{name} has a shape or a place that cannot be")
    if prod(shape) * _BYTES[dtype] != offsets[1] - offsets[0]:
        raise ValueError(
            f"{name} has shape {shape} of {dtype}, which is not the {offsets[1] - offsets[0]} bytes it has"
        )


def _sizes(given: Any) -> bool:
    return isinstance(given, list) and len(given) < 9 and all(type(n) is int and 0 <= n < _MOST for n in given)

"""The arrays of a session: safetensors whose header is checked before it is parsed."""

from math import prod
from typing import Any

from safetensors.torch import load
from torch import Tensor, uint8

from attnlab.files.atomic import format_name
from attnlab.files.sessions.session_json import parse

HEADER_LIMIT = 4 << 20
"""The maximum bytes of the table of names, dtypes and shapes; safetensors itself allows 100 MB."""

_BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "BOOL": 1}
_MOST = 1 << 40


def read_arrays(packed: bytes) -> dict[str, Tensor]:
    """Return arrays by name.

    Raises:
        ValueError, safetensors.SafetensorError: as :func:`check_header`, or booleans that are not 0 or 1.
    """
    check_header(packed)
    arrays: dict[str, Tensor] = load(packed)
    for name, array in arrays.items():
        if not array.is_floating_point() and bool((array.view(uint8) > 1).any()):
            raise ValueError(f"{format_name(name)} contains a value that is neither true nor false")
    return arrays


def check_header(packed: bytes) -> None:
    """Check the header of safetensors.

    Raises:
        ValueError: not safetensors, too many arrays, other dtypes, or shapes that do not match their bytes.
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
        _check_entry(format_name(name[:60]), entry)


def _check_entry(name: str, entry: Any) -> None:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name} in the table of its arrays needs dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BYTES:
        raise ValueError(f"{name} is {format_name(str(dtype)[:20])}, a dtype that attnlab does not have")
    if not (_sizes(shape) and _sizes(offsets) and len(offsets) == 2 and len(shape) <= 4):
        raise ValueError(f"{name} has an invalid shape or position")
    if prod(shape) * _BYTES[dtype] != offsets[1] - offsets[0]:
        raise ValueError(
            f"{name} has shape {shape} of {dtype}, which does not match its {offsets[1] - offsets[0]} bytes"
        )


def _sizes(given: Any) -> bool:
    return isinstance(given, list) and len(given) < 9 and all(type(n) is int and 0 <= n < _MOST for n in given)

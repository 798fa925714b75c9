"""Files of attention maps: the numbers of an array beside the tokens of its rows and columns."""

import io
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name, format_reason, write_bytes
from attnlab.files.bounded import open_file

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.files.weights.named_array import NamedArray

MAPS, QUERIES, KEYS = "maps", "query_tokens", "key_tokens"
"""The names of the array of maps, and of the lists of tokens."""
WRITTEN = {".npz": "NumPy archive", ".safetensors": "safetensors"}
"""The formats that are written, by the ending."""
READ = (*WRITTEN, ".npy")
MOST_NUMBERS = 1 << 29
"""The maximum count of numbers in a file that is read: 2 GiB in float32."""

Words = tuple[str, ...]


def write_maps(path: Path, maps: NDArray[np.floating], queries: Words, keys: Words) -> None:
    """Write maps [..., T_q, T_k] with the tokens of their rows and columns; the ending determines the format.

    Raises:
        FileError: the ending is of another format, or the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in WRITTEN:
        raise FileError(f"{format_name(path.name)} does not end in {' or '.join(WRITTEN)}.")
    try:
        data = _encode(ending, maps, {QUERIES: queries, KEYS: keys})
    except MemoryError:
        raise FileError(f"{format_name(path.name)} cannot be written: there is not enough memory.") from None
    write_bytes(path, data)


def _encode(ending: str, maps: NDArray[np.floating], words: dict[str, Words]) -> bytes:
    if ending == ".safetensors":
        from safetensors.numpy import save

        said = {name: json.dumps(each) for name, each in words.items()}
        return bytes(save({MAPS: np.ascontiguousarray(maps)}, said))
    buffer = io.BytesIO()
    listed: dict[str, NDArray[Any]] = {name: np.array(each, np.str_) for name, each in words.items()}
    np.savez(buffer, allow_pickle=False, **{MAPS: maps, **listed})
    return buffer.getvalue()


def read_maps(path: Path) -> "tuple[Tensor, tuple[Words, Words] | None]":
    """Return the maps of a file, with two to four axes, and the tokens of their rows and columns, None without them.

    The maps are the array named "maps", or the file's only array with so many axes. Nothing is unpickled.

    Raises:
        FileError: it is missing, of another format, damaged or too large, or does not say which array the maps are.
    """
    if path.suffix.lower() not in READ:
        raise FileError(f"{format_name(path.name)} is not a file of maps; their names end in {', '.join(READ)}.")
    from attnlab.files.weights.arrays_in import read_arrays
    from attnlab.files.weights.named_array import DAMAGE

    chosen = _choose(read_arrays(path), path)
    try:
        maps, words = chosen.load(), _read_words(path)
    except (*DAMAGE, TypeError, UnicodeError) as error:
        raise FileError(f"{format_name(path.name)} cannot be read: {format_reason(error)}.") from None
    if words is not None and tuple(map(len, words)) != tuple(maps.shape[-2:]):
        raise FileError(f"{format_name(path.name)} cannot be read: its tokens and its maps differ in number.")
    return maps, words


def _choose(arrays: "dict[str, NamedArray]", path: Path) -> "NamedArray":
    """Return the array of the maps."""
    from attnlab.files.weights.named_array import shorten_name

    fitting = [each for each in arrays.values() if 2 <= len(each.shape) <= 4 and _holds_numbers(each.dtype)]
    found = [each for each in fitting if each.name == MAPS] or fitting
    if len(found) != 1:
        several = ", ".join(shorten_name(each.name) for each in found[:4]) + (", …" if len(found) > 4 else "")
        has = f"several arrays of maps, {several}" if found else "no array with two to four axes"
        raise FileError(f"{format_name(path.name)} has {has}; it needs one, or one that is named {MAPS}.")
    if math.prod(found[0].shape) > MOST_NUMBERS:
        raise FileError(f"{format_name(path.name)} has more than {MOST_NUMBERS:,} numbers, which is the maximum.")
    return found[0]


def _holds_numbers(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat", "int", "uint", "bool"))


def _read_words(path: Path) -> tuple[Words, Words] | None:
    """Return the tokens that a file says; None if it says none."""
    ending = path.suffix.lower()
    if ending == ".npz":
        from attnlab.files.weights.numpy_in import read_texts

        return _pair(read_texts(path, (QUERIES, KEYS)))
    if ending == ".safetensors":
        from attnlab.files.sessions.session_json import parse

        with open_file(path) as opened:  # the header was checked when its arrays were listed
            header = opened.read(int.from_bytes(opened.read(8), "little"))
        said = parse(header).get("__metadata__") or {}
        return _pair({name: _check(parse(said[name].encode())) for name in (QUERIES, KEYS) if name in said})
    return None


def _pair(words: dict[str, Words]) -> tuple[Words, Words] | None:
    if not words:
        return None
    if len(words) == 1:
        raise ValueError("it has the tokens of one axis only")
    return words[QUERIES], words[KEYS]


def _check(words: object) -> Words:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("its tokens are not a list of texts")
    return tuple(words)


def is_maps_file(x: object) -> bool:
    """Return whether x is a path, or a text with the ending of a file of maps."""
    return isinstance(x, os.PathLike) or (isinstance(x, str) and x.lower().endswith(READ))

"""Reads NumPy files: headers at once, numbers on demand, pickled objects never."""

import os
import sys
import tokenize
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib import format as npy
from numpy.typing import NDArray
from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_reason
from attnlab.files.bounded import open_file
from attnlab.files.weights.named_array import (
    DAMAGE,
    MOST_ARRAYS,
    MOST_NUMBERS,
    NamedArray,
    make_array,
    raise_unreadable,
    shorten_name,
)

MOST_TEXT = 1 << 26
"""The maximum size of a list of texts, in bytes."""


def from_npy(file: Path) -> dict[str, NamedArray]:
    """Return the one array of a file, named after the file."""
    with open_file(file) as opened:
        shape, dtype = _header(opened)
        expected = opened.tell() + dtype.itemsize * _count(shape)
        size = opened.seek(0, os.SEEK_END)
    if not dtype.hasobject and size < expected:
        raise ValueError(f"it is cut off: it has {size} bytes, but its header says {expected}")

    def load() -> NDArray[Any]:
        with open_file(file) as again:
            return np.asarray(npy.read_array(again, allow_pickle=False))

    return {file.stem: _numpy(file.stem, shape, dtype, load)}


def from_npz(file: Path) -> dict[str, NamedArray]:
    """Return the arrays of a zip by their names in it."""
    with open_file(file) as opened, zipfile.ZipFile(opened) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > MOST_ARRAYS:
            raise ValueError(f"it contains {len(members)} files")
        return dict(_member(archive, file, member) for member in members)


def read_texts(file: Path, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the lists of texts that a zip has under some of these names.

    Raises:
        OSError, ValueError, …: an error in ``DAMAGE``; the file is damaged, or an array is not a list of texts.
    """
    with open_file(file) as opened, zipfile.ZipFile(opened) as archive:
        there = set(archive.namelist())
        return {name: _read_text(archive, name) for name in names if f"{name}.npy" in there}


def _read_text(archive: zipfile.ZipFile, name: str) -> tuple[str, ...]:
    with archive.open(f"{name}.npy") as opened:
        shape, dtype = _header(opened)
    if len(shape) != 1 or dtype.kind != "U" or not 0 < dtype.itemsize * _count(shape) <= MOST_TEXT:
        raise ValueError(f"{shorten_name(name)} is not a list of texts")
    with archive.open(f"{name}.npy") as opened:
        texts = npy.read_array(opened, allow_pickle=False)
    if int(texts.view(dtype.str[0] + "u4").max(initial=0)) > sys.maxunicode:  # NumPy does not check
        raise ValueError(f"{shorten_name(name)} has letters that do not exist")
    return tuple(str(text) for text in texts)


def _member(archive: zipfile.ZipFile, file: Path, member: zipfile.ZipInfo) -> tuple[str, NamedArray]:
    name = member.filename.removesuffix(".npy")
    if not member.filename.endswith(".npy"):
        return name, make_array(name, (), "bytes", raise_unreadable, "it is not a NumPy array")
    with archive.open(member) as opened:
        shape, dtype = _header(opened)

    def load() -> NDArray[Any]:
        with open_file(file) as again, zipfile.ZipFile(again) as whole, whole.open(member.filename) as stream:
            return np.asarray(npy.read_array(stream, allow_pickle=False))

    return name, _numpy(name, shape, dtype, load)


def _numpy(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], load: Callable[[], NDArray[Any]]) -> NamedArray:
    """Return a NumPy array, whose numbers are copied into the machine's byte order."""
    kind = "Python object" if dtype.hasobject else str(dtype.newbyteorder("="))

    def tensor() -> Tensor:
        try:
            values = load()
        except DAMAGE as error:
            raise FileError(f"{shorten_name(name)} cannot be read: {shorten_name(format_reason(error))}.") from None
        native = values.astype(np.float64 if dtype.itemsize > 8 else dtype.newbyteorder("="))
        return torch.from_numpy(np.ascontiguousarray(native))

    return make_array(name, shape, kind, tensor)


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise ValueError("it does not begin as a .npy file does") from None
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        try:
            shape, _, dtype = read(stream)
        except tokenize.TokenError:
            raise ValueError("its header cannot be read") from None
    if any(type(length) is not int or length < 0 for length in shape):  # NumPy accepts booleans
        raise ValueError(f"its header says the shape {list(shape)}")
    return tuple(shape), dtype


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return min(count, MOST_NUMBERS * 1024)

"""Named arrays in: CSV, TSV, NPY, NPZ, safetensors, PyTorch state dicts, and text as it is pasted."""

import json
import os
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib import format as npy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from torch import Tensor

from attnlab.block_text import BlockError, parse_block
from attnlab.errors import FileError
from attnlab.files.atomic import why
from attnlab.files.named_array import MOST_ARRAYS, MOST_NUMBERS, NamedArray, named, shown
from attnlab.files.state_dict_in import read_state_dict
from attnlab.number_text import FLOAT32_MAX

TEXT_LIMIT = 64 << 20
"""Bytes that a table of text may have; larger ones belong into an array format."""

_DAMAGE = (
    OSError, EOFError, ValueError, LookupError, OverflowError, MemoryError, RecursionError, RuntimeError, SyntaxError,
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, SafetensorError, NotImplementedError,
)  # fmt: skip
_SAFE = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U64": "uint64",
    "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NamedArray]:
    """Return the arrays of a file by name, their numbers not read yet where the format allows it.

    The kind is known by the ending, see ``ENDINGS``. An array that cannot be weights is there with its reason. Nothing
    in the file is run: pickles are read as plain tensors or not at all.

    Raises:
        FileError: the file is not there, of no known kind, damaged, too large, or holds code or no arrays.
    """
    file = Path(path)
    reader = ENDINGS.get(file.suffix.lower())
    if reader is None:
        raise FileError(
            f"{shown(file.name)} is of no kind that weights are read from; those end in {', '.join(ENDINGS)}."
        )
    _check_file(file)
    try:
        arrays = reader(file)
    except _DAMAGE as error:
        raise _damaged(file, error) from None
    if not arrays:
        raise FileError(f"{shown(file.name)} holds no arrays; weights are needed.")
    return arrays


def read_text(text: str, name: str = "pasted", source: str = "") -> dict[str, NamedArray]:
    """Return the arrays of a text: a block of cells from a spreadsheet, lists of Python, NumPy or torch, or JSON.

    Lists are one array, called ``name``; a JSON object holds one array under each of its names. ``source`` is what
    sentences call the text, "" for the clipboard. Numbers become float64; decimal commas are read as in tables.

    Raises:
        FileError: it is none of these, or not numbers throughout; the sentence names the row and column.
    """
    if len(text) > TEXT_LIMIT:
        limit = f"at most {TEXT_LIMIT >> 20} MiB of text are read"
        raise FileError(f"{source or 'The clipboard'} is too long: {limit}; an .npy file holds more.")
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _from_object(text, source)
    try:
        block = _quick(text)
        return {name: _held(name, parse_block(text, source) if block is None else block)}
    except BlockError as error:
        raise FileError(str(error)) from None


def _check_file(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            empty = not opened.read(1)
    except FileNotFoundError:
        raise FileError(f"There is no file {shown(str(file))}.") from None
    except IsADirectoryError:
        raise FileError(f"{shown(str(file))} is a folder; choose a file of weights in it.") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{shown(str(file))} cannot be read: {why(error)}.") from None
    if empty:
        raise FileError(f"{shown(file.name)} is empty; a file of weights is needed.")


def _damaged(file: Path, error: Exception) -> FileError:
    reason = "it asks for more memory than there is" if isinstance(error, MemoryError) else why(error).split("\n")[0]
    return FileError(f"{shown(file.name)} is damaged or not what its ending says: {shown(reason)}.")


def _held(name: str, values: NDArray[Any]) -> NamedArray:
    return named(name, values.shape, str(values.dtype), lambda: torch.from_numpy(values))


# Text


def _from_text(file: Path) -> dict[str, NamedArray]:
    if file.stat().st_size > TEXT_LIMIT:
        raise FileError(
            f"{shown(file.name)} is larger than the {TEXT_LIMIT >> 20} MiB that are read as text: use .npy."
        )
    return read_text(_decoded(file.read_bytes()), file.stem, shown(file.name))


def _decoded(data: bytes) -> str:
    """Return text as spreadsheets write it: UTF-8, UTF-16 with its mark, else the old code page of Windows."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _quick(text: str) -> NDArray[np.float64] | None:
    """Return plain numbers that are read in one go, some tens of times faster; None where cells need to be looked at.

    Commas separate cells only if the first line has a point, as decimal commas may be meant. Lists may be three deep.
    """
    block = _quick_lists(text) if text.lstrip().startswith("[") else _quick_table(text)
    return block if block is not None and block.size and bool((np.abs(block) <= FLOAT32_MAX).all()) else None


def _quick_lists(text: str) -> NDArray[np.float64] | None:
    try:
        found = np.array(json.loads(text))
    except (ValueError, RecursionError):
        return None
    if found.dtype.kind not in "if" or not 1 <= found.ndim <= 3:
        return None
    return np.atleast_2d(found.astype(np.float64))


def _quick_table(text: str) -> NDArray[np.float64] | None:
    first = text[:4096].split("\n", 1)[0]
    delimiter = "\t" if "\t" in first else "," if "," in first and "." in first and ";" not in first else None
    if delimiter is None or (delimiter == "\t" and "," in text) or "_" in text or "\n\n" in text.strip("\n"):
        return None
    try:
        return np.loadtxt(text.splitlines(), delimiter=delimiter, comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return None


def _from_object(text: str, source: str) -> dict[str, NamedArray]:
    where = source or "The pasted text"
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where} is not JSON: {shown(why(error))}.") from None
    arrays = {name: _from_lists(name, value, where) for name, value in found.items()}
    if not arrays:
        raise FileError(f"{where} holds no arrays; weights are needed.")
    return arrays


def _from_lists(name: str, value: Any, where: str) -> NamedArray:
    try:
        values = np.array(value)
    except ValueError:
        raise FileError(
            f"{shown(name)} of {where} is ragged: its rows differ in length; every row needs the same."
        ) from None
    if values.dtype.kind not in "iufb":
        return named(name, values.shape, "text", _nothing, "it holds something that is not a number")
    return _held(name, values)


def _nothing() -> Tensor:
    raise FileError("This array holds nothing that can be read.")


# NumPy


def _from_npy(file: Path) -> dict[str, NamedArray]:
    with file.open("rb") as opened:
        shape, dtype = _header(opened)
        expected = opened.tell() + dtype.itemsize * _count(shape)
    if not dtype.hasobject and file.stat().st_size < expected:
        raise ValueError(f"it is cut off: {file.stat().st_size} bytes where its header promises {expected}")
    return {file.stem: _numpy(file.stem, shape, dtype, lambda: np.load(file, allow_pickle=False))}


def _from_npz(file: Path) -> dict[str, NamedArray]:
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > MOST_ARRAYS:
            raise ValueError(f"it holds {len(members)} files")
        return dict(_member(archive, file, member) for member in members)


def _member(archive: zipfile.ZipFile, file: Path, member: zipfile.ZipInfo) -> tuple[str, NamedArray]:
    name = member.filename.removesuffix(".npy")
    if not member.filename.endswith(".npy"):
        return name, named(name, (), "bytes", _nothing, "it is no array of NumPy")
    with archive.open(member) as opened:
        shape, dtype = _header(opened)

    def load() -> NDArray[Any]:
        with zipfile.ZipFile(file) as again, again.open(member.filename) as stream:
            loaded: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
            return loaded

    return name, _numpy(name, shape, dtype, load)


def _numpy(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], load: Callable[[], NDArray[Any]]) -> NamedArray:
    """Return an array of NumPy; its numbers are copied into the machine's byte order."""
    kind = "Python object" if dtype.hasobject else str(dtype.newbyteorder("="))

    def tensor() -> Tensor:
        try:
            values = load()
        except _DAMAGE as error:
            raise FileError(f"{shown(name)} cannot be read: {shown(why(error))}.") from None
        native = values.astype(np.float64 if dtype.itemsize > 8 else dtype.newbyteorder("="))
        return torch.from_numpy(np.ascontiguousarray(native))

    return named(name, shape, kind, tensor)


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        try:
            shape, _, dtype = read(stream)
        except tokenize.TokenError:
            raise ValueError("its header cannot be read") from None
    if any(length < 0 for length in shape):
        raise ValueError(f"its header promises the shape {list(shape)}")
    return tuple(shape), dtype


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return min(count, MOST_NUMBERS * 1024)


# safetensors


def _from_safetensors(file: Path) -> dict[str, NamedArray]:
    with safe_open(file, framework="pt") as opened:
        return {array.name: array for array in _slices(opened, file)}


def _slices(opened: Any, file: Path) -> Iterator[NamedArray]:
    for name in opened.keys():  # noqa: SIM118  # no mapping
        part = opened.get_slice(name)
        dtype = part.get_dtype()
        yield named(name, tuple(part.get_shape()), _SAFE.get(dtype, dtype), partial(_safe_tensor, file, name))


def _safe_tensor(file: Path, name: str) -> Tensor:
    try:
        with safe_open(file, framework="pt") as opened:
            tensor: Tensor = opened.get_tensor(name).clone()
            return tensor
    except _DAMAGE as error:
        raise FileError(f"{shown(name)} of {shown(file.name)} cannot be read: {shown(why(error))}.") from None


ENDINGS: dict[str, Callable[[Path], dict[str, NamedArray]]] = {
    ".csv": _from_text,
    ".tsv": _from_text,
    ".txt": _from_text,
    ".json": _from_text,
    ".npy": _from_npy,
    ".npz": _from_npz,
    ".safetensors": _from_safetensors,
    ".pt": read_state_dict,
    ".pth": read_state_dict,
    ".bin": read_state_dict,
}
"""The endings of files that arrays are read from."""

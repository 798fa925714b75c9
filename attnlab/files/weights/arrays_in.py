"""Reads named arrays from CSV, TSV, JSON, NPY, NPZ, safetensors and PyTorch state dicts, by the file's ending."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import safe_open
from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_reason, make_read_error
from attnlab.files.bounded import open_file
from attnlab.files.weights.named_array import DAMAGE, NamedArray, make_array, shorten_name
from attnlab.files.weights.numpy_in import from_npy, from_npz
from attnlab.files.weights.several_files import INDEX, describe_folder, describe_index
from attnlab.files.weights.state_dict_in import read_state_dict
from attnlab.files.weights.text_in import from_text

_SAFE = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NamedArray]:
    """Return the arrays of a file by name; if the format allows it, their numbers are not read yet.

    The ending determines the format, see ``ENDINGS``. An array that cannot be weights has a reason. No code in the file
    is run: pickles are read as plain tensors or not at all.

    Raises:
        FileError: the file is missing, of an unknown format, damaged, too large, or contains code or no arrays.
    """
    file = Path(path)
    if file.is_dir():
        raise FileError(describe_folder(file))
    if file.name.lower().endswith(INDEX):
        raise FileError(describe_index(file))
    reader = ENDINGS.get(file.suffix.lower())
    if reader is None:
        raise FileError(f"{shorten_name(file.name)} is not a file of weights; their names end in {', '.join(ENDINGS)}.")
    _check_file(file)
    try:
        arrays = reader(file)
    except DAMAGE as error:
        raise _make_damage_error(file, error) from None
    if not arrays:
        raise FileError(f"{shorten_name(file.name)} contains no arrays; it needs weights.")
    return arrays


def _check_file(file: Path) -> None:
    try:
        with open_file(file) as opened:
            empty = not opened.read(1)
    except (OSError, ValueError) as error:
        raise make_read_error(shorten_name(str(file)), error) from None
    if empty:
        raise FileError(f"{shorten_name(file.name)} is empty; choose a file with weights.")


def _make_damage_error(file: Path, error: Exception) -> FileError:
    reason = (
        "it needs more memory than there is" if isinstance(error, MemoryError) else format_reason(error).split("\n")[0]
    )
    return FileError(
        f"{shorten_name(file.name)} is damaged or not of the format that its ending says: {shorten_name(reason)}."
    )


def _from_safetensors(file: Path) -> dict[str, NamedArray]:
    open_file(file).close()  # refuses a pipe or a device, on which the next line would block
    with safe_open(file, framework="pt") as opened:
        return {array.name: array for array in _slices(opened, file)}


def _slices(opened: Any, file: Path) -> Iterator[NamedArray]:
    for name in opened.keys():  # noqa: SIM118  # no mapping
        part = opened.get_slice(name)
        dtype = part.get_dtype()
        yield make_array(name, tuple(part.get_shape()), _SAFE.get(dtype, dtype), partial(_safe_tensor, file, name))


def _safe_tensor(file: Path, name: str) -> Tensor:
    try:
        open_file(file).close()
        with safe_open(file, framework="pt") as opened:
            tensor: Tensor = opened.get_tensor(name).clone()
            return tensor
    except DAMAGE as error:
        raise FileError(
            f"{shorten_name(name)} of {shorten_name(file.name)} cannot be read: {shorten_name(format_reason(error))}."
        ) from None


ENDINGS: dict[str, Callable[[Path], dict[str, NamedArray]]] = {
    ".csv": from_text,
    ".tsv": from_text,
    ".txt": from_text,
    ".json": from_text,
    ".npy": from_npy,
    ".npz": from_npz,
    ".safetensors": _from_safetensors,
    ".pt": read_state_dict,
    ".pth": read_state_dict,
    ".bin": read_state_dict,
}
"""The readers of arrays, by file ending."""

"""Reads PyTorch files: the tensors of a state dict by name, without running any code in the file."""

import os
import pickle
import struct
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.attention.arrays import dtype_name
from attnlab.base.errors import FileError
from attnlab.files.bounded import open_file
from attnlab.files.weights.named_array import MOST_ARRAYS, NamedArray, make_array, shorten_name

LEGACY_LIMIT = 512 << 20
"""The maximum bytes of a file from before torch 1.6: such files cannot be read in parts."""

_PICKLE_LIMIT = 64 << 20
_LONGEST_MESSAGE = 1000
_DEEPEST = 6
"""The maximum depth of nested mappings, such as {"model": {"encoder": …}}."""


def read_state_dict(file: Path) -> dict[str, NamedArray]:
    """Return the tensors of a state dict or checkpoint by their dotted names, their numbers not read yet.

    Raises:
        FileError: it contains a whole module or other code, or is not a PyTorch file.
    """
    held = _load(file)
    keep = not _is_zip(file)  # keep tensors in memory: a mapped file could be truncated while it is used
    found = {name: _array(file, name, tensor, keep) for name, tensor in _find_tensors(held, "", file)}
    if not found:
        raise FileError(f"{shorten_name(file.name)} contains no tensors; save model.state_dict() with torch.save.")
    return found


class _BoundedUnpicklingError(pickle.UnpicklingError):
    """An error of torch's unpickler, shortened: it quotes the file, and torch searches it in quadratic time."""

    def __init__(self, message: object = "") -> None:
        super().__init__(str(message)[:_LONGEST_MESSAGE])


def _bound_messages() -> None:
    """Make torch's unpickler raise shortened errors, if this version of torch has this unpickler."""
    unpickler: Any = getattr(torch, "_weights_only_unpickler", None)
    if unpickler is not None:
        unpickler.UnpicklingError = _BoundedUnpicklingError


_bound_messages()


def _load(file: Path) -> Any:
    mapped = _is_zip(file)
    if mapped:
        _check_zip(file)
    elif os.stat(file).st_size > LEGACY_LIMIT:
        raise FileError(
            f"{shorten_name(file.name)} is larger than {LEGACY_LIMIT >> 20} MiB and in torch’s old format: resave it."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of archives and formats that are refused below
            return torch.load(file, map_location="cpu", weights_only=True, mmap=mapped)
    except (pickle.UnpicklingError, AttributeError, TypeError, AssertionError, struct.error) as error:
        raise _make_error(file, error) from None
    except RuntimeError as error:
        if "TorchScript" not in str(error):
            raise
        raise _make_code_error(file) from None


def _is_zip(file: Path) -> bool:
    """Return whether a file is an archive, torch's newer format; OSError for a pipe or a device, without waiting."""
    with open_file(file) as opened:
        return zipfile.is_zipfile(opened)


def _check_zip(file: Path) -> None:
    """Raise ValueError for archives that torch never writes: compressed members, and huge lists of tensors."""
    with open_file(file) as opened, zipfile.ZipFile(opened) as archive:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError("its parts are compressed, which torch never does")
            if member.filename.endswith("data.pkl") and member.file_size > _PICKLE_LIMIT:
                raise ValueError(f"its list of tensors takes {member.file_size >> 20} MiB")


def _make_error(file: Path, error: Exception) -> FileError:
    text = str(error)
    with open_file(file) as opened:
        foreign = opened.read(2) in (b"\x80\x03", b"\x80\x04", b"\x80\x05")  # a pickle that torch did not write
    if foreign or "GLOBAL" in text or "global" in text or "Can only" in text:
        return _make_code_error(file)
    return FileError(f"{shorten_name(file.name)} is damaged or was not saved by torch.save.")


def _make_code_error(file: Path) -> FileError:
    return FileError(
        f"{shorten_name(file.name)} contains a whole module or other code, which is never run: "
        "save only its numbers with torch.save(model.state_dict(), …)."
    )


def _find_tensors(held: Any, name: str, file: Path) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors in nested mappings and lists; raise FileError for too many values."""
    waiting: list[tuple[str, Any, int]] = [(name, held, 0)]
    looked = 0
    while waiting:
        name, value, depth = waiting.pop()
        looked += 1
        if looked > MOST_ARRAYS:
            raise FileError(
                f"{shorten_name(file.name)} contains more than {MOST_ARRAYS} values; a state dict has fewer."
            )
        if isinstance(value, Tensor):
            yield name or file.stem, value
        elif depth < _DEEPEST:
            waiting += [(f"{name}.{key}" if name else key, inner, depth + 1) for key, inner in _inside(value)]


def _inside(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        pairs = [(str(key), inner) for key, inner in value.items() if isinstance(key, str | int)]
    elif isinstance(value, list | tuple) and len(value) <= MOST_ARRAYS:
        pairs = [(str(place), inner) for place, inner in enumerate(value)]
    else:
        return []
    return pairs[::-1]  # the last one in the stack is taken first


def _array(file: Path, name: str, tensor: Tensor, keep: bool) -> NamedArray:
    reason = ""
    if tensor.layout != torch.strided or tensor.is_nested:
        reason = "it is a sparse or nested tensor; weights need a dense one"
    elif tensor.is_meta:
        reason = "it is on the meta device, which holds no numbers"
    elif tensor.is_quantized:
        reason = "it is quantized; dequantize it before saving"
    shape = () if tensor.is_nested else tuple(tensor.shape)
    load = partial(_copy, tensor) if keep else partial(_read, file, name)
    return make_array(name, shape, dtype_name(tensor), load, reason)


def _copy(tensor: Tensor) -> Tensor:
    """Return a plain copy; uses torch's functions, because a file may override a tensor's attributes."""
    return torch.clone(torch.detach(tensor), memory_format=torch.contiguous_format)


def _read(file: Path, name: str) -> Tensor:
    try:
        found = next((tensor for at, tensor in _find_tensors(_load(file), "", file) if at == name), None)
        if found is not None:
            return _copy(found)
    except (OSError, ValueError, LookupError, RuntimeError, EOFError, zipfile.BadZipFile, FileError):
        pass  # the file was replaced or damaged
    raise FileError(f"{shorten_name(name)} cannot be read: {shorten_name(file.name)} has changed since it was opened.")

"""The files of a model's folder: its settings, and its tensors by name, each read when it is needed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.files.weights.named_array import MOST_ARRAYS, NamedArray, check_numbers, shorten_name
from attnlab.pretrained.free_memory import available_bytes, format_gib

if TYPE_CHECKING:
    from attnlab.pretrained.tokenizer import Tokenizer

CONFIG = "config.json"
_JSON_LIMIT = 64 << 20
_SAFE = ("model.safetensors", "model.safetensors.index.json")
_TORCH = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_MOST_SHARDS = 256
_QUANTISED = ("int", "uint", "float8", "bool")
"""Beginnings of the names of dtypes in which quantised weights are stored."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelFolder:
    """A folder as the transformers library saves it. A tensor is read when it is needed, and kept in float32."""

    path: Path
    name: str
    config: Mapping[str, Any]
    arrays: Mapping[str, NamedArray]
    held: dict[str, Tensor] = field(default_factory=dict)
    """The tensors that were read, by name."""
    tokenizer: "Tokenizer | None" = None
    """The tokenizer, if it is not read from files of the folder."""
    example: str = "The cat sat on the mat because it was comfortable"
    """A text that the model can read."""

    def read(self, name: str, *shape: int) -> Tensor:
        """Return a tensor of the model, float32, after checking its shape.

        Raises:
            FileError: it is missing, has another shape, is quantised, holds a number that is not finite, or cannot be
                read.
        """
        array = self.arrays.get(name)
        if array is None:
            raise FileError(
                f"{self.name} has no tensor {name}, which its {CONFIG} needs; the files do not fit together."
            )
        if array.shape != shape:
            raise FileError(
                f"{shorten_name(name)} of {self.name} has shape {array.size}, but {CONFIG} needs {list(shape)}; "
                "the files do not fit together."
            )
        if array.dtype.startswith(_QUANTISED):
            raise FileError(
                f"{shorten_name(name)} of {self.name} is stored as {array.dtype}: a quantised model, whose numbers "
                "mean nothing without their scales; open the model in float32, bfloat16 or float16."
            )
        if name not in self.held:
            self.held[name] = check_numbers(name, array.load()).to(torch.float32)
        return self.held[name]

    def has(self, name: str) -> bool:
        """Return whether the model has a tensor of this name."""
        return name in self.arrays


def open_folder(path: Path, name: str) -> ModelFolder:
    """Return the settings and the names of the tensors of a model, which sentences call ``name``.

    Raises:
        FileError: a file is missing, damaged, or contains code; or the model is larger than the memory.
    """
    if not os.path.isfile(path / CONFIG):
        raise FileError(
            f"{format_name(path)} has no {CONFIG}, so it is not the folder of a model; choose one that has."
        )
    config = read_json(path / CONFIG)
    _check_memory(path, sum(os.path.getsize(file) for file in _list_files(path)), "takes")  # too large a file fails
    arrays = list_tensors(path)
    _check_memory(path, 4 * sum(_count(array.shape) for array in arrays.values()), "in float32 takes")
    return ModelFolder(path, shorten_name(name), config, arrays)


def list_tensors(path: Path) -> dict[str, NamedArray]:
    """Return the tensors of a model by name, none of them read yet.

    Raises:
        FileError: a file of weights is missing or damaged, or there are too many tensors.
    """
    arrays: dict[str, NamedArray] = {}
    for file in _list_files(path):
        arrays |= read_arrays(file)
        if len(arrays) > MOST_ARRAYS:
            raise FileError(f"{format_name(path)} contains more than {MOST_ARRAYS} tensors; a model has fewer.")
    return arrays


def read_json(file: Path) -> dict[str, Any]:
    """Return the contents of a JSON file that holds names and values.

    Raises:
        FileError: it cannot be read, or is no such JSON.
    """
    try:
        found = session_json.parse(read_bytes(file, _JSON_LIMIT, "a model’s JSON"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{format_name(file)} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise FileError(f"{format_name(file)} holds no settings; it needs JSON of the form {{…}}.")
    return found


def _list_files(folder: Path) -> tuple[Path, ...]:
    """Return the files of weights, safetensors before PyTorch's, whole before parts."""
    for whole, index in (_SAFE, _TORCH):
        if os.path.isfile(folder / whole):
            return (folder / whole,)
        if os.path.isfile(folder / index):
            return _list_shards(folder / index)
    raise FileError(
        f"{format_name(folder)} has no weights; a model has {_SAFE[0]} or {_TORCH[0]}, or parts with an index of them."
    )


def _list_shards(index: Path) -> tuple[Path, ...]:
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places or not all(isinstance(name, str) for name in places.values()):
        raise FileError(f"{format_name(index)} does not say which file holds which tensor (weight_map).")
    names = sorted(set(places.values()))
    if len(names) > _MOST_SHARDS or any(os.path.basename(name) != name for name in names):
        raise FileError(f"{format_name(index)} needs the names of at most {_MOST_SHARDS} files in its own folder.")
    missing = [name for name in names if not os.path.isfile(index.parent / name)]
    if missing:
        raise FileError(
            f"{format_name(index.parent)} lacks {shorten_name(missing[0])}, "
            f"{'one' if len(missing) == 1 else len(missing)} of the {len(names)} parts of the model."
        )
    return tuple(index.parent / name for name in names)


def _check_memory(path: Path, needed: int, takes: str) -> None:
    """Refuse a model that does not fit into the memory that is free, before any of it is read."""
    free = available_bytes()
    if free is not None and needed > free:
        raise FileError(
            f"{format_name(path)} {takes} {format_gib(needed)}, and {format_gib(free)} of memory are free; "
            "open a smaller model, or close other programs."
        )


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count

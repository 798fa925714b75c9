"""Finds the files of weights in a folder, and the parts of a model that an index lists."""

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from attnlab.base import formats
from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name

FORMATS = ((".safetensors",), (".bin",), (".pt", ".pth"), (".npz", ".npy"))
"""Formats in a folder, best first: a model that is saved twice is read once."""
INDEX = ".index.json"
"""The ending of a list of the parts of a model, in Hugging Face's layout."""
MOST_ENTRIES, MOST_FILES, NAMED = 10_000, 256, 4


def list_weights(folder: Path) -> tuple[Path, ...]:
    """Return the files of weights in a folder, in one format, sorted by name; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, MOST_ENTRIES) if entry.is_file())
    except (OSError, ValueError):
        return ()
    for endings in FORMATS:
        if found := [folder / name for name in names if name.lower().endswith(endings)]:
            return tuple(found)
    return ()


def list_parts(path: Path) -> tuple[Path, ...]:
    """Return the files to read for a path: those in a folder, those beside an index, or else the path itself.

    Raises:
        FileError: the folder holds no weights, or too many files; the index stands alone.
    """
    if path.is_dir():
        parts = list_weights(path)
        if not parts:
            raise FileError(describe_folder(path))
    elif path.name.lower().endswith(INDEX):
        parts = _find_parts(path)
        if not parts:
            raise FileError(describe_index(path))
    else:
        parts = (path,)
    if len(parts) > MOST_FILES:
        raise FileError(f"{format_name(path)} has {len(parts)} files of weights; open at most {MOST_FILES} of them.")
    return parts


def describe_folder(folder: Path) -> str:
    """Return a sentence on which files of a folder to open."""
    name = format_name(folder)
    found = [path.name for path in list_weights(folder)]
    if not found:
        return f"{name} is a folder without weights; their names end in {', '.join(formats.WEIGHTS)}."
    if len(found) == 1:
        return f"{name} is a folder; open {format_name(found[0])} in it."
    return f"{name} is a folder; open the files in it, all at once if they are parts of one model: {_list(found)}."


def describe_index(index: Path) -> str:
    """Return a sentence on which files to open instead of an index."""
    name, parts = format_name(index.name), [path.name for path in _find_parts(index)]
    if not parts:
        return f"{name} only lists the parts of a model, and none of them is beside it; put them into its folder."
    return f"{name} only lists the parts of a model; open these, all at once: {_list(parts)}."


def _find_parts(index: Path) -> tuple[Path, ...]:
    """Return the files beside an index whose names begin like its own, such as model-00001-of-00002.safetensors."""
    stem = index.name[: -len(INDEX)].split(".")[0]
    return tuple(path for path in list_weights(index.parent) if path.name.startswith(f"{stem}-"))


def _list(names: Iterable[str]) -> str:
    shown: Sequence[str] = [format_name(name) for name in names]
    if len(shown) > NAMED:
        shown = [*shown[: NAMED - 1], "…", shown[-1]]
    return ", ".join(shown)

"""Finds the folder of a model: the one given, the one around a file, or by name in the Hugging Face cache and here."""

import os
import re
from itertools import islice
from pathlib import Path

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes
from attnlab.files.source import model_folder, run_folder
from attnlab.pretrained.shipped import find_shipped

_NAME = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?")
_MOST_ENTRIES = 10_000


def cache_folder() -> Path:
    """Return the folder in which the Hugging Face libraries keep models, as their environment variables say."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if given := os.environ.get(variable):
            return Path(given)
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    return Path(home) / "hub"


def list_cached() -> tuple[str, ...]:
    """Return the names of the models in the cache that have a config.json, sorted."""
    return tuple(sorted(name for name, folder in _snapshots() if folder is not None))


def find_folder(path: Path) -> tuple[Path, str]:
    """Return the folder of a model and its name, from a folder, a file in it, or a name in the cache or of what ships.

    Raises:
        FileError: there is none; says how a model of this name could be fetched.
    """
    if os.path.isdir(path):
        return path, path.resolve().name
    if os.path.isfile(path):
        if model_folder(path.parent) is None and run_folder(path.parent) is None:
            raise FileError(
                f"{format_name(path)} has no config.json beside it, so it is not a model; choose a model’s folder."
            )
        return path.parent, path.resolve().parent.name
    name = path.as_posix()
    for cached, folder in _snapshots():
        if folder is not None and name in (cached, cached.rpartition("/")[2]):
            return folder, cached
    if shipped := find_shipped(name):
        return shipped, name
    if _NAME.fullmatch(name):
        raise FileError(
            f"There is no folder {format_name(path)}, and the Hugging Face cache has no model of that name. "
            f"If it is there, this fetches it: hf download {name}"
        )
    raise FileError(f"There is no folder {format_name(path)}; choose one with a config.json.")


def _snapshots() -> list[tuple[str, Path | None]]:
    """Return the models of the cache by name, with the folder of the newest snapshot that has a config.json."""
    try:
        with os.scandir(cache_folder()) as entries:
            kept = [Path(entry.path) for entry in islice(entries, _MOST_ENTRIES) if entry.name.startswith("models--")]
    except OSError:
        return []
    return [(path.name.removeprefix("models--").replace("--", "/", 1), _find_snapshot(path)) for path in sorted(kept)]


def _find_snapshot(path: Path) -> Path | None:
    """Return the snapshot that the name "main" refers to, or else the one that changed last."""
    try:
        others = sorted((path / "snapshots").iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
    except OSError:
        return None
    return next((each for each in (*_find_main(path), *others) if os.path.isfile(each / "config.json")), None)


def _find_main(path: Path) -> tuple[Path, ...]:
    try:
        named = read_bytes(path / "refs" / "main", 1 << 20, "a reference").decode("ascii").strip()
    except (FileError, ValueError):
        return ()
    return (path / "snapshots" / named,) if _NAME.fullmatch(named) else ()

"""Access to resources/ (icons, fonts and texts), in an installed wheel or in the checkout."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from attnlab.base.errors import FileError


def read_bytes(name: str) -> bytes:
    """Return the bytes of a resource; ``name`` is its path below resources/, such as ``icons/attnlab.svg``."""
    return _find(name).read_bytes()


def read_text(name: str) -> str:
    """Return the UTF-8 text of a resource."""
    return _find(name).read_text(encoding="utf-8")


def path(name: str) -> Path:
    """Return the path of a resource on disk, for interfaces that only accept a path."""
    found = _find(name)
    if not isinstance(found, Path):
        raise FileError(f"attnlab’s own file {name} has no path because it is inside an archive. Unpack attnlab.")
    return found


def names(folder: str) -> tuple[str, ...]:
    """Return the sorted names of the files in one folder of resources/, in the form that ``read_bytes`` takes."""
    below = _root().joinpath(folder)
    if not below.is_dir():
        raise FileError(_missing(folder))
    return tuple(sorted(f"{folder}/{entry.name}" for entry in below.iterdir() if entry.is_file()))


def _find(name: str) -> Traversable:
    found = _root().joinpath(name)
    if not found.is_file():
        raise FileError(_missing(name))
    return found


def _root() -> Traversable:
    """Return the folder of resources: inside the package in a wheel, beside it in a checkout."""
    packaged = files("attnlab").joinpath("_resources")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "resources"


def _missing(name: str) -> str:
    return f"attnlab’s own file {name} is missing from {_root()}: reinstall attnlab."

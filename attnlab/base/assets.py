"""The one accessor of resources/: icons, fonts and texts, from an installed wheel or from the checkout."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from attnlab.base.errors import FileError


def read_bytes(name: str) -> bytes:
    """Return the bytes of a resource; ``name`` is its path below resources/, as in ``icons/attnlab.svg``."""
    return _find(name).read_bytes()


def read_text(name: str) -> str:
    """Return the UTF-8 text of a resource."""
    return _find(name).read_text(encoding="utf-8")


def path(name: str) -> Path:
    """Return where a resource lies on disk, for those interfaces that take nothing but a path."""
    found = _find(name)
    if not isinstance(found, Path):
        raise FileError(f"attnlab's own file {name} has no path of its own: it is inside an archive. Unpack attnlab.")
    return found


def names(folder: str) -> tuple[str, ...]:
    """Return the names of the files in one folder of resources/, sorted, each fit for ``read_bytes``."""
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
    """Return the folder of resources: a wheel holds it inside the package, a checkout beside it."""
    packaged = files("attnlab").joinpath("_resources")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "resources"


def _missing(name: str) -> str:
    return f"attnlab's own file {name} is missing from {_root()}: install attnlab again."

"""What older manifests become: a chain of pure functions, each from one version of the format to the next."""

from collections.abc import Callable, Mapping
from typing import Any

VERSION = 2
"""The version that is written; every one before it is read."""


def migrated(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest of any version up to this one as one of this version; what it was given stays as it is.

    Raises:
        ValueError: there is no such version.
    """
    version = manifest.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(f"its version is {str(version)[:40]!r}, not one from 1 to {VERSION}")
    found = dict(manifest)
    for step in range(version, VERSION):
        found = MIGRATIONS[step](found)
    return found


def _of_experiments(old: dict[str, Any]) -> dict[str, Any]:
    """1 → 2: what describes the experiment moves under a name of its own, as pins are described in the same way.

    The checksum of the arrays leaves the manifest: it was checked, and is in SHA256SUMS from 2 on.
    """
    moved = ("tokens", "memory_tokens", "config", "others", "item")
    gone = (*moved, "sha256", "version")
    rest = {name: value for name, value in old.items() if name not in gone}
    return {**rest, "version": 2, "experiment": {name: old[name] for name in moved if name in old}, "pins": []}


MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _of_experiments}
"""By the version that a function begins at."""

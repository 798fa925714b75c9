"""Migrations of older manifests: a chain of pure functions from each version of the format to the next."""

from collections.abc import Callable, Mapping
from typing import Any

VERSION = 2
"""The version that is written; all earlier ones can be read."""


def migrate(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest of any version up to this one, converted to this version; the argument is not changed.

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
    """1 → 2: the experiment moves under its own key, in the form that pins have too.

    The checksum of the arrays is removed: it was checked already, and version 2 has it in SHA256SUMS.
    """
    moved = ("tokens", "memory_tokens", "config", "others", "item")
    gone = (*moved, "sha256", "version")
    rest = {name: value for name, value in old.items() if name not in gone}
    return {**rest, "version": 2, "experiment": {name: old[name] for name in moved if name in old}, "pins": []}


MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _of_experiments}
"""The migrations, by the version that they start from."""

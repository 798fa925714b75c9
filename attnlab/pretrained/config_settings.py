"""The settings of config.json, each checked and bounded when a family asks for it."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name

MOST = 1 << 24
"""The largest whole number in a config: positions, columns, words."""


class Settings:
    """Settings by name. A name may be given with older names for the same, of which the first that is there counts."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def whole(self, *names: str, default: int | None = None, least: int = 1, most: int = MOST) -> int:
        """Return a whole number from ``least`` to ``most``.

        Raises:
            FileError: it is none, or it is missing and has no default.
        """
        value = self._find(names, default)
        if type(value) is int and least <= value <= most:
            return value
        raise _make_error(names[0], value, f"a whole number from {least} to {most}")

    def number(self, *names: str, default: float) -> float:
        """Return a positive finite number; FileError if it is none."""
        value = self._find(names, default)
        if type(value) in (int, float) and 0 < value <= sys.float_info.max:
            return float(value)
        raise _make_error(names[0], value, "a number above 0")

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false; FileError if it is neither."""
        value = self._find((name,), default)
        if isinstance(value, bool):
            return value
        raise _make_error(name, value, "true or false")

    def text(self, name: str, default: str) -> str:
        """Return a text; FileError if it is none."""
        value = self._find((name,), default)
        if isinstance(value, str):
            return value
        raise _make_error(name, value, "a text")

    def inside(self, name: str) -> "Settings | None":
        """Return the settings in a setting, None if it is missing or null; FileError if it is something else."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, dict):
            return Settings(value)
        raise _make_error(name, value, "settings of its own")

    def numbers(self, name: str, count: int) -> tuple[float, ...]:
        """Return a list of ``count`` positive numbers; FileError if it is none."""
        value = self._values.get(name)
        if (
            isinstance(value, list)
            and len(value) == count
            and all(type(x) in (int, float) and 0 < x <= sys.float_info.max for x in value)
        ):
            return tuple(map(float, value))
        raise _make_error(name, value, f"a list of {count} numbers above 0")

    def get(self, name: str) -> Any:
        """Return a setting as it stands, None if it is missing."""
        return self._values.get(name)

    def has(self, name: str) -> bool:
        """Return whether a setting is there, null included."""
        return name in self._values

    def _find(self, names: Sequence[str], default: Any) -> Any:
        for name in names:
            if self._values.get(name) is not None:
                return self._values[name]
        return default


def _make_error(name: str, value: object, needed: str) -> FileError:
    got = "has no" if value is None else f"has {shorten_name(repr(value))} for"
    return FileError(f"config.json {got} {name}; it needs {needed}.")

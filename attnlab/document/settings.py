"""The user's settings: one versioned JSON file, written atomically; invalid values are dropped one by one."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from attnlab.base.errors import FileError
from attnlab.base.folders import config_folder
from attnlab.base.printable import escape
from attnlab.files.atomic import write_bytes
from attnlab.files.bounded import read_bytes

VERSION = 1
LIMIT = 1 << 20
"""The size limit of the settings file in bytes."""
RECENT_LIMIT = 12
FIGURE_LIMIT = 32
STEPS_LIMIT = 8
PROGRESS_LIMIT = 200
HISTORY_MIB, HISTORY_CHOICES = 512, (128, 512, 2048, 8192)
MOMENTS_MIB, MOMENTS_CHOICES = 128, (16, 64, 128, 256)
"""The memory limit of the edit history in MiB, by default and the choices."""
THEMES = ("system", "light", "dark", "contrast-light", "contrast-dark")

Migration = Callable[[dict[str, Any]], dict[str, Any]]
MIGRATIONS: Mapping[int, Migration] = {}
"""Migrations from version n to n + 1, by n."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's choices for the program; ``type_size`` in per cent, ``recent`` newest first.

    ``figure`` holds the last choices for a figure, each as "name=value". ``history_mib`` is the memory limit of the
    edit history in MiB; beyond it the oldest edits can no longer be undone. ``moments_mib`` is that of the moments of a
    training run; beyond it every second one is dropped. ``first_steps`` are those that are done;
    ``lesson_offered`` is set by the first start, which alone offers a lesson. ``lesson_progress`` says how far the user
    has come in each lesson, the latest first, as "six-words=9:0-8".
    """

    version: int = VERSION
    theme: str = "system"
    type_size: int = 100
    reduced_motion: bool = False
    recent: tuple[str, ...] = ()
    figure: tuple[str, ...] = ()
    history_mib: int = HISTORY_MIB
    moments_mib: int = MOMENTS_MIB
    first_steps: tuple[str, ...] = ()
    first_steps_shown: bool = True
    lesson_offered: bool = False
    lesson_progress: tuple[str, ...] = ()

    def with_recent(self, path: str) -> "Settings":
        """Return the settings with a file as the newest of the recent ones."""
        others = (other for other in self.recent if other != path)
        return replace(self, recent=(path, *others)[:RECENT_LIMIT])


def settings_path() -> Path:
    """Return the path of the settings: in the platform's folder, or in ATTNLAB_CONFIG_DIR."""
    return config_folder() / "settings.json"


def load_settings(
    path: Path | None = None, migrations: Mapping[int, Migration] = MIGRATIONS
) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings and one sentence for each invalid value; never raises, whatever the file contains.

    A file with invalid values is copied to settings.json.bak.
    """
    path = path or settings_path()
    if not os.path.lexists(path):
        return Settings(), ()
    try:
        text = read_bytes(path, LIMIT, "the settings")
    except FileError as error:
        return Settings(), (f"{str(error).rstrip('.')}; the default settings are used.",)
    settings, wrong = _parse(text, migrations)
    if not wrong:
        return settings, ()
    backup = path.with_name(path.name + ".bak")
    try:
        write_bytes(backup, text)
        kept = f"The original file is kept as {backup}."
    except FileError as error:
        kept = f"A copy of the file could not be saved: {error}"
    return settings, (*(f"{path}: {sentence}" for sentence in wrong), kept)


def save_settings(settings: Settings, path: Path | None = None) -> None:
    """Write the settings so that a crash leaves either the old file or the new one; raises FileError."""
    path = path or settings_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The settings cannot be saved to {path}: {error.strerror}.") from error
    text = json.dumps(asdict(settings), indent=2, ensure_ascii=False) + "\n"
    try:
        write_bytes(path, text.encode("utf-8", "backslashreplace"))  # a lone surrogate, as in odd file names: \ud800
    except FileError as error:
        raise FileError(f"The settings cannot be saved: {error}") from error


def _parse(text: bytes, migrations: Mapping[int, Migration]) -> tuple[Settings, tuple[str, ...]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return Settings(), ("this is not JSON; the defaults are used.",)
    if not isinstance(found, dict):
        return Settings(), ("this is not a settings file; the defaults are used.",)
    found, wrong = _migrate(found, migrations)
    kept: dict[str, Any] = {}
    for field in fields(Settings):
        if field.name == "version" or field.name not in found:
            continue
        value, needs = found[field.name], _NEEDS[field.name]
        if needs.holds(value):
            kept[field.name] = tuple(value) if isinstance(value, list) else value
        else:
            shown = escape(json.dumps(value, ensure_ascii=False)[:60])
            wrong.append(f"{field.name} must be {needs.words}, not {shown}; {field.default!r} is used.")
    unknown = sorted(set(found) - {field.name for field in fields(Settings)})
    wrong += [f"{name[:60]!r} is not a setting; it is ignored." for name in unknown]
    return Settings(**kept), tuple(wrong)


def _migrate(found: dict[str, Any], migrations: Mapping[int, Migration]) -> tuple[dict[str, Any], list[str]]:
    """Return the contents of an older file migrated to this version, and sentences on problems."""
    version = found.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < min(migrations, default=VERSION):
        return found, [f"version must be a whole number up to {VERSION}; it is read as {VERSION}."]
    if version > VERSION:
        return found, [f"version {version} is from a newer attnlab; only the settings known here are used."]
    for step in range(version, VERSION):
        found = migrations[step](found)
    return found, []


@dataclass(frozen=True, slots=True)
class _Need:
    words: str
    holds: Callable[[Any], bool]


_NEEDS: dict[str, _Need] = {
    "theme": _Need(
        "one of system, light, dark, contrast-light and contrast-dark", lambda v: isinstance(v, str) and v in THEMES
    ),
    "type_size": _Need(
        "a whole number from 70 to 250", lambda v: isinstance(v, int) and not isinstance(v, bool) and 70 <= v <= 250
    ),
    "reduced_motion": _Need("true or false", lambda v: isinstance(v, bool)),
    "first_steps_shown": _Need("true or false", lambda v: isinstance(v, bool)),
    "lesson_offered": _Need("true or false", lambda v: isinstance(v, bool)),
    "first_steps": _Need(
        f"a list of up to {STEPS_LIMIT} names",
        lambda v: isinstance(v, list) and len(v) <= STEPS_LIMIT and all(isinstance(name, str) for name in v),
    ),
    "lesson_progress": _Need(
        f"a list of up to {PROGRESS_LIMIT} texts such as six-words=9:0-8",
        lambda v: isinstance(v, list) and len(v) <= PROGRESS_LIMIT and all(isinstance(p, str) and "=" in p for p in v),
    ),
    "recent": _Need(
        f"a list of up to {RECENT_LIMIT} paths",
        lambda v: isinstance(v, list) and len(v) <= RECENT_LIMIT and all(isinstance(p, str) for p in v),
    ),
    "history_mib": _Need(
        "a whole number of MiB from 16 to 1048576",
        lambda v: isinstance(v, int) and not isinstance(v, bool) and 16 <= v <= 1 << 20,
    ),
    "moments_mib": _Need(
        "a whole number of MiB from 1 to 256",
        lambda v: isinstance(v, int) and not isinstance(v, bool) and 1 <= v <= 256,
    ),
    "figure": _Need(
        f"a list of up to {FIGURE_LIMIT} choices such as width_mm=85",
        lambda v: isinstance(v, list) and len(v) <= FIGURE_LIMIT and all(isinstance(p, str) and "=" in p for p in v),
    ),
}

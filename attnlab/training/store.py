"""Runs on disk: each a folder of JSON and safetensors, saved whole or not at all, and safe to read from strangers.

``run.json`` holds the settings and the status, and names the other files: ``curve`` has the losses of every step and
the metrics of the held-out examples, ``moments`` the weights of the moments, in arrays [moments, …], and ``checkpoint``
the state from which training resumes. A save writes these under new names, then replaces ``run.json``, which makes the
whole run the new one, and then deletes the files of the previous save. Any thread may call these functions.
"""

import json
import math
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from attnlab.base.errors import FileError
from attnlab.base.folders import config_folder
from attnlab.files.atomic import (
    format_name,
    format_reason,
    is_temporary,
    make_read_error,
    make_write_error,
    write_bytes,
)
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json
from attnlab.training.marks import Mark
from attnlab.training.messages import Arrays
from attnlab.training.recorder import LARGEST_LIMIT
from attnlab.training.run import RunState
from attnlab.training.spec_json import from_json
from attnlab.training.specs import RunSpec
from attnlab.training.store_arrays import (
    pack_checkpoint,
    pack_curve,
    pack_moments,
    read_checkpoint,
    read_curve,
    read_moments,
)
from attnlab.training.store_manifest import (
    CHECKPOINT,
    CURVE,
    MANIFEST,
    MOMENTS,
    check_manifest,
    is_part,
    name_file,
    to_manifest,
)
from attnlab.training.tensors import unpack

Part = TypeVar("Part")

LIMITS = {MANIFEST: 1 << 20, CURVE: 256 << 20, MOMENTS: 2 * LARGEST_LIMIT, CHECKPOINT: 1 << 30}
"""The size limit of each file in bytes; a recorder's moments stay within its own limit."""
_STALE_S = 3600
"""A file that run.json does not name and that is older than this, in seconds, was left by a save that was killed."""
_TRIES = 5
"""How often to read a run again if it is saved meanwhile."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A row of the table of runs. ``right`` is the share of right held-out tokens, NaN without an evaluation.

    ``sentence`` is the run's own about its end. ``saved`` are seconds since 1970. ``problem`` says why a run cannot be
    read, in which case the rest is empty.
    """

    folder: Path
    name: str = ""
    spec: RunSpec | None = None
    status: str = ""
    step: int = 0
    seconds: float = 0.0
    loss: float = math.nan
    right: float = math.nan
    saved: float = 0.0
    problem: str = ""
    sentence: str = ""


def find_runs_folder() -> Path:
    """Return the folder of the user's own runs; it may not exist yet."""
    return config_folder() / "runs"


def new_folder(spec: RunSpec) -> Path:
    """Return a folder for a new run that does not exist yet: TASK-SEED-TIME in :func:`find_runs_folder`."""
    name = f"{spec.task}-{spec.train.seed}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder, number = find_runs_folder() / name, 2
    while folder.exists():
        folder, number = find_runs_folder() / f"{name}-{number}", number + 1
    return folder


def save(state: RunState, folder: str | os.PathLike[str]) -> None:
    """Write a run into its folder, created if needed; if that fails at any point, the previous run stays intact.

    Raises:
        FileError: it cannot be written, such as when the disk is full; the sentence names the path and the reason.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise make_write_error(path, error) from None
    parts: dict[str, bytearray] = {CURVE: pack_curve(state)}
    if state.moments:
        parts[MOMENTS] = pack_moments(state.moments)
    if state.checkpoint is not None:
        parts[CHECKPOINT] = pack_checkpoint(state.checkpoint)
    this = secrets.token_hex(8)
    names = {part: name_file(part, this) for part in parts}
    former = _list_named(path)
    said = json.dumps(to_manifest(state, names), ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
    try:
        for part, data in parts.items():
            write_bytes(path / names[part], cast(bytes, data))  # bytes(data) would copy while every thread waits
        write_bytes(path / MANIFEST, said)
    except BaseException:
        if _list_named(path) != set(names.values()):  # Ctrl+C may come just after the replacement
            _delete(path, set(names.values()))
        raise
    _delete(path, (former | _list_left_behind(path)) - set(names.values()))


def delete(folder: str | os.PathLike[str]) -> None:
    """Delete the files of a run, and its folder if nothing else is in it.

    Raises:
        FileError: it cannot be deleted.
    """
    path = Path(folder)
    try:
        (path / MANIFEST).unlink(missing_ok=True)  # from here on the folder is no longer a run
        for name in os.listdir(path):
            if is_part(name) or is_temporary(name):  # also half-written files of a killed save
                (path / name).unlink(missing_ok=True)
        if not os.listdir(path):
            path.rmdir()
    except OSError as error:
        raise FileError(f"The run {format_name(path)} cannot be deleted: {format_reason(error)}.") from None


def load(folder: str | os.PathLike[str]) -> RunState:
    """Return the run in a folder; its status is "interrupted" if it was saved while it ran.

    Raises:
        FileError: it is not a run, or is damaged, too large or of a newer attnlab; the sentence names the file.
    """
    path = Path(folder)
    found = _read_manifest(path)
    for _ in range(_TRIES):
        try:
            return _load_state(path, found)
        except FileError:
            again = _read_manifest(path)
            if again["files"] == found["files"]:
                raise
            found = again  # it was saved meanwhile, and the old files are gone
    return _load_state(path, found)


def _load_state(path: Path, found: dict[str, Any]) -> RunState:
    names: dict[str, str] = found["files"]
    curve, metrics = _read(path / names[CURVE], CURVE, read_curve)
    looked = {metric.step: metric for metric in metrics}
    moments = _read(path / names[MOMENTS], MOMENTS, partial(read_moments, metrics=looked)) if MOMENTS in names else ()
    checkpoint = _read(path / names[CHECKPOINT], CHECKPOINT, read_checkpoint) if CHECKPOINT in names else None
    kept = ("name", "status", "sentence", "step", "seconds", "parameters", "trainable", "device", "interval")
    return RunState(
        spec=found["spec"],
        **{name: found[name] for name in kept},
        curve=curve,
        metrics=metrics,
        moments=moments,
        marks=tuple(Mark(*mark) for mark in found["marks"]),
        checkpoint=checkpoint,
        digest=found.get("digest", ""),
        heads_before=tuple((until, off) for until, off in found.get("heads_before", [])),
    )


def read_summary(folder: str | os.PathLike[str]) -> Summary:
    """Return the row of a run in the table of runs, with ``problem`` if it cannot be read."""
    path = Path(folder)
    try:
        found = _read_manifest(path)
        saved = (path / MANIFEST).stat().st_mtime
    except FileError as error:
        return Summary(path, problem=str(error))
    except OSError as error:
        return Summary(path, problem=str(make_read_error(path, error)))
    loss, right = (math.nan if found[name] is None else float(found[name]) for name in ("loss", "right"))
    told = found["name"], found["spec"], found["status"], found["step"], found["seconds"]
    return Summary(path, *told, loss, right, saved, sentence=found["sentence"])


def list_runs(folder: str | os.PathLike[str] | None = None) -> tuple[Summary, ...]:
    """Return all runs in a folder, by default :func:`find_runs_folder`, the most recently saved first."""
    place = find_runs_folder() if folder is None else Path(folder)
    try:
        found = [each for each in place.iterdir() if os.path.lexists(each / MANIFEST)]
    except (OSError, ValueError):  # no such folder, an unreadable one, or a name that cannot be one: no runs
        return ()
    return tuple(sorted(map(read_summary, found), key=lambda each: (-each.saved, each.folder.name)))


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return the checked contents of run.json, with its spec as a RunSpec."""
    path = folder / MANIFEST
    data = read_bytes(path, LIMITS[MANIFEST], "the settings of a run")
    try:
        found = session_json.parse(data)
        check_manifest(found)
        found["spec"] = from_json(found["spec"])
    except (ValueError, RecursionError) as error:
        raise _describe_damage(path, error) from None
    if found["status"] in ("running", "paused", "new"):
        found["status"] = "interrupted"
    return dict(found)


def _read(path: Path, part: str, take: Callable[[Arrays], Part]) -> Part:
    """Return the arrays of a file, converted by ``take``."""
    data = read_bytes(path, LIMITS[part], "this part of a run")
    try:
        return take(unpack(data))
    except (ValueError, RecursionError) as error:
        raise _describe_damage(path, error) from None


def _list_named(folder: Path) -> set[str]:
    """Return the files that a folder's run.json names; none if it cannot be read."""
    try:
        return set(_read_manifest(folder)["files"].values())
    except FileError:
        return set()


def _list_left_behind(folder: Path) -> set[str]:
    """Return files left by saves that were killed long ago; another program may still be writing newer ones."""
    found = set()
    with suppress(OSError):
        for name in os.listdir(folder):
            if is_part(name) and time.time() - (folder / name).lstat().st_mtime > _STALE_S:
                found.add(name)
    return found


def _delete(folder: Path, names: set[str]) -> None:
    """Delete files if possible; on Windows a file that is being read stays until a later save."""
    for name in names:
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _describe_damage(path: Path, reason: Exception) -> FileError:
    return FileError(f"{format_name(path)} cannot be read as part of a run: {format_reason(reason)}.")

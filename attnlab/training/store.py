"""Runs on disk: a folder of plain JSON and safetensors each, written whole or not at all, read from anybody.

``run.json`` says what was trained and how it stands, ``curve.safetensors`` what every step and the held-out examples
gave, ``moments.safetensors`` the weights of the moments, each array of them [moments, …], ``checkpoint.safetensors``
what training goes on from. All functions are plain and may be called by any thread.
"""

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from attnlab.errors import FileError
from attnlab.files import session_json
from attnlab.files.atomic import shown, unwritable, why, write_bytes
from attnlab.files.bounded import read_bytes
from attnlab.folders import config_folder
from attnlab.training.marks import Mark
from attnlab.training.messages import Arrays
from attnlab.training.recorder import LIMIT
from attnlab.training.run import RunState
from attnlab.training.spec_json import from_json
from attnlab.training.specs import RunSpec
from attnlab.training.store_arrays import (
    packed_checkpoint,
    packed_curve,
    packed_moments,
    read_checkpoint,
    read_curve,
    read_moments,
)
from attnlab.training.store_manifest import CHECKPOINT, CURVE, MANIFEST, MOMENTS, check_manifest, manifest
from attnlab.training.tensors import unpack

Part = TypeVar("Part")

LIMITS = {MANIFEST: 1 << 20, CURVE: 256 << 20, MOMENTS: 2 * LIMIT, CHECKPOINT: 1 << 30}
"""Bytes that each file may have; of moments a recorder keeps no more than its own limit."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A line of the table of runs. ``right`` is the share of held-out tokens, NaN where none were looked at.

    ``saved`` are seconds since 1970. ``problem`` says why a run cannot be read, in which case the rest is empty.
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


def runs_folder() -> Path:
    """Return the folder of a person's own runs; it need not exist yet."""
    return config_folder() / "runs"


def new_folder(spec: RunSpec) -> Path:
    """Return a folder for a new run that does not exist yet: TASK-SEED-TIME in :func:`runs_folder`."""
    name = f"{spec.task}-{spec.train.seed}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder, number = runs_folder() / name, 2
    while folder.exists():
        folder, number = runs_folder() / f"{name}-{number}", number + 1
    return folder


def save(state: RunState, folder: str | os.PathLike[str]) -> None:
    """Write a run into its folder, which is made; a file that cannot be written leaves the former one as it was.

    Raises:
        FileError: it cannot be written, such as when the disk is full; the sentence names the path and the reason.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    files: dict[str, bytearray] = {CURVE: packed_curve(state)}
    if state.moments:
        files[MOMENTS] = packed_moments(state.moments)
    if state.checkpoint is not None:
        files[CHECKPOINT] = packed_checkpoint(state.checkpoint)
    for name, data in files.items():
        write_bytes(path / name, cast(bytes, data))  # a copy would hold up every thread
    said = manifest(state, {name: len(data) for name, data in files.items()})
    write_bytes(path / MANIFEST, json.dumps(said, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"))


def load(folder: str | os.PathLike[str]) -> RunState:
    """Return the run that is kept in a folder; one that was saved while it ran is "interrupted".

    Raises:
        FileError: it is none, damaged, too large or of a newer attnlab; the sentence names the file.
    """
    path = Path(folder)
    found = _read_manifest(path)
    curve, metrics = _read(path / CURVE, read_curve)
    looked = {metric.step: metric for metric in metrics}
    moments = _read(path / MOMENTS, partial(read_moments, metrics=looked)) if MOMENTS in found["files"] else ()
    checkpoint = _read(path / CHECKPOINT, read_checkpoint) if CHECKPOINT in found["files"] else None
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
    )


def summary(folder: str | os.PathLike[str]) -> Summary:
    """Return the line of a run in the table of runs, its ``problem`` when it cannot be read."""
    path = Path(folder)
    try:
        found = _read_manifest(path)
        saved = (path / MANIFEST).stat().st_mtime
    except FileError as error:
        return Summary(path, problem=str(error))
    except OSError as error:
        return Summary(path, problem=f"{shown(path)} cannot be read: {why(error)}.")
    loss, right = (math.nan if found[name] is None else float(found[name]) for name in ("loss", "right"))
    return Summary(
        path, found["name"], found["spec"], found["status"], found["step"], found["seconds"], loss, right, saved
    )


def list_runs(folder: str | os.PathLike[str] | None = None) -> tuple[Summary, ...]:
    """Return all runs in a folder, :func:`runs_folder` when none is named, those saved last first."""
    place = runs_folder() if folder is None else Path(folder)
    try:
        found = [each for each in place.iterdir() if os.path.lexists(each / MANIFEST)]
    except OSError:  # there is none yet, or it may not be read: there are no runs
        return ()
    return tuple(sorted(map(summary, found), key=lambda each: (-each.saved, each.folder.name)))


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return what run.json says, checked, its spec as a value."""
    path = folder / MANIFEST
    data = read_bytes(path, LIMITS[MANIFEST], "the settings of a run")
    try:
        found = session_json.parse(data)
        check_manifest(found)
        found["spec"] = from_json(found["spec"])
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from None
    if found["status"] in ("running", "paused", "new"):
        found["status"] = "interrupted"
    return dict(found)


def _read(path: Path, take: Callable[[Arrays], Part]) -> Part:
    """Return what the arrays of a file say, as ``take`` reads it."""
    data = read_bytes(path, LIMITS[path.name], "this part of a run")
    try:
        return take(unpack(data))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, reason: Exception) -> FileError:
    return FileError(f"{shown(path)} cannot be read as part of a run: {why(reason)}.")

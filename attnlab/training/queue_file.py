"""The queue that was left when the window closed: what waits, and the folders of the runs that had begun."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.base.errors import FileError, TrainingError
from attnlab.base.folders import config_folder
from attnlab.files.atomic import write_bytes
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json
from attnlab.training.questions import Planned
from attnlab.training.spec_json import from_json, to_json

LIMIT, MOST = 1 << 20, 100
"""The size limit of the file in bytes, and the most runs that are read."""
FORMAT = "attnlab-queue"


@dataclass(frozen=True, slots=True)
class LeftRun:
    """One run of a queue: ``folder`` is None if it had not begun; ``stopped`` and ``diverged`` say how it ended."""

    planned: Planned
    folder: Path | None = None
    stopped: bool = False
    diverged: bool = False


@dataclass(frozen=True, slots=True)
class LeftQueue:
    """A queue by its title and its runs, in order."""

    title: str
    runs: tuple[LeftRun, ...]


def leave(queue: LeftQueue) -> None:
    """Write a queue down for the next window; raises FileError if that fails."""
    runs = [
        {
            "name": each.planned.name,
            "spec": to_json(each.planned.spec),
            "folder": str(each.folder or ""),
            "stopped": each.stopped,
            "diverged": each.diverged,
        }
        for each in queue.runs
    ]
    path = _find_file()
    with suppress(OSError):  # writing reports this error
        path.parent.mkdir(parents=True, exist_ok=True)
    made = {"format": FORMAT, "title": queue.title, "runs": runs}
    write_bytes(path, json.dumps(made, ensure_ascii=True, indent=1).encode())


def take() -> LeftQueue | None:
    """Return the queue that was left, and forget it; None if none was.

    Raises:
        TrainingError: the file was damaged. It is forgotten, too; its runs are still on disk.
    """
    path = _find_file()
    if not path.is_file():
        return None
    try:
        return _read(session_json.parse(read_bytes(path, LIMIT, "the list of waiting runs")))
    except (FileError, TrainingError, ValueError, RecursionError, KeyError, TypeError):
        told = (
            "The list of runs that waited when the window was closed cannot be read; those that had begun are in Runs."
        )
        raise TrainingError(told) from None
    finally:
        with suppress(OSError):
            path.unlink()


def _read(found: Any) -> LeftQueue:
    if found["format"] != FORMAT:
        raise ValueError
    runs = tuple(
        LeftRun(
            Planned(str(each["name"])[:200], from_json(each["spec"])),
            Path(str(each["folder"])) if each["folder"] else None,
            each["stopped"] is True,
            each["diverged"] is True,
        )
        for each in found["runs"][:MOST]
    )
    return LeftQueue(str(found["title"])[:200], runs)


def _find_file() -> Path:
    return config_folder() / "queue.json"

"""The queue of a window as a file: what waits, and the folders of the runs that have begun."""

import json
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
MOST_WINDOWS = 8
"""How many windows may have a queue at the same time that is kept."""


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


def list_files() -> tuple[Path, ...]:
    """Return the files that may hold a queue, one for each of the windows that are open at the same time."""
    folder = config_folder()
    return tuple(folder / ("queue.json" if n == 1 else f"queue-{n}.json") for n in range(1, MOST_WINDOWS + 1))


def leave(queue: LeftQueue, path: Path) -> None:
    """Write a queue to a file; raises FileError if that fails."""
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
    made = {"format": FORMAT, "title": queue.title, "runs": runs}
    write_bytes(path, json.dumps(made, ensure_ascii=True, indent=1).encode())


def read(path: Path) -> LeftQueue:
    """Return the queue in a file.

    Raises:
        FileNotFoundError: there is none.
        TrainingError: it is damaged; the runs that had begun are still on disk.
    """
    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        return _read(session_json.parse(read_bytes(path, LIMIT, "the list of waiting runs")))
    except (FileError, TrainingError, ValueError, RecursionError, KeyError, TypeError):
        told = (
            "The list of runs that waited when the window was closed cannot be read; those that had begun are in Runs."
        )
        raise TrainingError(told) from None


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

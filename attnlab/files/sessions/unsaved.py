"""The unsaved work of earlier windows: the last ten sessions in a folder, each with its time and title."""

import contextlib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from attnlab.files.atomic import format_name
from attnlab.files.sessions.session_file import read_view

MOST, BYTES_LIMIT = 10, 1 << 30
"""The maximum number of kept sessions, and their total size in bytes; the newest is kept whatever its size."""
FILE = "file"
"""The key in a session's view under which unsaved work names its file."""
_NAME = re.compile(r"unsaved-(\d{8}T\d{6})(?:-(\d+))?\.attnlab", re.ASCII)
_TIME = "%Y%m%dT%H%M%S"
_LONGEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A session that the user never saved. ``title`` is "" if it cannot be read; ``when`` is in UTC."""

    path: Path
    when: datetime
    title: str

    def write_title(self) -> str:
        """Return a line for a list: the title, then the local date and time of the last change."""
        return f"{self.title or 'Unsaved work'} — {self.when.astimezone():%d %b %Y, %H:%M}"


class UnsavedFolder:
    """Keeps and lists unsaved work. Several programs may use one folder at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._titles: dict[Path, str] = {}  # files with such names never change
        self._listed: tuple[int, tuple[Unsaved, ...]] | None = None  # the folder's change time and contents

    def list_all(self) -> tuple[Unsaved, ...]:
        """Return the kept sessions, the newest first; none if the folder cannot be read."""
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:
            return ()
        if self._listed is None or self._listed[0] != changed:
            self._listed = changed, self._read()
        return self._listed[1]

    def _read(self) -> tuple[Unsaved, ...]:
        found = [(_order(path.name), path) for path in self._paths()]
        return tuple(
            Unsaved(path, datetime.strptime(order[0], _TIME).replace(tzinfo=UTC), self._title(path))
            for order, path in sorted(found, reverse=True)
        )

    def take(self, path: Path) -> None:
        """Move a session into the list, named by the time of its last change, and delete the oldest beyond the limits.

        If it cannot be moved, it stays where it is.
        """
        with contextlib.suppress(OSError):
            reserved = self._reserve(datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime(_TIME))
            try:
                os.replace(path, reserved)
            except OSError:
                self.remove(reserved)
                raise
            self._listed = None
            self._trim()

    def remove(self, path: Path) -> None:
        """Delete one session, if it is still there."""
        self._listed = None
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    def _paths(self) -> list[Path]:
        try:
            with os.scandir(self._folder) as entries:
                return [
                    self._folder / entry.name
                    for entry in entries
                    if _is_name(entry.name) and entry.is_file(follow_symlinks=False) and entry.stat().st_size > 0
                ]
        except OSError:
            return []

    def _reserve(self, stamp: str) -> Path:
        """Reserve a name against other programs by creating an empty file, which is not listed; return its path.

        Within one second, the name is after all listed ones, even if an earlier one has become free.
        """
        taken = [number for path in self._paths() for time, number in (_order(path.name),) if time == stamp]
        for number in count(max(taken, default=0) + 1):
            path = self._folder / f"unsaved-{stamp}{f'-{number}' if number > 1 else ''}.attnlab"
            with contextlib.suppress(FileExistsError):
                path.open("xb").close()
                return path
        raise AssertionError("count ends")

    def _trim(self) -> None:
        total = 0
        for place, path in enumerate(sorted(self._paths(), key=lambda path: _order(path.name), reverse=True)):
            total += path.stat().st_size
            if place >= MOST or (place > 0 and total > BYTES_LIMIT):
                self.remove(path)

    def _title(self, path: Path) -> str:
        if path not in self._titles:
            view = read_view(path)
            file, title = view.get(FILE), view.get("title")
            text = Path(file).stem if isinstance(file, str) and file else title
            self._titles[path] = format_name(text)[:_LONGEST_TITLE] if isinstance(text, str) else ""
        return self._titles[path]


def _is_name(name: str) -> bool:
    match = _NAME.fullmatch(name)
    if match is None:
        return False
    try:
        datetime.strptime(match[1], _TIME).replace(tzinfo=UTC).astimezone()
    except (ValueError, OverflowError, OSError):  # the last days of the calendar have no local time in some time zones
        return False
    return True


def _order(name: str) -> tuple[str, int]:
    match = _NAME.fullmatch(name)
    assert match is not None
    return match[1], int(match[2] or 1)

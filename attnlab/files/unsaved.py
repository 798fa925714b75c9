"""The unsaved work of former windows: the last ten sessions in a folder, each with its time and its title."""

import contextlib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from attnlab.files.atomic import shown
from attnlab.files.session import read_view

MOST, BYTES_LIMIT = 10, 1 << 30
"""How many sessions are kept, and how many bytes they may take together; the newest is kept however large it is."""
FILE = "file"
"""Under which name work that was not saved says which file it is of."""
_NAME = re.compile(r"unsaved-(\d{8}T\d{6})(?:-(\d+))?\.attnlab", re.ASCII)
_TIME = "%Y%m%dT%H%M%S"
_LONGEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A session that was never saved by a person. ``title`` is "" where it cannot be read; ``when`` is in UTC."""

    path: Path
    when: datetime
    title: str

    def described(self) -> str:
        """Return one line for a list: the title, then the local date and time of its last change."""
        return f"{self.title or 'Unsaved work'} — {self.when.astimezone():%d %b %Y, %H:%M}"


class UnsavedFolder:
    """Keeps and lists unsaved work. Several programs may use one folder at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._titles: dict[Path, str] = {}  # a file of such a name never changes
        self._listed: tuple[int, tuple[Unsaved, ...]] | None = None  # the folder's time of change, and what it held

    def kept(self) -> tuple[Unsaved, ...]:
        """Return what is kept, the newest first; empty where the folder cannot be read."""
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
        """Move a session into the list, under the time of its last change, and let go of the oldest beyond the limits.

        Where that cannot be done the session stays where it is.
        """
        with contextlib.suppress(OSError):
            reserved = self._reserved(datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime(_TIME))
            try:
                os.replace(path, reserved)
            except OSError:
                self.remove(reserved)
                raise
            self._listed = None
            self._trim()

    def remove(self, path: Path) -> None:
        """Let go of one, if it is still there."""
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

    def _reserved(self, stamp: str) -> Path:
        """Return a name that no other program can take any more: an empty file, which is not listed."""
        for end in chain(("",), (f"-{number}" for number in count(2))):
            path = self._folder / f"unsaved-{stamp}{end}.attnlab"
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
            self._titles[path] = shown(text)[:_LONGEST_TITLE] if isinstance(text, str) else ""
        return self._titles[path]


def _is_name(name: str) -> bool:
    match = _NAME.fullmatch(name)
    if match is None:
        return False
    try:
        datetime.strptime(match[1], _TIME).replace(tzinfo=UTC).astimezone()
    except (ValueError, OverflowError, OSError):  # the last days of the calendar have no local time everywhere
        return False
    return True


def _order(name: str) -> tuple[str, int]:
    match = _NAME.fullmatch(name)
    assert match is not None
    return match[1], int(match[2] or 1)

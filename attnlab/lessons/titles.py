"""The titles of all lessons, read without their steps, for lists that must be quick."""

from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from attnlab.base import assets
from attnlab.base.errors import FileError
from attnlab.lessons.library import ENDING, FOLDER, list_own_files
from attnlab.lessons.sections import read_text, split


class Titled(NamedTuple):
    """A lesson's title, and the name or the file by which it is found."""

    title: str
    name: str


def list_titles() -> tuple[Titled, ...]:
    """Return the shipped lessons in teaching order, then the user's; an unreadable file has its name as title."""
    own = []
    for path in list_own_files():
        try:
            own.append((str(path), path.stat().st_mtime_ns))
        except OSError:
            continue
    return (*_list_shipped(), *_list_own(tuple(own)))


@lru_cache(maxsize=1)
def _list_shipped() -> tuple[Titled, ...]:
    names = [name for name in assets.names(FOLDER) if name.endswith(ENDING)]
    found = [(PurePosixPath(name).stem, _read_front(assets.read_text(name))) for name in names]
    found.sort(key=lambda each: (int(each[1].get("order", "1000000")), each[0]))
    return tuple(Titled(front.get("title", name), name) for name, front in found)


@lru_cache(maxsize=1)
def _list_own(files: tuple[tuple[str, int], ...]) -> tuple[Titled, ...]:
    """Return the lessons in files, each given with the time of its last change."""
    found = []
    for name, _ in files:
        try:
            found.append(Titled(_read_front(read_text(Path(name))).get("title") or Path(name).stem, name))
        except FileError:
            found.append(Titled(Path(name).stem, name))
    return tuple(found)


def _read_front(text: str) -> dict[str, str]:
    """Return the front matter of a lesson as plain texts by key."""
    pairs = (line.partition(":") for _, line in split(text, [])[0])
    return {key.strip(): value.strip().strip("\"'") for key, colon, value in pairs if colon}

"""The library of lessons: the shipped ones and those in the user's folder, found by name or by file.

Importing this file does not load torch, and :func:`count_steps`, which is called before a window is painted, does not
either.
"""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from attnlab.base import assets
from attnlab.base.errors import FileError
from attnlab.base.folders import config_folder
from attnlab.base.near_names import find_near
from attnlab.lessons.lesson import Lesson, Problem
from attnlab.lessons.sections import read_text, split

FOLDER, ENDING = "lessons", ".md"


def list_shipped() -> tuple[str, ...]:
    """Return the names of the shipped lessons, in teaching order."""
    return tuple(lesson.name for lesson in _read_shipped())


@lru_cache(maxsize=1)
def _read_shipped() -> tuple[Lesson, ...]:
    """Return the shipped lessons, which are read once."""
    lessons = map(_read_one, _list_files())
    return tuple(sorted(lessons, key=lambda lesson: (lesson.order or 1_000_000, lesson.name)))


def read_ahead() -> Iterator[None]:
    """Read one more of the shipped lessons with each step, so that the list of all is there at once when asked for."""
    for name in _list_files():
        _read_one(name)
        yield


def _list_files() -> list[str]:
    return [name for name in assets.names(FOLDER) if name.endswith(ENDING)]


@lru_cache
def _read_one(name: str) -> Lesson:
    from attnlab.lessons.parse import parse

    return parse(assets.read_text(name), PurePosixPath(name).stem)


def find_user_folder() -> Path:
    """Return the folder of the user's own lessons, next to the settings; it may not exist yet."""
    return config_folder() / FOLDER


def list_own_files() -> tuple[Path, ...]:
    """Return the files of the user's lessons, sorted; none if the folder does not exist or cannot be read."""
    try:
        return tuple(sorted(path for path in find_user_folder().iterdir() if path.suffix.lower() == ENDING))
    except OSError:
        return ()


def list_lessons() -> tuple[Lesson, ...]:
    """Return the shipped lessons in order, then the user's; an unreadable file gives a lesson with only a problem."""
    return (*_read_shipped(), *map(_read_own, list_own_files()))


def _read_own(path: Path) -> Lesson:
    from attnlab.lessons.parse import read

    try:
        return read(path)
    except FileError as error:
        return Lesson(path.stem, path.stem, (), path=path, problems=(Problem(1, str(error)),))


def find(name_or_path: str | os.PathLike[str]) -> Lesson:
    """Return the lesson in a file, or with a name: a shipped one, else one in the user's folder.

    Raises:
        FileError: it does not exist; the sentence suggests a similar name and lists the lessons.
    """
    from attnlab.lessons.parse import read

    place = locate(name_or_path)
    return (
        read(place) if isinstance(place, Path) else next(lesson for lesson in _read_shipped() if lesson.name == place)
    )


def locate(name_or_path: str | os.PathLike[str]) -> Path | str:
    """Return the file that :func:`find` reads, or the name of a shipped lesson.

    Raises:
        FileError: as :func:`find`, but not for a path to a missing or unreadable file, which is found when it is read.
    """
    name = os.fspath(name_or_path)
    if os.path.isfile(name) or name.endswith(ENDING) or Path(name).parent != Path("."):
        return Path(name)
    own = {path.stem: path for path in list_own_files()}
    names = [PurePosixPath(file).stem for file in assets.names(FOLDER) if file.endswith(ENDING)]
    if name in names:
        return name
    if name in own:
        return own[name]
    near = find_near(name, (*names, *own))
    hint = f"did you mean {near}? There" if near else "there"
    raise FileError(f"There is no lesson {name!r}; {hint} are {', '.join((*names, *own))}.")


def count_steps(name_or_path: str | os.PathLike[str]) -> int:
    """Return the number of steps of a lesson without parsing them; FileError as :func:`find`."""
    place = locate(name_or_path)
    text = read_text(place) if isinstance(place, Path) else assets.read_text(f"{FOLDER}/{place}{ENDING}")
    return len(split(text, [])[1])

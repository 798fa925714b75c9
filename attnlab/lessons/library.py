"""The shelf: the lessons that ship, and those in a person's own folder; found by name or by file.

Loading this file loads no torch, and :func:`steps_of` needs none: it is asked before a window is painted.
"""

import os
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path, PurePosixPath

from attnlab.base import assets
from attnlab.base.errors import FileError
from attnlab.base.folders import config_folder
from attnlab.lessons.lesson import Lesson, Problem
from attnlab.lessons.sections import cut, text_of

FOLDER, ENDING = "lessons", ".md"


def shipped() -> tuple[str, ...]:
    """Return the names of the lessons that ship, in the order in which they are taught."""
    return tuple(lesson.name for lesson in _shelf())


@lru_cache(maxsize=1)
def _shelf() -> tuple[Lesson, ...]:
    """Return the lessons that ship: they stay as they are while the program runs."""
    from attnlab.lessons.parse import parse

    files = [name for name in assets.names(FOLDER) if name.endswith(ENDING)]
    lessons = [parse(assets.read_text(name), PurePosixPath(name).stem) for name in files]
    return tuple(sorted(lessons, key=lambda lesson: (lesson.order or 1_000_000, lesson.name)))


def user_folder() -> Path:
    """Return where a person's own lessons lie, beside the settings; it need not exist yet."""
    return config_folder() / FOLDER


def own_files() -> tuple[Path, ...]:
    """Return the files of a person's own lessons, by name; none where the folder is not there or cannot be read."""
    try:
        return tuple(sorted(path for path in user_folder().iterdir() if path.suffix.lower() == ENDING))
    except OSError:
        return ()


def all_lessons() -> tuple[Lesson, ...]:
    """Return the lessons that ship, in order, then the person's own; one that cannot be read has a problem alone."""
    return (*_shelf(), *map(_own, own_files()))


def _own(path: Path) -> Lesson:
    from attnlab.lessons.parse import read

    try:
        return read(path)
    except FileError as error:
        return Lesson(path.stem, path.stem, (), path=path, problems=(Problem(1, str(error)),))


def find(name_or_path: str | os.PathLike[str]) -> Lesson:
    """Return the lesson of a file, or of a name: one that ships, else one in the person's folder.

    Raises:
        FileError: there is none; the sentence names the nearest and those that ship.
    """
    from attnlab.lessons.parse import read

    place = located(name_or_path)
    return read(place) if isinstance(place, Path) else next(lesson for lesson in _shelf() if lesson.name == place)


def located(name_or_path: str | os.PathLike[str]) -> Path | str:
    """Return the file that :func:`find` reads, or the name of a lesson that ships.

    Raises:
        FileError: as :func:`find`; whether a file is there and can be read only reading it tells.
    """
    name = os.fspath(name_or_path)
    if os.path.isfile(name) or name.endswith(ENDING) or Path(name).parent != Path("."):
        return Path(name)
    own = {path.stem: path for path in own_files()}
    names = [PurePosixPath(file).stem for file in assets.names(FOLDER) if file.endswith(ENDING)]
    if name in names:
        return name
    if name in own:
        return own[name]
    near = get_close_matches(name, (*names, *own), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}? There" if near else "there"
    raise FileError(f"There is no lesson {name!r}; {hint} are {', '.join((*names, *own))}.")


def steps_of(name_or_path: str | os.PathLike[str]) -> int:
    """Return how many steps a lesson has, without reading what is in them; FileError as :func:`find`."""
    place = located(name_or_path)
    text = text_of(place) if isinstance(place, Path) else assets.read_text(f"{FOLDER}/{place}{ENDING}")
    return len(cut(text, [])[1])

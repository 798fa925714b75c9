"""The shelf: the lessons that ship, and those in a person's own folder; found by name or by file."""

import os
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from attnlab import assets
from attnlab.errors import FileError
from attnlab.folders import config_folder
from attnlab.lessons.lesson import Lesson, Problem
from attnlab.lessons.parse import parse, read

FOLDER, ENDING = "lessons", ".md"


def shipped() -> tuple[str, ...]:
    """Return the names of the lessons that ship, in the order in which they are taught."""
    return tuple(lesson.name for lesson in _shelf())


@lru_cache(maxsize=1)
def _shelf() -> tuple[Lesson, ...]:
    """Return the lessons that ship: they stay as they are while the program runs."""
    files = [name for name in assets.names(FOLDER) if name.endswith(ENDING)]
    lessons = [parse(assets.read_text(name), Path(name).stem) for name in files]
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
    try:
        return read(path)
    except FileError as error:
        return Lesson(path.stem, path.stem, (), path=path, problems=(Problem(1, str(error)),))


def find(name_or_path: str | os.PathLike[str]) -> Lesson:
    """Return the lesson of a file, or of a name: one that ships, else one in the person's folder.

    Raises:
        FileError: there is none; the sentence names the nearest and those that ship.
    """
    name = os.fspath(name_or_path)
    if os.path.isfile(name) or name.endswith(ENDING) or Path(name).parent != Path("."):
        return read(name)
    for lesson in _shelf():
        if lesson.name == name:
            return lesson
    own = {path.stem: path for path in own_files()}
    if name in own:
        return read(own[name])
    names = (*shipped(), *own)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}? There" if near else "there"
    raise FileError(f"There is no lesson {name!r}; {hint} are {', '.join(names)}.")

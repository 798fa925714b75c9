"""Pictures in a lesson's text: files beside the lesson, each on a line of its own: ``![A clock](clock.png)``."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import AttnlabError
from attnlab.files.bounded import read_bytes
from attnlab.lessons.placeholders import Wrong

if TYPE_CHECKING:
    from attnlab.lessons.lesson import Lesson

LIMIT = 4 << 20
"""The maximum size of a picture in bytes."""
ENDINGS = (".png", ".jpg", ".jpeg")
MOST = 4
"""The maximum number of pictures in a text."""
_CODE = re.compile(r"`[^`\n]*`")
_LINE = re.compile(r"!\[([^\[\]\n]{0,200})\]\(([^()\s]{1,200})\)")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's file as bytes, and the words that stand for it."""

    data: bytes
    alt: str


def split_pictures(text: str) -> tuple[str, list[tuple[int, str, str]]]:
    """Return a text without its pictures, and each picture's line from 0, words and file name. Code is left alone."""
    found: list[tuple[int, str, str]] = []
    kept: list[str] = []
    code = False
    for number, line in enumerate(text.split("\n")):
        code ^= line.lstrip().startswith("```")
        picture = None if code else _LINE.fullmatch(line.strip())
        if picture is None:
            kept.append(line)
        else:
            kept.append("")
            found.append((number, picture[1], picture[2]))
    return "\n".join(kept), found


def read_pictures(lesson: "Lesson", text: str) -> tuple[Picture, ...]:
    """Return the pictures of a text; those that cannot be read are left out, as :func:`find_wrong` reports."""
    made = []
    for _, alt, name in split_pictures(text)[1][:MOST]:
        try:
            made.append(Picture(_read(lesson, name), alt))
        except AttnlabError:
            continue
    return tuple(made)


def find_wrong(lesson: "Lesson", text: str) -> list[Wrong]:
    """Return a sentence for each picture that cannot be shown, with its line in the text."""
    wrong = []
    for index, (line, _, name) in enumerate(split_pictures(text)[1]):
        if index >= MOST:
            wrong.append(Wrong(line, f"This is picture {index + 1} of a step; the maximum is {MOST}."))
            continue
        try:
            _read(lesson, name)
        except AttnlabError as error:
            wrong.append(Wrong(line, str(error)))
    return wrong + _find_within_lines(text)


def _find_within_lines(text: str) -> list[Wrong]:
    """Return a sentence for each picture within a line of text, which is not shown."""
    wrong, code = [], False
    for number, line in enumerate(split_pictures(text)[0].split("\n")):
        code ^= line.lstrip().startswith("```")
        names = [] if code else [found[2] for found in _LINE.finditer(_CODE.sub("", line))]
        wrong += [Wrong(number, f"The picture {name} is within a line; put it on a line of its own.") for name in names]
    return wrong


def list_names(text: str) -> list[str]:
    """Return the names of the files beside the lesson that a text shows."""
    return [name for _, _, name in split_pictures(text)[1] if _is_plain(name)]


def _is_plain(name: str) -> bool:
    return not any(mark in name for mark in "/\\:") and name.lower().endswith(ENDINGS) and not name.startswith(".")


def _read(lesson: "Lesson", name: str) -> bytes:
    if not _is_plain(name):
        raise AttnlabError(f"The picture {name} must be the name of a PNG or JPEG file beside the lesson: clock.png.")
    if lesson.path is None:
        raise AttnlabError(f"The picture {name} must be in the lesson’s folder; save the lesson first.")
    path = lesson.path.parent / name
    try:
        known = path.stat()
    except OSError:
        raise AttnlabError(f"There is no picture {name} beside the lesson.") from None
    return _read_file(path, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=16)
def _read_file(path: Path, _changed_ns: int, _size: int) -> bytes:
    return read_bytes(path, LIMIT, "a picture")

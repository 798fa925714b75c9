"""One command for many sources: which there are, where the result of each goes, progress, and what goes wrong."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attnlab.command_line import MisuseError, check_folder
from attnlab.console import OK, OWN_FAILURE, TO_MEND, guarded, write
from attnlab.errors import AttnlabError
from attnlab.files.atomic import shown, unwritable
from attnlab.files.source import PREFIX, Source, found, is_several, parse_source

WriteOne = Callable[[Source, Path, str], None]

NAME, FOLDER = "{name}", "{folder}"
OUTPUT_HELP = f"a file; of several sources a folder, or a name with {NAME} in it ({FOLDER}: the folder it lies in)"


@dataclass(frozen=True, slots=True)
class Output:
    """Where results go: ``text`` is a path, in which {name} and {folder} stand for those of a source."""

    text: str
    ending: str

    def path(self, source: Source) -> Path:
        """Return where the result of one source goes."""
        folder = source.path.absolute().parent.name if source.path is not None else "preset"
        name = source.path.stem if source.path is not None else source.preset or ""
        return Path(self.text.replace(FOLDER, folder).replace(NAME, name))


def many(texts: Sequence[str]) -> bool:
    """Whether a command line names several sources, or may do so."""
    return len(texts) > 1 or is_several(texts[0])


def output(text: str, texts: Sequence[str], endings: Sequence[str], ending: str | None, usual: str) -> Output:
    """Return where results go, and as what: ``ending`` where it is asked for, else that of the text, else the usual.

    Raises:
        AttnlabError: a name that ends in nothing that can be written, or one file for several sources.
    """
    end = os.path.splitext(text)[1].lower()
    if NAME not in text and FOLDER not in text:
        folder = os.path.isdir(text) or text.endswith(("/", os.sep)) or (many(texts) and not end)
        if folder and end not in endings:
            return Output(os.path.join(text, f"{NAME}{ending or usual}"), ending or usual)
        if many(texts):
            raise MisuseError(
                f"Several sources cannot all be {text}; -o needs a folder, or {NAME}{end} for their names."
            )
    if ending is None and end not in endings:
        raise AttnlabError(f"{text} ends in nothing that can be written; there are {', '.join(endings)}.")
    return Output(text, ending or end)


def write_each(texts: Sequence[str], out: Output, write_one: WriteOne) -> int:
    """Write one file for each source and return the exit code; one that fails is a line, and the others go on.

    ``write_one`` is given the source, the file and what a message about it begins with. A name that two sources share
    is written once; the second is refused.
    """
    if not many(texts):
        source = parse_source(texts[0])
        write_one(source, _ready(out, source), "")
        return OK
    sources, codes = _sources(texts)
    taken: dict[str, str] = {}
    with _progress(len(sources)) as tell:
        for place, (name, source) in enumerate(sources.items()):
            tell(place, name)
            codes.append(guarded(partial(_write, name, source, out, taken, write_one), name, before=tell.clear))
    return next((code for code in (OWN_FAILURE, TO_MEND) if code in codes), OK)


def _sources(texts: Sequence[str]) -> tuple[dict[str, Source], list[int]]:
    """Return the sources by their names, each once, and the exit codes of what names none."""
    sources: dict[str, Source] = {}
    seen, codes = set(), [OK]

    def add(text: str) -> int:
        for source in found(text):
            key = source.preset if source.path is None else os.path.realpath(source.path)
            if (source.path is None, key) not in seen:
                seen.add((source.path is None, key))
                sources[shown(source.path) if source.path is not None else f"{PREFIX}{source.preset}"] = source
        return OK

    codes += [guarded(partial(add, text)) for text in texts]
    return sources, codes


def _write(name: str, source: Source, out: Output, taken: dict[str, str], write_one: WriteOne) -> int:
    path = out.path(source)
    key = str(path) if sys.platform.startswith("linux") else str(path).casefold()
    if key in taken:
        raise AttnlabError(f"{name} is not written: {shown(path)} is that of {taken[key]}; {FOLDER} in -o parts them.")
    taken[key] = name
    write_one(source, _ready(out, source), f"{name}: ")
    return OK


def _ready(out: Output, source: Source) -> Path:
    """Return where the result of a source goes, with its folder made where that has the name of a source in it."""
    path = out.path(source)
    if str(path) != str(Path(out.text)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error) from None
    check_folder(path)
    return path


class _Progress:
    """A line on a terminal that says how far it is; elsewhere nothing."""

    def __init__(self, total: int) -> None:
        self._total, self._width = total, 0
        self._on = sys.stderr.isatty() and total > 1

    def __call__(self, done: int, name: str) -> None:
        if self._on:
            room = shutil.get_terminal_size().columns - 1
            text = f"{done + 1} of {self._total}  {name}"
            self._show(text if len(text) <= room else f"{text[: room - 1]}…")

    def clear(self) -> None:
        """Leave an empty line for what is said next."""
        if self._width:
            self._show("")
            write(sys.stderr, "\r")

    def _show(self, text: str) -> None:
        write(sys.stderr, f"\r{text:{self._width}}")
        sys.stderr.flush()
        self._width = len(text)


@contextmanager
def _progress(total: int) -> Iterator[_Progress]:
    progress = _Progress(total)
    try:
        yield progress
    finally:
        progress.clear()

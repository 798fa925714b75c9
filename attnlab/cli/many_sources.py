"""Runs a command on several sources: finds them, names the output files, shows progress and reports failures."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attnlab.base.console import INTERNAL_ERROR, OK, USER_ERROR, run_guarded, warn, write
from attnlab.base.errors import AttnlabError
from attnlab.base.printable import escape
from attnlab.cli.command_line import MisuseError, check_folder, check_not_read
from attnlab.files.atomic import format_name, make_write_error
from attnlab.files.source import PREFIX, Source, find_sources, is_several, parse_source

WriteOne = Callable[[Source, Path], list[str]]
"""Writes the result of a source to a file, and returns warnings about it."""

NAME, FOLDER = "{name}", "{folder}"
OUTPUT_HELP = f"a file; for several sources a folder, or a path with {NAME} in it ({FOLDER}: the folder of the source)"


@dataclass(frozen=True, slots=True)
class Output:
    """The path of the results; {name} and {folder} in ``text`` stand for the name and folder of a source."""

    text: str
    ending: str

    def path(self, source: Source) -> Path:
        """Return the path for the result of one source."""
        folder = source.path.absolute().parent.name if source.path is not None else "preset"
        name = source.path.stem if source.path is not None else source.preset or ""
        return Path(self.text.replace(FOLDER, folder).replace(NAME, name))


def has_several(texts: Sequence[str]) -> bool:
    """Tell whether a command line names several sources, or may do so."""
    return len(texts) > 1 or is_several(texts[0])


def parse_output(text: str, texts: Sequence[str], endings: Sequence[str], ending: str | None, usual: str) -> Output:
    """Return the path and format of results: ``ending`` if given, else the extension of the text, else ``usual``.

    Raises:
        AttnlabError: an extension that cannot be written, or one file for several sources.
    """
    end = os.path.splitext(text)[1].lower()
    if NAME not in text and FOLDER not in text:
        folder = os.path.isdir(text) or text.endswith(("/", os.sep)) or (has_several(texts) and not end)
        if folder and end not in endings:
            return Output(os.path.join(text, f"{NAME}{ending or usual}"), ending or usual)
        if has_several(texts):
            raise MisuseError(
                f"Several sources cannot all be written to {text}; give -o a folder, or a path with {NAME}{end}."
            )
    if ending is None and end not in endings:
        raise AttnlabError(f"{text} has no extension that attnlab can write; choose one of {', '.join(endings)}.")
    return Output(text, ending or end)


def write_each(texts: Sequence[str], out: Output, write_one: WriteOne) -> int:
    """Write one file for each source and return the exit code; after a failure the others continue.

    If two sources share a name, only the first is written.
    """
    if not has_several(texts):
        source = parse_source(texts[0])
        _print_warnings(write_one(source, _prepare_path(out, source)))
        return OK
    sources, codes = _find_sources(texts)
    taken: dict[str, str] = {}

    def one(name: str, source: Source) -> int:
        path = _check_unused(name, out.path(source), taken)
        said = write_one(source, _prepare_path(out, source))
        if said:
            progress.clear()
            _print_warnings(said, f"{name}: ")
        taken[_key(path)] = name
        return OK

    with _progress(len(sources)) as progress:
        for place, (name, source) in enumerate(sources):
            progress.show(place, name)
            codes.append(run_guarded(partial(one, name, source), name, before=progress.clear))
    return next((code for code in (INTERNAL_ERROR, USER_ERROR) if code in codes), OK)


def _print_warnings(said: list[str], whose: str = "") -> None:
    for sentence in said:
        warn(f"attnlab: {whose}{sentence}")


def _find_sources(texts: Sequence[str]) -> tuple[list[tuple[str, Source]], list[int]]:
    """Return the sources with their names, without duplicates, and the exit codes of texts that name no source."""
    sources: dict[tuple[bool, str], tuple[str, Source]] = {}

    def add(text: str) -> int:
        for source in find_sources(text):
            if source.path is None:
                sources.setdefault((True, source.preset or ""), (f"{PREFIX}{source.preset}", source))
            else:
                sources.setdefault((False, os.path.realpath(source.path)), (format_name(source.path), source))
        return OK

    codes = [run_guarded(partial(add, text)) for text in texts]
    return list(sources.values()), codes


def _key(path: Path) -> str:
    """Return a key that is equal for paths of the same file; only Linux distinguishes capitals."""
    return str(path) if sys.platform.startswith("linux") else str(path).casefold()


def _check_unused(name: str, path: Path, taken: dict[str, str]) -> Path:
    if _key(path) in taken:
        other = taken[_key(path)]
        raise AttnlabError(f"{name} was not written: {format_name(path)} belongs to {other}; add {FOLDER} to -o.")
    return path


def _prepare_path(out: Output, source: Source) -> Path:
    """Return the path for the result of a source; create its folder if the path contains the source's name."""
    path = out.path(source)
    if str(path) != str(Path(out.text)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise make_write_error(path, error) from None
    check_folder(path)
    if source.path is not None:
        check_not_read(path, source.path)
    return path


class _Progress:
    """A progress line on a terminal; nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self._total, self._width = total, 0
        self._on = sys.stderr.isatty() and total > 1

    def show(self, done: int, name: str) -> None:
        """Show the source in progress."""
        if self._on:
            room = shutil.get_terminal_size().columns - 1
            text = escape(f"{done + 1} of {self._total}  {name}")
            self._write(text if len(text) <= room else f"{text[: room - 1]}…")

    def clear(self) -> None:
        """Clear the line for the next message."""
        if self._width:
            self._write("")
            write(sys.stderr, "\r")

    def _write(self, text: str) -> None:
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

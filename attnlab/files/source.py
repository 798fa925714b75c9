"""Sources of experiments: session files and ``preset:NAME``. This module does not import torch."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import FileError
from attnlab.base.formats import WEIGHTS
from attnlab.files.atomic import describe_missing, format_name

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

PREFIX = "preset:"
SESSION = ".attnlab"
"""The ending of session files."""

MODEL_CONFIG = "config.json"
"""The file that marks a folder as a model."""
RUN = "run.json"
"""The file that marks a folder as a training run."""


@dataclass(frozen=True, slots=True)
class Source:
    """A session file or the name of a preset: exactly one of the two."""

    path: Path | None = None
    preset: str | None = None


def parse_source(text: str) -> Source:
    """Return the source that a text names: ``preset:NAME``, otherwise the path of a session file.

    Raises:
        FileError: the text is empty.
    """
    if not text:
        raise FileError(f"The name of the source is empty; give a file, or {PREFIX}NAME.")
    if text.startswith(PREFIX):
        return Source(preset=text.removeprefix(PREFIX))
    return Source(path=Path(text))


def run_folder(path: str | os.PathLike[str]) -> Path | None:
    """Return the folder of a run, given the folder or its ``run.json``; None if the path is not a run."""
    folder = Path(path).parent if Path(path).name == RUN else Path(path)
    return folder if os.path.isfile(folder / RUN) else None


def model_folder(path: str | os.PathLike[str]) -> Path | None:
    """Return the folder of a model as the transformers library saves it; None if the path is none."""
    return Path(path) if os.path.isfile(Path(path) / MODEL_CONFIG) else None


def is_weights(path: Path) -> bool:
    """Return whether the name of a file is one of weights: also JSON, except the settings of a run or a model."""
    ending = path.suffix.lower()
    return ending in WEIGHTS or (ending == ".json" and path.name not in (RUN, MODEL_CONFIG))


def is_several(text: str) -> bool:
    """Return whether a text may name any number of sources: a folder, or a pattern such as ``runs/*.attnlab``.

    The folder of a model or a run is one source, which cannot be loaded, unless sessions have been saved in it.
    """
    if text.startswith(PREFIX):
        return glob.has_magic(text)
    if os.path.isdir(text):
        return _describe_other(Path(text)) is None or bool(_files(text))
    return glob.has_magic(text) and not os.path.lexists(text)


def find_sources(text: str) -> tuple[Source, ...]:
    """Return the sources that a text names, in order: one source, the sessions in a folder, or matches of a pattern.

    ``**`` in a pattern matches nested folders; a pattern without a file ending matches session files.

    Raises:
        AttnlabError: the text is a folder or pattern without any source.
    """
    if not is_several(text):
        return (parse_source(text),)
    if text.startswith(PREFIX):
        sources = _presets(text.removeprefix(PREFIX))
    else:
        sources = tuple(Source(Path(path)) for path in _files(text))
    if not sources:
        raise FileError(_describe_missing(text))
    return sources


def _presets(pattern: str) -> tuple[Source, ...]:
    from fnmatch import fnmatchcase

    from attnlab.attention.examples.presets import presets

    return tuple(Source(preset=name) for name in presets() if fnmatchcase(name, pattern.lower()))


def _files(text: str) -> list[str]:
    pattern = os.path.join(glob.escape(text), "*") if os.path.isdir(text) else text
    ending = os.path.splitext(pattern)[1] or SESSION
    paths = {path for path in _find_matches(pattern) if not os.path.isdir(path)}
    return sorted(path for path in paths if ending != SESSION or path.lower().endswith(SESSION))


def _find_matches(pattern: str) -> Iterator[str]:
    """Yield the paths that match; unlike glob, this ends if links form a circle."""
    parts = Path(pattern).parts
    if "**" not in parts:
        yield from glob.iglob(pattern)
        return
    at = parts.index("**")
    for top in glob.iglob(str(Path(*parts[:at]))) if at else (os.curdir,):
        for folder in _folders(top):
            yield from _find_matches(os.path.join(glob.escape(folder), *(parts[at + 1 :] or "*")))


def _folders(top: str) -> Iterator[str]:
    """Yield a folder and all folders in it that are not hidden, each once."""
    seen = {os.path.realpath(top)}
    for folder, inside, _ in os.walk(top, followlinks=True):
        yield folder
        real = {name: os.path.realpath(os.path.join(folder, name)) for name in inside if not name.startswith(".")}
        inside[:] = [name for name, place in real.items() if place not in seen]
        seen.update(real.values())


def _describe_missing(text: str) -> str:
    if os.path.isdir(text):
        deeper = os.path.join(text, "**", f"*{SESSION}")
        return f"There is no session ({SESSION}) in the folder {text}; '{deeper}' also searches its subfolders."
    if text.startswith(PREFIX):
        return f"No preset matches {text!r}; attnlab presets lists them."
    return f"No file matches {text!r}."


def _describe_other(path: Path) -> str | None:
    """Return a sentence on the folder of a model or a run, which is no session; None for any other path."""
    if not os.path.isdir(path):
        return None
    if model_folder(path) is not None:
        use = "attnlab model FOLDER TEXT shows its attention, and writes a figure with -o"
        return f"{format_name(path)} holds a model, not a session; {use}."
    if run_folder(path) is not None:
        return f"{format_name(path)} holds a training run, not a session; attnlab FOLDER opens it."
    return None


def check_source(source: Source) -> None:
    """Check without torch that a session file exists; a preset is checked only when it is loaded.

    Raises:
        FileError: there is no such file.
    """
    if source.path is not None and not os.path.exists(source.path):
        raise FileError(f"{describe_missing(source.path)}; for a preset, write {PREFIX}NAME.")


def load_source(source: Source | str) -> "tuple[Experiment, str, str]":
    """Return the experiment, its title, and the name of the preset that it is based on ("" for none).

    Raises:
        AttnlabError: there is no such preset or file, or the file cannot be read.
    """
    source = parse_source(source) if isinstance(source, str) else source
    if source.preset is not None:
        from attnlab.attention.examples.presets import find_preset

        found = find_preset(source.preset)
        return found.make(), found.title, found.name
    assert source.path is not None
    check_source(source)
    from attnlab.files.sessions.session_file import load_scene

    try:
        experiment, view = load_scene(source.path)
    except FileError:
        if (other := _describe_other(source.path)) is not None:
            raise FileError(other) from None
        if not (is_weights(source.path) and source.path.is_file()):
            raise
        raise FileError(
            f"{format_name(source.path)} is not an attnlab session, which ends in {SESSION}; if it holds weights, "
            "import them with attnlab FILE and save a session."
        ) from None
    title, name = view.get("title"), view.get("preset")
    return experiment, title if isinstance(title, str) else source.path.stem, name if isinstance(name, str) else ""

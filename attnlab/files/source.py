"""Where an experiment comes from: a session file, or ``preset:NAME``. Loading this file loads no torch."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.errors import FileError

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

PREFIX = "preset:"


@dataclass(frozen=True, slots=True)
class Source:
    """A session file or the name of a preset: exactly one of the two."""

    path: Path | None = None
    preset: str | None = None


def parse_source(text: str) -> Source:
    """Return what a text names: ``preset:NAME``, else the path of a session file."""
    if text.startswith(PREFIX):
        return Source(preset=text.removeprefix(PREFIX))
    return Source(path=Path(text))


def check_source(source: Source) -> None:
    """Check without torch that a session file is there; whether a preset exists only loading it tells.

    Raises:
        FileError: there is no such file.
    """
    if source.path is not None and not os.path.exists(source.path):
        raise FileError(f"There is no file {source.path}; presets are written {PREFIX}NAME.")


def load_source(source: Source | str) -> "tuple[Experiment, str, str]":
    """Return the experiment, its title, and the name of the preset it began as ("" for none).

    Raises:
        AttnlabError: there is no such preset or file, or the file cannot be read.
    """
    source = parse_source(source) if isinstance(source, str) else source
    if source.preset is not None:
        from attnlab.attention.presets import PRESETS, preset

        return preset(source.preset), PRESETS[source.preset].title, source.preset
    assert source.path is not None
    check_source(source)
    from attnlab.files.session import load_scene

    experiment, view = load_scene(source.path)
    title, name = view.get("title"), view.get("preset")
    return experiment, title if isinstance(title, str) else source.path.stem, name if isinstance(name, str) else ""

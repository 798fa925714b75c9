"""What SOURCE may be on the command line."""

from pathlib import Path

import pytest
import torch

import attnlab
from attnlab.errors import FileError, UnknownPresetError
from attnlab.files.session import save_scene
from attnlab.files.source import Source, load_source, parse_source


def test_a_preset_is_named_with_a_prefix_and_all_else_is_a_path() -> None:
    assert parse_source("preset:journey") == Source(preset="journey")
    assert parse_source("some/where.attnlab") == Source(path=Path("some/where.attnlab"))


def test_a_preset_brings_its_title_and_its_name() -> None:
    experiment, title, name = load_source("preset:the-cat-sat")
    assert experiment.tokens == ("The", "cat", "sat")
    assert (title, name) == ("The cat sat", "the-cat-sat")


def test_a_session_is_called_as_it_was_saved_else_as_its_file(tmp_path: Path) -> None:
    e = attnlab.preset("journey")
    attnlab.save(e, tmp_path / "monday.attnlab")
    experiment, title, name = load_source(str(tmp_path / "monday.attnlab"))
    assert torch.equal(experiment.embeddings, e.embeddings)
    assert (title, name) == ("monday", "")
    save_scene(e, tmp_path / "monday.attnlab", {"title": "For Monday", "preset": "journey"})
    assert load_source(Source(path=tmp_path / "monday.attnlab"))[1:] == ("For Monday", "journey")


def test_what_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownPresetError, match=r"^There is no preset 'nope'; there are journey, "):
        load_source("preset:nope")
    with pytest.raises(FileError, match=r"There is no file nope\.attnlab"):
        load_source("nope.attnlab")

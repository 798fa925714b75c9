"""The forms of SOURCE on the command line."""

from pathlib import Path

import pytest
import torch

import attnlab
from attnlab.attention.examples.presets import PRESETS
from attnlab.base.errors import FileError, UnknownPresetError
from attnlab.files.sessions.session_file import save_scene
from attnlab.files.source import Source, find_sources, is_several, load_source, parse_source


def test_a_source_with_a_prefix_is_a_preset_and_any_other_a_path() -> None:
    assert parse_source("preset:journey") == Source(preset="journey")
    assert parse_source("some/where.attnlab") == Source(path=Path("some/where.attnlab"))


def test_a_preset_source_has_title_and_name() -> None:
    experiment, title, name = load_source("preset:the-cat-sat")
    assert experiment.tokens == ("The", "cat", "sat")
    assert (title, name) == ("The cat sat", "the-cat-sat")


def test_a_session_is_named_by_its_title_or_its_file(tmp_path: Path) -> None:
    e = attnlab.preset("journey")
    attnlab.save(e, tmp_path / "monday.attnlab")
    experiment, title, name = load_source(str(tmp_path / "monday.attnlab"))
    assert torch.equal(experiment.embeddings, e.embeddings)
    assert (title, name) == ("monday", "")
    save_scene(e, tmp_path / "monday.attnlab", {"title": "For Monday", "preset": "journey"})
    assert load_source(Source(path=tmp_path / "monday.attnlab"))[1:] == ("For Monday", "journey")


def names(text: str) -> list[str]:
    return [str(source.path or source.preset) for source in find_sources(text)]


def test_a_folder_stands_for_its_sessions_in_order(tmp_path: Path) -> None:
    for name in ("b.attnlab", "a.ATTNLAB", "._a.attnlab", "a.txt"):  # the third is what a Mac leaves on foreign disks
        (tmp_path / name).touch()
    (tmp_path / "deeper.attnlab").mkdir()
    (tmp_path / "deeper.attnlab" / "c.attnlab").touch()
    assert is_several(str(tmp_path))
    assert names(str(tmp_path)) == [str(tmp_path / name) for name in ("a.ATTNLAB", "b.attnlab")]
    assert len(names(f"{tmp_path}/**")) == 3
    assert names(f"{tmp_path}/*.txt") == [str(tmp_path / "a.txt")]


def test_a_folder_whose_name_looks_like_a_pattern_is_found(tmp_path: Path) -> None:
    (tmp_path / "[ab]").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "[ab]" / "x.attnlab").touch()
    (tmp_path / "a" / "y.attnlab").touch()
    assert names(str(tmp_path / "[ab]")) == [str(tmp_path / "[ab]" / "x.attnlab")]


def test_a_plain_name_is_one_source_even_if_it_does_not_exist() -> None:
    assert not is_several("nope.attnlab")
    assert names("nope.attnlab") == ["nope.attnlab"]
    assert names("preset:journey") == ["journey"]


def test_a_pattern_stands_for_the_matching_presets() -> None:
    assert names("preset:journey*") == [name for name in attnlab.presets() if name.startswith("journey")]


def test_preset_names_ignore_case_and_separators() -> None:
    experiment, title, name = load_source("preset:The-Cat-Sat")
    assert (title, name) == (PRESETS["the-cat-sat"].title, "the-cat-sat")
    assert experiment.tokens == attnlab.preset("THE-CAT-SAT").tokens
    assert names("preset:Journey*") == names("preset:journey*")


def test_a_pattern_without_a_match_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(
        FileError, match=r"There is no session \(\.attnlab\) in the folder .* also searches its subfolders"
    ):
        find_sources(str(tmp_path))
    with pytest.raises(FileError, match=r"No file matches '.*x\*'\."):
        find_sources(str(tmp_path / "x*"))
    with pytest.raises(FileError, match=r"No preset matches 'preset:x\*'; attnlab presets lists them\."):
        find_sources("preset:x*")


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("config.json", "a model, not a session; attnlab model FOLDER TEXT shows its attention"),
        ("run.json", "a training run, not a session; attnlab FOLDER opens it"),
    ],
)
def test_the_folder_of_a_model_or_a_run_is_no_folder_of_sessions(tmp_path: Path, file: str, what: str) -> None:
    (tmp_path / file).write_text("{}")
    assert not is_several(str(tmp_path))
    with pytest.raises(FileError, match=f"holds {what}"):
        load_source(str(tmp_path))
    (tmp_path / "layer.attnlab").touch()
    assert is_several(str(tmp_path))
    assert names(str(tmp_path)) == [str(tmp_path / "layer.attnlab")]


def test_a_missing_source_is_named() -> None:
    with pytest.raises(
        UnknownPresetError, match=r"^There is no preset 'nope'; journey is one; attnlab presets lists all"
    ):
        load_source("preset:nope")
    with pytest.raises(FileError, match=r"There is no file nope\.attnlab"):
        load_source("nope.attnlab")


def test_circular_links_are_followed_once(tmp_path: Path) -> None:
    inner = tmp_path / "runs" / "one"
    inner.mkdir(parents=True)
    (inner / "a.attnlab").touch()
    (tmp_path / "runs" / ".hidden").mkdir()
    (tmp_path / "runs" / ".hidden" / "b.attnlab").touch()
    for number in range(8):
        (inner / f"back{number}").symlink_to(tmp_path / "runs", target_is_directory=True)
    for pattern in ("runs/**/*.attnlab", "runs/**", "**/one/*", "**/**/a.*b"):
        assert find_sources(str(tmp_path / pattern)) == (Source(inner / "a.attnlab"),)

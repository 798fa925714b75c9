"""Where models are found: folders, files in them, and the local Hugging Face cache by name."""

import shutil
from pathlib import Path

import pytest

from attnlab.base.errors import FileError
from attnlab.pretrained.find_model import cache_folder, list_cached
from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make


@pytest.fixture
def cache(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache with two snapshots of one model, of which "main" is the older, and another without weights."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    there = tmp_path / "models--lab--small-gpt"
    for name, model in (("1111", "gpt2"), ("2222", "bert")):
        shutil.copytree(make(model)[1], there / "snapshots" / name)
    (there / "refs").mkdir()
    (there / "refs" / "main").write_text("1111")
    (tmp_path / "models--other" / "snapshots" / "3333").mkdir(parents=True)
    return tmp_path


def test_a_name_finds_the_snapshot_that_main_refers_to(cache: Path) -> None:
    assert list_cached() == ("lab/small-gpt",)
    model = read_model("lab/small-gpt")
    assert (model.name, model.family) == ("lab/small-gpt", "gpt2")
    assert read_model("small-gpt").name == "lab/small-gpt"


@pytest.mark.parametrize("reference", [None, "4444", "../../..", "", "\xff"])
def test_without_a_valid_reference_the_newest_snapshot_counts(cache: Path, reference: str | None) -> None:
    main = cache / "models--lab--small-gpt" / "refs" / "main"
    main.unlink()
    if reference is not None:
        main.write_text(reference)
    assert read_model("lab/small-gpt").family in ("gpt2", "bert")


def test_a_file_stands_for_its_folder(make: Make) -> None:
    folder = make("bert")[1]
    assert read_model(folder / "config.json").name == folder.name
    assert read_model(str(folder / "model.safetensors")).family == "bert"


def test_a_name_that_is_not_there_says_how_to_fetch_it(cache: Path) -> None:
    with pytest.raises(FileError) as raised:
        read_model("openai-community/gpt2")
    assert str(raised.value) == (
        "There is no folder openai-community/gpt2, and the Hugging Face cache has no model of that name. "
        "If it is there, this fetches it: hf download openai-community/gpt2"
    )


@pytest.mark.parametrize("path", ["/nowhere/at/all", "a name with spaces", ""])
def test_a_folder_that_is_not_there(path: str) -> None:
    with pytest.raises(FileError):
        read_model(path)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"HF_HUB_CACHE": "/a"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/b"}, "/b"),
        ({"HF_HOME": "/c"}, "/c/hub"),
        ({"XDG_CACHE_HOME": "/d"}, "/d/huggingface/hub"),
    ],
)
def test_the_cache_is_where_the_variables_say(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)

"""Models in several files: folders and indexes open their parts, or say what to open."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from attnlab.base.errors import FileError
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.files.weights.several_files import MOST_FILES, list_parts, list_weights
from attnlab.files.weights.weights_source import files_source

PARTS = [f"model-{part:05}-of-00002.safetensors" for part in (1, 2)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in two parts with their index, saved a second time as .bin."""
    for name, part in zip("qk", PARTS, strict=True):
        save_file({f"{name}_proj.weight": torch.ones(4, 4)}, tmp_path / part)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {}}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"not read")
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


def test_a_folder_and_an_index_stand_for_the_parts_of_their_model(folder: Path) -> None:
    for path in (folder, folder / "model.safetensors.index.json"):
        source = files_source([path])
        assert set(source.arrays) == {"q_proj.weight", "k_proj.weight"}
        assert source.name == path.name
        assert source.arrays["k_proj.weight"].tensor().sum() == 16


def test_scripts_are_told_which_files_to_open(folder: Path) -> None:
    with pytest.raises(FileError) as refused:
        read_arrays(folder)
    ending = f" is a folder; open the files in it, all at once if they are parts of one model: {', '.join(PARTS)}."
    assert str(refused.value) == f"{folder}{ending}"
    with pytest.raises(FileError) as refused:
        read_arrays(folder / "model.safetensors.index.json")
    said = "model.safetensors.index.json only lists the parts of a model; open these, all at once: "
    assert str(refused.value) == f"{said}{', '.join(PARTS)}."


def test_one_file_is_named_and_many_are_shortened(tmp_path: Path) -> None:
    (tmp_path / "a.npy").touch()
    with pytest.raises(FileError, match=r"is a folder; open a\.npy in it\."):
        read_arrays(tmp_path)
    for letter in "bcdef":
        (tmp_path / f"{letter}.npy").touch()
    with pytest.raises(FileError, match=r"one model: a\.npy, b\.npy, c\.npy, …, f\.npy\."):
        read_arrays(tmp_path)


def test_folders_without_weights_and_indexes_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder without weights; their names end in"):
        files_source([tmp_path])
    alone = tmp_path / "model.safetensors.index.json"
    alone.touch()
    with pytest.raises(FileError, match="none of them is beside it; put them into its folder"):
        files_source([alone])


def test_a_folder_of_very_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}.npy").touch()
    with pytest.raises(FileError, match=f"has {MOST_FILES + 1} files of weights; open at most {MOST_FILES}"):
        list_parts(tmp_path)


def test_what_is_no_folder_has_no_files(tmp_path: Path) -> None:
    assert list_weights(tmp_path / "missing") == ()
    assert list_weights(tmp_path / "a\0b") == ()
    assert list_parts(tmp_path / "missing.npy") == (tmp_path / "missing.npy",)

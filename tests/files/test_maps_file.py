"""Files of attention maps: what is written is read again, and anything else is refused in one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

import attnlab
from attnlab.base.errors import FileError
from attnlab.figures.array_maps import take_maps
from attnlab.files.maps_file import WRITTEN, read_maps, write_maps
from attnlab.pretrained.captured import Capture, CapturedLayer
from attnlab.pretrained.opened_maps import open_maps

WORDS = ("the", "", "ü \ud800", "4")
MAPS = np.random.default_rng(2).normal(size=(2, 3, 4, 4))


@pytest.mark.parametrize("ending", [*WRITTEN, ".NPZ"])
@pytest.mark.parametrize("maps", [MAPS, MAPS[0].astype(np.float32), MAPS[0, 0, :, :3]], ids=lambda x: str(x.shape))
def test_maps_are_read_as_they_were_written(maps: np.ndarray, ending: str, tmp_path: Path) -> None:
    maps = maps.copy()
    maps[..., 0, 0], maps[..., 0, 1] = np.nan, -np.inf
    keys = WORDS[: maps.shape[-1]]
    write_maps(tmp_path / f"a{ending}", maps, WORDS, keys)
    read, words = read_maps(tmp_path / f"a{ending}")
    np.testing.assert_array_equal(read.numpy(), maps)
    assert read.numpy().dtype == maps.dtype
    assert words == (WORDS, keys)


def test_numpy_and_safetensors_read_the_files(tmp_path: Path) -> None:
    write_maps(tmp_path / "a.npz", MAPS, WORDS, WORDS)
    with np.load(tmp_path / "a.npz") as archive:
        np.testing.assert_array_equal(archive["maps"], MAPS)
        assert tuple(archive["query_tokens"]) == WORDS


@pytest.mark.parametrize("name", ["weights", "maps"])
def test_an_array_of_another_program_has_no_tokens(name: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{name: MAPS, "step": np.array(3)})
    np.save(tmp_path / "a.npy", MAPS)
    torch_file = tmp_path / "a.safetensors"
    save_file({name: MAPS.astype(np.float16)}, torch_file)
    for path in (tmp_path / "a.npz", tmp_path / "a.npy", torch_file):
        maps, words = read_maps(path)
        assert (tuple(maps.shape), words) == ((2, 3, 4, 4), None)
        assert take_maps(*open_maps(path, None)).query_tokens == ("0", "1", "2", "3")


def test_given_tokens_replace_those_of_the_file(tmp_path: Path) -> None:
    write_maps(tmp_path / "a.npz", MAPS, WORDS, WORDS)
    assert take_maps(*open_maps(str(tmp_path / "a.npz"), None)).key_tokens == WORDS
    assert take_maps(*open_maps(tmp_path / "a.npz", list("abcd"))).key_tokens == ("a", "b", "c", "d")


def test_a_capture_and_its_file_are_the_maps_of_all_layers(tmp_path: Path) -> None:
    q, k, v = torch.randn(3, 2, 4, 5)
    layers = tuple(
        CapturedLayer(name=f"l{i}", part="layers", q=q + i, k=k.clone(), v=v.clone(), mask=None, scaling=0.5)
        for i in range(3)
    )
    capture = Capture("tiny", layers, ("a", "b", "c", "d"))
    capture.save(tmp_path / "c.safetensors")
    for x in (capture, tmp_path / "c.safetensors"):
        maps = take_maps(*open_maps(x, None))
        np.testing.assert_allclose(maps.values[2], capture.attention(2).numpy(), atol=1e-6)
        assert maps.shape == (3, 2, 4, 4)
        assert maps.key_tokens == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("name", "arrays", "sentence"),
    [
        (
            "a.npz",
            {"a": MAPS, "b": MAPS},
            "several arrays of maps, a, b; it needs one, or one that is named maps",
        ),
        ("a.npz", {"a": np.zeros(3)}, "a.npz has no array with two to four axes"),
        ("a.npz", {"a": np.array([["x", "y"]])}, "a.npz has no array with two to four axes"),
        ("a.npz", {"maps": MAPS, "query_tokens": np.array(WORDS)}, "it has the tokens of one axis only"),
        (
            "a.npz",
            {"maps": MAPS, "query_tokens": np.array(["a"]), "key_tokens": np.array(WORDS)},
            "its tokens and its maps differ in number",
        ),
        ("a.npz", {"maps": MAPS, "query_tokens": np.zeros(4), "key_tokens": np.zeros(4)}, "is not a list of texts"),
        ("a.npz", {"maps": MAPS, "query_tokens": np.array([None] * 4, object)}, "is not a list of texts"),
    ],
)
def test_a_file_that_is_unclear_is_refused(
    name: str, arrays: dict[str, np.ndarray], sentence: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / name, **arrays)
    with pytest.raises(FileError) as caught:
        read_maps(tmp_path / name)
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")


def test_letters_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    words = np.frombuffer(np.array([0x110000] * 4, "<u4").tobytes(), "<U1")
    np.savez(tmp_path / "a.npz", maps=MAPS, query_tokens=words, key_tokens=words)
    with pytest.raises(FileError, match="query_tokens has letters that do not exist"):
        read_maps(tmp_path / "a.npz")


def test_more_numbers_than_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.files.maps_file.MOST_NUMBERS", 95)
    write_maps(tmp_path / "a.npz", MAPS, WORDS, WORDS)
    with pytest.raises(FileError, match="has more than 95 numbers"):
        read_maps(tmp_path / "a.npz")


@pytest.mark.parametrize("said", ["[", "[1, 2, 3, 4]", json.dumps(list("abc"))])
def test_false_tokens_of_safetensors_are_refused(said: str, tmp_path: Path) -> None:
    save_file({"maps": MAPS}, tmp_path / "a.safetensors", {"query_tokens": said, "key_tokens": said})
    with pytest.raises(FileError, match=r"^a\.safetensors cannot be read: "):
        read_maps(tmp_path / "a.safetensors")


def test_missing_cut_and_foreign_files_are_refused(tmp_path: Path) -> None:
    write_maps(tmp_path / "a.npz", MAPS, WORDS, WORDS)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:300])
    for name, sentence in (("none.npz", "There is no file"), ("cut.npz", "damaged"), ("a.txt", "not a file of maps")):
        with pytest.raises(FileError, match=sentence):
            read_maps(tmp_path / name)
    with pytest.raises(FileError, match=r"a\.csv does not end in \.npz or \.safetensors"):
        write_maps(tmp_path / "a.csv", MAPS, WORDS, WORDS)
    with pytest.raises(attnlab.AttnlabError, match="There is no file"):
        attnlab.figure(str(tmp_path / "none.npz"))

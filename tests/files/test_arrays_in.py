"""Arrays are read unchanged from every kind of file, or refused in a sentence; no file ever runs code."""

import io
import json
import os
import pickle
import random
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.torch import save_file

from attnlab.base.errors import AttnlabError, FileError
from attnlab.base.formats import WEIGHTS
from attnlab.files.weights import named_array, numpy_in, state_dict_in, text_in
from attnlab.files.weights.arrays_in import ENDINGS, read_arrays
from attnlab.files.weights.text_in import read_text

STATE = {
    "attn.q_proj.weight": torch.randn(4, 3, generator=torch.Generator().manual_seed(0)),
    "attn.q_proj.bias": torch.tensor([0.5, -1.0, 2.0, 1e-7]).bfloat16(),
    "W_Q": torch.arange(24).reshape(2, 3, 4).half(),
    "counts": torch.tensor([[1, -2], [3, 4]]),
}
blocks = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.floats(min_value=-3e38, max_value=3e38, allow_nan=False),
)
in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def numpy_state() -> dict[str, np.ndarray]:
    return {name: (t.float() if t.dtype == torch.bfloat16 else t).numpy() for name, t in STATE.items()}


def write_legacy(path: Path) -> None:
    torch.save(STATE, path, _use_new_zipfile_serialization=False)


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.safetensors": lambda path: save_file(STATE, path),
    "a.pt": lambda path: torch.save(STATE, path),
    "a.pth": write_legacy,
    "a.bin": lambda path: torch.save(STATE, path),
    "a.npz": lambda path: np.savez(path, **numpy_state()),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRITERS)
def test_named_arrays_are_read_unchanged(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    found = read_arrays(tmp_path / name)
    assert set(found) == set(STATE)
    for key, array in found.items():
        assert (array.name, array.shape, array.reason) == (key, tuple(STATE[key].shape), "")
        assert torch.equal(array.tensor().double(), STATE[key].double())
    kept = torch.float32 if name == "a.npz" else torch.bfloat16  # NumPy knows no bfloat16
    assert found["attn.q_proj.bias"].tensor().dtype == kept
    assert found["W_Q"].tensor().dtype == torch.float16
    assert (found["counts"].dtype, found["counts"].tensor().dtype) == ("int64", torch.float64)


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<f2", "longdouble", "<u2", ">i4", "<u8", "i1"])
def test_every_dtype_of_numpy_is_converted(dtype: str, tmp_path: Path) -> None:
    values = np.array([[0, 1], [2, 120]], dtype=dtype)
    np.save(tmp_path / "W_q.npy", np.asfortranarray(values))
    array = read_arrays(tmp_path / "W_q.npy")["W_q"]
    assert array.tensor().tolist() == [[0, 1], [2, 120]]
    assert array.tensor().is_floating_point()


def test_arrays_are_read_lazily(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        write(tmp_path / name)
    found = {name: read_arrays(tmp_path / name)["counts"] for name in WRITERS if name != "a.pth"}
    for name, array in found.items():
        (tmp_path / name).write_bytes(b"gone")
        with pytest.raises(FileError, match="counts"):
            array.tensor()


def test_nested_checkpoints_get_dotted_names(tmp_path: Path) -> None:
    torch.save({"epoch": 3, "model": {"a": torch.ones(2), "b": [torch.zeros(1, 2)]}, "note": "x"}, tmp_path / "a.pt")
    assert list(read_arrays(tmp_path / "a.pt")) == ["model.a", "model.b.0"]
    torch.save(torch.ones(2, 2), tmp_path / "W_q.pt")
    assert list(read_arrays(tmp_path / "W_q.pt")) == ["W_q"]


@in_a_folder
@given(blocks)
def test_text_tables_are_read_exactly(tmp_path: Path, block: np.ndarray) -> None:
    points = "\n".join(",".join(map(repr, row)) for row in block.tolist())
    tabs = points.replace(",", "\t")
    commas = "\n".join(";".join(map(repr, row)) for row in block.tolist()).replace(".", ",")
    for ending, text in ((".csv", points), (".tsv", tabs), (".csv", commas), (".txt", tabs + "\r\n")):
        (tmp_path / f"W_q{ending}").write_text(text)
        assert np.array_equal(read_arrays(tmp_path / f"W_q{ending}")["W_q"].tensor().numpy(), block)
    for pasted in (
        points,
        tabs,
        commas,
        str(block.tolist()),
        f"np.array({block.tolist()})",
        json.dumps(block.tolist()),
    ):
        assert np.array_equal(read_text(pasted)["pasted"].tensor().numpy(), block)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_labels_in_any_encoding_are_ignored(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\tä\tb\nx\t1\t2\ny\t3\t4", encoding=encoding)
    assert read_arrays(tmp_path / "a.csv")["a"].tensor().tolist() == [[1, 2], [3, 4]]


def test_nested_lists_of_three_levels_are_a_matrix_for_each_head() -> None:
    assert read_text("[[[1, 2]], [[3, 4]]]")["pasted"].tensor().tolist() == [[[1, 2]], [[3, 4]]]
    assert read_text("[1, 2]")["pasted"].shape == (1, 2)
    with pytest.raises(FileError, match=r"Row 1, column 2 of the pasted block: 'NaN' is not a finite number"):
        read_text("[[1, NaN]]")


def test_decimal_commas_are_read_where_unambiguous() -> None:
    assert read_text("0,5\t1,25\n2\t-3,5")["pasted"].tensor().tolist() == [[0.5, 1.25], [2, -3.5]]
    assert read_text("0,5\n0,25")["pasted"].tensor().tolist() == [[0.5], [0.25]]
    assert read_text("0.5,0.25\n1,2")["pasted"].tensor().tolist() == [[0.5, 0.25], [1, 2]]


def test_arrays_in_json_are_named_by_their_keys(tmp_path: Path) -> None:
    text = '{"W_q": [[1, 2.5]], "b_q": [3, 4], "heads": 2, "name": "x"}'
    (tmp_path / "a.json").write_text(text)
    for found in (read_arrays(tmp_path / "a.json"), read_text(text)):
        assert found["W_q"].tensor().tolist() == [[1, 2.5]]
        assert found["b_q"].tensor().tolist() == [3, 4]
        assert "single number" in found["heads"].reason
        assert found["name"].reason == "it contains something that is not a number"
        with pytest.raises(FileError, match=r"name cannot be used: it contains something"):
            found["name"].tensor()


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.tensor(1.0), "single number"),
        (torch.ones(1, 1, 1, 2), r"has 4 axes, shape \[1, 1, 1, 2\]"),
        (torch.ones(0, 3), r"empty, shape \[0, 3\]"),
        (torch.ones(2, 2, dtype=torch.bool), "bool values"),
        (torch.ones(2, dtype=torch.complex64), "complex64 values"),
        (torch.ones(1, 1).expand(1 << 14, 1 << 14), "the maximum is 134217728"),
        (torch.eye(2).to_sparse(), "sparse"),
        (torch.empty(2, 2, device="meta"), "meta device"),
    ],
)
def test_an_unusable_array_is_named_with_the_reason(tensor: torch.Tensor, reason: str, tmp_path: Path) -> None:
    torch.save({"odd": tensor, "good": torch.ones(2, 2)}, tmp_path / "a.pt")
    found = read_arrays(tmp_path / "a.pt")
    with pytest.raises(FileError, match=f"odd cannot be used: .*{reason}"):
        found["odd"].tensor()
    assert found["good"].tensor().tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_a_non_finite_number_is_named_by_its_cell(value: float, dtype: str, tmp_path: Path) -> None:
    values = np.ones((2, 3), dtype)
    values[1, 2] = value
    np.savez(tmp_path / "a.npz", W_q=values)
    with pytest.raises(FileError, match=rf"^W_q\[1, 2\] is {value}; every weight needs to be a finite number\.$"):
        read_arrays(tmp_path / "a.npz")["W_q"].tensor()
    (tmp_path / "b.csv").write_text(f"1.0,2.0\n3.0,{value}")
    with pytest.raises(FileError, match=rf"^Row 2, column 2 of b\.csv: '{value}' is not a finite number"):
        read_arrays(tmp_path / "b.csv")


def test_integers_that_would_lose_digits_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.array([[2**53, 2**53 + 1]]), b=np.array([2**64 - 1], np.uint64))
    for name, cell in (("a", r"a\[0, 1\]"), ("b", r"b\[0\]")):
        with pytest.raises(FileError, match=rf"^{cell} is beyond 2⁵³"):
            read_arrays(tmp_path / "a.npz")[name].tensor()


def read_all(path: Path) -> None:
    for array in read_arrays(path).values():
        array.tensor()


def refusal(path: Path) -> str:
    """Return the error message of a file, "" if it is read."""
    try:
        read_all(path)
    except AttnlabError as error:
        return str(error)
    return ""


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def hostile(path: Path, bomb: Bomb) -> None:
    match path.name:
        case "dict.pt" | "dict.bin":
            torch.save({"W_q": torch.ones(2, 2), "x": bomb}, path)
        case "old.pth":
            torch.save({"x": bomb}, path, _use_new_zipfile_serialization=False)
        case "plain.pt":
            path.write_bytes(pickle.dumps(bomb))
        case "objects.npy":
            np.save(path, np.array([[bomb]], dtype=object), allow_pickle=True)
        case _:
            np.savez(path, W_q=np.array([[bomb]], dtype=object))


@pytest.mark.parametrize("name", ["dict.pt", "dict.bin", "old.pth", "plain.pt", "objects.npy", "objects.npz"])
def test_code_in_a_file_is_never_executed(name: str, tmp_path: Path) -> None:
    path, marker = tmp_path / name, tmp_path / "it-ran"
    hostile(path, Bomb(marker))
    with pytest.raises(FileError) as refused:
        read_all(path)
    assert not marker.exists()
    assert "\n" not in str(refused.value)
    assert "Python object" in str(refused.value) if name.startswith("objects") else "never run" in str(refused.value)
    if name == "plain.pt":  # and it would have
        pickle.loads(path.read_bytes())
        assert marker.exists()


def test_pickled_modules_and_scripts_are_refused_in_a_sentence(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "a.pt")
    with pytest.raises(
        FileError, match=r"^a\.pt contains a whole module or other code, which is never run: save .*\.$"
    ):
        read_arrays(tmp_path / "a.pt")


def test_a_tensor_with_attributes_is_read_as_a_plain_tensor(tmp_path: Path) -> None:
    odd = torch.nn.Parameter(torch.ones(2, 2))
    for name in ("detach", "clone", "double", "contiguous", "is_floating_point", "_attnlab_owned"):
        setattr(odd, name, "not a function")
    torch.save({"W_q": odd}, tmp_path / "a.pt")
    torch.save({"W_q": odd}, tmp_path / "b.pth", _use_new_zipfile_serialization=False)
    for name in ("a.pt", "b.pth"):
        assert read_arrays(tmp_path / name)["W_q"].tensor().tolist() == [[1, 1], [1, 1]]


def npy_header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def zip_of(name: str, data: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.npy", npy_header("(1000000, 1000000)"), "cut off: it has 128 bytes, but its header says"),
        ("a.npy", npy_header("(-1, 2)"), r"header says the shape \[-1, 2\]"),
        ("a.npy", npy_header("(True, 2)") + b"\0" * 16, r"header says the shape \[True, 2\]"),
        ("a.npy", npy_header("(2, 2)") + b"\0" * 8, "cut off"),
        ("a.npy", npy_header("__import__('os').abort()"), "damaged"),
        ("a.npy", b"\x93NUMPY\x09\x00", "damaged"),
        ("a.npz", b"PK\x03\x04", "damaged"),
        ("a.npz", b"hello", "damaged"),
        ("a.npz", zip_of("x", b"")[:30], "damaged"),
        ("a.safetensors", b"\xff" * 64, "damaged"),
        ("a.safetensors", struct.pack("<Q", 2**40) + b"{}", "damaged"),
        ("a.safetensors", struct.pack("<Q", 2) + b"{}", "contains no arrays"),
        ("a.pt", zip_of("a/data.pkl", b"\x80\x02}."), "compressed, which torch never does"),
        ("a.pt", zip_of("other", b"x", zipfile.ZIP_STORED), "a.pt"),
        ("a.pt", b"hello there", "a.pt"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"\n\n", "a.csv holds no numbers"),
        ("a.csv", b"\0\0\0\0", "Row 1, column 1 of a.csv"),
        ("a.csv", b"1.5,2.5\n3.5", "Row 2 of a.csv has 1 column, but row 1 has 2"),
        ("a.json", b'{"a": [[1], [2, 3]]}', "a of a.json is ragged"),
        ("a.json", b"{" * 100_000, "not JSON"),
        ("a.json", b"{}", "contains no arrays"),
        ("a.docx", b"x", r"is not a file of weights; their names end in \.csv"),
    ],
    ids=lambda value: "bytes" if isinstance(value, bytes) else None,  # a zip holds the time at which it was made
)
def test_damaged_and_hostile_files_are_refused_in_one_sentence(
    name: str, data: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError, match=sentence) as refused:
        read_all(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(zip_of("W_q.npy", npy_header("(100000, 100000)") + b"\0" * 1000))
    assert "10000000000 numbers" in read_arrays(tmp_path / "a.npz")["W_q"].reason


def test_missing_files_folders_and_odd_names_are_reported(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="There is no file"):
        read_arrays(tmp_path / "no.npy")
    (tmp_path / "d.npy").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        read_arrays(tmp_path / "d.npy")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.npy")
        with pytest.raises(FileError, match="is a pipe or a device"):
            read_arrays(tmp_path / "pipe.npy")
    save_file({"a\n\x1b[31m" + "x" * 500: torch.tensor([[torch.nan]])}, tmp_path / "a.safetensors")
    with pytest.raises(FileError) as refused:
        next(iter(read_arrays(tmp_path / "a.safetensors").values())).tensor()
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


def test_size_limits_are_enforced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, write in WRITERS.items():
        write(tmp_path / name)
    (tmp_path / "a.csv").write_text("1.5,2.5")
    monkeypatch.setattr(text_in, "TEXT_LIMIT", 4)
    monkeypatch.setattr(numpy_in, "MOST_ARRAYS", 3)
    monkeypatch.setattr(state_dict_in, "MOST_ARRAYS", 3)
    monkeypatch.setattr(state_dict_in, "LEGACY_LIMIT", 100)
    for name in ("a.csv", "a.npz", "a.pt", "a.pth"):
        with pytest.raises(FileError):
            read_arrays(tmp_path / name)
    monkeypatch.setattr(named_array, "MOST_NUMBERS", 5)
    assert {name for name, array in read_arrays(tmp_path / "a.safetensors").items() if array.reason} == {
        "attn.q_proj.weight",
        "W_Q",
    }


def test_self_referencing_lists_are_refused(tmp_path: Path) -> None:
    endless: list[Any] = [torch.ones(2, 2)]
    for _ in range(40):
        endless = [endless] * 40
    torch.save(endless, tmp_path / "a.pt")
    with pytest.raises(FileError):
        read_arrays(tmp_path / "a.pt")


@pytest.mark.parametrize("name", [*WRITERS, "a.npy", "a.csv"])
def test_mutated_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    match name:
        case "a.npy":
            np.save(path, np.ones((3, 4)))
        case "a.csv":
            path.write_text("1.5,2.5\n3.5,-4e3")
        case _:
            WRITERS[name](path)
    whole, chance = path.read_bytes(), random.Random(name)
    read = 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 4, 30))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.choice((len(data), len(data), chance.randrange(len(data))))])
        sentence = refusal(path)
        assert "\n" not in sentence
        read += not sentence
    assert read < 150


def test_file_endings_match_the_formats() -> None:
    assert set(ENDINGS) == {*WEIGHTS, ".json"}


@pytest.mark.parametrize("old", [False, True])
def test_long_names_in_torch_files_take_linear_time(tmp_path: Path, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"W_q": torch.ones(2, 2)}, path := tmp_path / "a.pt", _use_new_zipfile_serialization=not old)
    hostile = b"\x80\x02c" + b"x" * 20_000 + b"\nname\n."
    if old:
        path.write_bytes(hostile)
    else:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as good, zipfile.ZipFile(path, "w") as made:
            for name in good.namelist():
                made.writestr(name, hostile if name.endswith("data.pkl") else good.read(name))
    lengths = []
    search = re.search

    def spy(pattern: Any, text: str, *more: Any) -> Any:
        lengths.append(len(text))
        return search(pattern, text[:2000], *more)

    monkeypatch.setattr(re, "search", spy)
    with pytest.raises(FileError, match=r"code, which is never run|damaged"):
        read_arrays(path)
    assert lengths
    assert max(lengths, default=0) < 2000


@pytest.mark.parametrize("text", ["[9223372036854775808]", "[[18446744073709551615, true]]", "[[true, false]]"])
def test_integers_of_any_size_are_read_or_refused(text: str) -> None:
    array = read_text(f'{{"W_q": {text}}}')["W_q"]
    with pytest.raises(FileError, match=r"beyond 2⁵³|real numbers"):
        array.tensor()

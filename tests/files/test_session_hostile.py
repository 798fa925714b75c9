"""Damaged, forged and hostile sessions are refused in one sentence, at little cost."""

import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save as tensor_bytes

from attnlab.base.errors import FileError
from attnlab.files.sessions import session_archive
from attnlab.files.sessions.session_archive import MANIFEST, SUMS, TENSORS
from attnlab.files.sessions.session_file import load
from tests.files.sessions import SMALL, WHOLE, assert_same, rebuilt


@settings(max_examples=300)
@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_a_flipped_bit_is_detected_or_harmless(bit: int) -> None:
    data = bytearray(WHOLE)
    data[bit // 8] ^= 1 << bit % 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flipped.attnlab"
        path.write_bytes(data)
        try:
            e = load(path)
        except FileError as error:
            assert "flipped.attnlab" in str(error)  # noqa: PT017  # either is right, and both are checked
        else:
            assert_same(SMALL, e)


@given(st.integers(0, len(WHOLE) - 1))
def test_a_truncated_file_is_refused(length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "short.attnlab"
        path.write_bytes(WHOLE[:length])
        with pytest.raises(FileError, match=r"short\.attnlab"):
            load(path)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "other.attnlab"
        path.write_bytes(data)
        with pytest.raises(FileError, match="not an attnlab session"):
            load(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "other"}, "names another format"),
        ({"version": 3}, "newer attnlab"),
        ({"version": "1"}, "version is '1'"),
        ({"version": 0}, "version is 0"),
        ({"tokens": "ab"}, "tokens has the wrong type"),
        ({"tokens": ...}, "tokens is missing"),
        ({"tokens": ["a"]}, "needs 1, one for each of the tokens"),
        ({"tokens": [1, 2]}, "every token needs to be a string"),
        ({"memory_tokens": ["a"]}, "memory_tokens was given without memory_embeddings"),
        ({"config": {"n_heads": 3}}, "n_heads is 3"),
        ({"config": {"n_heads": 0}}, "n_heads is 0"),
        ({"config": {"scale": []}}, "scale must be a text, number or boolean"),
        ({"config": {"score": {}}}, "score must be a text, number or boolean"),
        ({"config": {"score": "bilinear"}}, "score is 'bilinear'"),
        ({"config": {"dropout": 0.1}}, "does not know: dropout"),
        ({"sums": "0" * 64 + "  manifest.json\n"}, "SHA256SUMS in it does not list every other file"),
        ({"view": []}, "view is missing"),
        ({"extra": "exec.py"}, "a session contains only"),
        ({"config": {"scale": float("inf")}}, "Infinity is not a valid number"),
        ({"tensors": b"\x80\x04pickle"}, "damaged"),
        ({"tensors": tensor_bytes({"W_q": torch.ones(2, 1)})}, "embeddings"),
        ({"tensors": tensor_bytes({"embeddings": torch.full((2, 2), torch.nan)})}, r"embeddings\[0, 0\] is nan"),
        (
            {"tensors": tensor_bytes({"embeddings": torch.ones(2, 2, dtype=torch.int64)})},
            "embeddings is I64, a dtype that attnlab does not have",
        ),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "W_x": torch.ones(1)})}, "does not know: W_x"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "W_q": torch.ones(5, 1)})}, "W_q has shape"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "mask": torch.ones(2, 2)})}, "mask is float32"),
    ],
    ids=str,
)
def test_an_impossible_session_is_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = rebuilt(tmp_path, **changes)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


OTHER = {"tokens": ["c", "d"], "memory_tokens": None, "length": None}
OTHER_TENSORS = tensor_bytes({"embeddings": torch.ones(2, 2), "others/0/embeddings": torch.ones(2, 2)})
CONFIG = {"n_heads": 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"others": {}}, "others has the wrong type"),
        ({"others": [1]}, "others, the other sequences of its batch, must be a list"),
        ({"others": [OTHER | {"color": "red"}]}, r"others\[0\] has fields that this attnlab does not know: color"),
        ({"others": [{}]}, r"others\[0\] has no tokens"),
        ({"others": [OTHER, OTHER]}, "others/1/embeddings is missing"),
        ({"others": [OTHER | {"tokens": ["c"]}]}, r"others\[0\]\.embeddings has 2 rows; it needs 1"),
        ({"others": [OTHER | {"memory_tokens": ["c"]}]}, r"others\[0\]\.memory_tokens was given without"),
        ({"others": [OTHER | {"length": "2"}]}, r"others\[0\]\.length is '2'; it needs a whole number"),
        ({"others": [OTHER | {"length": 3}]}, r"others\[0\] has length 3; .* the number of its keys"),
        ({"others": [OTHER], "item": 2}, "item is 2; it needs a place from 0 to 1"),
        ({"others": [OTHER], "item": True}, "item has the wrong type"),
        ({"others": []}, "does not know: others/0/embeddings"),
        ({"others": [OTHER], "config": CONFIG | {"masks": []}}, "the setting masks must be names and values"),
        ({"others": [OTHER], "config": CONFIG | {"ablated": 0}}, "the setting ablated must be a list"),
        (
            {"others": [OTHER], "config": CONFIG | {"ablated": [True]}},
            r"ablated is \[True\]; it needs numbers of heads",
        ),
        ({"others": [OTHER], "config": CONFIG | {"options": {"dropout_seed": 10**400}}}, "a whole number from 0"),
        ({"others": [OTHER], "config": CONFIG | {"score": "additive"}}, "needs W_d .* which is missing"),
    ],
    ids=str,
)
def test_impossible_batches_and_settings_are_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = rebuilt(tmp_path, OTHER_TENSORS, **changes)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_embeddings_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="embeddings is missing from its arrays"):
        load(rebuilt(tmp_path, tensor_bytes({"W_q": torch.ones(2, 2)})))


def test_the_base_of_the_bad_batches_is_valid(tmp_path: Path) -> None:
    e = load(rebuilt(tmp_path, OTHER_TENSORS, others=[OTHER | {"length": 1}], item=1))
    assert (e.item, e.others[0].tokens, e.others[0].length) == (1, ("c", "d"), 1)


def test_the_base_of_the_bad_sessions_is_valid(tmp_path: Path) -> None:
    assert_same(SMALL, load(rebuilt(tmp_path)))


@pytest.mark.slow
@pytest.mark.parametrize(("member", "limit"), [(MANIFEST, "16 MiB"), (TENSORS, "512 MiB"), (SUMS, "4096 bytes")])
def test_a_compression_bomb_is_refused(tmp_path: Path, member: str, limit: str) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.attnlab", "w", zipfile.ZIP_DEFLATED) as archive:
        for other in {MANIFEST, TENSORS, SUMS} - {member}:
            archive.writestr(other, b"{}")
        with archive.open(member, "w", force_zip64=True) as file:
            for _ in range(513):
                file.write(bytes(1 << 20))
    assert (tmp_path / "bomb.attnlab").stat().st_size < 1 << 20
    with pytest.raises(FileError, match=limit):
        load(tmp_path / "bomb.attnlab")


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "deep.attnlab", "w") as archive:
        archive.writestr(MANIFEST, "[" * 200_000)
        archive.writestr(TENSORS, b"")
    with pytest.raises(FileError, match=r"deep\.attnlab"):
        load(tmp_path / "deep.attnlab")


def made(path: Path, *members: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    """Write the small session with additional members, some of which zipfile warns of."""
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as old, zipfile.ZipFile(path, "w") as new, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in old.namelist():
            new.writestr(name, old.read(name))
        for name_or_info, data in members:
            new.writestr(name_or_info, data)
    return path


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../../etc/cron.d/job", "it contains '../../etc/cron.d/job'"),
        ("/etc/passwd", "it contains '/etc/passwd'"),
        ("C:\\run.exe", "it contains 'C:\\\\run.exe'"),
        ("a\n\x1b[2J\u202e", r"it contains 'a\\n\\x1b[2J\\u202e'"),
        ("x" * 60_000, "it contains '" + "x" * 60 + "'"),
        ("data.pkl", "it contains 'data.pkl'"),
        (TENSORS, "it contains two files with the same name"),
        (MANIFEST, "it contains two files with the same name"),
        (MANIFEST.upper(), "it contains 'MANIFEST.JSON'"),
    ],
    ids=lambda value: ascii(value[:20]),
)
def test_unknown_members_are_named_and_nothing_is_unpacked(tmp_path: Path, name: str, sentence: str) -> None:
    path = made(tmp_path / "s.attnlab", (name, b"cos\nsystem\n(S'id'\ntR."))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError) as caught:
        load(path)
    assert sentence in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < len(str(path)) + 300
    assert sorted(tmp_path.rglob("*")) == before


def test_a_symbolic_link_in_the_zip_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("manifest.json2")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with pytest.raises(FileError, match=r"'manifest\.json2' in it is a link"):
        load(made(tmp_path / "s.attnlab", (link, b"/etc/passwd")))


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="it contains 103 files, more than any session"):
        load(made(tmp_path / "s.attnlab", *((str(i), b"") for i in range(100))))


def patched(path: Path, old: bytes, new: bytes) -> Path:
    """Write the small session with some bytes replaced in each header."""
    assert WHOLE.count(old) == 1
    path.write_bytes(WHOLE.replace(old, new))
    return path


CENTRAL = WHOLE[WHOLE.index(b"PK\x01\x02") :][:46]
"""The zip directory's entry of the first member, the manifest."""


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (8, b"\x01\x00", "'manifest.json' in it is encrypted"),
        (10, b"\x0e\x00", "'manifest.json' in it has an unknown compression"),
        (24, b"\xff\xff\xff\x00", "is damaged"),
        (24, b"\xff\xff\xff\x7f", "'manifest.json' in it would unpack to more than the 16 MiB"),
        (20, b"\x00\x00\x00\x00", "is damaged"),
        (42, b"\xff\xff\xff\x7f", "is damaged"),
        (28, b"\x00\x00", "is damaged"),
    ],
)
def test_a_false_zip_directory_is_refused(tmp_path: Path, place: int, value: bytes, sentence: str) -> None:
    lie = CENTRAL[:place] + value + CENTRAL[place + len(value) :]
    with pytest.raises(FileError, match=sentence):
        load(patched(tmp_path / "s.attnlab", CENTRAL, lie))


def table(**entries: Any) -> bytes:
    """Return safetensors of the named arrays, which share sixteen bytes."""
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + bytes(16)


def entry(dtype: Any = "F32", shape: Any = (2, 2), data_offsets: Any = (0, 16), **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": data_offsets, **more}


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        (b"", "its arrays end before their table does"),
        (b"\xff" * 8, "its arrays end before their table does"),
        ((5 << 20).to_bytes(8, "little") + b" " * (5 << 20), "the table of its arrays is longer than 4 MiB"),
        ((2).to_bytes(8, "little") + b"[]", "its arrays have no table of names"),
        ((100).to_bytes(8, "little") + b"[" * 100, "nested more than 32 deep"),
        (table(embeddings=[]), "embeddings in the table of its arrays needs dtype, shape and data_offsets"),
        (table(embeddings=entry(code="import os")), "embeddings in the table of its arrays needs dtype"),
        (table(embeddings=entry("PICKLE")), "embeddings is PICKLE, a dtype that attnlab does not have"),
        (table(embeddings=entry(["F32"])), "a dtype that attnlab does not have"),
        (table(embeddings=entry("F64")), r"embeddings has shape \[2, 2\] of F64, which does not match its 16 bytes"),
        (table(embeddings=entry(shape=(2, 2**62))), "embeddings has an invalid shape or position"),
        (table(embeddings=entry(shape=(-2, -2))), "embeddings has an invalid shape or position"),
        (table(embeddings=entry(shape=(True, 4))), "embeddings has an invalid shape or position"),
        (table(embeddings=entry(shape=[1] * 5000)), "embeddings has an invalid shape or position"),
        (table(embeddings=entry(data_offsets=(16, 32))), "is damaged"),
        (table(embeddings=entry(), W_q=entry()), "is damaged"),
        (table(embeddings=entry(shape=(0, 2), data_offsets=(0, 0))), "is damaged"),
        (table(embeddings=entry("BOOL", (2, 8))), "embeddings contains booleans; it needs numbers"),
        (tensor_bytes({"embeddings": torch.ones(2, 2), "mask": torch.ones(2, 2) > 0})[:-1] + b"\x02", "true nor false"),
        (tensor_bytes({"embeddings": torch.ones(2, 2), "pins/0/W_q": torch.ones(2)}), "does not know: pins/0/W_q"),
    ],
)
def test_arrays_with_false_headers_are_refused(tmp_path: Path, tensors: bytes, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence) as caught:
        load(rebuilt(tmp_path, tensors))
    assert str(caught.value).isprintable()


PIN = {"tokens": ["c", "d"], "memory_tokens": None, "config": {}, "shared": {"embeddings": "embeddings"}}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pins": {}}, "pins is missing from its manifest or has the wrong type"),
        ({"pins": [1]}, r"pins\[0\] must be an object"),
        ({"pins": [PIN] * 101}, "it has 101 pins; the maximum is 100"),
        (
            {"pins": [PIN | {"shared": {"embeddings": "W_x"}}]},
            r"pins\[0\] shares embeddings with no earlier experiment",
        ),
        (
            {"pins": [PIN | {"shared": {"embeddings": ["W_q"]}}]},
            r"pins\[0\] shares embeddings with no earlier experiment",
        ),
        ({"pins": [PIN | {"shared": {}}]}, r"pins\[0\] embeddings is missing from its arrays"),
        ({"pins": [PIN | {"tokens": ["c"]}]}, r"pins\[0\] embeddings has 2 rows; it needs 1"),
        ({"pins": [PIN | {"code": "import os"}]}, r"pins\[0\] code is not known to this attnlab"),
        ({"pins": [PIN | {"shared": {"a\n": "W_q"} | PIN["shared"]}]}, r"pins\[0\] has arrays .* not know: a\\n"),  # type: ignore[operator]
        ({"view": {"deep": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}}, "more than 16 deep"),
        ({"view": {"a": 2**64}}, r"view\.a is a whole number of more than 64 bits"),
        ({"view": {"text": "a" * (1 << 20)}}, "view takes 1,048,588 bytes as JSON"),
        ({"version": 10**30}, "its version is 10{30}, not a positive whole number"),
        ({"version": 2.0}, "its version is 2.0, not a positive whole number"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_invalid_pins_and_views_are_refused(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FileError, match=sentence) as caught:
        load(rebuilt(tmp_path, **changes))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"{" * 33, "nested more than 32 deep"),
        (b"[" + b"[]," * 200_000 + b"0]", "more than 500,000 values"),
        (b"[" + b'"",' * 1_100_000 + b"0]", "more than 500,000 values"),
        (b'"' + b'\\"' * 8_000_000, "damaged"),
        (b'"' + b"\\" * 16_000_000, "damaged"),
        (b'{"a": NaN}', "NaN is not a valid number in JSON"),
        (b'{"a": 1e999}', "1e999 is a number beyond 1.8e308"),
        (b'{"a": -' + b"1" * 5000 + b"}", "a number in it has 5,001 digits"),
        (b'{"a": 1.' + b"1" * 5000 + b"}", "1.111.* is a number beyond 1.8e308 or with too many digits"),
        (b'{"format": "attnlab", "format": "attnlab"}', "has a duplicate key"),
        (b"\xff\xfe{}", "damaged"),
        (b"[]", "its manifest names another format"),
        (b"", "damaged"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_hostile_json_is_refused(tmp_path: Path, text: bytes, sentence: str) -> None:
    with zipfile.ZipFile(tmp_path / "s.attnlab", "w") as archive:
        archive.writestr(MANIFEST, text)
    with pytest.raises(FileError, match=sentence) as caught:
        load(tmp_path / "s.attnlab")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < len(str(tmp_path)) + 200


def test_pickled_data_is_never_executed(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"embeddings": Bomb()}, tmp_path / "s.attnlab")
    with pytest.raises(FileError, match=r"s\.attnlab is damaged or not an attnlab session"):
        load(tmp_path / "s.attnlab")
    with pytest.raises(FileError, match=r"made\.attnlab is damaged"):
        load(rebuilt(tmp_path, (tmp_path / "s.attnlab").read_bytes()))
    assert not (tmp_path / "ran").exists()


def test_control_characters_in_a_member_name_are_escaped() -> None:
    with pytest.raises(FileError) as caught:
        load("no\nsuch\x1b[2J.attnlab")
    assert str(caught.value) == r"There is no file no\nsuch\x1b[2J.attnlab."


def test_members_that_are_too_large_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in "abc":
            archive.writestr(name, bytes(600))
    monkeypatch.setattr(session_archive, "TOTAL_LIMIT", 2000)  # each alone is within
    with path.open("rb") as file:
        session_archive.Archive(file)
    monkeypatch.setattr(session_archive, "TOTAL_LIMIT", 1799)
    with path.open("rb") as file, pytest.raises(ValueError, match="it would unpack to more than the"):
        session_archive.Archive(file)

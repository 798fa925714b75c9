"""A session that is damaged, made up or meant to harm is refused with one sentence, and costs little."""

import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save as tensor_bytes

from attnlab.errors import FileError
from attnlab.files.session import load
from attnlab.files.session_archive import MANIFEST, SUMS, TENSORS
from tests.files.sessions import SMALL, WHOLE, assert_same, rebuilt


@settings(max_examples=300)
@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_a_flipped_bit_is_noticed_or_harmless(bit: int) -> None:
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
def test_a_file_cut_short_is_refused(length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "short.attnlab"
        path.write_bytes(WHOLE[:length])
        with pytest.raises(FileError, match=r"short\.attnlab"):
            load(path)


@given(st.binary(max_size=300))
def test_any_other_bytes_are_refused(data: bytes) -> None:
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
        ({"tokens": "ab"}, "tokens is of the wrong kind"),
        ({"tokens": ...}, "tokens is missing"),
        ({"tokens": ["a"]}, "needs 1, one for each of the tokens"),
        ({"tokens": [1, 2]}, "every token needs to be a string"),
        ({"memory_tokens": ["a"]}, "memory_tokens came without memory_embeddings"),
        ({"config": {"n_heads": 3}}, "n_heads is 3"),
        ({"config": {"n_heads": 0}}, "n_heads is 0"),
        ({"config": {"scale": []}}, "scale needs to be one text, number or truth value"),
        ({"config": {"score": {}}}, "score needs to be one text, number or truth value"),
        ({"config": {"score": "bilinear"}}, "score is 'bilinear'"),
        ({"config": {"dropout": 0.1}}, "does not know: dropout"),
        ({"sums": "0" * 64 + "  manifest.json\n"}, "SHA256SUMS does not list the other files"),
        ({"view": []}, "view is missing"),
        ({"extra": "exec.py"}, "nothing else"),
        ({"config": {"scale": float("inf")}}, "Infinity is not a number"),
        ({"tensors": b"\x80\x04pickle"}, "damaged"),
        ({"tensors": tensor_bytes({"W_q": torch.ones(2, 1)})}, "embeddings"),
        ({"tensors": tensor_bytes({"embeddings": torch.full((2, 2), torch.nan)})}, r"embeddings\[0, 0\] is nan"),
        (
            {"tensors": tensor_bytes({"embeddings": torch.ones(2, 2, dtype=torch.int64)})},
            "embeddings is I64, not a number format",
        ),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "W_x": torch.ones(1)})}, "does not know: W_x"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "W_q": torch.ones(5, 1)})}, "W_q has shape"),
        ({"tensors": tensor_bytes({"embeddings": torch.ones(2, 2), "mask": torch.ones(2, 2)})}, "mask is float32"),
    ],
    ids=str,
)
def test_a_file_that_says_what_cannot_be_is_refused_with_one_sentence(
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
        ({"others": {}}, "others is of the wrong kind"),
        ({"others": [1]}, "others, the other sequences of its batch, need to be a list"),
        ({"others": [OTHER | {"color": "red"}]}, r"others\[0\] has fields that this attnlab does not know: color"),
        ({"others": [{}]}, r"others\[0\] has no tokens"),
        ({"others": [OTHER, OTHER]}, "others/1/embeddings is missing"),
        ({"others": [OTHER | {"tokens": ["c"]}]}, r"others\[0\]\.embeddings has 2 rows; it needs 1"),
        ({"others": [OTHER | {"memory_tokens": ["c"]}]}, r"others\[0\]\.memory_tokens came without"),
        ({"others": [OTHER | {"length": "2"}]}, r"others\[0\]\.length is '2'; it needs a whole number"),
        ({"others": [OTHER | {"length": 3}]}, r"others\[0\] has length 3; .* 2 keys"),
        ({"others": [OTHER], "item": 2}, "item is 2; it needs a place from 0 to 1"),
        ({"others": [OTHER], "item": True}, "item is of the wrong kind"),
        ({"others": []}, "does not know: others/0/embeddings"),
        ({"others": [OTHER], "config": CONFIG | {"masks": []}}, "the setting masks needs to be names and values"),
        ({"others": [OTHER], "config": CONFIG | {"ablated": 0}}, "the setting ablated needs to be a list"),
        (
            {"others": [OTHER], "config": CONFIG | {"ablated": [True]}},
            r"ablated is \[True\]; it needs numbers of heads",
        ),
        ({"others": [OTHER], "config": CONFIG | {"options": {"dropout_seed": 10**400}}}, "a whole number from 0"),
        ({"others": [OTHER], "config": CONFIG | {"score": "additive"}}, "needs W_d .* which is missing"),
    ],
    ids=str,
)
def test_a_batch_or_settings_that_cannot_be_are_refused_with_one_sentence(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = rebuilt(tmp_path, OTHER_TENSORS, **changes)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_its_embeddings_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="embeddings is missing from its arrays"):
        load(rebuilt(tmp_path, tensor_bytes({"W_q": torch.ones(2, 2)})))


def test_the_file_that_the_bad_batches_are_made_from_is_good(tmp_path: Path) -> None:
    e = load(rebuilt(tmp_path, OTHER_TENSORS, others=[OTHER | {"length": 1}], item=1))
    assert (e.item, e.others[0].tokens, e.others[0].length) == (1, ("c", "d"), 1)


def test_the_file_that_the_bad_ones_are_made_from_is_good(tmp_path: Path) -> None:
    assert_same(SMALL, load(rebuilt(tmp_path)))


@pytest.mark.parametrize(("member", "limit"), [(MANIFEST, "16 MiB"), (TENSORS, "512 MiB"), (SUMS, "4096 bytes")])
def test_a_file_that_would_unpack_to_gigabytes_is_refused(tmp_path: Path, member: str, limit: str) -> None:
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

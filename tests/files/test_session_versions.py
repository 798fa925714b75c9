"""Sessions of older versions open unchanged, and one of a newer version names the version that it needs."""

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load as read_tensors

import attnlab
from attnlab.base.errors import FileError
from attnlab.files.sessions.session_archive import MANIFEST, SUMS, TENSORS
from attnlab.files.sessions.session_experiment import arrays_of
from attnlab.files.sessions.session_file import load, load_scene, load_session, save_session
from attnlab.files.sessions.session_migrations import MIGRATIONS, VERSION, migrate
from tests.files.sessions import SMALL, WHOLE, assert_same, bits, rebuilt

VERSION_1 = Path(__file__).with_name("version1.attnlab")
"""Written by attnlab 0.1.0: a batch with memory, tables, a painted mask, four dtypes, −0 and half a surrogate pair."""


def test_a_file_of_version_1_opens_bit_for_bit() -> None:
    digest = "501eaccc1769736cf32916a5628ebf8bc1c9a8a8b4898122a3a263412c062c65"
    with zipfile.ZipFile(VERSION_1) as archive:
        packed = archive.read(TENSORS)
        said = json.loads(archive.read(MANIFEST).decode("utf-8", "surrogatepass"))
    assert hashlib.sha256(VERSION_1.read_bytes()).hexdigest() == digest
    e, view = load_scene(VERSION_1)
    stored, found = read_tensors(packed), arrays_of(e)
    assert stored.keys() == found.keys()
    assert all(found[name].dtype == stored[name].dtype for name in stored)
    assert all(torch.equal(bits(found[name]), bits(stored[name])) for name in stored)
    assert e.tokens == ("Der", "Fuchs 🦊", "\ud800")
    assert e.memory_tokens == ("a", "b")
    assert (e.others[0].tokens, e.others[0].length, e.item) == (("x", "y", "z"), 1, 1)
    c = e.config
    assert (c.n_heads, c.n_kv_heads, c.causal, c.scale) == (2, 1, True, 1.75)
    assert (c.score, c.normalizer, c.positions, c.qk_norm) == ("general", "softmax", "sinusoidal", "none")
    assert (dict(c.masks), c.ablated, dict(c.options)) == ({}, (1,), {"temperature": 2.0})
    assert view == said["view"]
    assert view["lens"] == {"name": "flow", "zoom": 1.5}


def test_a_session_of_version_1_is_saved_in_the_current_version(tmp_path: Path) -> None:
    session = load_session(VERSION_1)
    save_session(session, tmp_path / "new.attnlab")
    again = load_session(tmp_path / "new.attnlab")
    assert_same(session.experiment, again.experiment)
    assert again.view == session.view
    with zipfile.ZipFile(tmp_path / "new.attnlab") as archive:
        assert json.loads(archive.read(MANIFEST).decode("utf-8", "surrogatepass"))["version"] == VERSION


def test_a_file_of_version_1_whose_numbers_changed_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(VERSION_1) as old, zipfile.ZipFile(tmp_path / "s.attnlab", "w") as new:
        new.writestr(MANIFEST, old.read(MANIFEST))
        packed = old.read(TENSORS)
        new.writestr(TENSORS, packed[:-1] + bytes([packed[-1] ^ 1]))
    with pytest.raises(FileError, match=r"is damaged: tensors\.safetensors in it does not match its checksum\.$"):
        load(tmp_path / "s.attnlab")


def with_sums(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write a session of the current version whose members were changed after their checksums."""
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("place", [-1, -9, -16])
def test_a_file_of_version_2_whose_numbers_changed_is_refused(tmp_path: Path, place: int) -> None:
    def change(members: dict[str, bytes]) -> None:
        packed = bytearray(members[TENSORS])
        packed[place] ^= 1  # a number of an array; the zip's own checksum fits it
        members[TENSORS] = bytes(packed)

    with pytest.raises(FileError, match=r"is damaged: tensors\.safetensors in it does not match its checksum\.$"):
        load(with_sums(tmp_path / "s.attnlab", change))


def test_a_file_of_version_2_whose_text_changed_is_refused(tmp_path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        assert members[MANIFEST].count(b'"a"') == 1
        members[MANIFEST] = members[MANIFEST].replace(b'"a"', b'"z"')

    with pytest.raises(FileError, match=r"is damaged: manifest\.json in it does not match its checksum\.$"):
        load(with_sums(tmp_path / "s.attnlab", change))


@pytest.mark.parametrize("name", [MANIFEST, TENSORS])
def test_a_changed_checksum_of_version_2_is_detected(tmp_path: Path, name: str) -> None:
    def change(members: dict[str, bytes]) -> None:
        lines = members[SUMS].decode().splitlines()
        at = next(i for i, line in enumerate(lines) if line.endswith(name))
        lines[at] = ("0" if lines[at][0] != "0" else "1") + lines[at][1:]
        members[SUMS] = "\n".join(lines).encode()

    with pytest.raises(FileError, match=rf"is damaged: {name} in it does not match its checksum\.$"):
        load(with_sums(tmp_path / "s.attnlab", change))


@pytest.mark.parametrize("name", [MANIFEST, TENSORS])
def test_a_member_of_version_2_without_a_checksum_is_refused(tmp_path: Path, name: str) -> None:
    def change(members: dict[str, bytes]) -> None:
        lines = members[SUMS].decode().splitlines()
        members[SUMS] = "\n".join(line for line in lines if not line.endswith(name)).encode()

    with pytest.raises(FileError, match="SHA256SUMS in it does not list every other file once"):
        load(with_sums(tmp_path / "s.attnlab", change))


def test_the_checksums_can_be_verified_by_sha256sum(tmp_path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        wanted = {f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in members.items() if name != SUMS}
        assert set(members[SUMS].decode().splitlines()) == wanted
        assert members.keys() == {MANIFEST, TENSORS, SUMS}

    assert_same(load(with_sums(tmp_path / "s.attnlab", change)), SMALL)


OF_1: dict[str, Any] = {
    "format": "attnlab",
    "version": 1,
    "tokens": ["a"],
    "memory_tokens": None,
    "config": {"n_heads": 1},
    "sha256": "0" * 64,
    "view": {"title": "A"},
    "others": [{"tokens": ["b"]}],
    "item": 1,
}


def test_migration_to_version_2_moves_the_description_of_the_experiment() -> None:
    assert MIGRATIONS[1](OF_1) == {
        "format": "attnlab",
        "version": 2,
        "experiment": {
            "tokens": ["a"],
            "memory_tokens": None,
            "config": {"n_heads": 1},
            "others": [{"tokens": ["b"]}],
            "item": 1,
        },
        "pins": [],
        "view": {"title": "A"},
    }


def test_every_version_migrates_to_the_current_one_without_changing_its_input() -> None:
    assert sorted(MIGRATIONS) == list(range(1, VERSION))
    before = copy.deepcopy(OF_1)
    assert migrate(OF_1)["version"] == VERSION
    assert before == OF_1
    now = {"version": VERSION, "anything": 1}
    assert migrate(now) == now


@pytest.mark.parametrize("version", [0, VERSION + 1, -1, True, "1", None, 1.0])
def test_only_older_versions_are_migrated(version: Any) -> None:
    with pytest.raises(ValueError, match="its version is"):
        migrate(OF_1 | {"version": version})


@pytest.mark.parametrize(
    ("writer", "needs"),
    [
        ("0.9.1", r"it needs attnlab 0\.9\.1, which saved it, or newer\.$"),
        ("1.0rc1", r"it needs attnlab 1\.0rc1, which saved it, or newer\.$"),
        ("<b>1.0</b>", r"it needs a newer one\.$"),
        (..., r"it needs a newer one\.$"),
        (7, r"it needs a newer one\.$"),
    ],
)
def test_a_newer_file_names_the_attnlab_version_that_it_needs(tmp_path: Path, writer: Any, needs: str) -> None:
    path = rebuilt(tmp_path, extra="textures.bin", version=VERSION + 1, attnlab=writer, pins=...)
    with pytest.raises(FileError, match=needs) as caught:
        load(path)
    assert f"(version {VERSION + 1} of the format; this is attnlab {attnlab.__version__}" in str(caught.value)

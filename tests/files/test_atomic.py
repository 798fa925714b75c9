"""A file is written whole or not at all, and a refusal says why."""

import os
import sys
from pathlib import Path

import pytest

from attnlab.errors import FileError
from attnlab.files.atomic import write_bytes

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links and permissions are those of POSIX")


def test_a_new_file_holds_what_was_written_and_nothing_else_is_left_in_the_folder(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a.bin", b"numbers")
    assert (tmp_path / "a.bin").read_bytes() == b"numbers"
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["a.bin"]


def test_an_old_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a much longer text than the new one")
    write_bytes(str(tmp_path / "a.bin"), b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"


def test_the_old_file_survives_a_disk_that_gives_out_halfway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"a\.bin cannot be written: No space left on device\.$"):
        write_bytes(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["a.bin"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("none/a.bin", "there is no folder"), (".", "it is a folder"), ("x" * 400, "name too long"), ("a\0b", "null")],
)
def test_a_place_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(FileError, match=f"(?i)cannot be written: .*{reason}"):
        write_bytes(tmp_path / name, b"x")


@posix_only
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link.bin").symlink_to("real.bin")
    write_bytes(tmp_path / "link.bin", b"new")
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"


@posix_only
def test_the_permissions_of_the_old_file_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    (tmp_path / "a.bin").chmod(0o640)
    write_bytes(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").stat().st_mode & 0o777 == 0o640


@posix_only
def test_a_device_is_written_to_and_not_replaced() -> None:
    write_bytes("/dev/null", b"gone")
    assert not Path("/dev/null").is_file()


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everything")
def test_a_write_protected_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    (tmp_path / "a.bin").chmod(0o440)
    with pytest.raises(FileError, match="write-protected"):
        write_bytes(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"old"

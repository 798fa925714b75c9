"""A file is written completely or not at all, and a failure is reported with the reason."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.base.errors import FileError
from attnlab.files import atomic
from attnlab.files.atomic import write_bytes

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links and permissions are those of POSIX")


def test_writing_a_new_file_leaves_no_other_file(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a.bin", b"numbers")
    assert (tmp_path / "a.bin").read_bytes() == b"numbers"
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["a.bin"]


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a much longer text than the new one")
    write_bytes(str(tmp_path / "a.bin"), b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"


def test_the_old_file_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_path_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(FileError, match=f"(?i)cannot be written: .*{reason}"):
        write_bytes(tmp_path / name, b"x")


@posix_only
def test_a_symbolic_link_is_kept(tmp_path: Path) -> None:
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
def test_a_device_is_written_and_not_replaced() -> None:
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


@posix_only
def test_a_private_file_is_never_readable_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    (tmp_path / "a.bin").chmod(0o600)
    modes, flush = [], os.fsync

    def look(handle: int) -> None:
        modes.append(os.fstat(handle).st_mode)
        flush(handle)

    monkeypatch.setattr(os, "fsync", look)
    write_bytes(tmp_path / "a.bin", b"new")
    assert [mode & 0o777 for mode in modes if stat.S_ISREG(mode)] == [0o600]


@posix_only
def test_file_and_folder_are_flushed_before_and_after_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, flush = [], os.fsync

    def look(handle: int) -> None:
        there = (tmp_path / "a.bin").read_bytes() if (tmp_path / "a.bin").exists() else b""
        done.append(("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file", there))
        flush(handle)

    monkeypatch.setattr(os, "fsync", look)
    write_bytes(tmp_path / "a.bin", b"new")
    assert done == [("file", b""), ("folder", b"new")]


def test_a_file_system_without_flushing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(handle: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", unable)
    write_bytes(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everything")
def test_a_file_in_a_read_only_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(FileError, match=r"a\.bin cannot be written: Permission denied\.$"):
            write_bytes(tmp_path / "a.bin", b"new")
        assert (tmp_path / "a.bin").read_bytes() == b"old"
    finally:
        tmp_path.chmod(0o755)


@posix_only
def test_a_folder_removed_while_writing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    flush = os.fsync

    def pull_out(handle: int) -> None:
        flush(handle)
        folder.rename(tmp_path / "gone")

    monkeypatch.setattr(os, "fsync", pull_out)
    with pytest.raises(FileError, match=r"stick/a\.bin cannot be written: No such file or directory\.$"):
        write_bytes(folder / "a.bin", b"new")


@posix_only
def test_a_full_disk_keeps_the_old_file_and_no_partial_one(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    script = """
import resource, sys
from attnlab.files import atomic
from attnlab.files.atomic import write_bytes
from attnlab.base.errors import FileError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_bytes(sys.argv[1], bytes(200_000))
except FileError as error:
    print(error)
"""
    answer = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.bin")], capture_output=True, text=True)
    assert answer.stdout == f"{tmp_path}/a.bin cannot be written: File too large.\n"
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["a.bin"]


DISK = """
set -e
mount -t tmpfs -o size=256k none "$1"
exec "$2" -c '
import subprocess, sys
from pathlib import Path
from attnlab.files import atomic
from attnlab.files.atomic import write_bytes
from attnlab.base.errors import FileError

disk = Path(sys.argv[1])
def write(data):
    try:
        write_bytes(disk / "a.bin", data)
    except FileError as error:
        print(error)
    print([(path.name, len(path.read_bytes())) for path in disk.iterdir()])

write(bytes(100_000))
write(bytes(200_000))
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
write(bytes(1))
' "$1"
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux")
    or not shutil.which("unshare")
    or subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode != 0,
    reason="no disk of one's own can be made here",
)
def test_full_and_read_only_disks_are_reported_and_keep_the_old_file(tmp_path: Path) -> None:
    command = ["unshare", "-rm", "sh", "-c", DISK, "sh", str(tmp_path), sys.executable]
    answer = subprocess.run(command, capture_output=True, text=True)
    path, kept = f"{tmp_path}/a.bin", "[('a.bin', 100000)]"
    assert answer.stdout.splitlines() == [
        kept,
        f"{path} cannot be written: No space left on device.",
        kept,
        f"{path} cannot be written: it is write-protected.",
        kept,
    ], answer.stderr


def test_files_left_by_a_killed_program_are_removed_a_day_later(tmp_path: Path) -> None:
    old, young, other = (tmp_path / name for name in (".attnlab-00.tmp", ".attnlab-11.tmp", "attnlab-22.tmp"))
    for path in (old, young, other):
        path.write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (0, 0))
    write_bytes(tmp_path / "a.bin", b"new")
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)


def test_control_characters_in_a_name_are_escaped(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        write_bytes(tmp_path / "none\n\u202e\x1b[2J" / "a.bin", b"x")
    assert str(caught.value).count(r"none\n\u202e\x1b[2J") == 2
    assert str(caught.value).isprintable()


class InUseError(PermissionError):
    """Windows' error for a file that another program has open."""

    winerror = 32


@pytest.mark.parametrize("busy", [2, 10**6])
def test_replacing_retries_while_a_file_is_in_use(busy: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    tries, replace = [], os.replace

    def in_use(source: Path, target: Path) -> None:
        tries.append(target)
        if len(tries) <= busy:
            raise InUseError(13, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", in_use)
    monkeypatch.setattr(atomic, "_PAUSES_S", (0.0, 0.0, 0.0))
    if busy == 2:
        write_bytes(tmp_path / "a.bin", b"new")
    else:
        with pytest.raises(FileError, match=r"a\.bin cannot be written: Access is denied\.$"):
            write_bytes(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").read_bytes() == (b"new" if busy == 2 else b"old")
    assert len(tries) == min(busy + 1, 4)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_permanently_refused_rename_is_not_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def refuse(source: Path, target: Path) -> None:
        tries.append(target)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(FileError, match="Operation not permitted"):
        write_bytes(tmp_path / "a.bin", b"new")
    assert len(tries) == 1

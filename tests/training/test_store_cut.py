"""A save interrupted at any file operation leaves the old run or the new one, never a mixture."""

import builtins
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnlab.base.errors import FileError
from attnlab.files.bounded import read_bytes
from attnlab.training import store
from attnlab.training.run import RunState
from attnlab.training.store_manifest import MANIFEST, PARTS, name_file
from tests.training.runs import made_up_run

OPERATIONS = ("open", "fsync", "replace", "rename", "unlink", "mkdir", "rmdir", "listdir", "chmod")


class KilledError(BaseException):
    """The process was killed, so that no clean-up runs."""


class Disk:
    """Counts file operations; the one at ``cut`` fails, and if the process is ``killed`` all after it too."""

    def __init__(self, patched: pytest.MonkeyPatch, cut: int, error: Callable[[], BaseException], killed: bool) -> None:
        self.count, self._cut, self._error, self._killed = 0, cut, error, killed
        for name in OPERATIONS:
            patched.setattr(os, name, self._cutting(getattr(os, name)))
        patched.setattr(builtins, "open", self._cutting(builtins.open))

    def _cutting(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def cut_or_done(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count == self._cut or (self._killed and self.count > self._cut):
                raise self._error()
            return operation(*args, **kwargs)

        return cut_or_done


def states() -> tuple[RunState, RunState]:
    old, new = made_up_run(3).state(), made_up_run(5).state()
    return replace(old, name="old"), replace(new, name="new")


def saved_with(folder: Path, cut: int, error: Callable[[], BaseException], killed: bool) -> int:
    """Save the new run over the old one; return the number of operations, completed or not."""
    with pytest.MonkeyPatch.context() as patched:
        disk = Disk(patched, cut, error, killed)
        with suppress(KilledError, KeyboardInterrupt, FileError):
            store.save(states()[1], folder)
        return disk.count


def which(folder: Path) -> str:
    """Return which run is in the folder, judged by all its parts."""
    found = store.load(folder)
    for state in states():
        if found.name == state.name:
            assert [each.step for each in found.moments] == [each.step for each in state.moments]
            assert found.checkpoint is not None
            assert state.checkpoint is not None
            assert found.checkpoint.step == state.checkpoint.step
            np.testing.assert_array_equal(found.curve.losses, state.curve.losses)
            assert store.read_summary(folder).name == state.name
            return state.name
    raise AssertionError(found.name)


def named(folder: Path) -> set[str]:
    return {MANIFEST, *store._list_named(folder)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "killed"),
    [
        (KilledError, True),
        (KeyboardInterrupt, False),
        (lambda: OSError(errno.ENOSPC, "No space left on device"), False),
    ],
    ids=["killed", "interrupted", "full"],
)
def test_an_interruption_at_any_operation_leaves_the_old_or_the_new_run(
    error: Callable[[], BaseException], killed: bool, tmp_path: Path
) -> None:
    seen = []
    for cut in range(1, operations(tmp_path / "whole") + 1):
        folder = tmp_path / str(cut)
        store.save(states()[0], folder)
        saved_with(folder, cut, error, killed)
        seen.append(which(folder))
        if not killed and seen[-1] == "old":
            assert {path.name for path in folder.iterdir()} == named(folder)  # nothing is left of the other
        store.save(states()[1], folder)
        assert which(folder) == "new"
    assert len(seen) > 20
    assert set(seen) == {"old", "new"}
    assert seen == sorted(seen, reverse=True) or not killed  # old up to one moment, new from there on


def operations(folder: Path) -> int:
    store.save(states()[0], folder)
    return saved_with(folder, 10**6, KilledError, True)


def test_files_of_a_killed_save_are_deleted_after_an_hour(tmp_path: Path) -> None:
    store.save(states()[0], tmp_path)
    orphan, young = (tmp_path / name_file("moments", digits * 16) for digits in "ab")
    for path in (orphan, young, tmp_path / "mine.safetensors", tmp_path / "moments-of-mine.safetensors"):
        path.write_bytes(b"left")
    os.utime(orphan, (1, 1))
    os.utime(tmp_path / "mine.safetensors", (1, 1))
    store.save(states()[1], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *named(tmp_path),
        young.name,
        "mine.safetensors",
        "moments-of-mine.safetensors",
    }


def test_a_run_saved_while_it_is_read_is_read_completely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(states()[0], tmp_path)

    def saved_between(path: Path, limit: int, who: str) -> bytes:
        data = read_bytes(path, limit, who)
        if not saved and path.name == MANIFEST:
            saved.append(1)
            store.save(states()[1], tmp_path)  # which deletes the files that were just named
        return data

    saved: list[int] = []
    monkeypatch.setattr(store, "read_bytes", saved_between)
    assert which(tmp_path) == "new"


def test_a_run_of_version_1_can_be_read_saved_and_deleted(tmp_path: Path) -> None:
    store.save(states()[0], tmp_path)
    manifest = (tmp_path / MANIFEST).read_text()
    for name in store._list_named(tmp_path):
        part = name.partition("-")[0]
        manifest = manifest.replace(f'"{part}": "{name}"', f'"{name_file(part)}": 7')
        (tmp_path / name).rename(tmp_path / name_file(part))
    (tmp_path / MANIFEST).write_text(manifest.replace('"version": 2', '"version": 1'))
    assert which(tmp_path) == "old"
    store.save(states()[1], tmp_path)
    assert which(tmp_path) == "new"
    assert not [part for part in PARTS if (tmp_path / name_file(part)).exists()]
    (tmp_path / "notes.txt").write_text("mine")
    store.delete(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(FileError, match="There is no file"):
        store.load(tmp_path)


def test_deleting_a_run_removes_files_of_a_killed_save(tmp_path: Path) -> None:
    store.save(states()[0], tmp_path / "run")
    (tmp_path / "run" / ".attnlab-0123456789abcdef.tmp").write_bytes(b"half a checkpoint")
    store.delete(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_text_of_a_run_is_shown_without_control_characters(tmp_path: Path) -> None:
    hostile = replace(states()[0], name="a\x1b[2J", sentence="b\u202ec", device="d\x07")
    store.save(hostile, tmp_path)
    found = store.load(tmp_path)
    assert (found.name, found.sentence, found.device) == (r"a\x1b[2J", r"b\u202ec", r"d\x07")
    assert store.read_summary(tmp_path).name == r"a\x1b[2J"

"""The list of unsaved work: its order, its limits, and foreign or partial files in the folder."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.files.sessions import unsaved
from attnlab.files.sessions.session_file import save_scene
from attnlab.files.sessions.unsaved import BYTES_LIMIT, MOST, UnsavedFolder

START = int(datetime(2026, 11, 22, 9, 0, tzinfo=UTC).timestamp())


def left(folder: Path, title: str, seconds: int, name: str = "current.attnlab", **view: str) -> Path:
    """Write the unsaved session of a closed window, last changed some seconds after nine."""
    path = folder / name
    save_scene(Experiment(("a", "b"), [[1.0, 2.0], [3.0, 4.0]]), path, {"title": title, **view})
    os.utime(path, (START + seconds, START + seconds))
    return path


def titles(folder: UnsavedFolder) -> list[str]:
    return [kept.title for kept in folder.list_all()]


def test_the_list_has_time_and_title_with_the_newest_first(tmp_path: Path) -> None:
    folder = UnsavedFolder(tmp_path)
    folder.take(left(tmp_path, "Morning", 0))
    folder.take(left(tmp_path, "Noon", 3 * 3600))
    folder.take(left(tmp_path, "Hidden by its file", 60, file="/sessions/heads.attnlab"))
    assert titles(folder) == titles(UnsavedFolder(tmp_path)) == ["Noon", "heads", "Morning"]
    assert folder.list_all()[2].when == datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
    local = folder.list_all()[0].when.astimezone()
    assert folder.list_all()[0].write_title() == f"Noon — {local:%d %b %Y, %H:%M}"
    assert attnlab.load(folder.list_all()[2].path).tokens == ("a", "b")
    assert not (tmp_path / "current.attnlab").exists()


def test_the_last_ten_are_kept(tmp_path: Path) -> None:
    folder = UnsavedFolder(tmp_path)
    for number in range(13):
        folder.take(left(tmp_path, f"Work {number}", number))
    assert MOST == 10
    assert titles(folder) == [f"Work {number}" for number in range(12, 2, -1)]
    assert len(list(tmp_path.glob("*.attnlab"))) == 10


def test_two_files_of_one_second_are_both_kept_in_order(tmp_path: Path) -> None:
    folder = UnsavedFolder(tmp_path)
    for number in range(11):
        folder.take(left(tmp_path, f"Work {number}", 0))
    assert titles(folder) == [f"Work {number}" for number in range(10, 0, -1)]


def test_a_freed_name_is_not_reused_within_its_second(tmp_path: Path) -> None:
    folder = UnsavedFolder(tmp_path)
    for title in ("First", "Second", "Third"):
        folder.take(left(tmp_path, title, 0))
    folder.remove(folder.list_all()[1].path)
    folder.take(left(tmp_path, "Fourth", 0))
    assert titles(folder) == ["Fourth", "Third", "First"]


def test_the_total_size_is_bounded_but_the_newest_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert BYTES_LIMIT == 1 << 30
    size = left(tmp_path, "Work 0", 0).stat().st_size
    monkeypatch.setattr(unsaved, "BYTES_LIMIT", 3 * size)
    folder = UnsavedFolder(tmp_path)
    for number in range(5):
        folder.take(left(tmp_path, f"Work {number}", number))
    assert titles(folder) == ["Work 4", "Work 3", "Work 2"]
    monkeypatch.setattr(unsaved, "BYTES_LIMIT", size - 1)
    folder.take(left(tmp_path, "Work 5", 5))
    assert titles(folder) == ["Work 5"]


def test_an_unreadable_file_is_listed_without_a_title(tmp_path: Path) -> None:
    folder = UnsavedFolder(tmp_path)
    path = left(tmp_path, "Cut off", 0)
    path.write_bytes(path.read_bytes()[:100])
    folder.take(path)
    folder.take(left(tmp_path, "\x1b[31mred", 60 * 60 * 24 * 400))
    red, cut = folder.list_all()
    assert "\x1b" not in red.write_title()
    assert cut.title == ""
    assert cut.write_title().startswith("Unsaved work — ")


def test_a_large_manifest_is_not_read_for_the_list(tmp_path: Path) -> None:
    path = tmp_path / "current.attnlab"
    many = tuple("word" * 20 for _ in range(20_000))
    save_scene(Experiment(many, [[1.0]] * len(many)), path, {"title": "Large"})
    folder = UnsavedFolder(tmp_path)
    folder.take(path)
    assert titles(folder) == [""]


def test_only_complete_unsaved_files_are_listed(tmp_path: Path) -> None:
    for name in ("unsaved-20261122T090000.attnlab", "unsaved-99999999T999999.attnlab", "mine.attnlab", "unsaved-x"):
        (tmp_path / name).write_bytes(b"" if name.endswith("090000.attnlab") else b"something")
    (tmp_path / "unsaved-20261122T100000.attnlab").mkdir()
    folder = UnsavedFolder(tmp_path)
    assert folder.list_all() == ()
    folder.take(tmp_path / "gone.attnlab")
    folder.take(left(tmp_path, "Work", 0))
    assert titles(folder) == ["Work"]
    assert (tmp_path / "mine.attnlab").exists()
    assert UnsavedFolder(tmp_path / "none").list_all() == ()


def test_work_that_cannot_be_moved_is_kept_and_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = left(tmp_path, "Work", 0)
    monkeypatch.setattr(unsaved.os, "replace", refuse)
    UnsavedFolder(tmp_path).take(path)
    assert list(tmp_path.glob("*.attnlab")) == [path]


def test_removed_work_leaves_the_list_and_may_be_removed_twice(tmp_path: Path) -> None:
    folder = UnsavedFolder(tmp_path)
    folder.take(left(tmp_path, "Work", 0))
    (kept,) = folder.list_all()
    folder.remove(kept.path)
    folder.remove(kept.path)
    assert folder.list_all() == ()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="a process cannot change its time zone here")
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC"])
def test_a_file_name_with_an_extreme_date_does_not_break_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    for stamp in ("00010101T000000", "99991231T235959", "20261122T090000"):
        (tmp_path / f"unsaved-{stamp}.attnlab").write_bytes(b"x")
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        titles = [each.write_title() for each in UnsavedFolder(tmp_path).list_all()]
        assert "Unsaved work — 22 Nov 2026" in " ".join(titles)
    finally:
        monkeypatch.undo()
        time.tzset()

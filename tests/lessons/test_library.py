"""Lessons are found by name or file: shipped ones first, then the user's own, even invalid ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.base.errors import FileError
from attnlab.document.settings import settings_path
from attnlab.lessons import library

OWN = "---\ntitle: My own\n---\n\n## One\n\nText.\n\n## Two\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's folder of lessons, with one lesson."""
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(tmp_path))
    own = tmp_path / "lessons"
    own.mkdir()
    (own / "mine.md").write_text(OWN, encoding="utf-8")
    return own


def test_the_lesson_folder_is_beside_the_settings(folder: Path) -> None:
    assert library.find_user_folder() == folder == settings_path().parent / "lessons"


def test_shipped_lessons_are_in_teaching_order_and_have_no_file(folder: Path) -> None:
    lessons = [library.find(name) for name in library.list_shipped()]
    assert [lesson.order for lesson in lessons] == sorted(lesson.order for lesson in lessons)
    assert [lesson.name for lesson in lessons] == list(library.list_shipped())
    assert all(lesson.path is None for lesson in lessons)


def test_shipped_lessons_come_before_the_users_own(folder: Path) -> None:
    names = [lesson.name for lesson in library.list_lessons()]
    assert names == [*library.list_shipped(), "mine"]


def test_a_lesson_is_found_by_name_or_file(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text(OWN, encoding="utf-8")
    assert library.find("mine").path == folder / "mine.md"
    assert library.find(elsewhere).title == library.find(str(elsewhere)).title == "My own"
    assert library.find("mine").title == "My own"


def test_an_unknown_name_is_refused_with_the_nearest_one(folder: Path) -> None:
    with pytest.raises(FileError, match=r"There is no lesson 'heds'; did you mean heads\? There are .*heads.*mine\."):
        library.find("heds")
    with pytest.raises(FileError, match="There is no file"):
        library.find("nowhere.md")
    with pytest.raises(FileError, match="There is no file"):
        library.find("no/where")


def test_an_unreadable_file_is_listed_with_the_reason(folder: Path) -> None:
    (folder / "broken.md").write_bytes(b"\xff\xfe")
    (folder / "remarks.txt").write_text("no lesson", encoding="utf-8")
    broken = next(lesson for lesson in library.list_lessons() if lesson.name == "broken")
    assert broken.steps == ()
    assert "not UTF-8" in broken.problems[0].reason
    assert "remarks" not in [lesson.name for lesson in library.list_lessons()]


def test_a_missing_folder_has_no_lessons(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(folder / "nowhere"))
    assert library.list_own_files() == ()
    assert len(library.list_lessons()) == len(library.list_shipped())


def test_steps_are_counted_without_torch(folder: Path) -> None:
    assert library.count_steps("mine") == 2
    assert library.count_steps("heads") == len(library.find("heads").steps)
    code = (
        "import sys; from attnlab.lessons import library as l; l.count_steps('heads'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

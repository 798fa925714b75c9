"""CI runs each test in one of two runs, with Qt or with Qt hidden."""

from pathlib import Path

import pytest

from tests.headless import ROOMS, needs_qt, runs_without_qt

TESTS = Path(__file__).parent


def test_every_file_is_in_one_of_the_runs() -> None:
    files = sorted(TESTS.rglob("test_*.py"))
    assert [path for path in files if not needs_qt(path) and not runs_without_qt(path)] == []
    once = [path for path in files if needs_qt(path) != runs_without_qt(path)]
    assert len(once) > 0.98 * len(files)


def test_every_folder_on_the_way_to_a_test_is_looked_into() -> None:
    for path in TESTS.rglob("test_*.py"):
        folders = [folder for folder in path.parents if folder.is_relative_to(TESTS)]
        assert all(map(needs_qt, folders))
        assert not runs_without_qt(path) or all(map(runs_without_qt, folders)), path


@pytest.mark.parametrize(
    ("name", "with_qt", "without"),
    [
        ("test_headless.py", True, False),
        ("ui/test_keys.py", True, False),
        ("lessons/test_grading.py", False, True),
        ("compute/test_service.py", True, False),  # uses Qt throughout
        ("files/test_only_regular_files.py", True, True),  # one of its tests uses Qt
    ],
)
def test_a_file_is_run_where_its_tests_can(name: str, with_qt: bool, without: bool) -> None:
    assert (TESTS / name).is_file()
    assert (needs_qt(TESTS / name), runs_without_qt(TESTS / name)) == (with_qt, without)


def test_each_room_has_a_folder() -> None:
    assert [room for room in ROOMS if not (TESTS / room).is_dir()] == []

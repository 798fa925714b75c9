"""Recent files are in the menu and the palette; a missing one is reported and removed."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QMenu

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.document.settings import RECENT_LIMIT, load_settings
from attnlab.files.source import Source
from attnlab.ui.app.recent_files import write_title

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier


def session(folder: Path, name: str) -> Path:
    attnlab.save(Experiment((name,), [[1.0]]), folder / f"{name}.attnlab")
    return folder / f"{name}.attnlab"


def in_menu(person: "Person") -> list[str]:
    """Return what the Recent part of the menu shows."""
    person.window.actions_list.refresh()  # as the menu asks for before it is shown
    menus = [menu for menu in person.window.findChildren(QMenu) if menu.title() == "Recent"]
    assert len(menus) == 1
    return [action.text() for action in menus[0].actions() if action.isVisible()]


def test_without_files_the_menu_says_so(person: "Person") -> None:
    assert in_menu(person) == ["No recent files"]
    assert not person.window.actions_list["recent-none"].isEnabled()


@pytest.mark.slow
def test_recent_files_are_listed_newest_first_and_saved(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    first, second = session(tmp_path, "first"), tmp_path / "second & last.attnlab"
    person = sit_down(Source(path=first), remember=True)
    assert person.playground.files.save_to(second)
    assert in_menu(person) == [write_title(second).replace("&", "&&"), write_title(first)]
    assert load_settings()[0].recent == (str(second), str(first))
    for number in range(RECENT_LIMIT):
        person.window.open_path(session(tmp_path, f"more{number}"))
        person.settle()
    assert len(in_menu(person)) == RECENT_LIMIT


def test_the_palette_finds_a_file_by_its_name(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down()
    for name in ("monday", "friday"):
        person.window.open_path(session(tmp_path, name))
        person.settle()
    person.key(Key.Key_K, Mod.ControlModifier)
    field = person.find(QLineEdit, "Search the commands")
    person.type("monday.att")
    person.key(Key.Key_Return, widget=field)
    person.settle()
    assert person.experiment.tokens == ("monday",)
    assert person.history()[-1] == "Open monday.attnlab"


def test_a_missing_file_is_removed_from_the_list_with_a_message(
    sit_down: Callable[..., "Person"], tmp_path: Path
) -> None:
    person = sit_down()
    kept, gone = session(tmp_path, "kept"), session(tmp_path, "gone")
    for path in (kept, gone):
        person.window.open_path(path)
        person.settle()
    gone.unlink()
    before = person.document.scene
    assert person.window.actions_list.run("recent-1")
    assert person.message() == f"{gone} no longer exists; it was removed from the list of recent files."
    assert person.document.scene is before
    assert in_menu(person) == [write_title(kept)]


def test_a_long_folder_is_shortened_at_its_start() -> None:
    assert write_title(Path.home() / "a" / "b.attnlab") == f"b.attnlab — {Path('~', 'a')}"
    long = write_title(Path("/", *["folder"] * 20, "b\n.attnlab"))
    assert long.startswith("b\\n.attnlab — …")
    assert long.endswith("folder/folder")
    assert len(long) < 80

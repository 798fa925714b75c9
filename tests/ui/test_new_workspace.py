"""A new workspace is one module: a throw-away one is in the rail, the menu, the palette and the keys."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from attnlab.figures.palette import DARK
from attnlab.ui import workspaces
from attnlab.ui.base.themed import palette_of
from attnlab.ui.base.workspace import Host
from tests.ui.conftest import Person

ADDED = Path(__file__).parents[1] / "added" / "workspaces"

Key = Qt.Key


@pytest.fixture
def person(sit_down: Callable[..., Person], monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setattr(workspaces, "__path__", [*workspaces.__path__, str(ADDED)])
    return sit_down()


def notes(host: Host, *, make: bool = True) -> Any:
    return host.workspace(sys.modules["attnlab.ui.workspaces.notes"].NOTES, make=make)


def test_a_workspace_is_shown_by_the_rail_and_its_shortcut(person: Person) -> None:
    window: Any = person.window
    assert notes(window, make=False) is None
    last = len(window.kinds)
    person.click(person.find(QToolButton, f"Notes (Ctrl+{last})"))
    assert [bar.isVisible() for bar in notes(window).bars] == [True] * 3
    assert not person.playground.body.isVisible()
    person.key(Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert [bar.isVisible() for bar in notes(window).bars] == [False] * 3
    assert person.playground.body.isVisible()
    person.key(Key(Key.Key_0 + last), Qt.KeyboardModifier.ControlModifier)
    assert notes(window).asked == ["entered", "left", "entered"]
    assert window.current == "notes"


def test_an_action_of_a_workspace_is_in_menu_and_palette_and_shows_it(person: Person) -> None:
    window = person.window
    assert "Notes" in [entry.text() for entry in window.rail.menu_button.menu().actions()]
    window.show_palette()
    person.type("tidy notes")
    assert window.command_palette.current() == "notes-tidy"
    person.key(Key.Key_Return)
    assert notes(window).asked == ["entered", "tidied"]


def test_a_workspace_receives_keys_messages_themes_and_its_end(person: Person) -> None:
    window = person.window
    window.show_workspace("notes")
    asked = notes(window).asked
    person.key(Key.Key_F9)
    person.key(Key.Key_Escape)
    window.say("Something to read.")
    window.set_theme("dark")
    assert asked == ["entered", "F9", "escape"]
    assert notes(window).bars[2].text() == "Something to read."
    assert person.message() == "", "it is about the workspace in view"
    assert palette_of(notes(window).bars[1]) is DARK
    window.close()
    assert "stop" in asked

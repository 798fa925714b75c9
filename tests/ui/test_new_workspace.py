"""A new workspace is a class and an entry: a throw-away one is in the rail, the menu, the palette and the keys."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from attnlab.figures.palette import DARK, Palette
from attnlab.ui.app import workspaces
from attnlab.ui.base.actions import Action
from attnlab.ui.base.workspace import Host, WorkspaceKind, on
from tests.ui.conftest import Person

Key = Qt.Key


class Notes:
    """A workspace with three labels, which records what the window asks of it."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.palette: Palette | None = None
        self.bars = QLabel("above"), QLabel("the notes"), QLabel("below")

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        return self.bars

    def shown(self) -> None:
        self.asked.append("shown")

    def hidden(self) -> None:
        self.asked.append("hidden")

    def arrange(self, width: int) -> None:
        assert width > 0

    def set_palette(self, palette: Palette) -> None:
        self.palette = palette

    def say(self, sentence: str) -> None:
        self.bars[2].setText(sentence)

    def take_key(self, key: Qt.Key) -> bool:
        if key == Key.Key_F9:
            self.asked.append("F9")
        return key == Key.Key_F9

    def escape(self) -> None:
        self.asked.append("escape")

    def stop(self) -> None:
        self.asked.append("stop")

    def tidy(self) -> None:
        self.asked.append("tidied")


NOTES: WorkspaceKind[Notes] = WorkspaceKind(
    "notes",
    "Notes",
    "book",
    lambda _: Notes(),
    lambda host: [Action("notes-tidy", "Tidy the notes", "Notes", on(host, NOTES), Notes.tidy)],
)


@pytest.fixture
def person(sit_down: Callable[..., Person], monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setattr(workspaces, "WORKSPACES", (*workspaces.WORKSPACES, NOTES))
    return sit_down()


def notes(host: Host) -> Notes:
    found = host.workspace(NOTES, make=False)
    assert found is not None
    return found


def test_it_is_shown_by_the_rail_and_by_its_key(person: Person) -> None:
    window: Any = person.window
    assert window.workspace(NOTES, make=False) is None
    person.click(person.find(QToolButton, "Notes (Ctrl+4)"))
    assert [bar.isVisible() for bar in notes(window).bars] == [True] * 3
    assert not person.playground.body.isVisible()
    person.key(Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert [bar.isVisible() for bar in notes(window).bars] == [False] * 3
    assert person.playground.body.isVisible()
    person.key(Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert notes(window).asked == ["shown", "hidden", "shown"]
    assert window.current == "notes"


def test_its_action_is_in_the_menu_and_the_palette_and_shows_it_first(person: Person) -> None:
    window = person.window
    assert "Notes" in [entry.text() for entry in window.rail.menu_button.menu().actions()]
    window.show_palette()
    person.type("tidy notes")
    assert window.command_palette.current() == "notes-tidy"
    person.key(Key.Key_Return)
    assert notes(window).asked == ["shown", "tidied"]


def test_it_gets_keys_messages_themes_and_the_end(person: Person) -> None:
    window = person.window
    window.show_workspace("notes")
    asked = notes(window).asked
    person.key(Key.Key_F9)
    person.key(Key.Key_Escape)
    window.say("Something to read.")
    window.set_theme("dark")
    assert asked == ["shown", "F9", "escape"]
    assert notes(window).bars[2].text() == "Something to read."
    assert notes(window).palette == DARK
    window.close()
    assert "stop" in asked

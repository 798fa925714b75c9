"""What is wrong with a lesson’s file is said beside the playground for as long as it is about what is shown."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ui.lessons.test_lessons_workspace import find_controller, walk

if TYPE_CHECKING:
    from tests.ui.conftest import Person


@pytest.fixture
def told(person: "Person", lesson_file: Path) -> "Person":
    """Return a person beside whose playground a lesson with a mistake has been opened."""
    text = lesson_file.read_text(encoding="utf-8").replace("depth: row", "depth: rows")
    lesson_file.write_text(text, encoding="utf-8")
    walk(person, lesson_file)
    assert person.message().startswith("Line ")
    return person


def close(person: "Person") -> None:
    find_controller(person).close()


def open_another(person: "Person") -> None:
    find_controller(person).open("six-words")


def go_on(person: "Person") -> None:
    find_controller(person).player.go_next()


def look_it_up(person: "Person") -> None:
    person.window.show_workspace("lessons")
    person.window.show_workspace("playground")


@pytest.mark.parametrize("leave", [close, open_another, go_on, look_it_up])
def test_a_mistake_in_a_lesson_is_told_until_it_is_left(told: "Person", leave: "Callable[[Person], None]") -> None:
    leave(told)
    told.settle()
    assert told.message() == ""


def test_another_message_stays_when_the_lesson_is_closed(told: "Person") -> None:
    told.playground.step_bar.show_message("The table cannot be pasted.")
    close(told)
    assert told.message() == "The table cannot be pasted."

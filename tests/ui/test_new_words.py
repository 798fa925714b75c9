"""A new word says that its numbers are random, until they are changed."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from attnlab.attention.edits.new_words import find_new_words
from attnlab.attention.examples.presets import PRESETS, preset

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def said(person: "Person") -> list[str]:
    labels = person.playground.inputs.findChildren(QLabel)
    return [one.text() for one in labels if one.isVisible() and "random" in one.text()]


def test_no_shipped_example_has_a_new_word() -> None:
    assert [name for name in PRESETS if find_new_words(preset(name)) or find_new_words(preset(name), "memory")] == []


@pytest.mark.slow
def test_typed_words_are_named_and_known_ones_are_not(person: "Person") -> None:
    assert said(person) == []
    person.write_sentence("Your journey ends here")
    person.key(Key.Key_Return)
    person.settle()
    assert said(person) == ["“ends” and “here” are new: their numbers in X are random."]
    person.write_sentence("Your journey ends")
    person.key(Key.Key_Return)
    person.settle()
    assert said(person) == ["“ends” is new: its numbers in X are random."]
    person.undo()
    person.undo()
    person.settle()
    assert said(person) == []


@pytest.mark.slow
def test_many_words_are_counted(person: "Person") -> None:
    person.write_sentence("all of these are new")
    person.key(Key.Key_Return)
    person.settle()
    assert said(person) == ["5 words are new: their numbers in X are random."]


@pytest.mark.slow
def test_a_word_with_numbers_of_its_own_is_no_longer_new(person: "Person") -> None:
    person.write_sentence("Your journey ends")
    person.key(Key.Key_Return)
    person.open_table("X")
    person.type_number(2, 0, "0.5")
    person.settle()
    assert said(person) == []


@pytest.mark.slow
def test_a_word_of_the_second_sequence_names_its_own_table(person: "Person") -> None:
    person.press("Second sequence")
    box = person.playground.inputs.memory_box
    box.sentence.setFocus()
    box.sentence.selectAll()
    person.type("one small step")
    person.key(Key.Key_Return)
    person.settle()
    assert said(person) == ["“small” is new: its numbers in M are random."]

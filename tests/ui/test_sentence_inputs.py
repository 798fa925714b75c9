"""Sentence and tokens: typing, renaming, adding, moving and removing, and their effect on the numbers."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ui.conftest import Person

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")


# The sentence


def test_a_typed_sentence_becomes_tokens_tables_and_cards(person: "Person") -> None:
    person.write_sentence("A cat sat")
    person.settle()
    assert person.playground.inputs.tokens.tokens() == ("A", "cat", "sat")
    for stage in ("scores", "scaled", "weights"):
        assert person.labels(stage) == (("A", "cat", "sat"), ("A", "cat", "sat"))
        assert person.painted(stage).shape == (1, 3, 3)
    assert person.labels("queries")[0] == ("A", "cat", "sat")
    assert person.painted("output").shape == (1, 3, 2)
    person.open_table("X")
    assert person.in_table().shape == (3, 3)


@pytest.mark.slow
def test_kept_words_keep_their_numbers_and_a_new_one_gets_its_own(person: "Person") -> None:
    before = person.painted("inputs")[0]
    person.write_sentence("step Your walk")
    person.settle()
    now = person.painted("inputs")[0]
    np.testing.assert_array_equal(now[0], before[5])
    np.testing.assert_array_equal(now[1], before[0])
    person.write_sentence("step Your stroll")
    person.write_sentence("walk")
    person.settle()
    np.testing.assert_array_equal(person.painted("inputs")[0, 0], now[2])  # the same word, the same numbers


def test_typing_a_sentence_is_one_undoable_step(person: "Person") -> None:
    before = person.experiment
    person.write_sentence("Two words")
    assert person.history() == ["Open Your journey starts…", "Type a sentence"]
    person.key(Key.Key_Return)
    person.window.setFocus()
    person.undo()
    assert person.experiment is before
    assert person.playground.inputs.sentence.text() == "Your journey starts with one step"


def test_an_empty_sentence_is_explained_and_the_last_one_kept(person: "Person") -> None:
    person.write_sentence("")
    assert person.message() == "The sentence is empty; type at least one word."
    assert person.experiment.tokens == JOURNEY
    QTest.keyClicks(person.playground.inputs.sentence, "New")
    assert person.message() == ""
    person.settle()
    assert person.labels("weights")[0] == ("New",)


def test_leaving_an_empty_sentence_restores_the_current_one(person: "Person") -> None:
    person.write_sentence("")
    person.table.setFocus()
    assert person.playground.inputs.sentence.text() == "Your journey starts with one step"
    assert person.message() == ""


# Tokens


def chip(person: "Person", index: int) -> QPoint:
    return person.playground.inputs.tokens.chip_rect(index).center()


def strip_editor(person: "Person") -> QLineEdit:
    return person.find(QLineEdit, "Token", person.playground.inputs.tokens)


def test_a_token_can_be_renamed_in_place_and_keeps_its_numbers(person: "Person") -> None:
    before = person.painted("inputs")
    strip = person.playground.inputs.tokens
    QTest.mouseDClick(strip.viewport(), Button.LeftButton, pos=chip(person, 1))
    QTest.keyClicks(strip_editor(person), "trip")
    QTest.keyClick(strip_editor(person), Key.Key_Return)
    person.settle()
    assert person.labels("weights")[1] == ("Your", "trip", "starts", "with", "one", "step")
    assert person.playground.inputs.sentence.text() == "Your trip starts with one step"
    np.testing.assert_array_equal(person.painted("inputs"), before)
    assert person.history()[-1] == "Rename token 1 to “trip”"


def test_the_plus_button_adds_a_token_and_opens_it_for_typing(person: "Person") -> None:
    strip = person.playground.inputs.tokens
    person.click(strip.viewport(), chip(person, 6))
    QTest.keyClicks(strip_editor(person), "more")
    QTest.keyClick(strip_editor(person), Key.Key_Return)
    person.settle()
    assert person.labels("weights")[0][-2:] == ("step", "more")
    assert person.painted("weights").shape == (1, 7, 7)


def test_a_token_can_be_moved_by_dragging(person: "Person") -> None:
    before = person.painted("weights")[0]
    strip = person.playground.inputs.tokens
    target = strip.chip_rect(2)
    away = target.center() + QPoint(target.width() // 2, 0) - chip(person, 0)
    person.drag(strip.viewport(), chip(person, 0), (12, 0), (away.x(), away.y()))
    person.settle()
    order = [1, 2, 0, 3, 4, 5]
    assert person.experiment.tokens == tuple(JOURNEY[i] for i in order)
    np.testing.assert_allclose(person.painted("weights")[0], before[np.ix_(order, order)], rtol=1e-6)


def test_keys_duplicate_and_remove_a_token(person: "Person") -> None:
    strip = person.playground.inputs.tokens
    person.click(strip.viewport(), chip(person, 2))
    person.key(Key.Key_D, Mod.ControlModifier, strip)
    assert person.experiment.tokens == (*JOURNEY[:3], *JOURNEY[2:])
    person.settle()
    rows = person.painted("weights")[0]
    np.testing.assert_array_equal(rows[2], rows[3])
    person.key(Key.Key_Delete, widget=strip)
    person.key(Key.Key_Delete, widget=strip)
    person.settle()
    assert person.experiment.tokens == ("Your", "journey", "with", "one", "step")
    assert person.history()[-3:] == ["Duplicate “starts”", "Remove “starts”", "Remove “starts”"]


def test_the_last_token_cannot_be_removed_and_the_reason_is_shown(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("the-cat-sat")
    strip = person.playground.inputs.tokens
    strip.setFocus()
    for _ in range(3):
        person.key(Key.Key_Delete, widget=strip)
    assert person.experiment.T_q == 1
    assert person.message() == "This is the only token; a sentence needs at least one."


def test_a_click_on_a_token_selects_its_query(person: "Person") -> None:
    person.click(person.playground.inputs.tokens.viewport(), chip(person, 4))
    cell = person.document.view.cell
    assert cell is not None
    assert (cell.stage, cell.row) == ("queries", 4)


# Typing, and what else is done meanwhile


def test_continued_typing_keeps_edits_made_in_between(person: "Person") -> None:
    field = person.playground.inputs.sentence
    field.setFocus()
    field.end(False)
    person.type(" now")
    person.playground.toggle_causal()
    person.type(" and")
    assert person.experiment.config.causal
    assert person.experiment.tokens == (*JOURNEY, "now", "and")
    assert person.history()[1:] == ["Type a sentence", "Causal on", "Type a sentence"]
    person.playground.open_preset("the-cat-sat")
    assert field.text() == " ".join(person.experiment.tokens)
    cat = person.experiment
    field.end(False)
    person.type(" x")
    assert person.experiment.tokens == (*cat.tokens, "x")


def test_an_empty_sentence_is_explained_below_it_and_escape_restores_it(person: "Person") -> None:
    before, field = person.experiment, person.playground.inputs.sentence
    field.setFocus()
    field.selectAll()
    person.key(Key.Key_Backspace)
    said = person.find(QLabel, "Message about the sentence")
    assert said.text() == "The sentence is empty; type at least one word."
    assert (
        field.mapToGlobal(QPoint(0, 0)).y() < said.mapToGlobal(QPoint(0, 0)).y() < field.mapToGlobal(QPoint(0, 60)).y()
    )
    person.type("No")
    assert not said.isVisible()
    person.key(Key.Key_Escape)
    assert (person.experiment, field.text()) == (before, " ".join(JOURNEY))
    field.selectAll()
    person.key(Key.Key_Backspace)
    person.key(Key.Key_Escape)
    assert (person.experiment, field.text(), person.message()) == (before, " ".join(JOURNEY), "")
    assert not said.isVisible()


def test_a_file_dropped_on_the_sentence_is_opened_by_the_window(person: "Person", tmp_path: "Path") -> None:
    field, mime = person.playground.inputs.sentence, QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "talk.attnlab"))])
    mime.setText(str(tmp_path / "talk.attnlab"))  # as some file managers do
    how = Qt.DropAction.CopyAction, mime, Button.LeftButton, Mod.NoModifier
    QApplication.sendEvent(field, QDragEnterEvent(QPoint(9, 9), *how))
    QApplication.sendEvent(field, QDropEvent(QPointF(9, 9), *how))
    person.wait_for(lambda: person.message().startswith("There is no file"))
    assert field.text() == " ".join(JOURNEY)
    mime.setUrls([QUrl("https://arxiv.org")])
    mime.setText("a link")
    link = QDragEnterEvent(QPoint(9, 9), *how)
    QApplication.sendEvent(field, link)
    assert link.isAccepted(), "a link of a browser is text"


def test_a_trailing_space_adds_no_history_entry(person: "Person") -> None:
    field = person.playground.inputs.sentence
    field.setFocus()
    field.end(False)
    person.type(" ")
    assert len(person.history()) == 1

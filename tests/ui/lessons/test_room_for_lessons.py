"""The lesson beside the playground has the room that its text needs, and Explain tells none of its answers."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QToolButton, QWidget

from attnlab.lessons.library import list_shipped
from attnlab.ui.predict.answer_row import AnswerRow
from attnlab.ui.predict.choice_sheet import ChoiceRow
from tests.ui.lessons.test_lessons_workspace import find_controller, panel_of

if TYPE_CHECKING:
    from tests.ui.conftest import Person

ANSWER = "Text after the reveal"


def open_step(person: "Person", name: str, step: int, type_size: int = 100) -> None:
    person.window.resize(1366, 768)
    person.window.change_settings(type_size=type_size)
    find_controller(person).open(name, step)
    person.window.show_workspace("playground")
    person.settle()


def is_whole(widget: QWidget) -> bool:
    return widget.visibleRegion().boundingRect() == widget.rect()


def list_answers(person: "Person") -> list[QWidget]:
    """Return the visible answers to choose from, or fields to fill in."""
    panel = panel_of(person)
    found = [row for kind in (ChoiceRow, AnswerRow) for row in panel.findChildren(kind) if row.isVisible()]
    assert found
    return found


def read_explain(person: "Person") -> str:
    explain = person.playground.explain
    return " ".join(label.text() for label in explain.findChildren(QLabel) if label.isVisible())


@pytest.mark.parametrize("type_size", [100, 150, 175])
def test_next_stands_at_one_place_in_all_steps_of_a_lesson(person: "Person", type_size: int) -> None:
    open_step(person, "why-attention", 0, type_size)
    button, player, places = person.find(QPushButton, "Next"), find_controller(person).player, set()
    for step in (0, 3, 5, 12):  # short and long texts, and a question
        player.go(step)
        for _ in range(2):
            person.settle()
            QApplication.processEvents()  # the column is divided again
            places.add((button.mapTo(person.window, QPoint()).toTuple(), button.size().toTuple()))
            player.go_next()
    assert len(places) == 1


@pytest.mark.parametrize("type_size", [100, 140, 160, 175])
def test_a_lesson_is_not_cut_while_the_explanation_is_half_empty(person: "Person", type_size: int) -> None:
    open_step(person, "causal-masks", 2, type_size)
    text = person.find(QScrollArea, "The step’s text")
    person.wait_for(lambda: text.verticalScrollBar().maximum() == 0)
    assert person.playground.explain.verticalScrollBar().maximum() == 0


@pytest.mark.slow
def test_type_enlarged_while_a_lesson_is_open_gives_its_text_more_room(person: "Person") -> None:
    open_step(person, "causal-masks", 2)
    text, before = person.find(QScrollArea, "The step’s text"), panel_of(person).height()
    person.window.change_settings(type_size=160)
    person.wait_for(lambda: panel_of(person).height() > before and text.verticalScrollBar().maximum() == 0)


@pytest.mark.parametrize(("name", "step"), [("whole-block", 5), ("learned-by-heart", 7)])
def test_a_question_with_many_answers_or_below_two_charts_is_in_sight(person: "Person", name: str, step: int) -> None:
    open_step(person, name, step)
    text = person.find(QScrollArea, "The step’s text")
    person.wait_for(lambda: text.verticalScrollBar().maximum() == 0)


@pytest.mark.parametrize(
    ("name", "step", "kind", "count"),
    [("induction-by-hand", 1, ChoiceRow, 3), ("bahdanau-luong", 12, AnswerRow, 3)],
)
def test_a_short_question_shows_all_its_answers_in_large_type(
    person: "Person", name: str, step: int, kind: type[QWidget], count: int
) -> None:
    open_step(person, name, step, 150)
    answers = [each for each in panel_of(person).findChildren(kind) if each.isVisible()]
    assert len(answers) == count
    person.wait_for(lambda: all(each.visibleRegion().boundingRect() == each.rect() for each in answers))


@pytest.mark.slow
def test_every_open_question_of_every_lesson_shows_all_its_answers(person: "Person", subtests: pytest.Subtests) -> None:
    player = find_controller(person).player
    person.window.change_settings(type_size=150)
    for size in ((1366, 768), (1024, 640)):
        person.window.resize(*size)
        for name in list_shipped():
            find_controller(person).open(name)
            person.window.show_workspace("playground")
            for step in (each for each in player.slides if each.step.question is not None):
                player.go(step.index)
                person.settle()
                with subtests.test(size=size, name=name, step=step.index + 1):
                    person.wait_for(lambda: all(map(is_whole, list_answers(person))))


def test_a_question_stays_in_sight_below_a_text_that_scrolls_and_keeps_what_is_typed(person: "Person") -> None:
    open_step(person, "bahdanau-luong", 12, 150)
    text, panel = person.find(QScrollArea, "The step’s text"), panel_of(person)
    person.wait_for(lambda: text.verticalScrollBar().maximum() > 0)
    fields = [row.field for row in list_answers(person)]
    check = person.find(QPushButton, "Check", panel)
    person.wait_for(lambda: all(map(is_whole, (*fields, check))))
    fields[0].setFocus()
    QTest.keyClicks(fields[0], "7")
    person.window.change_settings(type_size=100)  # the question returns into the text
    person.wait_for(lambda: text.verticalScrollBar().maximum() == 0 and text.isAncestorOf(check))
    QTest.keyClicks(person.window.focusWidget(), "5")
    assert fields[0].text() == "75"


def test_a_held_cell_keeps_the_share_of_the_explanation(person: "Person") -> None:
    open_step(person, "causal-masks", 2, 200)
    explain, panel = person.playground.explain, panel_of(person)
    person.wait_for(lambda: explain.height() < 0.36 * (explain.height() + panel.height()))
    find_controller(person).player.finish()
    person.settle()
    person.click_cell("weights", 2, 1)
    person.press("Show: Notes")
    person.wait_for(lambda: explain.height() > 0.37 * (explain.height() + panel.height()))


def test_while_a_lesson_is_open_the_explanation_shows_no_example(person: "Person") -> None:
    assert "0.2256" in read_explain(person)
    open_step(person, "why-attention", 0)
    assert "1.0000" not in read_explain(person)
    assert "all rows of the output are the same" not in read_explain(person)
    panel_of(person).close_requested.emit()
    person.settle()
    assert "1.0000" in read_explain(person)


@pytest.mark.slow
def test_a_lesson_that_needs_all_the_room_has_it_until_a_cell_is_explained(person: "Person") -> None:
    open_step(person, "causal-masks", 2, 175)
    person.press("Show: Notes")
    explain, text = person.playground.explain, person.find(QScrollArea, "The step’s text")
    person.wait_for(lambda: not explain.isVisible() and text.verticalScrollBar().maximum() == 0)
    find_controller(person).player.finish()
    person.settle()
    person.click_cell("weights", 2, 1)
    person.wait_for(explain.isVisible)
    assert "sat" in read_explain(person)
    panel_of(person).close_requested.emit()
    person.settle()
    assert not explain.isHidden()  # though its column may be folded


@pytest.mark.parametrize("type_size", [150, 175])
def test_the_sheet_for_an_answer_is_in_sight_while_the_held_cell_is_asked(person: "Person", type_size: int) -> None:
    open_step(person, "scaling", 13, type_size)
    check = person.find(QPushButton, "Check", panel_of(person))
    person.wait_for(lambda: check.visibleRegion().boundingRect() == check.rect())
    find_controller(person).player.finish()
    person.settle()
    person.wait_for(person.playground.explain.isVisible)


@pytest.mark.slow
def test_the_explanation_returns_when_a_lesson_that_took_its_room_is_closed(person: "Person") -> None:
    open_step(person, "causal-masks", 2, 200)
    person.press("Show: Notes")
    explain = person.playground.explain
    person.wait_for(lambda: not explain.isVisible())
    panel_of(person).close_requested.emit()
    person.window.resize(1920, 1080)
    person.wait_for(explain.isVisible)


@pytest.mark.parametrize("name", ["six-words", "heads", "positions"])
def test_a_scroll_bar_that_was_there_while_opening_takes_no_room_from_the_text(person: "Person", name: str) -> None:
    person.window.resize(1366, 768)
    person.window.show_workspace("lessons")
    find_controller(person).open(name)
    person.settle()
    person.window.show_workspace("playground")
    text = person.find(QScrollArea, "The step’s text")
    inside = text.widget()
    person.wait_for(lambda: inside.heightForWidth(inside.width()) <= text.viewport().height() >= inside.height())
    assert not text.verticalScrollBar().isVisible()


@pytest.mark.parametrize("step", [0, 2, 4])  # an answer in words, choices, and a field
def test_an_answer_is_in_sight_when_it_is_revealed(person: "Person", step: int) -> None:
    open_step(person, "attention-is-geometry", step, 150)
    (answer,) = (each for each in panel_of(person).findChildren(QLabel) if each.accessibleName() == ANSWER)
    text = person.find(QScrollArea, "The step’s text")
    assert not answer.isVisible()
    person.click(person.find(QPushButton, "Reveal"))
    person.wait_for(lambda: text.verticalScrollBar().value() > 0)
    person.wait_for(lambda: answer.visibleRegion().boundingRect() == answer.rect())
    person.click(person.find(QPushButton, "Next"))
    person.settle()
    assert text.verticalScrollBar().value() == 0


@pytest.mark.slow
def test_all_answers_to_choose_from_are_in_sight_while_a_question_is_open(person: "Person") -> None:
    open_step(person, "attention-is-geometry", 2, 130)
    explain, player = person.playground.explain, find_controller(person).player
    person.wait_for(explain.isHidden)
    answers = [each for each in panel_of(person).findChildren(ChoiceRow) if each.isVisible()]
    assert len(answers) == 4
    person.wait_for(lambda: all(each.visibleRegion().boundingRect() == each.rect() for each in answers))
    player.finish()
    person.settle()
    person.wait_for(explain.isVisible)


@pytest.mark.parametrize(("name", "step"), [("six-words", 1), ("attention-is-geometry", 5)])  # a text, and choices
def test_a_step_needs_no_room_for_its_folded_notes_nor_for_a_second_button(
    person: "Person", name: str, step: int
) -> None:
    open_step(person, name, step, 150)
    text = person.find(QScrollArea, "The step’s text")
    person.wait_for(lambda: text.verticalScrollBar().maximum() == 0)
    assert person.find(QToolButton, "Show: Notes").isVisible()


def test_opened_notes_are_in_sight_below_their_title(person: "Person") -> None:
    open_step(person, "six-words", 3, 150)
    find_controller(person).player.finish()
    person.settle()
    person.click_cell("scores", 4, 0)
    person.press("Show: Notes")
    (title,) = (each for each in panel_of(person).findChildren(QLabel) if each.text() == "Notes")
    person.wait_for(lambda: title.isVisible() and title.visibleRegion().boundingRect() == title.rect())
    person.press("Show: Notes")
    assert not title.isVisible()


def test_a_question_that_does_not_fit_begins_with_its_title(person: "Person") -> None:
    open_step(person, "six-words", 13, 175)
    find_controller(person).player.go(14)
    person.settle()
    text = person.find(QScrollArea, "The step’s text")
    person.wait_for(lambda: text.verticalScrollBar().maximum() > 0)
    assert text.verticalScrollBar().value() == 0

"""A student calculates dW_q of the three words by hand, types it beside the playground, and is told what is right."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from attnlab.attention import edits
from attnlab.ui.playground.lenses.backward_lens import BackwardLens
from attnlab.ui.predict.answer_row import AnswerRow
from attnlab.ui.widgets.subscripts import FormulaLabel
from tests.ui.lessons.test_lessons_workspace import find_controller, panel_of, read

if TYPE_CHECKING:
    from tests.ui.conftest import Person


def open_step(person: "Person", title: str) -> None:
    controller = find_controller(person)
    assert controller.open("backpropagation")
    titles = [slide.step.title for slide in controller.player.slides]
    controller.player.go(titles.index(title))
    person.settle()


def list_rows(person: "Person") -> list[AnswerRow]:
    return [row for row in panel_of(person).findChildren(AnswerRow) if row.isVisible()]


def enter(row: AnswerRow, text: str) -> str:
    """Type an answer, and return the feedback."""
    row.field.selectAll()
    QTest.keyClicks(row.field, text)
    QTest.keyClick(row.field, Qt.Key.Key_Return)
    return row.verdict.text()


def calculate_row(person: "Person") -> "np.ndarray":
    """Return row 2 of dW_q of the three words, from X, W_q and W_k alone, as a student calculates it."""
    x, w_q, w_k = (edits.table(person.experiment, name).double().numpy() for name in ("embeddings", "W_q", "W_k"))
    queries, keys = x @ w_q, x @ w_k
    powers = np.exp(queries[2] @ keys.T / 2)
    weights = powers / powers.sum()
    d_scores = 2 * (weights[1] - 0.8) * weights[1] * (np.array([0.0, 1.0, 0.0]) - weights) / 2
    return x[2, 2] * (d_scores @ keys)


def test_a_student_calculates_dw_q_by_hand_and_the_lesson_grades_it(person: "Person") -> None:
    open_step(person, "dW_q by hand")
    person.wait_for(lambda: len(list_rows(person)) == 4)
    labels = [label for label in person.window.findChildren(FormulaLabel) if label.isVisible()]
    lowered = {label.text() for label in labels if "vertical-align:sub" in label.markup}
    assert {"dW_q by hand", "dW_q"} <= lowered, "the title of the step, and that of the stage in the bar below"
    by_hand = calculate_row(person)
    assert "The whole table is one column of X" not in read(person)
    shown = person.document.view.at
    assert shown is not None
    assert set(shown.asked) == {(2, column) for column in range(4)}
    first, *others = list_rows(person)
    assert enter(first, f"{-by_hand[0]:.4f}").startswith("Not yet. ")
    assert enter(first, f"{by_hand[0]:.4f}").startswith("Right. ")
    for row, value in zip(others, by_hand[1:], strict=True):
        assert enter(row, f"{value:.4f}").startswith("Right. ")
    person.wait_for(lambda: "The whole table is one column of X" in read(person))


def test_each_step_shows_the_cards_that_it_is_about(person: "Person") -> None:
    open_step(person, "What should come out?")
    controller, lenses = find_controller(person), person.playground.lenses
    assert lenses.current == "canvas"
    for step, slide in enumerate(controller.player.slides[1:], 1):
        controller.player.go(step)
        person.settle()
        assert lenses.current == "backward", slide.step.title
        assert find_card(person, slide.stage).isVisible()
    controller.close()
    person.settle()
    assert lenses.current == "canvas"


def test_a_gradient_is_not_checked_by_trying_before_it_is_revealed(person: "Person") -> None:
    open_step(person, "dW_q by hand")
    trial = find_lens(person).trial
    person.wait_for(lambda: trial.told.text() == "The held number is not computed yet.")
    assert not trial.lines.isVisible()
    find_controller(person).player.finish()
    person.wait_for(trial.lines.isVisible)


def find_lens(person: "Person") -> BackwardLens:
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, BackwardLens)
    return lens


def find_card(person: "Person", stage: str) -> QWidget:
    return find_lens(person).canvas.cards[stage]

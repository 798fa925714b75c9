"""A student answers every question of the lessons on geometry, blocks and induction: first wrong, then right."""

from typing import TYPE_CHECKING

import pytest

import attnlab
from tests.ui.lessons.test_choices_in_panel import click, sheet_of
from tests.ui.lessons.test_gradient_by_hand import enter, list_rows
from tests.ui.lessons.test_lessons_workspace import find_controller, panel_of, read

if TYPE_CHECKING:
    from attnlab.lessons.lesson import Question
    from attnlab.lessons.slides import Slide
    from tests.ui.conftest import Person

LESSONS = {"attention-is-geometry": 5, "whole-block": 7, "induction-by-hand": 8}
"""The lessons, and how many questions they have."""


def answer_choices(person: "Person", right: int) -> None:
    sheet = sheet_of(person)
    person.wait_for(lambda: bool(sheet.rows) and sheet.rows[0].isVisible())
    click(sheet.rows[1 if right == 1 else 0])
    assert sheet.verdict == "Not that one. Try another."
    click(sheet.rows[right - 1])
    assert sheet.verdict.startswith("Right: ")


def answer_blanks(person: "Person", slide: "Slide") -> None:
    """Type each blank, from the numbers that another computation of the step gives."""
    assert slide.step.question is not None
    person.wait_for(lambda: bool(list_rows(person)))
    for row, value in zip(list_rows(person), list_numbers(person.experiment, slide.step.question), strict=True):
        assert enter(row, f"{value + 3:.4f}").startswith("Not yet. ")
        assert enter(row, f"{value:.4f}").startswith("Right. ")


def list_numbers(e: attnlab.Experiment, question: "Question") -> list[float]:
    """Return the numbers of the blanks of a layer with one head."""
    trace, found = attnlab.compute(e), []
    for blank in question.blanks:
        table = trace.array(blank.stage).reshape(-1, trace.array(blank.stage).shape[-1])
        row = find_place(blank.row, e.tokens)
        columns = range(table.shape[1]) if blank.column is None else [find_place(blank.column, e.key_tokens)]
        found += [float(table[row, column]) for column in columns]
    return found


def find_place(place: int | str | None, tokens: tuple[str, ...]) -> int:
    assert place is not None
    return place if isinstance(place, int) else tokens.index(place)


@pytest.mark.parametrize("name", LESSONS)
def test_every_question_is_graded(person: "Person", name: str) -> None:
    controller = find_controller(person)
    assert controller.open(name)
    asked = [at for at, slide in enumerate(controller.player.slides) if slide.step.question is not None]
    assert len(asked) == LESSONS[name]
    for at in asked:
        controller.player.go(at)
        person.settle()
        slide = controller.player.slides[at]
        question = slide.step.question
        assert question is not None
        if question.choices:
            answer_choices(person, question.right)
        else:
            answer_blanks(person, slide)
        person.wait_for(lambda: not list_rows(person) or all(row.verdict.text() for row in list_rows(person)))
        assert panel_of(person).isVisible()
        assert read(person)

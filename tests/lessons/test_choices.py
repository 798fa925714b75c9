"""Answers to choose from: read, written back, and checked against the number that is asked for."""

import pytest

from attnlab.compute.engine import compute
from attnlab.lessons.lesson import Question
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import check, make_slides
from attnlab.lessons.write import write

LESSON = """---
title: Choose
---

## How much?

```state
preset: journey
stage: weights
cell: [2, 1]
```

```question
ask: How much does “starts” give to “journey”?
choices:
  - about 0.1
  - 23 %
  - about 0.5
right: {right}
blank: weights[2, :]
```
"""


def question_of(text: str) -> Question | None:
    return parse(text, "choose").steps[0].question


def test_choices_are_read_and_written() -> None:
    lesson = parse(LESSON.format(right=2), "choose")
    question = lesson.steps[0].question
    assert question is not None
    assert question.choices == ("about 0.1", "23 %", "about 0.5")
    assert question.right == 2
    assert lesson.steps[0].has_answer
    assert parse(write(lesson), "choose") == lesson
    assert check(lesson) == ()


def test_a_right_choice_far_from_the_asked_number_is_a_problem() -> None:
    (problem,) = check(parse(LESSON.format(right=3), "choose"))
    assert problem.reason.startswith("“about 0.5” is given as right, but weights[2, 1] is 0.2")
    assert problem.reason.endswith("nearest to “23 %”.")
    assert problem.line == 20


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("right: 2\n", "", "The choices need a right one: a line right: 1, counted from 1 to 3."),
        ("right: 2", "right: 4", "The choices need a right one"),
        ("  - 23 %\n  - about 0.5\n", "", "it needs 2 to 4 answers"),
        ("  - 23 %\n", "  - 1\n  - 2\n  - 3\n", "it needs 2 to 4 answers"),
        ("choices:\n  - about 0.1\n  - 23 %\n  - about 0.5\n", "", "There is a right choice, but no choices"),
    ],
)
def test_invalid_choices_are_left_out_and_the_question_stays(old: str, new: str, reason: str) -> None:
    text = LESSON.format(right=2)
    assert old in text
    lesson = parse(text.replace(old, new), "choose")
    assert any(reason in problem.reason for problem in lesson.problems), lesson.problems
    question = lesson.steps[0].question
    assert question is not None
    assert (question.choices, question.right) == ((), 0)
    assert question.blanks


def test_a_question_with_choices_needs_no_blank() -> None:
    question = question_of(LESSON.format(right=1).replace("blank: weights[2, :]\n", ""))
    assert question is not None
    assert question.blanks == ()
    assert question_of(LESSON.format(right=9).replace("blank: weights[2, :]\n", "")) is None


def test_several_included_lessons_let_the_audience_vote() -> None:
    votes = [
        name
        for name in list_shipped()
        if any(step.question is not None and step.question.choices for step in find(name).steps)
    ]
    assert len(votes) >= 2


def test_the_map_beside_a_question_does_not_tell_which_word_comes_next() -> None:
    first, second = make_slides(find("induction-by-hand"), 2)
    assert first.experiment is not None
    assert second.experiment is not None
    assert first.experiment.tokens == ("to", "be", "or", "not", "to")
    weights = compute(second.experiment).array("weights")[0, 4]  # of the whole text again, without the first layer
    assert weights[1:5] == pytest.approx([0.25] * 4, abs=1e-4)


def test_the_map_of_the_swapped_words_is_covered_until_the_class_has_voted() -> None:
    slide = make_slides(find("positions"), 2)[-1]
    assert slide.experiment is not None
    assert len(slide.blanks) == len(slide.experiment.tokens) ** 2

"""How long a lesson takes: by its words, steps and questions, unless its file says it."""

from dataclasses import replace

import pytest

from attnlab.lessons.duration import estimate_minutes, estimate_seconds, plan_seconds
from attnlab.lessons.lesson import Blank, Question, Step
from attnlab.lessons.library import list_lessons
from attnlab.lessons.parse import parse
from attnlab.lessons.write import write


def test_words_steps_and_questions_take_their_time() -> None:
    step = Step("A title is not read", text="word " * 100, answer="word " * 30, notes="word " * 130)
    assert estimate_seconds(step) == pytest.approx(2 * 60 + 20)
    asked = replace(step, question=Question((Blank("weights"),)))
    assert estimate_seconds(asked) == pytest.approx(4 * 60 + 20)


def test_minutes_in_the_file_win_and_are_kept() -> None:
    lesson = parse("---\ntitle: A\nminutes: 45\n---\n\n## One\n\nText.\n\n## Two\n\nMore text here.\n", "a")
    assert lesson.problems == ()
    assert estimate_minutes(lesson) == 45
    assert parse(write(lesson), "a").minutes == 45
    assert sum(plan_seconds(lesson)) == pytest.approx(45 * 60)


@pytest.mark.parametrize("minutes", ["0", "-3", "601", "soon"])
def test_other_minutes_are_refused(minutes: str) -> None:
    lesson = parse(f"---\ntitle: A\nminutes: {minutes}\n---\n\n## One\n", "a")
    assert [problem.line for problem in lesson.problems] == [3]
    assert lesson.minutes == 0


def test_included_lessons_take_ten_to_twenty_five_minutes() -> None:
    minutes = {lesson.name: estimate_minutes(lesson) for lesson in list_lessons() if lesson.path is None}
    assert {name: taken for name, taken in minutes.items() if not 8 <= taken <= 25} == {}

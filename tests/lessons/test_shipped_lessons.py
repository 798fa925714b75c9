"""The shipped lessons open without mistakes, compute, and state only computed numbers."""

import re

import numpy as np
import pytest

from attnlab.attention import edits
from attnlab.attention.examples.presets import PRESETS
from attnlab.base import assets
from attnlab.base.text_marks import split_marks
from attnlab.compute.engine import compute
from attnlab.lessons.legible_words import warn_of_words
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import check, fill_text, make_slides
from attnlab.lessons.write import write

NAMES = list_shipped()


@pytest.fixture(params=NAMES)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return find(request.param)


def test_there_are_at_least_twelve_lessons_with_distinct_orders() -> None:
    assert len(NAMES) >= 12
    orders = [find(name).order for name in NAMES]
    assert all(orders), dict(zip(NAMES, orders, strict=True))
    assert len(set(orders)) == len(orders), dict(zip(NAMES, orders, strict=True))
    last = ("trained-heads", "switch-a-head-off", "learned-by-heart", "watch-induction-form")
    assert NAMES[-4:] == last, "trained models come after all that they use, and their training after them"
    assert len(NAMES) == sum(name.endswith(".md") for name in assets.names("lessons"))


def test_the_lessons_cover_every_system_of_the_course() -> None:
    course = {row for preset in PRESETS.values() for row in preset.rows}
    covered = {row for name in NAMES for row in find(name).covers}
    assert course - covered == set(), "no lesson covers these"
    assert covered - course == set(), "these are claimed by a lesson, and no preset shows them"


def test_every_step_computes_and_every_placeholder_is_filled(lesson: Lesson) -> None:
    wrong = [f"resources/lessons/{lesson.name}.md:{problem.line}: {problem.reason}" for problem in check(lesson)]
    assert not wrong, "\n" + "\n".join(wrong)


def test_a_lesson_has_six_to_fifteen_steps_sources_and_a_final_exercise(lesson: Lesson) -> None:
    assert 6 <= len(lesson.steps) <= 15
    assert lesson.sources, "a lesson names its sources"
    assert lesson.about, "a lesson says what it is about"
    assert make_slides(lesson)[-1].blanks, "a lesson ends with an exercise: its last step needs a question"


def test_texts_are_short_enough_for_the_last_row(lesson: Lesson) -> None:
    """The editor, which warns of longer texts and of the problems above, has nothing to say about a shipped lesson."""
    for slide in make_slides(lesson):
        assert slide.experiment is not None
        now, before = compute(slide.experiment), compute(slide.before or slide.experiment)
        for text in (slide.step.text, slide.step.answer):
            warning = warn_of_words("It", fill_text(text, now, before, slide, markdown=True))
            assert not warning, f"step {slide.index + 1}: {warning}"


def test_no_line_of_the_notes_ends_within_a_sentence(lesson: Lesson) -> None:
    """Each line is a paragraph for the speaker."""
    texts = [step.notes for step in lesson.steps if "```" not in step.notes]
    lines = [line.rstrip() for text in texts for line in text.split("\n") if line.strip()]
    assert [line for line in lines if line[-1] not in ".?!:)”`"] == []


def test_a_long_text_is_warned_of_by_its_words_and_numbers() -> None:
    assert warn_of_words("The text", " · ".join(["0.5"] * 60)) == ""
    assert warn_of_words("The text", "word " * 61).startswith("The text has 61 words")


def test_no_stated_number_becomes_false_when_one_is_dragged(lesson: Lesson) -> None:
    """Change the first embedding: what stays as it was is no number of the step, or marked as the lesson's."""
    for slide in make_slides(lesson):
        assert slide.experiment is not None
        first = float(slide.experiment.embeddings[0, 0])
        dragged = compute(edits.set_block(slide.experiment, "embeddings", 0, 0, np.array([[first + 0.7]])))
        own, before = compute(slide.experiment), compute(slide.before or slide.experiment)
        for text in (slide.step.text, slide.step.answer):
            filled = fill_text(text, dragged, before, slide, markdown=True, own=own)
            kept = "".join(piece.text for piece in split_marks(filled)[0] if not piece.aside)
            by_hand = re.sub(r"\{\{.*?\}\}|\{=.*?=\}|`[^`]*`", " ", text, flags=re.DOTALL)
            assert not re.findall(r"\d+\.\d+(?! · 10)|\d %", by_hand), f"step {slide.index + 1}: {kept}"
            assert "{{" not in kept
            assert "{=" not in kept


def test_every_stated_number_is_computed(lesson: Lesson) -> None:
    stated = {}
    for step in lesson.steps:
        bare = re.sub(r"\{\{.*?\}\}|`[^`]*`", "", f"{step.title}\n{step.text}")
        found = re.findall(r"[−-]?\d+\.\d+(?! · 10)", bare)  # 3.4 · 10³⁸ is the largest float32, and no result
        if found:
            stated[f"line {step.line}"] = found
    assert not stated, "numbers of a computation are written as placeholders: {{weights[2, 1]:.2f}}"


@pytest.mark.parametrize("folder", ["lessons", "help"])
def test_texts_have_typographic_apostrophes(folder: str) -> None:
    names = [name for name in assets.names(folder) if name.endswith(".md")]
    assert names
    for name in names:
        prose = re.sub(r"```.*?```|`[^`]*`", "", assets.read_text(name), flags=re.DOTALL)
        assert re.findall(r"\w*[A-Za-z]'\w*", prose) == [], f"{name}: write ’ instead of '"


def test_the_first_step_has_a_state(lesson: Lesson) -> None:
    assert all(slide.experiment is not None for slide in make_slides(lesson))
    named = {f"lessons/{step.file}" for step in lesson.steps if step.file is not None}
    assert named <= set(assets.names("lessons")), "the sessions of a lesson that ships are beside it"


def test_a_lesson_survives_writing_and_reading(lesson: Lesson) -> None:
    assert parse(write(lesson), lesson.name) == lesson

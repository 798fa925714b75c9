"""Finds lessons by words in their titles and texts."""

import re
from collections.abc import Iterable

from attnlab.lessons.lesson import Lesson, Step

_FILLED = re.compile(r"\{\{[^{}]*\}\}|\{=|=\}")


def find_lessons(lessons: Iterable[Lesson], query: str) -> list[tuple[Lesson, int | None]]:
    """Return the lessons that have all words of a query, in order, each with the first step that has them.

    The step is None if they are in the title or the description, or only in several steps together.
    """
    words = query.casefold().split()
    found: list[tuple[Lesson, int | None]] = []
    for lesson in lessons:
        head = f"{lesson.title} {lesson.about}".casefold()
        texts = [_read_step(step) for step in lesson.steps]
        if _has_all(head, words):
            found.append((lesson, None))
        elif _has_all(" ".join((head, *texts)), words):
            found.append((lesson, next((i for i, text in enumerate(texts) if _has_all(text, words)), None)))
    return found


def _read_step(step: Step) -> str:
    """Return the words of a step in small letters, without placeholders and marks."""
    asked = (step.question.ask, *step.question.choices) if step.question is not None else ()
    return _FILLED.sub(" ", " ".join((step.title, step.text, step.answer, step.notes, *asked))).casefold()


def _has_all(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)

"""How long a lesson takes: estimated from its words, its steps and its questions, unless its file says it."""

from attnlab.lessons.lesson import Lesson, Step

WORDS_A_MINUTE = 130
SECONDS_A_STEP, SECONDS_A_QUESTION = 20, 120


def estimate_seconds(step: Step) -> float:
    """Return how long a step takes: its words are read aloud, its question is thought about."""
    words = sum(len(text.split()) for text in (step.text, step.answer, step.notes))
    asked = SECONDS_A_QUESTION if step.question is not None else 0
    return 60 * words / WORDS_A_MINUTE + SECONDS_A_STEP + asked


def estimate_minutes(lesson: Lesson) -> int:
    """Return the minutes of a lesson: those in its file, else the estimate, at least 1."""
    return lesson.minutes or max(1, round(sum(map(estimate_seconds, lesson.steps)) / 60))


def plan_seconds(lesson: Lesson) -> tuple[float, ...]:
    """Return the planned length of each step; together they take the minutes of the lesson."""
    each = [estimate_seconds(step) for step in lesson.steps]
    share = 60 * estimate_minutes(lesson) / (sum(each) or 1.0)
    return tuple(seconds * share for seconds in each)

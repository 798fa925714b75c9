"""Writes lessons as readable Markdown, which parses to the same lesson."""

import re
from typing import Any

from attnlab.lessons.cells import blank_text
from attnlab.lessons.lesson import Edit, Lesson, Question, Step
from attnlab.lessons.sections import FRONT, escaped
from attnlab.lessons.yaml_block import Flow, dumped


def write(lesson: Lesson) -> str:
    """Return the text of a lesson's file; ``parse`` returns the same lesson, except for its path."""
    front: dict[str, Any] = {"title": lesson.title}
    if lesson.about:
        front["about"] = lesson.about
    if lesson.order:
        front["order"] = lesson.order
    if lesson.covers:
        front["covers"] = Flow(lesson.covers)
    if lesson.sources:
        front["sources"] = list(lesson.sources)
    return "\n".join([f"{FRONT}\n{dumped(front)}{FRONT}\n", *map(_step, lesson.steps)])


def _step(step: Step) -> str:
    parts = [f"## {step.title}\n"]
    state = _state(step)
    if state:
        parts.append(_block("state", dumped(state)))
    if step.text:
        parts.append(escaped(step.text) + "\n")
    if step.notes:
        parts.append(_block("notes", escaped(step.notes) + "\n"))
    if step.question is not None:
        parts.append(_block("question", dumped(_question(step.question))))
    return "\n".join(parts)


def _block(kind: str, content: str) -> str:
    """Return a block in a fence that is longer than any fence inside it."""
    longest = max((len(run) for run in re.findall(r"^`+", content, re.MULTILINE)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{content}{fence}\n"


def _state(step: Step) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for key in ("preset", "file", "edits", "stage", "cell", "head", "depth", "lens"):
        value = getattr(step, key)
        if key == "edits" and value:
            state[key] = [_edit(edit) for edit in value]
        elif key == "cell" and value is not None:
            state[key] = Flow(value)
        elif key != "edits" and value is not None:
            state[key] = value
    return state


def _edit(edit: Edit) -> dict[str, Any]:
    return {edit.key: _inline(edit.value)}


def _inline(value: object) -> object:
    return Flow(map(_inline, value)) if isinstance(value, list | tuple) else value


def _question(question: Question) -> dict[str, Any]:
    blanks = [blank_text(blank) for blank in question.blanks]
    fields: dict[str, Any] = {"ask": question.ask} if question.ask else {}
    fields["blank"] = blanks[0] if len(blanks) == 1 else blanks
    fields["tolerance"] = question.tolerance
    return fields | ({"hint": question.hint} if question.hint else {})

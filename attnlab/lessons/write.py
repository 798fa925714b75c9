"""Writes lessons as readable Markdown, which parses to the same lesson."""

import re
from typing import Any

from attnlab.lessons.cell_references import write_blank
from attnlab.lessons.lesson import Edit, Lesson, Question, Step
from attnlab.lessons.sections import FRONT, escape
from attnlab.lessons.yaml_block import Flow, dump

_KEYS = (
    *("preset", "file", "run", "moment", "layer", "probe"),
    *("edits", "stage", "cell", "head", "depth", "lens", "beside", "curves"),
)
"""The keys of a state, in the order in which they are written."""


def write(lesson: Lesson) -> str:
    """Return the text of a lesson's file; ``parse`` returns the same lesson, except for its path."""
    front: dict[str, Any] = {"title": lesson.title}
    if lesson.about:
        front["about"] = lesson.about
    if lesson.order:
        front["order"] = lesson.order
    if lesson.minutes:
        front["minutes"] = lesson.minutes
    if lesson.covers:
        front["covers"] = Flow(lesson.covers)
    if lesson.sources:
        front["sources"] = list(lesson.sources)
    return "\n".join([f"{FRONT}\n{dump(front)}{FRONT}\n", *map(_write_step, lesson.steps)])


def _write_step(step: Step) -> str:
    parts = [f"## {step.title}\n"]
    state = _write_state(step)
    if state:
        parts.append(_write_block("state", dump(state)))
    if step.text:
        parts.append(escape(step.text) + "\n")
    if step.notes:
        parts.append(_write_block("notes", escape(step.notes) + "\n"))
    if step.question is not None:
        parts.append(_write_block("question", dump(_write_question(step.question))))
    if step.answer:
        parts.append(_write_block("answer", escape(step.answer) + "\n"))
    return "\n".join(parts)


def _write_block(kind: str, content: str) -> str:
    """Return a block in a fence that is longer than any fence inside it."""
    longest = max((len(run) for run in re.findall(r"^`+", content, re.MULTILINE)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{content}{fence}\n"


def _write_state(step: Step) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for key in _KEYS:
        value = getattr(step, key)
        if key == "curves" and value is not None:
            value = value[0] if len(value) == 1 else Flow(value)
        if key == "edits" and value:
            state[key] = [_write_edit(edit) for edit in value]
        elif key == "cell" and value is not None:
            state[key] = Flow(value)
        elif key != "edits" and value is not None:
            state[key] = value
    return state


def _write_edit(edit: Edit) -> dict[str, Any]:
    return {edit.key: _to_flow(edit.value)}


def _to_flow(value: object) -> object:
    return Flow(map(_to_flow, value)) if isinstance(value, list | tuple) else value


def _write_question(question: Question) -> dict[str, Any]:
    blanks = [write_blank(blank) for blank in question.blanks]
    fields: dict[str, Any] = {"ask": question.ask} if question.ask else {}
    if question.choices:
        fields |= {"choices": list(question.choices), "right": question.right}
    if blanks:
        fields["blank"] = blanks[0] if len(blanks) == 1 else blanks
        fields["tolerance"] = question.tolerance
    return fields | ({"hint": question.hint} if question.hint else {})

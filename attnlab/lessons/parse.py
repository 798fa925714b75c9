"""Parses lessons from Markdown: a mistake becomes a problem with its line, and the rest is still read."""

import os
from pathlib import Path
from typing import Any

from attnlab.lessons.fields import FRONT, QUESTION, STATE, take_fields
from attnlab.lessons.lesson import Lesson, Problem, Question, Step
from attnlab.lessons.sections import LIMIT, Block, Section, read_text, split, trim
from attnlab.lessons.yaml_block import Pair, read_pairs


def read(path: str | os.PathLike[str]) -> Lesson:
    """Read a lesson from a file; mistakes in it become the lesson's problems.

    Raises:
        FileError: the file does not exist, is larger than 1 MiB, or not UTF-8.
    """
    path = Path(path)
    return parse(read_text(path), path.stem, path)


def parse(text: str, name: str, path: Path | None = None) -> Lesson:
    """Parse a lesson; never raises: invalid parts are left out and become the lesson's problems."""
    problems: list[Problem] = []
    if len(text) > LIMIT:
        return Lesson(name, name, (), path=path, problems=(Problem(1, "The lesson is larger than 1 MiB."),))
    front, sections = split(text, problems)
    found = read_pairs(front, "the front matter", problems)
    fields = take_fields(found, FRONT, "the front matter", problems)
    if found and not fields.get("title"):
        reason = "The lesson has no title; the front matter needs one, such as title: Causal masks."
        problems.append(Problem(front[0][0], reason))
    if not sections:
        problems.append(Problem(text.count("\n") + 1, "The lesson has no steps; each begins with ## and its title."))
    steps = tuple(_parse_step(section, problems) for section in sections)
    fields["title"] = fields.get("title") or name
    return Lesson(name, steps=steps, path=path, problems=tuple(sorted(problems, key=lambda p: p.line)), **fields)


def _parse_step(section: Section, problems: list[Problem]) -> Step:
    first: dict[str, Block] = {}
    notes: list[tuple[int, str]] = []
    for block in section.blocks:
        if block.kind == "notes":
            lines = trim(block.lines)
            notes += ([(notes[-1][0], "")] if notes and lines else []) + lines
        elif block.kind in first:
            reason = f"The step has a second block {block.kind}; only the first one counts, so put both into one."
            problems.append(Problem(block.line, reason))
        else:
            first[block.kind] = block
    fields = _parse_state(first["state"], problems) if "state" in first else {}
    question = _parse_question(first["question"], problems) if "question" in first else None
    answer = _parse_answer(first["answer"], problems) if "answer" in first else []
    return Step(
        section.title,
        "\n".join(line for _, line in section.text),
        "\n".join(line for _, line in notes),
        question=question,
        answer="\n".join(line for _, line in answer),
        line=section.line,
        text_lines=tuple(place for place, _ in section.text),
        notes_lines=tuple(place for place, _ in notes),
        answer_lines=tuple(place for place, _ in answer),
        **fields,
    )


def _parse_state(block: Block, problems: list[Problem]) -> dict[str, Any]:
    found = read_pairs(block.lines, "this state", problems)
    fields = take_fields(found, STATE, "a state", problems)
    if "preset" in fields and "file" in fields:
        line = next(pair.line for pair in found if pair.key == "file")
        problems.append(Problem(line, "A state has a preset or a file, not both; the preset counts."))
        del fields["file"]
    of_run = [key for key in ("run", "moment", "layer", "probe") if key in fields]
    begun = next((key for key in ("preset", "file") if key in fields), None)
    if of_run and begun is not None:
        line = next(pair.line for pair in found if pair.key == of_run[0])
        problems.append(Problem(line, f"A state has a {begun} or a run, not both; the {begun} counts."))
        for key in of_run:
            del fields[key]
    return fields | {"at": tuple((pair.key, pair.line) for pair in found)}


def _parse_answer(block: Block, problems: list[Problem]) -> list[tuple[int, str]]:
    lines = trim(block.lines)
    if not lines:
        problems.append(Problem(block.line, "The answer is empty; write the text that appears after the reveal."))
    return lines


def _parse_question(block: Block, problems: list[Problem]) -> Question | None:
    found = read_pairs(block.lines, "this question", problems)
    fields = take_fields(found, QUESTION, "a question", problems)
    _check_right(found, fields, block, problems)
    if found and not fields.keys() & {"blank", "choices"}:
        if not any(pair.key in ("blank", "choices") for pair in found):
            reason = "The question has no blank; add one, such as blank: weights[2, 1], or choices."
            problems.append(Problem(block.line, reason))
        return None
    line = next((pair.line for pair in found if pair.key == "blank"), block.line)
    return Question(fields.pop("blank", ()), line=line, **fields) if found else None


def _check_right(found: tuple[Pair, ...], fields: dict[str, Any], block: Block, problems: list[Problem]) -> None:
    """Leave out choices without a right one, and a right one without choices."""
    lines = {pair.key: pair.line for pair in found}
    choices, right = fields.get("choices", ()), fields.get("right", 0)
    if choices and not 1 <= right <= len(choices):
        reason = f"The choices need a right one: a line right: 1, counted from 1 to {len(choices)}."
        problems.append(Problem(lines.get("right", lines["choices"]), reason))
        del fields["choices"]
    elif "right" in fields and not choices and "choices" not in lines:
        problems.append(Problem(lines["right"], "There is a right choice, but no choices; add them, or leave it out."))
    if not fields.get("choices"):
        fields.pop("right", None)

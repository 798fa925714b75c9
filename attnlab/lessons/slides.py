"""Slides: the steps of a lesson with their computed states, ready to be shown."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.trace import Trace
from attnlab.attention.stages.walk import Place
from attnlab.base.counted import format_has
from attnlab.base.errors import AttnlabError
from attnlab.base.text_marks import drop_marks, mark_aside
from attnlab.compute.engine import check_size
from attnlab.lessons.budget import Budget
from attnlab.lessons.cell_references import find_cell, list_cells
from attnlab.lessons.choices import check_choices
from attnlab.lessons.covering import Covering
from attnlab.lessons.expressions import Scope
from attnlab.lessons.fixed_sentences import find_open, split_fixed
from attnlab.lessons.lesson import Lesson, Problem, Step
from attnlab.lessons.pictures import find_wrong
from attnlab.lessons.placeholders import Wrong, fill
from attnlab.lessons.state import begin_state, choose_moment
from attnlab.lessons.stated_numbers import find_stated

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.lessons.recordings import Recorded

DEFAULT_STAGE = "weights"
TOLD = 4
"""The texts of a step that tell something: title, text, notes and answer. The others ask, and offer other numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Slide:
    """One step with its state, the stage, cell and head that it shows, its frames, and the cells of its question.

    ``experiment`` is None if the step shows the open experiment; its only frame is then the whole stage. ``before`` is
    the state of the step before, or of the lesson's first step. ``head`` is a head, "mean" or "all". ``recorded`` is
    the moment of a recorded run that is shown, ``recorded_before`` that of the step before.
    """

    index: int
    count: int
    lesson: Lesson
    step: Step
    experiment: "Experiment | None"
    stage: str
    cell: Cell | None
    head: int | str
    frames: tuple[Place | None, ...]
    blanks: tuple[Cell, ...] = ()
    before: "Experiment | None" = None
    recorded: "Recorded | None" = None
    recorded_before: "Recorded | None" = None


def make_slides(lesson: Lesson, count: int | None = None) -> tuple[Slide, ...]:
    """Return the slides of a lesson, or of its first steps, without the invalid parts of its states, which
    :func:`check` reports.
    """
    return _walk_steps(lesson, count)[0]


def _walk_steps(lesson: Lesson, count: int | None = None) -> tuple[tuple[Slide, ...], list[Problem]]:
    """Return the slides, and the problems of their states, cells and questions."""
    problems: list[Problem] = []
    made: list[Slide] = []
    budget = Budget()
    for index, step in enumerate(lesson.steps[:count]):
        made.append(_make_slide(lesson, index, step, made[-1] if made else None, problems, budget))
    return tuple(made), problems


def _make_slide(
    lesson: Lesson, index: int, step: Step, last: Slide | None, problems: list[Problem], budget: Budget
) -> Slide:
    recorded = choose_moment(lesson, step, last.recorded if last else None, problems)
    e = begin_state(lesson, step, last.experiment if last else None, problems, budget, recorded)
    anew = last is None or step.preset is not None or step.file is not None or step.run is not None
    stage = _choose_stage(step, None if anew or last is None else last.stage, e, problems)
    head = _choose_head(step, None if anew or last is None else last.head, e, problems)
    slide = Slide(index, len(lesson.steps), lesson, step, e, stage, None, head, (None,))
    slide = replace(slide, before=last.experiment if last and last.experiment is not None else e)
    slide = replace(slide, recorded=recorded, recorded_before=last.recorded if last else None)
    if e is None:
        return slide
    cell = None
    if step.cell is not None:
        try:
            cell = find_cell(e, stage, step.cell, head)
        except AttnlabError as error:
            problems.append(Problem(step.line_of("cell"), str(error)))
    blanks = _find_blanks(step, e, head, problems)
    at = (cell.row, cell.column) if cell is not None else None
    return replace(slide, cell=cell, blanks=blanks, frames=walk.frames(e, stage, step.depth or "all", at))


def _choose_stage(step: Step, last: str | None, e: "Experiment | None", problems: list[Problem]) -> str:
    """Return the stage of a step; a missing stage is a problem only if the step itself names it."""
    name = step.stage or last or DEFAULT_STAGE
    if e is None or BY_NAME[name].present(e):
        return name
    if step.stage is not None:
        there = ", ".join(stage.name for stage in walk.stages_of(e))
        problems.append(Problem(step.line_of("stage"), f"This state has no stage {name}; there are {there}."))
    return DEFAULT_STAGE


def _choose_head(step: Step, last: int | str | None, e: "Experiment | None", problems: list[Problem]) -> int | str:
    """Return the head of a step: its own, else that of the step before, else "all" if there are several."""
    if e is None:
        return step.head if step.head is not None else last if last is not None else "all"
    for head, asked in ((step.head, True), (last, False)):
        if head is None:
            continue
        if not isinstance(head, int) or head < e.n_heads:
            return head
        if asked:
            reason = f"There is no head {head}; this state {format_has('head', 0, e.n_heads - 1)}."
            problems.append(Problem(step.line_of("head"), reason))
    return "all" if e.n_heads > 1 else 0


def _find_blanks(step: Step, e: "Experiment", head: int | str, problems: list[Problem]) -> tuple[Cell, ...]:
    found: dict[Cell, None] = {}
    for blank in step.question.blanks if step.question is not None else ():
        try:
            found.update(dict.fromkeys(list_cells(e, blank, head)))
        except AttnlabError as error:
            problems.append(Problem(step.question.line if step.question else step.line, str(error)))
    return tuple(found)


def fill_text(
    text: str,
    trace: Trace,
    before: Trace | None,
    slide: Slide,
    markdown: bool = False,
    covering: Covering | None = None,
    own: Trace | None = None,
) -> str:
    """Return a text of a slide with its placeholders filled from the trace; "?" if one cannot be filled.

    ``trace`` belongs to the shown state, ``before`` to that of the step before; None means the same trace. A step's
    text and notes are ``markdown``, in which tokens are escaped; its title and its question are not. With ``covering``,
    numbers that a reveal uncovers are marked. ``own`` are the lesson's numbers if others are shown: sentences between
    {= and =} are filled from them and marked as asides.
    """
    parts = []
    for part, is_fixed in split_fixed(drop_marks(text)):
        aside = is_fixed and own is not None
        scope = Scope(
            own if aside and own is not None else trace,
            before or trace,
            slide.head,
            slide.recorded,
            slide.recorded_before,
        )
        filled = fill(part, lambda scope=scope: scope, markdown, None if aside else covering)[0]  # type: ignore[misc]
        parts.append(mark_aside(filled) if aside else filled)
    return "".join(parts)


def check(lesson: Lesson) -> tuple[Problem, ...]:
    """Compute every step and fill every placeholder; return all problems, including those of the file."""
    made, problems = _walk_steps(lesson)
    traces: dict[int, Trace] = {}
    for slide in made:
        needed = {id(slide.experiment), id(slide.before)}
        traces = {
            key: trace for key, trace in traces.items() if key in needed
        }  # keeping all of them could fill the memory
        problems += _check_texts(slide, traces)
    return tuple(sorted({*lesson.problems, *problems}, key=lambda problem: (problem.line, problem.reason)))


def _check_texts(slide: Slide, traces: dict[int, Trace]) -> list[Problem]:
    step, e = slide.step, slide.experiment
    question = step.question
    asked = [question.ask, question.hint, *question.choices] if question is not None else []
    texts = [
        (step.title, (step.line,)),
        (step.text, step.text_lines),
        (step.notes, step.notes_lines),
        (step.answer, step.answer_lines),
        *((text, (question.line if question is not None else step.line,)) for text in asked),
    ]
    unclosed = [
        Problem(_find_line(wrong, lines, step.line), wrong.reason) for text, lines in texts for wrong in find_open(text)
    ]
    unclosed += [
        Problem(_find_line(wrong, step.text_lines, step.line), wrong.reason)
        for wrong in find_wrong(slide.lesson, step.text)
    ]
    if e is None:
        return unclosed
    try:
        now, before = _trace(e, traces), _trace(slide.before or e, traces)
        _ = now[slide.stage]
        scope = Scope(now, before, slide.head, slide.recorded, slide.recorded_before)
        choices = tuple(fill(text, lambda: scope)[0] for text in question.choices) if question is not None else ()
        found = [
            Problem(_find_line(wrong, lines, step.line), wrong.reason)
            for text, lines in texts
            for wrong in fill(text, lambda: scope)[1]
        ]
        stated = [
            Problem(_find_line(wrong, lines, step.line), wrong.reason)
            for text, lines in texts[:TOLD]
            for wrong in find_stated(text, now, before)
        ]
        return unclosed + found + stated + check_choices(slide, choices, now)
    except AttnlabError as error:
        return [Problem(step.line, str(error))]


def _find_line(wrong: Wrong, lines: tuple[int, ...], otherwise: int) -> int:
    return lines[min(wrong.line, len(lines) - 1)] if lines else otherwise


def _trace(e: "Experiment", traces: dict[int, Trace]) -> Trace:
    """Return the cached trace of an experiment, computed in float32 on the CPU as the window does."""
    if id(e) not in traces:
        check_size(e)
        traces[id(e)] = Trace(e, torch.device("cpu"), torch.float32)
    return traces[id(e)]

"""Slides: a step inherits what it does not set, and its requests are met or reported."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.trace import Trace
from attnlab.attention.stages.walk import Place
from attnlab.base.errors import FileError
from attnlab.lessons.cell_references import MOST_BLANKS
from attnlab.lessons.lesson import Blank, Edit, Lesson, Problem, Question, Step
from attnlab.lessons.parse import parse, read
from attnlab.lessons.slides import Slide, check, fill_text, make_slides
from attnlab.lessons.tour import make_tour


def lesson_of(*steps: Step) -> Lesson:
    return Lesson("own", "Own", steps)


def only_slide(step: Step) -> Slide:
    (slide,) = make_slides(lesson_of(step))
    return slide


def only_problem(*steps: Step) -> Problem:
    (problem,) = check(lesson_of(*steps))
    return problem


def traced(slide: Slide) -> Trace:
    assert slide.experiment is not None
    return Trace(slide.experiment, torch.device("cpu"), torch.float32)


def test_a_step_continues_from_the_step_before() -> None:
    one, two, three = make_slides(
        lesson_of(
            Step("One", preset="multi-head-8", stage="scores", head=3, cell=(1, 2), depth="row", lens="statistics"),
            Step("Two", edits=(Edit("causal", True),)),
            Step("Three"),
        )
    )
    assert one.experiment is not None
    assert two.experiment is not None
    assert (two.experiment.config.causal, one.experiment.config.causal) == (True, False)
    assert three.experiment is two.experiment
    assert [(slide.stage, slide.head) for slide in (one, two, three)] == [("scores", 3)] * 3
    assert (one.cell, two.cell) == (Cell("scores", 1, 2, 3), None)
    assert two.frames == (None,)
    assert (two.step.lens, two.step.depth, two.blanks) == (None, None, ())
    assert (one.before, two.before, three.before) == (one.experiment, one.experiment, two.experiment)
    assert [(slide.index, slide.count) for slide in (one, two, three)] == [(0, 3), (1, 3), (2, 3)]


def test_a_new_state_resets_the_view() -> None:
    _, many, one = make_slides(
        lesson_of(
            Step("One", preset="multi-head-8", stage="scores", head=3),
            Step("Many", preset="multi-head-8", edits=(Edit("causal", True),)),
            Step("One head", preset="journey"),
        )
    )
    assert (many.stage, many.head) == ("weights", "all")
    assert (one.stage, one.head) == ("weights", 0)


def test_a_view_of_a_removed_stage_is_dropped_silently() -> None:
    first = Step("One", preset="causal-5x8", stage="masked")
    lesson = lesson_of(first, Step("Two", edits=(Edit("causal", False),)))
    assert make_slides(lesson)[1].stage == "weights"
    assert check(lesson) == ()


@pytest.mark.parametrize(
    ("head", "shown"), [(2, 2), ("mean", None), ("all", 0)], ids=["a head", "the mean", "the first of all"]
)
def test_the_head_of_a_cell_is_the_visible_one(head: int | str, shown: int | None) -> None:
    step = Step("One", preset="multi-head-8", cell=(1, 0), head=head, question=Question((Blank("weights", 1, 0),)))
    slide = only_slide(step)
    assert slide.cell == Cell("weights", 1, 0, shown)
    assert slide.blanks == (Cell("weights", 1, 0, shown),)
    assert only_slide(Step("One", preset="multi-head-8", stage="output", cell=(1, 0), head=head)).cell == Cell(
        "output", 1, 0, None
    )


def test_a_cell_can_be_named_by_its_tokens() -> None:
    assert only_slide(Step("One", preset="journey", cell=("starts", "journey"))).cell == Cell("weights", 2, 1, 0)
    assert only_slide(Step("One", preset="journey", stage="queries", cell=("starts", 1))).cell == Cell(
        "queries", 2, 1, 0
    )


def test_blanks_can_be_cells_rows_columns_or_all() -> None:
    e = preset("journey")
    row, column = Blank("weights", 2), Blank("weights", None, 1)
    slide = only_slide(Step("One", preset="journey", question=Question((row, column))))
    cells = {(cell.row, cell.column) for cell in slide.blanks}
    assert cells == {(2, j) for j in range(e.T_k)} | {(i, 1) for i in range(e.T_q)}
    assert len(slide.blanks) == len(cells)
    assert len(only_slide(Step("One", preset="journey", question=Question((Blank("weights"),)))).blanks) == 36


@pytest.mark.parametrize(
    ("depth", "first", "count"),
    [
        (None, None, 1),
        ("all", None, 1),
        ("stage", Place("scores", -1), 2),
        ("row", Place("scores", -1), 7),
    ],
)
def test_frames_follow_the_depth(depth: str | None, first: Place | None, count: int) -> None:
    slide = only_slide(Step("One", preset="journey", stage="scores", cell=(2, 1), depth=depth))
    assert slide.frames[0] == first
    assert slide.frames[-1] is None
    assert len(slide.frames) == count


@pytest.mark.parametrize("depth", ["cell", "term"])
def test_finer_frames_are_in_the_row_of_the_cell(depth: str) -> None:
    slide = only_slide(Step("One", preset="journey", stage="scores", cell=(2, 1), depth=depth))
    assert slide.frames[-1] is None
    assert {place.row for place in slide.frames if place is not None} == {2}


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (Step("One", preset="journey", stage="masked"), "This state has no stage masked; there are inputs, queries"),
        (Step("One", preset="journey", head=3), "There is no head 3; this state has only head 0."),
        (Step("One", preset="journey", cell=(9, 0)), "The row of weights is 9; it needs a number from 0 to 5."),
        (Step("One", preset="journey", cell=(0, "nobody")), "“nobody”; there are “Your”"),
        (Step("One", preset="journey", stage="keys", cell=(0, "Your")), "it is not a token"),
        (Step("One", preset="journey", question=Question((Blank("masked", 0, 0),))), "masked, which this state does"),
        (Step("One", preset="journey", question=Question((Blank("weights", 0, 9),))), "is 9; it needs a number from 0"),
        (Step("One", preset="journey", question=Question((Blank("weights", 0, 0, 4),))), "weights has only head 0"),
        (Step("One", preset="journey", question=Question((Blank("output", 0, 0, 0),))), "output has no heads"),
        (
            Step("One", preset="journey", edits=(Edit("T", 20),), question=Question((Blank("weights"),))),
            f"400 cells; the maximum is {MOST_BLANKS}",
        ),
    ],
)
def test_an_impossible_request_of_a_step_is_a_problem(step: Step, says: str) -> None:
    assert says in only_problem(step).reason
    slide = only_slide(step)
    assert (slide.stage, slide.head, slide.cell, slide.blanks) == (
        step.stage if slide.stage == "keys" else "weights",
        0,
        None,
        (),
    )


def test_problems_have_the_lines_of_the_file() -> None:
    text = (
        "---\ntitle: T\n---\n## One\n```state\npreset: journey\nedits:\n  - casual: true\nstage: masked\ncell: [9, 0]\n"
        "head: 7\n```\nText\n\nof {{T}} and\n{{wieghts[1, 1]}}.\n\n```notes\n\nNote\n{{1 / 0}}\n```\n\n"
        "```question\nask: How {{much}}?\nblank: masked[0, 0]\n```\n"
    )
    lines = text.split("\n")
    found = [(problem.line, lines[problem.line - 1]) for problem in check(parse(text, "own"))]
    assert found == [
        (8, "  - casual: true"),
        (9, "stage: masked"),
        (10, "cell: [9, 0]"),
        (11, "head: 7"),
        (16, "{{wieghts[1, 1]}}."),
        (21, "{{1 / 0}}"),
        (26, "blank: masked[0, 0]"),
        (26, "blank: masked[0, 0]"),
    ]


def test_texts_use_the_current_numbers() -> None:
    one, two = make_slides(
        lesson_of(
            Step("One", "{{T}}", preset="journey"),
            Step("Two", "{{T}}, before {{before.T}}", edits=(Edit("T", 4),)),
        )
    )
    assert fill_text(one.step.text, traced(one), None, one) == "6"
    assert fill_text("{{before.T}}", traced(one), None, one) == "6"
    assert fill_text(two.step.text, traced(two), traced(one), two) == "4, before 6"
    assert fill_text(two.step.text, traced(one), traced(two), two) == "6, before 4"
    assert fill_text("{{weights[5, 5]}}", traced(two), traced(one), two) == "?"


def test_a_lesson_without_a_state_shows_the_open_experiment() -> None:
    slide = only_slide(Step("One", "{{T}} tokens", stage="keys", cell=(1, 1)))
    assert (slide.experiment, slide.before, slide.stage, slide.cell, slide.frames) == (
        None,
        None,
        "keys",
        None,
        (None,),
    )
    assert check(lesson_of(Step("One", "{{T}} tokens"))) == ()


def test_a_question_can_name_cells_by_tokens() -> None:
    asked = Question((Blank("weights", "starts", "step"),))
    assert only_slide(Step("One", preset="journey", question=asked)).blanks == (Cell("weights", 2, 5, 0),)
    problem = only_problem(Step("One", preset="journey", question=Question((Blank("weights", "nobody"),))))
    assert "A row of the blank in weights is “nobody”; there are “Your”" in problem.reason


def test_the_states_of_a_lesson_have_a_memory_limit() -> None:
    wide = tuple(Edit(size, 2048) for size in ("d_model", "d_k", "d_v"))
    lesson = lesson_of(
        Step("Wide", preset="journey", edits=(*wide, *(Edit("W_q[0, 0]", i) for i in range(1000))), line=3),
        Step("On", edits=(Edit("causal", True),), line=9),
        Step("Anew", preset="causal-5x8", line=12),
    )
    first, on, anew = make_slides(lesson)
    assert first.experiment is on.experiment is anew.experiment
    reason = "The states of the lesson take more than 1 GiB up to here, so no more are computed"
    reason += "; use smaller layers or fewer edits."
    assert [(problem.line, problem.reason) for problem in check(lesson)] == [(3, reason)]


def test_edits_beyond_the_limit_are_not_applied() -> None:
    edits = tuple(Edit("n_heads", 7, i) for i in range(20_000))
    lesson = lesson_of(Step("Many", preset="journey", edits=edits, line=3))
    assert 1000 < len(check(lesson)) < 10_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    step = Step("One", file="pipe", line=5)
    (problem,) = check(replace(lesson_of(step), path=tmp_path / "own.md"))
    assert problem.line == 5
    assert problem.reason.endswith("pipe cannot be read: it is a pipe or a device, not a file.")
    with pytest.raises(FileError, match=r"pipe cannot be read: it is a pipe or a device, not a file\.$"):
        read(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["journey", "causal-5x8", "multi-head-8"])
def test_a_tour_is_a_step_for_each_stage_of_what_is_open(name: str) -> None:
    e = preset(name)
    lesson = make_tour(e, "row")
    trace = Trace(e, torch.device("cpu"), torch.float32)
    assert [step.stage for step in lesson.steps] == list(trace.all_stages)
    assert all(step.title and step.text and step.depth == "row" for step in lesson.steps)
    assert all(slide.experiment is None for slide in make_slides(lesson))
    assert check(lesson) == ()
    assert {slide.head for slide in make_slides(lesson)} == {"all" if e.n_heads > 1 else 0}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("One {= two.", 9, "This {= is not closed"),
        ("{= One =}\nand =} two.", 10, "This =} closes nothing"),
        ("{= One =} {= two =}.", 0, ""),
    ],
)
def test_marks_of_sentences_are_checked(text: str, line: int, said: str) -> None:
    lesson = parse(f"---\ntitle: A\n---\n\n## One\n\n```state\n```\n{text}\n", "a")
    found = [(problem.line, problem.reason) for problem in check(lesson) if "=" in problem.reason]
    assert [at for at, _ in found] == [line] * bool(said)
    assert all(reason.startswith(said) for _, reason in found)


def test_numbers_of_an_answer_are_checked_on_their_line() -> None:
    lesson = parse(
        "---\ntitle: A\n---\n\n## One\n\n```state\npreset: journey\n```\n\n```answer\nIt is\n{{no}}.\n```\n", "a"
    )
    assert [problem.line for problem in check(lesson)] == [13]

"""Mistakes in a lesson's file are named by line with valid values, and the rest opens."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.base.errors import FileError
from attnlab.lessons.lesson import Blank, Edit, Lesson, Problem, Question
from attnlab.lessons.parse import parse, read
from attnlab.lessons.sections import LIMIT, MOST_STEPS

HEAD = "---\ntitle: T\n---\n\n"
"""Four lines, so that a lesson's first step begins on line 5."""

WHOLE = """\
---
title: Causal masks
about: Why a language model must not look ahead.
order: 5
covers: [B1, B2]
sources:
  - Vaswani et al., 2017
  - "Radford et al., 2018: GPT"
---

## What may a token see?

```state
preset: causal-5x8
edits:
  - causal: true
  - W_q[0, 0]: 1.5
stage: masked
cell: ["cat", 1]
head: 0
depth: row
lens: positions/order
```

The weight is {{weights[2, 1]}}.

- a list
- of two

```python
scores.masked_fill(~mask, -torch.inf)
```

```notes
Ask first.

Then show.
```

```question
ask: How much?
blank:
  - weights[2, 1]
  - weights[0, 2, :]
tolerance: 0.05
hint: Divide by the sum.
```

## And then?

Nothing.
"""


def step_of(body: str) -> Lesson:
    """Return a lesson of one step, its title on line 5 and ``body`` from line 6 on."""
    return parse(f"{HEAD}## One\n{body}", "own")


def state_of(*lines: str) -> Lesson:
    """Return a lesson whose one state has these lines, the first of them on line 7."""
    return step_of("\n".join(["```state", *lines, "```", "", "Text."]))


def only_problem(lesson: Lesson) -> tuple[int, str]:
    (problem,) = lesson.problems
    return problem.line, problem.reason


def test_every_part_of_a_lesson_is_read() -> None:
    lesson = parse(WHOLE, "causal-masks")
    assert lesson.problems == ()
    assert (lesson.name, lesson.title, lesson.order) == ("causal-masks", "Causal masks", 5)
    assert lesson.about == "Why a language model must not look ahead."
    assert lesson.covers == ("B1", "B2")
    assert lesson.sources == ("Vaswani et al., 2017", "Radford et al., 2018: GPT")
    first, second = lesson.steps
    assert first.title == "What may a token see?"
    assert first.text == (
        "The weight is {{weights[2, 1]}}.\n\n- a list\n- of two\n\n"
        "```python\nscores.masked_fill(~mask, -torch.inf)\n```"
    )
    assert first.notes == "Ask first.\n\nThen show."
    assert (first.preset, first.file, first.stage, first.cell) == ("causal-5x8", None, "masked", ("cat", 1))
    assert (first.head, first.depth, first.lens) == (0, "row", "positions/order")
    assert first.edits == (Edit("causal", True), Edit("W_q[0, 0]", 1.5))
    assert first.question == Question(
        (Blank("weights", 2, 1), Blank("weights", 2, None, 0)), "How much?", 0.05, "Divide by the sum."
    )
    assert (second.title, second.text, second.stage, second.question) == ("And then?", "Nothing.", None, None)


def test_every_part_has_its_line_number() -> None:
    first, second = parse(WHOLE, "own").steps
    lines = WHOLE.split("\n")
    assert lines[first.line - 1] == "## What may a token see?"
    assert [lines[place - 1] for place in first.text_lines if lines[place - 1]] == [
        line for line in first.text.split("\n") if line
    ]
    assert [lines[place - 1] for place in first.notes_lines] == first.notes.split("\n")
    assert [lines[edit.line - 1].strip() for edit in first.edits] == ["- causal: true", "- W_q[0, 0]: 1.5"]
    assert lines[first.line_of("cell") - 1] == 'cell: ["cat", 1]'
    assert first.question is not None
    assert lines[first.question.line - 1] == "blank:"
    assert second.line_of("cell") == second.line


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_any_line_endings_are_read(ending: str) -> None:
    assert parse(WHOLE.replace("\n", ending), "own") == parse(WHOLE, "own")


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "own.md"
    path.write_text(WHOLE, encoding="utf-8-sig")
    assert read(path).steps == parse(WHOLE, "own").steps
    assert (read(path).name, read(path).path) == ("own", path)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("stagee: weights", r"no 'stagee' in a state; did you mean stage\?"),
        ("stage: wieghts", r"no stage 'wieghts'; did you mean weights\?"),
        ("preset: casual-5x8", r"no preset 'casual-5x8'; did you mean causal-5x8\?"),
        ("depth: rows", r"no depth 'rows'; did you mean row\?"),
        ("lens: position", r"no lens 'position'; did you mean positions\?"),
        ("lens: positions/ordre", r"positions has no page 'ordre'; did you mean order\?"),
        ("lens: cost/all", r"cost has no page 'all'; it has no pages\."),
        ("head: first", r"head is 'first'; it needs a head, counted from 0, or mean, or all\."),
        ("head: -1", "it needs a head"),
        ("head: true", "it needs a head"),
        ("cell: 3", r'it needs a row and a column, .*\["starts", "journey"\]'),
        ("cell: [-1, 0]", "it needs a row and a column"),
        ("cell: [1, 2, 3]", "it needs a row and a column"),
        ("edits: causal", "it needs a line for each change: - causal: true"),
        ("file: ../mine.attnlab", "it needs the name of a session in the lesson’s folder"),
        ("file: /etc/passwd", "name of a session"),
        ("file: C:mine.attnlab", "name of a session"),
        ("file: ..", "name of a session"),
        ("file: 'a\\b'", "name of a session"),
    ],
)
def test_an_error_in_a_state_affects_only_its_line(line: str, says: str) -> None:
    lesson = state_of("# a remark", line, "cell: [1, 2]" if "cell" not in line else "depth: row")
    (problem,) = lesson.problems
    assert problem.line == 8
    assert re.search(says, problem.reason), problem.reason
    (step,) = lesson.steps
    assert step.text == "Text."
    assert (step.cell, step.depth) == (((1, 2), None) if "cell" not in line else (None, "row"))
    assert step.preset is step.file is step.stage is step.lens is None


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\u2029"])
def test_lines_are_counted_as_in_an_editor(mark: str) -> None:
    assert only_problem(state_of(f"# a{mark}b{mark}c", "stagee: weights"))[0] == 8


def test_a_repeated_key_is_reported_and_counts_once() -> None:
    lesson = state_of("stage: keys", "stage: weights")
    assert only_problem(lesson) == (8, "stage occurs twice in a state; the first one counts.")
    assert lesson.steps[0].stage == "keys"


def test_a_state_cannot_have_two_beginnings() -> None:
    lesson = state_of("file: mine.attnlab", "preset: journey")
    assert only_problem(lesson)[0] == 7
    assert (lesson.steps[0].preset, lesson.steps[0].file) == ("journey", None)


def test_invalid_yaml_affects_only_its_block() -> None:
    lesson = parse(
        f"{HEAD}## One\n```state\nstage: keys\ncell: [1, 2\n```\n\nText.\n\n```notes\nHere.\n```\n\n"
        "## Two\n```state\nstage: values\n```\n",
        "own",
    )
    line, reason = only_problem(lesson)
    assert line in (7, 8)
    assert "not YAML" in reason
    assert "this state is left out" in reason
    one, two = lesson.steps
    assert (one.stage, one.text, one.notes, two.stage) == (None, "Text.", "Here.", "values")


def test_invalid_front_matter_affects_only_itself() -> None:
    lesson = parse("---\ntitle: [T\n---\n\n## One\nText.\n", "own")
    assert lesson.title == "own"
    assert any("not YAML" in problem.reason for problem in lesson.problems)
    assert lesson.steps[0].text == "Text."


@pytest.mark.parametrize(
    ("block", "line", "says"),
    [
        ("a: &x [1]\nb: [*x, *x]", 7, "Anchors and aliases"),
        ("a: !!python/object/apply:os.system [ls]", 7, "Tags"),
        ("a: 1\nb: " + "[" * 500 + "]" * 500, 8, "deep"),
        ("- a\n- b", 7, "key: value are needed"),
        ("just words", 7, "key: value are needed"),
        ("a: \x07", 7, "not YAML"),
    ],
    ids=["alias", "tag", "deep", "list", "words", "control"],
)
def test_unneeded_yaml_features_are_refused_before_parsing(block: str, line: int, says: str) -> None:
    lesson = step_of(f"```state\n{block}\n```\n\nText.")
    assert only_problem(lesson)[0] == line
    assert says in only_problem(lesson)[1]
    assert lesson.steps[0].text == "Text."


def test_several_blanks_are_a_list_or_a_line() -> None:
    blanks = (Blank("weights", 2, 1), Blank("weights", None, 1, 0))
    for written in (
        "blank: weights[2, 1], weights[0, :, 1]",
        "blank:\n  - weights[2, 1]\n  - weights[0, :, 1]",
        'blank: ["weights[2, 1]", "weights[0, :, 1]"]',
    ):
        question = step_of(f"```question\n{written}\n```\n").steps[0].question
        assert question is not None
        assert question.blanks == blanks
    line, reason = only_problem(step_of("```question\nblank: [weights[2, 1], weights[0, :, 1]]\n```\n"))
    assert line == 7
    assert "a bracket inside a list, needs quotes" in reason


@pytest.mark.parametrize(
    ("written", "row", "column"),
    [
        ('weights["starts", "journey"]', "starts", "journey"),
        ("weights[“starts”, 1]", "starts", 1),
        ("weights[0, 'it', :]", "it", None),
        ('weights["a, b", "c]d"]', "a, b", "c]d"),
        ('weights["", "a “b”"]', "", "a “b”"),
    ],
)
def test_blanks_name_tokens_as_well_as_numbers(written: str, row: int | str | None, column: int | str | None) -> None:
    question = step_of(f"```question\nblank: >-\n  {written}, scores[1, 2]\n```\n").steps[0].question
    assert question is not None
    first, second = question.blanks
    assert (first.row, first.column) == (row, column)
    assert second == Blank("scores", 1, 2)


@pytest.mark.parametrize("written", ['weights["a, 1]', "weights[a, 1]", "weights[1, 2", 'weights["h", 1, 2]', "[1, 2]"])
def test_an_invalid_blank_is_reported_with_the_syntax(written: str) -> None:
    _, reason = only_problem(step_of(f"```question\nblank: >-\n  {written}\n```\n"))
    assert "such as weights[" in reason


def test_yaml_keywords_are_plain_words() -> None:
    lesson = state_of("edits:", "  - tokens: [no, yes, on, 12:30, 2026-01-01, null]", "  - W_q[0, 0]: 1e-3")
    assert lesson.problems == ()
    assert [edit.value for edit in lesson.steps[0].edits] == [["no", "yes", "on", "12:30", "2026-01-01", None], 1e-3]


@pytest.mark.parametrize(
    "edits", [("edits:", "  - causal: true", "    scale: none"), ("edits: {causal: true, scale: none}",)]
)
def test_edits_are_a_list_or_lines(edits: tuple[str, ...]) -> None:
    lesson = state_of(*edits)
    assert lesson.steps[0].edits == (Edit("causal", True), Edit("scale", "none"))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "begins with a line ---"),
        ("## One\nText.\n", 1, "begins with a line ---"),
        ("---\ntitle: T\n\n## One\n", 1, "not closed"),
        (f"{HEAD}Hello.\n\n## One\n", 5, "before the first step and is not shown"),
        ("---\nabout: A\n---\n## One\n", 2, "no title"),
        (HEAD, 5, "no steps"),
        (f"{HEAD}##\nText.\n", 5, "no title"),
        (f"{HEAD}## One\n```state\nstage: keys\n\n## Two\n", 6, "block state is not closed"),
        (f"{HEAD}## One\n```sate\nstage: keys\n```\n", 6, "no block 'sate'"),
        (f"{HEAD}## One\n```state\nstage: keys\n```\n```state\nhead: 0\n```\n", 9, "a second block state"),
        (f"{HEAD}## One\n```question\nask: How much?\n```\n", 6, "no blank"),
        (f"{HEAD}## One\n```question\nblank: wieghts[1, 2]\n```\n", 7, "such as weights[2, 1]"),
        (f"{HEAD}## One\n```question\nblank: weights[:, 1, 2]\n```\n", 7, "its head needs a number"),
        (f"{HEAD}## One\n```question\nblank: weights[1, 2]\ntolerance: -1\n```\n", 8, "such as 0.01"),
        ("---\ntitle: T\norder: first\n---\n## One\n", 3, "whole number"),
        ("---\ntitle: T\ncovers: [{}]\n---\n## One\n", 3, "list of texts"),
        ("---\ntitle: T\ntitel: T\n---\n## One\n", 3, "did you mean title?"),
    ],
)
def test_other_errors_are_named_by_their_line(text: str, line: int, says: str) -> None:
    problems = parse(text, "own").problems
    assert any(problem.line == line and says in problem.reason for problem in problems), problems


def test_an_unclosed_fence_ends_with_its_step() -> None:
    lesson = parse(f"{HEAD}## One\n```state\nstage: keys\n\n## Two\nText.\n", "own")
    assert [(step.title, step.stage, step.text) for step in lesson.steps] == [
        ("One", "keys", ""),
        ("Two", None, "Text."),
    ]


def test_the_number_of_steps_is_limited() -> None:
    lesson = parse(HEAD + "## Step\n" * (MOST_STEPS + 2), "own")
    assert len(lesson.steps) == MOST_STEPS
    assert only_problem(lesson)[0] == 5 + MOST_STEPS


def test_blocks_may_be_anywhere_in_a_step() -> None:
    lesson = step_of("Before.\n\n```notes\nOne.\n```\n\nAfter.\n\n```notes\nTwo.\n```\n")
    assert lesson.problems == ()
    assert (lesson.steps[0].text, lesson.steps[0].notes) == ("Before.\n\nAfter.", "One.\n\nTwo.")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "There is no file"),
        (b"x" * (LIMIT + 1), "larger than the 1 MiB that a lesson may have"),
        (b"---\ntitle: T\xff\n---\n", r"not UTF-8 (line 2)"),
    ],
)
def test_a_binary_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "own.md"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError) as raised:
        read(path)
    assert says in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_folder_is_refused_as_a_lesson(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read(tmp_path)


def test_a_text_that_is_too_long_is_refused_at_once() -> None:
    assert parse("x" * (LIMIT + 1), "own").problems[0].line == 1


pieces = st.sampled_from(
    ["---\n", "## One\n", "```state\n", "```question\n", "```notes\n", "```\n", "stage: weights\n", "edits:\n",
     "  - a: [1]\n", "  - ", "cell: [", "]\n", "{", "}\n", "&a ", "*a\n", "!x ",
     "? ", ": ", "|\n", ">\n", "'", '"', "\t", "title: T\n",
     "blank: weights[1, 2]\n", "%YAML 1.1\n", "...\n", "\u2028", "\x85", "\ud800"]
)  # fmt: skip


@given(st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=40).map("".join))
def test_parsing_never_raises(text: str) -> None:
    lesson = parse(text, "own")
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= problem.line <= lines and problem.reason.endswith((".", "?")) for problem in lesson.problems)


@given(st.data())
def test_a_lesson_with_a_missing_line_still_opens(data: st.DataObject) -> None:
    lines = WHOLE.split("\n")
    del lines[data.draw(st.integers(0, len(lines) - 1))]
    lesson = parse("\n".join(lines), "own")
    assert lesson.steps
    assert lesson.steps[-1].title in ("And then?", "What may a token see?")


def test_a_text_after_the_reveal_is_read_and_an_empty_one_named() -> None:
    text = "---\ntitle: A\n---\n\n## One\n\nAsked.\n\n```answer\n\nTold, {{T}}.\n```\n\n## Two\n\n```answer\n\n```\n"
    lesson = parse(text, "a")
    assert [step.answer for step in lesson.steps] == ["Told, {{T}}.", ""]
    assert lesson.steps[0].answer_lines == (11,)
    assert lesson.problems == (Problem(16, "The answer is empty; write the text that appears after the reveal."),)

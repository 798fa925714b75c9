"""The page on writing lessons: its example opens without mistakes, and it names every key."""

import re
from pathlib import Path

import pytest
import torch

from attnlab.attention.stages.trace import Trace
from attnlab.lessons.expressions import FUNCTIONS
from attnlab.lessons.fields import FRONT, QUESTION, STATE
from attnlab.lessons.lesson import DEPTHS, Lesson
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import check, fill_text, make_slides
from attnlab.lessons.state import _SPECIAL
from attnlab.lessons.write import write

PAGE = (Path(__file__).parents[2] / "docs" / "lessons.md").read_text(encoding="utf-8")


@pytest.fixture
def example() -> Lesson:
    found = re.search(r"^````markdown\n(.*?)^````$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return parse(found[1], "example")


def test_the_example_is_valid_and_has_every_part_of_a_lesson(example: Lesson) -> None:
    assert check(example) == ()
    assert len(example.steps) == 3
    assert example.title
    assert example.about
    assert example.sources
    assert any(step.notes for step in example.steps)
    assert any(step.edits for step in example.steps)
    assert any(slide.blanks for slide in make_slides(example))
    assert parse(write(example), "example") == example


def test_the_statements_of_the_example_are_true(example: Lesson) -> None:
    said = []
    for slide in make_slides(example):
        assert slide.experiment is not None
        assert slide.before is not None
        traces = [Trace(e, torch.device("cpu"), torch.float32) for e in (slide.experiment, slide.before)]
        said.append(fill_text(slide.step.text, *traces, slide))
    assert "gives 0.18 of its attention to “step”" in said[0]
    assert "“step” gets 0.00 from “starts”; it had\n0.18." in said[1]
    assert "goes from 0.30 to 1.50." in said[2]
    assert "still sum to 1." in said[2]


@pytest.mark.parametrize("name", [*FRONT, *STATE, *QUESTION, *DEPTHS, *FUNCTIONS, *_SPECIAL])
def test_the_page_names_every_key_edit_and_expression(name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE)


def test_every_expression_of_the_page_can_be_written(example: Lesson) -> None:
    table = PAGE.partition("| expression |")[2].partition("\n\n")[0]
    expressions = [
        expression
        for row in table.split("\n")[2:]
        for expression in re.findall(r"`([^`]+)`", row.split(" | ")[0])
        if "[3," not in expression and not re.fullmatch(r"b_q\[1\]|[a-z]+", expression)
    ]
    assert len(expressions) > 12
    slide = make_slides(example)[1]
    assert slide.experiment is not None
    trace = Trace(slide.experiment, torch.device("cpu"), torch.float32)
    for expression in expressions:
        assert fill_text(f"{{{{{expression}}}}}", trace, trace, slide) != "?", expression


EDITS = [
    edit
    for row in PAGE.partition("| edit |")[2].partition("\n\n")[0].split("\n")[2:]
    for cell in re.findall(r"`([^`]+)`", row.split(" | ")[0])
    for edit in cell.split("; ")
]
STATES = {
    "six words": "preset: journey\nedits:",
    "two words": "preset: journey\nedits:\n  - tokens: [a, b]\n  - d_model: 2",
    "a second sequence": "preset: cross-attention\nedits:",
    "a batch": "preset: batch-of-two\nedits:\n  - T: 6",
    "heads": "preset: multi-head-8\nedits:",
    "a stack": "preset: induction\nedits:\n  - layer: 1",
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_of_the_page_works(edit: str) -> None:
    refused = {}
    for name, state in STATES.items():
        lesson = parse(f"---\ntitle: T\n---\n\n## One\n```state\n{state}\n  - {edit}\n```\n", "own")
        assert lesson.steps[0].edits
        refused[name] = check(lesson)
    assert not all(refused.values()), refused


def test_the_page_has_examples_of_edits() -> None:
    assert len(EDITS) > 30


@pytest.mark.parametrize("key", ["blank", "cell"])
def test_every_cell_of_the_page_exists(key: str) -> None:
    row = next(line for line in PAGE.split("\n") if line.startswith(f"| `{key}` |"))
    cells = [cell for cell in re.findall(r"`([^`]+)`", row)[1:] if "[" in cell]
    assert len(cells) > 1
    for cell in cells:
        block = f"```state\npreset: journey\n{f'cell: {cell}' if key == 'cell' else ''}\n```\n"
        block += f"```question\nblank: {cell}\n```\n" if key == "blank" else ""
        assert check(parse(f"---\ntitle: T\n---\n\n## One\n{block}", "own")) == (), cell

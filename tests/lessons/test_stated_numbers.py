"""Numbers that a text states by hand are named, unless they are marked, computed, code, or no numbers of the step."""

import pytest

from attnlab.compute.engine import compute
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import check, make_slides
from attnlab.lessons.stated_numbers import find_stated

LESSON = """---
title: Stated
---

## A weight

```state
preset: journey
stage: weights
```

First line.
{text}
"""


def read_problems(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in check(parse(LESSON.format(text=text), "stated"))]


def test_a_number_of_the_step_is_named_with_its_line() -> None:
    slide = make_slides(parse(LESSON.format(text=""), "stated"))[0]
    assert slide.experiment is not None
    weight = f"{float(compute(slide.experiment).array('weights')[0, 2, 1]):.4f}"
    ((line, reason),) = read_problems(f"It gives {weight}.")
    assert line == 13
    assert reason.startswith(
        f"{weight} is a number of this step, and a drag on the slide would make the sentence false"
    )
    percent = f"{100 * float(weight):.0f} %"
    ((_, reason),) = read_problems(f"It gives {percent}.")
    assert reason.startswith(percent)


@pytest.mark.parametrize(
    "text",
    [
        "{{= It gives 0.24. =}}",
        "It gives {{{{weights[2, 1]}}}}.",
        "Write `0.24` in code.",
        "There are 6 words, and 2 of them are short.",
        "Float32 ends at 0.24 · 10³⁸.",
        "Nothing here is 0.123456.",
        "See version 0.24.1.",
        "{{= One line,\nthen 0.24. =}}",
    ],
)
def test_other_numbers_are_not(text: str) -> None:
    assert read_problems(text.format()) == []


def test_numbers_of_the_step_before_count_as_well() -> None:
    slide = make_slides(parse(LESSON.format(text=""), "stated"))[0]
    assert slide.experiment is not None
    trace = compute(slide.experiment)
    assert [wrong.line for wrong in find_stated("a\nb 0.43", trace)] == [1]  # X[0, 0]
    assert list(find_stated("a 0.43")) == []

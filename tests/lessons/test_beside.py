"""The key ``beside`` of a step: it is read, written, and refused with a sentence."""

import pytest

from attnlab.lessons.parse import parse
from attnlab.lessons.write import write

TEXT = """---
title: Two states
---

## One

```state
preset: journey
stage: weights
```

## The other

```state
edits:
  - causal: true
beside: {}
```
"""


def test_a_step_says_that_the_state_before_stands_beside_it() -> None:
    lesson = parse(TEXT.format("before"), "two")
    assert not lesson.problems
    assert [step.beside for step in lesson.steps] == [None, "before"]
    assert parse(write(lesson), "two").steps == lesson.steps


def test_another_state_is_refused() -> None:
    lesson = parse(TEXT.format("after"), "two")
    assert [problem.line for problem in lesson.problems] == [17]
    assert "before" in lesson.problems[0].reason


@pytest.mark.parametrize("name", ["six-words", "bahdanau-luong"])
def test_included_lessons_use_it(name: str) -> None:
    from attnlab.lessons.library import find

    assert any(step.beside == "before" for step in find(name).steps)

"""A step that shows the state before beside its own: on the cards, on its slide, and not afterwards."""

from typing import TYPE_CHECKING

import numpy as np

import attnlab
from attnlab.compute.engine import compute
from attnlab.lessons.library import find
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import make_slides
from attnlab.ui.present.content import Moment, make_content
from tests.ui.lessons.test_lessons_workspace import find_controller

if TYPE_CHECKING:
    from tests.ui.conftest import Person

LESSON = """---
title: Two states
---

## All words

```state
preset: journey
stage: weights
cell: [2, 1]
```

## Earlier words

```state
edits:
  - causal: true
stage: weights
cell: [2, 1]
beside: before
```

## Only this

```state
edits:
  - causal: false
```
"""


def test_the_cards_show_both_states_while_the_step_is_open(person: "Person") -> None:
    playground, controller = person.playground, find_controller(person)
    controller.walk(parse(LESSON, "two"), 0)
    person.settle()
    first = person.painted("weights")[0]
    controller.player.go(1)
    person.wait_for(lambda: playground.document.view.look == "both")
    person.settle()
    data = person.card("weights").data
    assert data is not None
    np.testing.assert_array_equal(data.values[0], first)
    np.testing.assert_array_equal(data.values[1], attnlab.compute(person.experiment).array("weights")[0])
    controller.player.go(2)
    person.settle()
    assert playground.comparison.pinned is None
    assert playground.document.view.look == "present"
    assert len(person.painted("weights")) == 1


def test_what_the_user_has_pinned_comes_back(person: "Person") -> None:
    playground, controller = person.playground, find_controller(person)
    person.press("Pin")
    own = playground.comparison.pinned
    controller.walk(parse(LESSON, "two"), 1)
    person.wait_for(lambda: playground.document.view.look == "both")
    assert playground.comparison.pinned is not own
    controller.player.go_back()
    person.settle()
    assert playground.comparison.pinned is own
    controller.close()


def test_a_slide_has_both_maps_and_asks_in_the_second() -> None:
    slide = next(each for each in make_slides(find("six-words")) if each.step.beside is not None)
    assert slide.experiment is not None
    assert slide.before is not None
    now, before = compute(slide.experiment), compute(slide.before)
    end = make_content(slide, now, before, Moment())
    assert end.main is not None
    assert end.main.data.titles == ("before", "now")
    np.testing.assert_array_equal(end.main.data.values, np.concatenate([before.array("weights"), now.array("weights")]))
    assert end.main.data.kind == "signed"  # divided by the sum, some are negative
    begun = make_content(slide, now, before, Moment(slide.frames[1]))
    assert begun.main is not None
    unknown = begun.main.data.unknown
    assert unknown is not None
    assert not unknown[0].any()
    assert unknown[1].any()


def test_two_states_of_one_row_are_below_each_other_and_both_in_sight(person: "Person") -> None:
    controller = find_controller(person)
    person.window.resize(1366, 768)
    controller.open("bahdanau-luong", 10)
    person.wait_for(lambda: person.playground.document.view.look == "both")
    controller.player.go_next()
    person.settle()
    card = person.card("scores")
    grid = card.grid
    top, below = (grid.rect(state, 0, 9) for state in (0, 1))
    assert top[0] == below[0]
    assert below[1] - (top[1] + top[3]) >= grid.title_height
    canvas = person.playground.canvas
    assert canvas.plan.width <= canvas.width()

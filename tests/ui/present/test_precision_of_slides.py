"""Slides show numbers of the chosen precision, and prefetched ones of another are computed again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt

from attnlab.attention.stages.arithmetic import number
from attnlab.compute.engine import compute

Lecture = Callable[..., Any]


def choose(talk: Any, dtype: str) -> None:
    presenter = talk.presentation.presenter
    talk.person.document.edit_scene("Precision", lambda scene: replace(scene, dtype=dtype))
    talk.person.wait_for(
        lambda: (trace := presenter.numbers.find_trace()) is not None and str(trace.dtype) == f"torch.{dtype}"
    )  # until then the slide before is whole, too
    talk.wait()


def check(talk: Any, dtype: str) -> None:
    """Compare a slide's map and text with those computed in a precision from the slide's state."""
    slide = talk.player.slide
    stage = slide.step.stage or "weights"
    fresh = compute(slide.experiment, "cpu", dtype)
    main = talk.content.main
    np.testing.assert_array_equal(main.data.values, fresh.array(stage), f"{slide.step.title} in {dtype}")
    assert talk.presentation.presenter.numbers.find_trace().dtype == fresh.dtype
    if slide.step.title == "All pairs at once":
        assert number(fresh.array("weights")[0, 2, 1]) in talk.text()
    if slide.step.title == "With causal masks":
        before = compute(slide.before, "cpu", dtype).array("weights")[0, 2, 1]
        assert talk.text() == f"Before it was {number(before)}, now it is {number(fresh.array('weights')[0, 2, 1])}."


def steps(talk: Any) -> list[int]:
    return list(range(len(talk.player.slides)))


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_all_slides_use_the_newly_chosen_precision(dtype: str, lecture: Lecture) -> None:
    talk = lecture()
    seen = {}
    for index in steps(talk):
        talk.press(getattr(Qt.Key, f"Key_{index + 1}"), Qt.Key.Key_Return)
        if talk.content.main is not None and not talk.unknown():
            check(talk, "float32")
        seen[index] = talk.content.title
    choose(talk, dtype)
    checked = 0
    for index in reversed(steps(talk)):
        talk.press(getattr(Qt.Key, f"Key_{index + 1}"), Qt.Key.Key_Return)
        assert talk.content.title == seen[index]
        if talk.content.main is not None:
            check(talk, dtype)
            checked += 1
    assert checked == len(seen)


def test_the_visible_slide_follows_the_precision(lecture: Lecture) -> None:
    talk = lecture()
    texts = []
    for dtype in ("float32", "bfloat16", "float32"):
        choose(talk, dtype)
        check(talk, dtype)
        texts.append(talk.text())
    assert texts[0] == texts[2] != texts[1], "the difference can be read"


def test_slides_prefetched_in_another_precision_are_not_shown(lecture: Lecture) -> None:
    """Numbers of the next slide that are being computed when the precision changes are dropped."""
    talk = lecture()
    talk.press(Qt.Key.Key_3, Qt.Key.Key_Return)
    following = talk.player.slides[3]
    for dtype in ("float64", "bfloat16"):
        talk.person.document.edit_scene("Precision", lambda scene, dtype=dtype: replace(scene, dtype=dtype))
        talk.presentation.presenter._on_idle()  # asks for the slides around, as when the window has time
    talk.wait()
    talk.press(Qt.Key.Key_4, Qt.Key.Key_Return)
    assert talk.player.slide is following
    check(talk, "bfloat16")


def test_numbers_of_another_precision_are_requested_again(lecture: Lecture) -> None:
    """Two changes in a row: results requested after the first arrive after the second, and are dropped."""
    talk = lecture()
    talk.press(Qt.Key.Key_4, Qt.Key.Key_Return)
    for dtype in ("float64", "bfloat16"):
        talk.person.document.edit_scene("Precision", lambda scene, dtype=dtype: replace(scene, dtype=dtype))
        talk.presentation.presenter._on_idle()
    talk.wait()  # for the numbers of the step before, which the text names
    check(talk, "bfloat16")

"""Walks every included lesson: what is asked can be read nowhere before the key that reveals it."""

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import find_shown_value
from attnlab.attention.stages.trace import Trace
from attnlab.compute.engine import compute
from attnlab.document.document import Document
from attnlab.document.scene import Scene
from attnlab.figures.slides.lens_content import Circles, Plane
from attnlab.figures.slides.slide_content import SlideContent
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.slides import fill_text, make_slides
from attnlab.ui.lessons.player import LessonPlayer
from attnlab.ui.lessons.thumbnails import make_thumbnails
from attnlab.ui.playground.lenses.arrows_lens import ArrowsLens
from attnlab.ui.present.content import Moment, find_covering, make_content
from attnlab.ui.present.lens_values import begins_before_answer, find_shown, make_picture
from tests.ui.explained import read_explained
from tests.ui.lessons.test_lessons_workspace import find_controller

if TYPE_CHECKING:
    from tests.ui.conftest import Person

_DECIMALS = re.compile(r"\d+\.\d+")


def read(content: SlideContent) -> set[str]:
    """Return the numbers in everything that is written on a slide beside its maps."""
    runs = [run.text for each in content.text for run in each.runs]
    bars = [bar.text for bar in content.row.bars] if content.row is not None else []
    arithmetic = [run.text for line in content.arithmetic[:1] for each in line for run in each]
    told = [run.text for each in content.answer for run in each.runs] if content.answered else []
    written = [content.title, content.ask, *runs, *told]
    written += [] if content.arithmetic_covered else arithmetic
    return set(re.findall(r"−?\d+(?:\.\d+)?", " ".join(written))) | set(bars)


@pytest.mark.parametrize("name", list_shipped())
def test_every_question_is_asked_before_its_answer_is_visible(qapp: QApplication, name: str) -> None:
    document = Document("Open", Scene(preset("journey"), "journey", "journey"))
    player = LessonPlayer(document, document)
    player.open(find(name))
    asked, told = set[int](), set[int]()

    @cache
    def compute_trace(index: int, before: bool) -> Trace:
        slide = player.slides[index]
        e = (slide.before if before else None) or slide.experiment
        assert e is not None
        return compute(e)

    while True:
        slide = player.slide
        assert slide is not None
        if slide.blanks or slide.step.has_answer:
            (told if player.answered else asked).add(slide.index)
        if not player.answered:
            trace = compute_trace(slide.index, False)
            moment = Moment(player.frame, player.hidden, answered=player.answered)
            content = make_content(slide, trace, compute_trace(slide.index, True), moment)
            numbers = read(content)
            for cell in player.hidden:
                found = number(find_shown_value(trace, cell))
                assert found not in numbers or abs(float(found.replace("−", "-"))) in (0, 1), f"step {slide.index + 1}"
        if player.at_end:
            break
        player.go_next()
    assert told == asked, "an answer that was visible at once, or never"
    assert asked


def test_the_bar_says_nothing_about_sums_while_weights_are_covered(person: "Person") -> None:
    controller = find_controller(person)
    controller.walk(find("six-words"), 0)
    player, sums = controller.player, person.playground.step_bar.figures.sums
    asking = next(slide for slide in player.slides if slide.blanks)
    player.go(asking.index)
    while player.frame is not None and not player.frame.asked and player.frame_index < len(player.frames) - 1:
        player.go_next()
    person.settle()
    assert player.hidden
    assert not sums.isVisible()
    player.go_next()
    person.settle()
    assert not player.hidden
    assert sums.isVisible()


def test_the_bar_tells_a_weight_only_when_its_cell_is_reached(person: "Person") -> None:
    """The step asks for the last weight of a row, which it has as its cell, before the row is walked."""
    controller, bar = find_controller(person), person.playground.step_bar
    assert controller.open("why-attention", 5)
    told = []
    for _ in range(5):
        person.settle()
        told.append(bar.step_text)
        controller.player.go_next()
    assert [number for each in told for number in _DECIMALS.findall(each)] == ["0.3031", "0.0863", "0.3039", "0.3066"]


def test_a_score_is_not_told_by_its_mirror_image_while_queries_and_keys_are_the_same(person: "Person") -> None:
    """“one” with “starts” is asked for, so “starts” with “one” is covered: on card and slide, in texts, small."""
    controller = find_controller(person)
    controller.open("six-words", 3)
    person.settle()
    (slide,) = (each for each in controller.player.slides if each.index == 3)
    assert [(each.stage, each.row, each.column) for each in slide.blanks] == [("scores", 4, 2)]
    trace = compute(person.experiment)
    for hidden in (slide.blanks, ()):
        card, moment = person.card("scores").data, Moment(None, hidden)
        main, covering = make_content(slide, trace, None, moment).main, find_covering(slide, trace, moment)
        for data in (card, main.data if main is not None else None):
            assert data is not None
            unknown = np.zeros(data.values.shape, bool) if data.unknown is None else data.unknown
            assert np.argwhere(np.broadcast_to(unknown, data.values.shape)[0]).tolist() == (
                [[2, 4], [4, 2]] if hidden else []
            )
        assert covering.covers(ast.parse("scores[2, 4]", mode="eval").body) == bool(hidden)
        assert not covering.covers(ast.parse("scores[1, 0]", mode="eval").body)
        controller.player.finish()
        person.settle()
    assert np.argwhere(make_thumbnails(find("six-words"), 3)[3].covered).tolist() == [[2, 4], [4, 2]]


def test_a_number_that_is_asked_for_is_told_neither_by_explain_nor_by_the_arrows(person: "Person") -> None:
    controller = find_controller(person)
    assert controller.open("attention-is-geometry")
    player, checked = controller.player, 0
    for slide in player.slides:
        if not slide.step.answer or (slide.step.question is not None and slide.step.question.choices):
            continue
        player.go(slide.index)
        person.settle()
        text = fill_text(slide.step.text, compute(person.experiment), compute(slide.before or person.experiment), slide)
        answer = fill_text(slide.step.answer, compute(person.experiment), None, slide)
        asked = set(_DECIMALS.findall(answer)) - set(_DECIMALS.findall(text)) - {"0.00"}
        told = {f"{float(each):.2f}" for each in _DECIMALS.findall(read_explained(person) + read_lens(person))}
        assert not asked & told, f"step {slide.index + 1}"
        player.finish()
        person.settle()
        told = {f"{float(each):.2f}" for each in _DECIMALS.findall(read_explained(person) + read_lens(person))}
        checked += bool(asked & told)
    assert checked == 3, "steps 5, 9 and 11"


@pytest.mark.parametrize(("name", "step"), [("positions", 2), ("cost", 3), ("trainable-weights", 13)])
def test_a_lens_that_tells_the_answer_is_opened_with_it(person: "Person", name: str, step: int) -> None:
    controller, lenses = find_controller(person), person.playground.lenses
    assert controller.open(name, step)
    person.settle()
    lens = (controller.player.slides[step].step.lens or "").partition("/")[0]
    assert lenses.current == "canvas"
    controller.player.go_next()
    assert lenses.current == lens
    controller.player.go_back()
    assert lenses.current == "canvas"
    controller.player.finish()
    assert lenses.current == lens


def test_other_lenses_with_a_question_cover_the_answer_or_are_walked_first() -> None:
    for name in list_shipped():
        for slide in make_slides(find(name)):
            if slide.step.lens and slide.step.has_answer and slide.experiment is not None:
                picture = make_picture(slide.step.lens, compute(slide.experiment), find_shown(slide))
                assert picture is not None
                begins = isinstance(picture, Plane) or (isinstance(picture, Circles) and bool(picture.walk))
                assert begins_before_answer(slide.step.lens, slide.experiment) == begins


def read_lens(person: "Person") -> str:
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, ArrowsLens)
    return f"{lens.score.text()} {lens.context.text()} {lens.table.text()}"

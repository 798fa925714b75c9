"""Arrows on slides: the plane that the step's stage asks for, beside the text, without the answer before the reveal."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.attention.edits.token_edits import resize_tokens
from attnlab.attention.stages.explain import Cell
from attnlab.base.errors import ExperimentError
from attnlab.compute.engine import compute
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides.lens_content import Plane
from attnlab.figures.slides.lens_plane import draw_plane
from attnlab.figures.slides.slide_content import SlideContent
from attnlab.figures.slides.slide_layout import Box, Sheet
from attnlab.figures.slides.slide_painter import Drawn, draw_slide
from attnlab.lessons.library import find
from attnlab.lessons.slides import Slide, make_slides
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, make_content
from attnlab.ui.present.lens_arrows import make_arrows
from attnlab.ui.present.lens_values import find_shown, make_picture


def find_slide(title: str) -> Slide:
    return next(slide for slide in make_slides(find("attention-is-geometry")) if slide.step.title == title)


def make(slide: Slide, *, answered: bool) -> SlideContent:
    assert slide.experiment is not None
    trace = compute(slide.experiment)
    content = make_content(slide, trace, trace, Moment(lens=True, answered=answered))
    return replace(content, picture=make_picture("arrows", trace, find_shown(slide)))


def draw(content: SlideContent, width: int = 1366, height: int = 768) -> tuple[QImage, Drawn]:
    image = QImage(QSize(width, height), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    drawn = draw_slide(painter, Sheet(0, 0, width, height), content, LIGHT)
    painter.end()
    return image, drawn


@pytest.mark.parametrize(
    ("stage", "title", "role"),
    [
        ("inputs", "Tokens", "neutral"),
        ("queries", "Queries and keys", "query"),
        ("masked", "Queries and keys", "query"),
        ("weights", "Values and context", "value"),
        ("context", "Values and context", "value"),
    ],
)
def test_the_stage_of_the_step_chooses_the_plane(stage: str, title: str, role: str) -> None:
    plane = make_arrows(attnlab.compute(attnlab.preset("journey")), stage, Cell("weights", 2, 1, 0), 0)
    assert plane.title == title
    assert plane.arrows.arrows[0].role == role


def test_both_sequences_are_the_tokens_of_cross_attention() -> None:
    trace = attnlab.compute(attnlab.preset("cross-attention"))
    for stage in ("inputs", "memory"):
        plane = make_arrows(trace, stage, Cell("scores", 1, 2, 0), 0)
        assert plane.title == "Tokens"
        assert [arrow.key for arrow in plane.arrows.arrows if arrow.held] == [("inputs", 1), ("memory", 2)]


def test_the_pair_is_that_of_the_step() -> None:
    plane = make_arrows(attnlab.compute(attnlab.preset("journey")), "scores", Cell("scores", 4, 1, 0), 0)
    assert [arrow.label for arrow in plane.arrows.arrows if arrow.held] == ["one query", "journey key"]
    assert plane.caption.startswith("“one” → “journey”: the query is ")


def test_vectors_that_are_not_finite_are_refused_in_a_sentence() -> None:
    import torch

    e = attnlab.preset("journey")
    e = replace(e, embeddings=torch.full_like(e.embeddings, 3e38))
    with pytest.raises(ExperimentError, match="NaN or ∞"):
        make_arrows(attnlab.compute(e), "scores", None, 0)


def test_the_plane_stands_at_the_right_of_the_text(qapp: QApplication) -> None:
    dress_type()
    _, drawn = draw(make(find_slide("From scores to weights"), answered=True))
    assert drawn.side is not None
    assert drawn.side.x > 1366 * 0.35
    assert drawn.side.height > 768 * 0.45
    assert not drawn.left_out


def test_on_a_narrow_sheet_it_stands_below_the_text(qapp: QApplication) -> None:
    dress_type()
    _, drawn = draw(make(find_slide("Another sentence"), answered=True), 700, 900)
    assert drawn.side is not None
    assert drawn.side.x < 700 * 0.1


def test_arrows_above_four_answers_keep_their_length_on_a_square_sheet(qapp: QApplication) -> None:
    dress_type()
    content = make(find_slide("A score is a projection"), answered=False)
    assert len(content.choices) == 4
    image, drawn = draw(content, 800, 800)
    assert content.picture.title not in drawn.left_out
    assert drawn.side is not None
    left, right, top, bottom = (round(each) for each in (drawn.side.x, drawn.side.right, drawn.top, drawn.side.bottom))
    query = [
        (x, y)
        for x in range(left, left + (right - left) // 2)
        for y in range(top, bottom)
        if image.pixelColor(x, y).name() == LIGHT.query.lower()
    ]
    assert max(x for x, _ in query) - min(x for x, _ in query) > 60
    assert max(y for _, y in query) - min(y for _, y in query) > 60


def test_a_plane_without_room_is_left_out_and_named(qapp: QApplication) -> None:
    dress_type()
    plane = make_arrows(attnlab.compute(attnlab.preset("journey")), "scores", Cell("scores", 4, 1, 0), 0)
    image = QImage(QSize(600, 300), QImage.Format.Format_RGB32)
    for height, left_out in ((110.0, (plane.title,)), (160.0, (plane.caption,)), (290.0, ())):
        image.fill(0)
        painter = QPainter(image)
        box = Box(0, 0, 600, height)
        assert set(left_out) <= set(draw_plane(painter, box, plane, 12.0, LIGHT, answered=True))
        painter.end()


@pytest.mark.slow
def test_the_context_appears_with_the_answer(qapp: QApplication) -> None:
    dress_type()
    slide = find_slide("From scores to weights")
    before, after = make(slide, answered=False), make(slide, answered=True)
    assert isinstance(after.picture, Plane)
    assert after.picture.arrows.mixture is not None
    covered, revealed = (draw(content)[0] for content in (before, after))
    bare = replace(after.picture.arrows, mixture=None)
    assert bare != after.picture.arrows
    side = draw(before)[1].side
    assert side is not None
    attention = LIGHT.attention

    def count(image: QImage) -> int:
        inside = range(int(side.x), int(side.x + side.width)), range(int(side.y), int(side.y + side.height))
        return sum(image.pixelColor(x, y).name() == attention.lower() for x in inside[0] for y in inside[1])

    assert count(covered) == 0
    assert count(revealed) > 50


@pytest.mark.parametrize("stage", ["inputs", "queries", "weights"])
def test_a_slide_of_512_words_is_drawn_whole(stage: str, qapp: QApplication) -> None:
    e = resize_tokens(attnlab.preset("journey"), 512)
    plane = make_arrows(attnlab.compute(e), stage, Cell("weights", 300, 299, 0), 0)
    assert len(plane.arrows.arrows) == (1024 if stage == "queries" else 512)
    image = QImage(QSize(1366, 768), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    missing = draw_plane(painter, Box(400, 100, 900, 600), plane, 24, LIGHT, answered=True)
    painter.end()
    assert missing == ()


def test_the_sentence_below_tokens_says_what_their_columns_are() -> None:
    picture = make(find_slide("Words are arrows"), answered=True).picture
    assert isinstance(picture, Plane)
    assert picture.caption == "Column 0 of a token points to the right, column 1 up."
    journey = make_arrows(attnlab.compute(attnlab.preset("journey")), "inputs", None, 0)
    assert journey.caption.startswith("Shows ")

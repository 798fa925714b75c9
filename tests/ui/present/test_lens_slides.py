"""Lenses on slides: drawn for the last row, the same on paper, and operated as in the window by a key."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from attnlab.attention.examples.presets import preset
from attnlab.compute.engine import compute
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides.lens_content import Charts, Circles, MapRows
from attnlab.figures.slides.lens_painter import find_type
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import make_slides
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, make_content
from attnlab.ui.present.lens_values import has_picture, make_picture
from attnlab.ui.present.pdf import compute_pages

Key = Qt.Key


def test_every_lens_of_the_included_lessons_is_drawn_for_a_hall() -> None:
    lenses = {step.lens for name in list_shipped() for step in find(name).steps if step.lens}
    assert lenses
    assert all(has_picture(lens) for lens in lenses)
    assert find_type(Sheet(0, 0, 1920, 1080)) >= 24


@pytest.mark.parametrize("size", [(1024, 640), (1366, 768), (1920, 1080)])
@pytest.mark.parametrize("name", ["scaling", "positions", "trainable-weights"])
def test_a_lens_fits_its_slide(qapp: QApplication, name: str, size: tuple[int, int]) -> None:
    from dataclasses import replace

    dress_type()
    for slide in make_slides(find(name)):
        if not slide.step.lens:
            continue
        assert slide.experiment is not None
        trace = compute(slide.experiment)
        content = replace(
            make_content(slide, trace, compute(slide.before or slide.experiment), Moment(lens=True)),
            picture=make_picture(slide.step.lens, trace),
        )
        image = QImage(QSize(*size), QImage.Format.Format_RGB32)
        painter = QPainter(image)
        assert draw_slide(painter, Sheet(0, 0, *size), content, LIGHT).left_out == ()
        painter.end()


def test_rope_turns_by_the_distance_alone() -> None:
    trace = compute(preset("rope"))
    picture = make_picture("positions/rotation", trace)
    assert isinstance(picture, Circles)
    one, two = picture.circles
    assert one.text == two.text
    assert one.turn == pytest.approx(two.turn)
    scores = trace.array("scores")[0]
    assert [number for _, number, _ in picture.numbers] == [
        f"{scores[q, k]:.3f}".replace("-", "−") for q, k in ((3, 1), (6, 4), (6, 5), (6, 3))
    ]
    assert [strong for *_, strong in picture.numbers] == [True, True, False, False]
    assert sum(dial.current for dial in picture.dials) == 1


def test_shuffled_words_give_the_same_map_only_without_positions() -> None:
    picture = make_picture("positions/order", compute(preset("order-blind")))
    assert isinstance(picture, MapRows)
    bare, placed = picture.rows
    assert bare.result == "The same map. Largest difference: 0"
    assert placed.result.startswith("Another map.")
    assert (bare.maps[0].data.values == bare.maps[2].data.values).all()


def test_a_lens_on_a_slide_has_neither_tabs_nor_fields_until_they_are_wanted(lecture: Callable[..., Any]) -> None:
    text = "## Look\n\n```state\npreset: saturated-scaled\nlens: saturation\n```\n\nSee?\n"
    talk = lecture(parse(text, "look"), size=(1920, 1080))
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Charts))
    assert talk.hall.parts.lens is None
    talk.press(Key.Key_L)
    talk.person.wait_for(lambda: talk.hall.parts.lens is not None and talk.hall.parts.lens.isVisible())
    assert talk.hall.parts.lens.lens.name == "saturation"
    talk.press(Key.Key_L)
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Charts))
    assert talk.hall.parts.lens.isHidden()


def test_a_lens_that_gives_the_answer_comes_with_it(lecture: Callable[..., Any]) -> None:
    text = "## Look\n\n```state\npreset: rope\nlens: positions/rotation\n```\n\nSame?\n\n```answer\nYes.\n```\n"
    talk = lecture(parse(text, "look"))
    talk.person.wait_for(lambda: isinstance(talk.content.picture, Circles))
    side = talk.hall.view.drawn.side
    rect = QRect(round(side.x), round(side.y), round(side.width), round(side.height))
    before = talk.hall.view.grab(rect).toImage()
    assert {before.pixel(x, y) for x in range(0, rect.width(), 9) for y in range(0, rect.height(), 9)} == {
        QColor(LIGHT.ground).rgb()
    }
    talk.press(Key.Key_Right)
    assert talk.answer() == "Yes."
    assert talk.hall.view.drawn.side == side  # nothing moves
    after = talk.hall.view.grab(rect).toImage()
    assert len({after.pixel(x, y) for x in range(0, rect.width(), 9) for y in range(0, rect.height(), 9)}) > 5


def test_the_picture_is_printed_as_well(qapp: QApplication, tmp_path: Path) -> None:
    text = "## Look\n\n```state\npreset: rope\nlens: positions/rotation\n```\n\nSee?\n"
    (page,) = compute_pages(parse(text, "look"))
    assert isinstance(page.picture, Circles)

"""Every step of every shipped lesson, forward and back, in every theme: complete, with every number filled."""

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from attnlab.figures.palette import PALETTES
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.lessons.library import find, list_shipped
from tests.quick import slow_but

Key = Qt.Key
SIZES = {"light": (1280, 720), "dark": (1024, 768), "contrast-light": (1920, 1080), "contrast-dark": (1280, 800)}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "theme"), [*zip(list_shipped(), cycle(("light", "dark")), strict=False)])
def test_a_lesson_can_be_presented_forward_and_back_without_errors(
    lecture: Callable[..., Any], name: str, theme: str
) -> None:
    talk = lecture(find(name), (1280, 720))
    talk.presentation.set_theme(PALETTES[theme])
    talk.presentation.view.reduced_motion = True
    visited = 0
    while True:
        _check(talk)
        visited += 1
        if talk.player.at_end and not talk.presentation.presenter.hidden:
            break
        talk.press(Key.Key_PageDown)
    while not talk.player.at_start:
        talk.press(Key.Key_PageUp)
        _check(talk)
        visited -= 1
    assert visited <= len(talk.player.slides)  # an answer that was shown takes no key on the way back


def _check(talk: Any) -> None:
    content, where = talk.content, f"{talk.content.heading}, {talk.player.frame}"
    assert talk.presentation.view.drawn.left_out == (), where
    words = f"{content.title} {talk.text()} {content.ask}"
    assert "{{" not in words, where
    assert "…" not in words or "…" in talk.player.slide.step.text, where  # dots stand for numbers on their way


@pytest.mark.parametrize("name", slow_but(list_shipped()[::4], list_shipped()))
def test_every_step_fits_on_screens_of_every_shape(qapp: QApplication, name: str) -> None:
    from attnlab.compute.engine import compute
    from attnlab.lessons.slides import make_slides
    from attnlab.ui.base.theme import dress_type
    from attnlab.ui.present.content import Moment, make_content
    from attnlab.ui.present.formulas import FORMULAS

    dress_type()
    images = {theme: QImage(QSize(*SIZES[theme]), QImage.Format.Format_RGB32) for theme in PALETTES}
    for slide in make_slides(find(name)):
        assert slide.experiment is not None
        now, before = compute(slide.experiment), compute(slide.before or slide.experiment)
        for hidden in dict.fromkeys((slide.blanks, ())):
            made = make_content(slide, now, before, Moment(None, hidden))
            for each in filter(None, (made.main, *made.sources)):
                for frame in each.outlines:
                    at = (frame.index or 0, frame.row or 0, frame.column or 0)
                    assert np.less(at, each.data.values.shape).all(), f"step {slide.index + 1}, {each.title}: {at}"
            for theme, image in images.items():
                painter = QPainter(image)
                drawn = draw_slide(painter, Sheet(0, 0, *SIZES[theme]), made, PALETTES[theme], FORMULAS)
                painter.end()
                assert drawn.left_out == (), f"step {slide.index + 1}, {SIZES[theme]}"


@pytest.mark.parametrize("size", [(1920, 1080), (1366, 768)])
@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_a_map_fills_the_width_where_nothing_stands_at_its_right(
    qapp: QApplication, step: int, size: tuple[int, int]
) -> None:
    from attnlab.compute.engine import compute
    from attnlab.lessons.slides import make_slides
    from attnlab.ui.base.theme import dress_type
    from attnlab.ui.present.content import Moment, make_content

    dress_type()
    slide = make_slides(find("why-attention"), step)[-1]
    assert slide.experiment is not None
    content = make_content(slide, compute(slide.experiment), compute(slide.before or slide.experiment), Moment())
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    grid = draw_slide(painter, Sheet(0, 0, *size), content, PALETTES["light"]).grid
    painter.end()
    assert grid is not None
    assert grid.x + grid.width > 0.85 * size[0]


def test_numbers_of_a_map_with_negative_weights_are_no_smaller_than_those_of_its_source(qapp: QApplication) -> None:
    main, _ = _measure_numbers("six-words", 7)
    assert main >= 16


@pytest.mark.parametrize(("name", "step"), [("scaling", 5), ("scaling", 9), ("induction-by-hand", 3)])
def test_the_source_of_a_map_that_is_walked_by_rows_has_numbers(qapp: QApplication, name: str, step: int) -> None:
    main, source = _measure_numbers(name, step)
    assert source >= 11
    assert main >= 16


def test_numbers_in_low_rows_are_small_enough_to_part_the_rows(qapp: QApplication) -> None:
    _, source = _measure_numbers("whole-block", 5)
    assert source == 16, "in rows that are 21 pixels high"


def test_a_high_formula_in_a_caption_stands_above_the_labels_of_its_map(qapp: QApplication) -> None:
    from attnlab.compute.engine import compute
    from attnlab.lessons.slides import make_slides
    from attnlab.ui.base.theme import dress_type
    from attnlab.ui.present.content import Moment, make_content
    from attnlab.ui.present.formulas import FORMULAS

    class Watched:
        lowest = 0.0

        def size(self, latex: str, size_px: float) -> QSizeF:
            return FORMULAS.size(latex, size_px)

        def draw(self, painter: QPainter, at: QPointF, latex: str, size_px: float, colour: str) -> None:
            self.lowest = max(self.lowest, at.y() + self.size(latex, size_px).height())

    dress_type()
    slide = make_slides(find("six-words"), 6)[-1]
    assert slide.experiment is not None
    content = make_content(slide, compute(slide.experiment), compute(slide.before or slide.experiment), Moment())
    image, formulas = QImage(QSize(1366, 768), QImage.Format.Format_RGB32), Watched()
    painter = QPainter(image)
    grid = draw_slide(painter, Sheet(0, 0, 1366, 768), content, PALETTES["light"], formulas).grid
    painter.end()
    assert grid is not None
    assert 0 < formulas.lowest <= grid.rect(0, 0, 0)[1] - grid.label_height


def _measure_numbers(name: str, step: int) -> tuple[int, int]:
    """Return the sizes in pixels of the numbers in the map and in its source on a slide of 1366 × 768."""
    from attnlab.compute.engine import compute
    from attnlab.figures.slides import slide_maps
    from attnlab.lessons.slides import make_slides
    from attnlab.ui.base.theme import dress_type
    from attnlab.ui.present.content import Moment, make_content

    dress_type()
    slide = make_slides(find(name), step)[-1]
    assert slide.experiment is not None
    content = make_content(slide, compute(slide.experiment), compute(slide.before or slide.experiment), Moment())
    image = QImage(QSize(1366, 768), QImage.Format.Format_RGB32)
    sizes = {}
    with pytest.MonkeyPatch.context() as patch:
        lay_out = slide_maps._lay_out

        def watch(each: Any, *args: Any) -> Any:
            laid = lay_out(each, *args)
            sizes[each] = laid.find_size(each)
            return laid

        patch.setattr(slide_maps, "_lay_out", watch)
        painter = QPainter(image)
        draw_slide(painter, Sheet(0, 0, 1366, 768), content, PALETTES["light"])
        painter.end()
    assert content.main is not None
    return sizes[content.main], sizes[content.sources[0]]

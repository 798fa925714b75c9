"""The numbers that are written on a slide: larger type takes none of them away."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from attnlab.compute.engine import compute
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides import slide_painter
from attnlab.figures.slides.slide_content import SlideContent
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.lessons.library import find
from attnlab.lessons.slides import make_slides
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, make_content
from attnlab.ui.present.lens_values import find_shown, make_picture
from attnlab.ui.present.present_window import ZOOMS

SIZE = 1366, 768


def read_words(content: SlideContent, zoom: float) -> Counter[str]:
    """Return every word and number of a slide; a 0 before the point may be left out."""
    return Counter(word for _, text in read_texts(content, zoom) for word in re.sub(r"\b0\.", ".", text).split())


def read_texts(content: SlideContent, zoom: float) -> list[tuple[int, str]]:
    """Return every text of a slide, drawn as an SVG, with its size in pixels."""
    buffer, file = QBuffer(), QSvgGenerator()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    file.setOutputDevice(buffer)
    file.setSize(QSize(*SIZE))
    file.setViewBox(QRect(0, 0, *SIZE))
    painter = QPainter(file)
    draw_slide(painter, Sheet(0, 0, *SIZE, zoom), content, LIGHT)
    painter.end()
    texts = re.findall(r'<text[^>]*font-size="(\d+)[^>]*>([^<]*)</text>', buffer.data().data().decode())
    return [(int(size), text) for size, text in texts]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("why-attention", 6),
        pytest.param("six-words", 8, marks=pytest.mark.slow),
        pytest.param("trainable-weights", 14, marks=pytest.mark.slow),
        pytest.param("heads", 5, marks=pytest.mark.slow),
        pytest.param("causal-masks", 9, marks=pytest.mark.slow),
    ],
)
def test_larger_type_takes_no_number_and_no_word_away(qapp: QApplication, name: str, step: int) -> None:
    dress_type()
    slide = make_slides(find(name), step)[-1]
    assert slide.experiment is not None
    content = make_content(slide, compute(slide.experiment), compute(slide.before or slide.experiment), Moment())
    usual = read_words(content, 1.0)
    assert usual
    for zoom in (1.1, 1.2, 1.35, 1.5):
        assert not usual - read_words(content, zoom), zoom


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("heads", 9), ("six-words", 7)])
def test_each_larger_size_of_type_is_at_least_as_large_as_the_last(
    qapp: QApplication, name: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dense slide, whose type cannot be 1.5 times as large, has the largest type that fits, not the usual one."""
    dress_type()
    slide = make_slides(find(name), step)[-1]
    assert slide.experiment is not None
    content = make_content(slide, compute(slide.experiment), compute(slide.before or slide.experiment), Moment())
    drawn: list[float] = []
    draw = slide_painter._draw

    def note(painter: QPainter, sheet: Sheet, *parts: Any) -> Any:
        drawn.append(sheet.zoom)
        return draw(painter, sheet, *parts)

    monkeypatch.setattr(slide_painter, "_draw", note)
    sizes = []
    for zoom in ZOOMS:
        read_words(content, zoom)
        sizes.append(drawn[-1])
    assert sizes == sorted(sizes)
    assert 1.1 <= sizes[-1] < 1.5


def test_larger_type_makes_no_number_on_a_map_smaller(qapp: QApplication) -> None:
    """Larger labels left the cells less room, and their numbers were smaller than in the usual type."""
    dress_type()
    slide = make_slides(find("six-words"), 5)[-1]
    assert slide.experiment is not None
    content = make_content(slide, compute(slide.experiment), None, Moment())
    sizes = [{size for size, text in read_texts(content, zoom) if text == "1.48"} for zoom in ZOOMS[1:]]
    assert all(len(each) == 1 for each in sizes)
    assert min(map(max, sizes)) == max(sizes[0])


def test_text_in_the_largest_type_is_no_smaller_than_in_a_less_large_one(qapp: QApplication) -> None:
    """What was too large for its room beside the arrows fell back to the usual type, past all sizes between."""
    dress_type()
    slide = make_slides(find("attention-is-geometry"), 11)[-1]
    assert slide.experiment is not None
    trace = compute(slide.experiment)
    content = make_content(slide, trace, None, Moment(hidden=slide.blanks, lens=True, answered=False, sheet=True))
    content = replace(content, picture=make_picture("arrows", trace, find_shown(slide)))
    sizes = [max(size for size, text in read_texts(content, zoom) if text.startswith("The ")) for zoom in ZOOMS[1:]]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_small_maps_have_two_decimals_and_large_cells_no_more(qapp: QApplication) -> None:
    dress_type()
    slides = make_slides(find("why-attention"), 5)
    for index, number in ((2, ".58"), (4, ".81")):  # a cell of the values beside the context, and one of the weights
        slide = slides[index]
        assert slide.experiment is not None
        words = read_words(make_content(slide, compute(slide.experiment), None, Moment()), 1.0)
        assert words[number]
        assert all(len(word.partition(".")[2]) <= 2 for word in words if re.fullmatch(r"−?\d*\.\d+", word))

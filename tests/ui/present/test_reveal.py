"""What is asked is covered in every place until the key that reveals it, and nothing moves when it is revealed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from attnlab.attention.measures.symmetry import add_mirrored
from attnlab.attention.stages.arithmetic import number
from attnlab.compute.engine import compute
from attnlab.figures.palette import LIGHT, PALETTES, Palette, compute_contrast
from attnlab.figures.slides.slide_content import Run, SlideContent
from attnlab.figures.slides.slide_layout import Sheet
from attnlab.figures.slides.slide_painter import Drawn, draw_slide
from attnlab.figures.slides.slide_text import lay_out_paragraph
from attnlab.lessons.library import find, list_shipped
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import Slide, make_slides
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, make_content
from attnlab.ui.present.pdf import compute_pages

Key = Qt.Key
LESSON = """---
title: Asked first
---

## How much?

```state
preset: journey
stage: weights
cell: [1, 0]
```

“journey” gives {{weights[1, 0]:.2f}} to “Your”, and {{sum(weights[1, :]):.0f}} in all. {= “Your” has a small share. =}

```question
ask: How much does “journey” give to “Your”?
blank: weights[1, 0]
```

```answer
It gives **{{weights[1, 0]}}**, {= the least of the row =}.
```

## And then?

```state
stage: weights
```

```answer
Nothing else.
```
"""


def paint(content: SlideContent, size: tuple[int, int] = (1280, 720)) -> tuple[QImage, Drawn]:
    dress_type()
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    drawn = draw_slide(painter, Sheet(0, 0, *size), content, LIGHT)
    painter.end()
    return image, drawn


def show(slide: Slide, covered: bool, **more: Any) -> SlideContent:
    assert slide.experiment is not None
    now, before = compute(slide.experiment), compute(slide.before or slide.experiment)
    moment = Moment(slide.frames[-1], slide.blanks if covered else (), answered=not covered, **more)
    return make_content(slide, now, before, moment)


def plain(content: SlideContent) -> str:
    return " ".join("".join(run.text for run in each.runs) for each in content.text)


def test_a_number_in_question_is_hidden_in_the_text(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "asked"))
    weight = float(talk.person.painted("weights")[0, 1, 0])
    assert talk.text() == "“journey” gives ? to “Your”, and 1 in all. “Your” has a small share."
    assert talk.answer() == ""
    assert f"{weight:.2f}" not in talk.presentation.view.accessibleDescription()
    talk.press(Key.Key_PageDown)
    assert talk.content.heading.endswith("step 1 of 2")  # the first press reveals
    assert f"gives {weight:.2f} to" in talk.text()
    assert talk.answer() == f"It gives {number(weight)}, the least of the row."
    talk.press(Key.Key_PageUp)
    assert talk.answer() == ""  # back covers again
    assert "gives ? to" in talk.text()
    talk.press(Key.Key_PageDown, Key.Key_PageDown)
    assert talk.content.heading.endswith("step 2 of 2")  # the next goes on
    assert talk.answer() == ""
    talk.press(Key.Key_PageDown)
    assert talk.answer() == "Nothing else."


def test_typing_the_right_answer_reveals_the_text_and_covering_asks_again(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "asked"))
    sheet = talk.presentation.parts.answers.sheet
    field = sheet.focusProxy()
    field.setFocus()
    QTest.keyClicks(field, number(float(talk.person.painted("weights")[0, 1, 0])))
    QTest.keyClick(field, Key.Key_Return)
    talk.wait()
    assert talk.answer().startswith("It gives")
    talk.press(Key.Key_PageUp)
    assert talk.answer() == ""
    assert sheet.hidden_cells == talk.player.slide.blanks
    assert sheet.focusProxy().text() == ""


def test_sentences_about_the_lessons_numbers_turn_grey_when_these_change(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "asked"))
    assert not any(run.aside for each in talk.content.text for run in each.runs)
    talk.press(Key.Key_E)
    table = talk.presentation.parts.table.table
    QTest.keyClick(table, Key.Key_Up)
    talk.person.settle()
    talk.wait()
    asides = ["".join(run.text for run in each.runs if run.aside) for each in talk.content.text]
    assert asides == ["“Your” has a small share."]
    assert talk.content.note == "changed live  ·  dotted: the lesson’s numbers  ·  R restores"
    assert talk.presentation.view.drawn.left_out == ()
    talk.press(Key.Key_R)
    talk.person.settle()
    talk.wait()
    assert not any(run.aside for each in talk.content.text for run in each.runs)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_an_aside_is_legible_and_has_a_dotted_line(qapp: QApplication, palette: Palette) -> None:
    assert min(compute_contrast(palette.aside, ground) for ground in (palette.ground, palette.surface)) >= 3
    dress_type()
    rows = []
    for aside in (False, True):
        image = QImage(200, 40, QImage.Format.Format_RGB32)
        image.fill(QColor(palette.ground))
        block = lay_out_paragraph((Run("nnnnnnnn", aside=aside),), 20.0, 190.0, palette)
        painter = QPainter(image)
        block.draw(painter, 2, 2, palette.aside)
        painter.end()
        drawn = np.frombuffer(image.constBits(), np.uint32).reshape(40, 200) != QColor(palette.ground).rgb()
        rows.append(drawn)
    plain, dotted = (np.flatnonzero(each.any(1))[-1] for each in rows)
    assert dotted > plain
    line = rows[1][dotted, 4 : int(block.width)]
    assert line.any()
    assert not line.all()


@pytest.mark.slow
@pytest.mark.parametrize("name", list_shipped())
def test_nothing_moves_when_an_answer_is_revealed(qapp: QApplication, name: str) -> None:
    for slide in make_slides(find(name)):
        if not slide.blanks and not slide.step.answer:
            continue
        (covered, before), (shown, after) = paint(show(slide, True)), paint(show(slide, False))
        where = f"{name}, step {slide.index + 1}"
        assert before == after, where
        assert before.left_out == (), where
        question = slide.step.question
        if slide.blanks and question is not None and not question.choices:
            side = paint(show(slide, True, sheet=True))[1]
            assert side.grid == after.grid, where
        if not slide.step.curves:  # whose last numbers, at the right of the text, change with the answer
            assert _find_ink_above_map(covered, before) <= _find_ink_above_map(shown, after), where


@pytest.mark.parametrize("name", list_shipped())
def test_whatever_is_drawn_stays_where_it_is(qapp: QApplication, name: str) -> None:
    """Compare every pixel of the covered and the revealed slide: only covers, mirrored cells, tracks of bars and the
    foot change."""
    ground, cover, track = (QColor(colour).rgb() for colour in (LIGHT.ground, LIGHT.cover, LIGHT.control))
    for slide in make_slides(find(name)):
        question = slide.step.question
        if not slide.blanks or (question is not None and question.choices):
            continue  # test_votes.py compares slides with a vote
        (covered, drawn), (shown, _) = paint(show(slide, True)), paint(show(slide, False))
        before, after = _read_pixels(covered), _read_pixels(shown)
        gone = (before != after) & (before != ground)
        near = _widen(before == cover, 4) | _widen(before == track, 3)  # with their frames and smoothed edges
        assert slide.experiment is not None
        asked = [(blank.row, blank.column) for blank in slide.blanks]
        for row, column in add_mirrored(slide.experiment, slide.stage, asked)[len(asked) :]:  # the mirrored ones
            assert drawn.grid is not None
            x, y, width, height = map(round, drawn.grid.rect(0, row, column))
            near[y - 1 : y + height + 1, x - 1 : x + width + 1] = True
        moved = np.argwhere(gone & ~near)
        assert not len(moved), f"{name}, step {slide.index + 1}: {moved[:5].tolist()}"


@pytest.mark.parametrize("step", [4, 11])
def test_the_words_beside_a_lens_stay_when_the_fields_for_answers_close(qapp: QApplication, step: int) -> None:
    slide = make_slides(find("attention-is-geometry"), step)[-1]
    asked, drawn = paint(show(slide, True, lens=True, sheet=True))
    told, _ = paint(show(slide, False, lens=True))
    assert drawn.answers is not None
    before, after = (_read_pixels(each)[: int(drawn.answers.y), : int(drawn.answers.right)] for each in (asked, told))
    words = before != QColor(LIGHT.ground).rgb()
    assert words.any()
    assert (before == after)[words].all()


def _widen(mask: "np.ndarray[Any, Any]", by: int) -> "np.ndarray[Any, Any]":
    """Return a mask that reaches some pixels further in all directions."""
    padded = np.pad(mask, by)
    height, width = mask.shape
    steps = range(2 * by + 1)
    across = np.logical_or.reduce([padded[:, dx : dx + width] for dx in steps])
    return np.logical_or.reduce([across[dy : dy + height] for dy in steps])


def _read_pixels(image: QImage) -> "np.ndarray[tuple[int, int], np.dtype[np.uint32]]":
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1).copy()


def _find_ink_above_map(image: QImage, drawn: Drawn) -> int:
    """Return how far right the title and the text reach: an answer only adds to them."""
    assert drawn.top > 0
    pixels = _read_pixels(image)[: round(drawn.top) - 20]
    columns = np.flatnonzero((pixels != QColor(LIGHT.ground).rgb()).any(0))
    return int(columns[-1])


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
def test_a_cover_is_visible_from_the_last_row(palette: Any) -> None:
    assert compute_contrast(palette.cover, palette.on_cover) >= 3.9
    assert compute_contrast(palette.cover, palette.ground) >= 3


def test_covered_cells_and_numbers_have_the_colour_of_the_cover(qapp: QApplication) -> None:
    slide = make_slides(parse(LESSON, "asked"))[0]
    cover = QColor(LIGHT.cover).rgb()
    counts = []
    for is_covered in (True, False):
        image, drawn = paint(show(slide, is_covered))
        assert drawn.grid is not None
        x, y, width, height = (round(each) for each in drawn.grid.rect(0, 1, 0))
        counts.append(image.copy(x + 4, y + 4, width - 8, height - 8))
    covered, shown = ([cell.pixel(i, 2) for i in range(cell.width())] for cell in counts)
    assert set(covered) == {cover}
    assert cover not in shown


def test_handouts_hide_the_answers_and_print_them_last(qapp: QApplication) -> None:
    first, second, answers = compute_pages(parse(LESSON, "asked"))
    assert (first.answered, second.answered) == (False, False)
    assert "gives ? to" in plain(first)
    weight = number(float(compute(make_slides(parse(LESSON, "asked"))[0].experiment).array("weights")[0, 1, 0]))  # type: ignore[arg-type]
    lines = ["".join(run.text for run in each.runs) for each in answers.text]
    assert lines[-3:] == [f"It gives {weight}, the least of the row.", "Step 2. And then?", "Nothing else."]


def test_a_mask_is_drawn_only_where_scores_are_revealed(qapp: QApplication) -> None:
    slide = make_slides(find("causal-masks"))[1]
    assert slide.experiment is not None
    trace = compute(slide.experiment)
    for known, place in enumerate(slide.frames[:3]):
        shown = make_content(slide, trace, None, Moment(place=place)).main
        assert shown is not None
        assert shown.data.masked is not None
        assert (shown.data.masked == np.triu(np.ones((5, 5), bool), 1) & (np.arange(5)[:, None] < known)).all()
    assert known == 2


@pytest.mark.parametrize(("step", "limit", "track"), [(6, 1.0, True), (11, 9.3513, False)])
def test_bars_of_weights_are_parts_of_1(qapp: QApplication, step: int, limit: float, track: bool) -> None:
    slide = make_slides(find("why-attention"), step)[-1]
    row = show(slide, True).row
    assert row is not None
    assert row.limit == pytest.approx(limit, abs=1e-4)
    assert row.track == track


def test_tiny_weights_are_not_shown_as_zero(qapp: QApplication) -> None:
    slide = make_slides(find("scaling"))[4]
    row = show(slide, False).row
    assert row is not None
    assert {bar.label: bar.text for bar in row.bars}["cat"] == "< 0.0001"

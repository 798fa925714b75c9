"""The audience votes by the keys 1 to 4; the answer marks the right one, and nothing on the slide moves."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from attnlab.compute.engine import compute
from attnlab.figures.palette import LIGHT
from attnlab.figures.slides.slide_choices import Cards, lay_out_cards
from attnlab.figures.slides.slide_content import SlideContent
from attnlab.figures.slides.slide_layout import Sheet, choose_bars
from attnlab.figures.slides.slide_painter import draw_slide
from attnlab.lessons.library import find
from attnlab.lessons.parse import parse
from attnlab.lessons.slides import make_slides
from attnlab.ui.base.theme import dress_type
from attnlab.ui.present.content import Moment, make_content
from attnlab.ui.present.pdf import compute_pages
from attnlab.ui.present.votes import read_vote

Key, Mod = Qt.Key, Qt.KeyboardModifier
SHEET = Sheet(0, 0, 1920, 1080)
LESSON = """---
title: A vote
---

## How much?

```state
preset: journey
stage: weights
cell: [2, 1]
```

“starts” gives {{weights[2, 1]:.2f}} to “journey”.

```question
choices:
  - about 0.1
  - about 0.2
  - about 0.9
right: 2
blank: weights[2, :]
```

## Then

```state
stage: weights
```

Nothing.
"""


def votes(talk: Any) -> list[int | None]:
    return [choice.votes for choice in talk.content.choices]


def test_keys_count_votes_and_shift_takes_one_off(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "vote"))
    assert votes(talk) == [0, 0, 0]
    assert "1–3 count a vote" in talk.content.keys
    assert talk.content.prompt == "press → to reveal"
    talk.press(Key.Key_1, Key.Key_2, Key.Key_2, Key.Key_3)
    assert votes(talk) == [1, 2, 1]
    QTest.keyClick(talk.presentation, Key.Key_2, Mod.ShiftModifier)
    QTest.keyClick(talk.presentation, Key.Key_3, Mod.ShiftModifier)
    QTest.keyClick(talk.presentation, Key.Key_3, Mod.ShiftModifier)
    talk.wait()
    assert votes(talk) == [1, 1, 0]
    assert "1: about 0.1, 1 vote." in talk.presentation.view.accessibleDescription()
    assert "right" not in talk.presentation.view.accessibleDescription()


def test_the_reveal_marks_the_right_answer_and_closes_the_vote(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "vote"))
    talk.press(Key.Key_3, Key.Key_Right)
    assert talk.content.answered
    assert [choice.right for choice in talk.content.choices] == [False, True, False]
    assert "2: about 0.2, 0 votes, right." in talk.presentation.view.accessibleDescription()
    assert talk.content.prompt == ""
    assert "← cover again" in talk.content.keys
    talk.press(Key.Key_1)  # begins to type the number of a step
    assert votes(talk) == [0, 0, 1]
    talk.press(Key.Key_Escape, Key.Key_Left)
    assert not talk.content.answered
    talk.press(Key.Key_1)
    assert votes(talk) == [1, 0, 1]


@pytest.mark.slow
def test_votes_are_there_again_when_the_step_is_shown_again_and_gone_after_the_presentation(
    lecture: Callable[..., Any],
) -> None:
    lesson = parse(LESSON, "vote")
    talk = lecture(lesson)
    talk.press(Key.Key_1, Key.Key_Right, Key.Key_Right)
    assert talk.content.heading.endswith("step 2 of 2")
    assert talk.content.choices == ()
    talk.press(Key.Key_Home)
    assert votes(talk) == [1, 0, 0]
    assert votes(lecture(lesson)) == [0, 0, 0]


def test_a_step_is_typed_with_a_leading_zero_during_a_vote(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "vote"))
    talk.press(Key.Key_0, Key.Key_2, Key.Key_Return)
    assert talk.content.heading.endswith("step 2 of 2")


def test_after_a_live_change_no_answer_is_called_right(lecture: Callable[..., Any]) -> None:
    talk = lecture(parse(LESSON, "vote"))
    talk.press(Key.Key_Right)
    talk.press(Key.Key_E)
    QTest.keyClick(talk.presentation.parts.table.table, Key.Key_Up)
    talk.person.settle()
    talk.wait()
    assert not any(choice.right for choice in talk.content.choices)
    talk.press(Key.Key_R)
    talk.person.settle()
    talk.wait()
    assert [choice.right for choice in talk.content.choices] == [False, True, False]


@pytest.mark.parametrize(
    ("key", "modifiers", "text", "read"),
    [
        (Key.Key_1, Mod.NoModifier, "1", (0, 1)),
        (Key.Key_4, Mod.KeypadModifier, "4", (3, 1)),
        (Key.Key_At, Mod.ShiftModifier, "@", (1, -1)),
        (Key.Key_5, Mod.NoModifier, "5", None),
        (Key.Key_1, Mod.ControlModifier, "", None),
        (Key.Key_B, Mod.NoModifier, "b", None),
    ],
)
def test_keys_are_read_as_votes(key: Key, modifiers: Mod, text: str, read: tuple[int, int] | None) -> None:
    assert read_vote(QKeyEvent(QEvent.Type.KeyPress, key, modifiers, text)) == read


@pytest.mark.parametrize(("platform", "scan", "virtual"), [("linux", 12, 0), ("win32", 4, 0), ("darwin", 0, 20)])
def test_the_place_of_a_key_counts_not_its_sign(
    platform: str, scan: int, virtual: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third key of the top row is § with Shift in German, and 3 with Shift in French."""
    monkeypatch.setattr("sys.platform", platform)
    for key, text, modifier, by in (
        (Key.Key_section, "§", Mod.ShiftModifier, -1),
        (Key.Key_3, "3", Mod.ShiftModifier, -1),
        (Key.Key_QuoteDbl, '"', Mod.NoModifier, 1),
    ):
        event = QKeyEvent(QEvent.Type.KeyPress, key, modifier, scan, virtual, 0, text)
        assert read_vote(event) == (2, by)


def make_contents(name: str, step: int, **more: Any) -> tuple[SlideContent, SlideContent]:
    """Return a step of a lesson as covered and as revealed."""
    slide = make_slides(find(name))[step]
    assert slide.experiment is not None
    trace, before = compute(slide.experiment), compute(slide.before or slide.experiment)
    covered = Moment(slide.frames[0], slide.blanks, answered=False, **more)
    return make_content(slide, trace, before, covered), make_content(slide, trace, before, Moment(**more))


def paint(content: SlideContent) -> "np.ndarray[Any, Any]":
    dress_type()
    image = QImage(1920, 1080, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    assert draw_slide(painter, SHEET, content, LIGHT).left_out == ()
    painter.end()
    return np.frombuffer(image.constBits(), np.uint32).reshape(1080, 1920).copy()


def lay_out(content: SlideContent) -> Cards:
    return lay_out_cards(SHEET, content.choices, LIGHT)


def test_the_reveal_changes_only_numbers_bars_and_marks(qapp: QApplication) -> None:
    covered, revealed = make_contents("scaling", 3, votes=(6, 17, 9, 4))
    assert [place.getRect() for place in lay_out(covered).places] == [
        place.getRect() for place in lay_out(revealed).places
    ]
    before, after = paint(covered), paint(revealed)
    changed = before != after
    cards = int(lay_out(covered).places[0].top())
    assert not changed[:165].any()  # the heading and the title
    assert not changed[250:cards, :960].any()  # the row of scores, beside the row that is asked for
    ground, cover = QColor(LIGHT.ground).rgb(), QColor(LIGHT.cover).rgb()
    line = slice(165, 250)
    covers = np.flatnonzero((before[line] == cover).any(0))
    words = (before[line] != ground) & changed[line]
    assert set(np.flatnonzero(words.any(0))) <= {x + dx for x in covers for dx in (-3, -2, -1, 0, 1, 2, 3)}


@pytest.mark.parametrize("size", [(1024, 640), (1366, 768), (960, 720)])
@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_the_choice_of_bars_does_not_give_the_largest_away(
    qapp: QApplication, size: tuple[int, int], zoom: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    dress_type()
    asked: list[list[float | None]] = []

    def choose(values: list[float | None], current: int | None, room: int) -> list[int]:
        asked.append(values)
        return choose_bars(values, current, room)

    monkeypatch.setattr("attnlab.figures.slides.slide_side.choose_bars", choose)
    covered, _ = make_contents("scaling", 3, votes=(0, 0, 0, 0))
    image = QImage(*size, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    assert draw_slide(painter, Sheet(0, 0, *size, zoom), covered, LIGHT).left_out == ()
    painter.end()
    assert covered.pair is not None
    scores = [bar.value for bar in covered.pair[0].bars]
    assert len(asked) >= 2  # larger type is tried before it is used
    assert all(each == scores for each in asked)


def test_the_right_card_has_a_green_ring_and_the_others_fade(qapp: QApplication) -> None:
    covered, revealed = make_contents("scaling", 3, votes=(6, 17, 9, 4))
    before, after = paint(covered), paint(revealed)
    places = lay_out(covered).places
    good, accent = QColor(LIGHT.good).rgb(), QColor(LIGHT.accent).rgb()

    def crop(pixels: "np.ndarray[Any, Any]", i: int) -> "np.ndarray[Any, Any]":
        x, y, wide, high = (round(each) for each in places[i].getRect())
        return pixels[y - 2 : y + high + 2, x - 2 : x + wide + 2]

    assert (crop(after, 3) == good).sum() > 3 * places[3].width()
    column = crop(after, 3)[:, int(places[3].width() / 2)]
    assert np.flatnonzero(column == good)[0] <= 4
    assert (column[:8] == good).sum() >= 3  # 4 px, of which the first and the last may be smoothed
    assert not (crop(after, 0) == good).any()
    assert not any((crop(before, i) == good).any() for i in range(4))
    assert (crop(before, 1) == accent).sum() > 500
    assert not (crop(after, 1) == accent).any()
    assert (crop(after, 3) == accent).sum() > 100


def test_bars_are_shares_of_all_votes(qapp: QApplication) -> None:
    def measure(votes: tuple[int, ...], card: int) -> int:
        covered, _ = make_contents("scaling", 3, votes=votes)
        place = lay_out(covered).places[card]
        pixels = paint(covered)[round(place.top()) : round(place.bottom()), round(place.left()) : round(place.right())]
        return int((pixels == QColor(LIGHT.accent).rgb()).any(0).sum())

    assert measure((0, 0, 0, 0), 0) == 0
    assert measure((1, 1, 0, 0), 0) == pytest.approx(measure((8, 8, 0, 0), 0), abs=1)
    assert measure((2, 2, 0, 0), 0) == pytest.approx(measure((4, 0, 0, 0), 0) / 2, rel=0.03)


def test_cards_in_two_rows_are_low_and_show_votes_beside_the_text(qapp: QApplication) -> None:
    dress_type()
    sheet = Sheet(0, 0, 800, 800)
    covered, _ = make_contents("switch-a-head-off", 5, votes=(0, 12, 4, 0))
    cards = lay_out_cards(sheet, covered.choices, LIGHT)
    assert cards.left_out == ()
    assert len({place.y() for place in cards.places}) == 2
    assert cards.kept < 0.28 * sheet.height
    image = QImage(800, 800, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    assert draw_slide(painter, sheet, covered, LIGHT).left_out == ()
    painter.end()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(800, 800)
    accent, ink = QColor(LIGHT.accent).rgb(), QColor(LIGHT.ink).rgb()
    crops = [
        pixels[round(each.top()) : round(each.bottom()), round(each.left()) : round(each.right())]
        for each in cards.places
    ]
    filled = [int((crop == accent).any(0).sum()) for crop in crops]
    assert filled[0] == filled[3] == 0
    assert filled[1] == pytest.approx(3 * filled[2], abs=4)
    end = int(cards.places[0].width() - 0.04 * 800)
    assert all((crop[: crop.shape[0] // 2, end:] == ink).any() for crop in crops), "the number of votes"


def test_handouts_have_neither_votes_nor_the_right_answer(qapp: QApplication) -> None:
    first, second, answers = compute_pages(parse(LESSON, "vote"))
    assert not first.answered
    assert [choice.votes for choice in first.choices] == [None, None, None]
    assert second.choices == ()
    lines = ["".join(run.text for run in each.runs) for each in answers.text]
    assert "2  about 0.2" in lines

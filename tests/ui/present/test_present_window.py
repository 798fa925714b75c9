"""A lecturer with a clicker walks, jumps and blackens the screen; the audience sees the right slide."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QFontInfo, QMouseEvent, QTextCharFormat, QTextDocument, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from attnlab.attention.stages.arithmetic import number
from attnlab.lessons.parse import parse

Key = Qt.Key


Lecture = Callable[..., Any]


def test_a_lesson_is_walked_forward_and_back_with_a_clicker(lecture: Lecture) -> None:
    talk = lecture()
    seen = [talk.content]
    while not talk.player.at_end:
        talk.press(Key.Key_PageDown)
        seen.append(talk.content)
    assert [each.title for each in dict.fromkeys(seen)][-1] == "What is it?"
    assert len(seen) == 1 + 7 + 5 + 1 + 2  # the last key shows the answers
    back = [talk.content]
    while not talk.player.at_start:
        talk.press(Key.Key_PageUp)
        back.append(talk.content)
    titles = [each.title for each in seen]
    assert [each.title for each in reversed(back)] == titles


def test_a_slide_shows_its_place_and_its_numbers(lecture: Lecture) -> None:
    talk = lecture()
    weight = number(float(talk.person.painted("weights")[0, 2, 1]))
    assert talk.content.heading == "A short lesson  ·  step 1 of 5"
    assert talk.text() == f"“starts” gives “journey” {weight}, and nothing is hidden."
    assert talk.arithmetic().endswith(weight)
    assert talk.bars()["journey"] == weight
    assert talk.presentation.view.accessibleName().endswith("All pairs at once")
    assert weight in talk.presentation.view.accessibleDescription()


def test_rows_appear_one_by_one_and_unknown_cells_are_hidden(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_Right)
    assert talk.unknown() == 36
    assert talk.text() == "Each row sums to 1.00."  # the text first
    talk.press(Key.Key_Right)
    assert talk.unknown() == 30
    assert [(o.row, o.column) for o in talk.content.main.outlines] == [(0, None)]
    assert [(o.row, o.column) for o in talk.content.sources[0].outlines] == [(0, None)]
    assert list(talk.bars()) == ["Your", "journey", "starts", "with", "one", "step"]


def test_a_sum_is_added_up_term_by_term(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_3, Key.Key_Return)
    talk.press(Key.Key_Right)
    before = talk.arithmetic()
    assert "…\nso far " in before
    assert talk.bars()["journey"] == "?"
    while "= " + number(float(talk.person.painted("scores")[0, 2, 1])) not in talk.arithmetic():
        assert talk.player.slide.index == 2
        assert talk.content.keys[0] == "→ next term"
        talk.press(Key.Key_Right)
    assert len(talk.arithmetic()) > len(before)
    assert talk.content.keys[0] == "→ show the rest", "no term is left"


def test_digits_and_enter_and_home_and_end_jump(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_4)
    assert talk.presentation.findChild(type(talk.presentation._note)) is not None
    assert talk.presentation._note.isVisible()
    assert talk.presentation._note.text() == "Step 4: Enter"
    talk.press(Key.Key_Return)
    assert talk.content.title == "With causal masks"
    assert not talk.presentation._note.isVisible()
    talk.press(Key.Key_End)
    assert talk.content.title == "What is it?"
    talk.press(Key.Key_Home)
    assert talk.content.title == "All pairs at once"
    talk.press(Key.Key_9, Key.Key_Escape)  # thought better of
    assert talk.presentation.isVisible()
    assert talk.content.title == "All pairs at once"


@pytest.mark.parametrize(
    ("key", "colour"), [(Key.Key_B, "#000000"), (Key.Key_Period, "#000000"), (Key.Key_W, "#ffffff")]
)
def test_the_screen_goes_black_or_white_and_any_key_brings_it_back(lecture: Lecture, key: Qt.Key, colour: str) -> None:
    talk = lecture()
    talk.press(key)
    image = talk.presentation.grab().toImage()
    assert {image.pixelColor(x, y).name() for x in range(0, 1280, 40) for y in range(0, 720, 40)} == {colour}
    talk.press(Key.Key_PageDown)
    assert talk.content.title == "All pairs at once"  # the key that brings it back does nothing else
    image = talk.presentation.grab().toImage()
    assert len({image.pixelColor(x, y).name() for x in range(0, 1280, 8) for y in range(0, 720, 8)}) > 5


def test_a_click_goes_forward_and_the_right_button_back(lecture: Lecture) -> None:
    talk = lecture()
    QTest.mouseClick(talk.presentation, Qt.MouseButton.LeftButton, pos=QPoint(600, 600))
    talk.wait()
    assert talk.content.title == "Row by row"
    QTest.mouseClick(talk.presentation, Qt.MouseButton.RightButton, pos=QPoint(600, 600))
    talk.wait()
    assert talk.content.title == "All pairs at once"


def test_the_picture_is_painted_before_the_key_returns(lecture: Lecture) -> None:
    talk = lecture()
    painted: list[str] = []
    talk.presentation.view.painted.connect(lambda: painted.append(talk.presentation.view.content.title))
    QTest.keyClick(talk.presentation, Key.Key_PageDown)
    assert painted[:1] == ["Row by row"]
    talk.wait()


def test_new_cells_fade_in_and_a_key_ends_the_fade(lecture: Lecture) -> None:
    talk = lecture()
    talk.presentation.view.reduced_motion = False
    talk.press(Key.Key_Right)
    QTest.keyClick(talk.presentation, Key.Key_Right)
    assert talk.presentation.view.moving
    assert talk.unknown() == 30  # what is painted under the veil is there at once
    talk.press(Key.Key_Shift)
    assert not talk.presentation.view.moving
    talk.presentation.view.reduced_motion = True
    QTest.keyClick(talk.presentation, Key.Key_Right)
    assert not talk.presentation.view.moving
    talk.wait()


def test_the_spotlight_follows_the_mouse_and_the_wheel_sizes_it(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_S)
    at, none = QPointF(640, 360), Qt.MouseButton.NoButton
    there = QPointF(talk.presentation.view.mapToGlobal(at.toPoint()))
    moved = QMouseEvent(QEvent.Type.MouseMove, at, there, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(talk.presentation.view, moved)
    assert talk.presentation.spotlight.at == at
    image = talk.presentation.grab().toImage()
    assert image.pixelColor(20, 20).lightness() < 120
    inside = _lit(talk)
    event = QWheelEvent(
        at, at, QPoint(), QPoint(0, 240), none, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(talk.presentation, event)
    assert _lit(talk) > inside
    talk.press(Key.Key_Escape)
    assert not talk.presentation.spotlight.isVisible()
    assert talk.presentation.isVisible()


def test_the_spotlight_dims_the_table_too_and_follows_the_mouse_over_it(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_E, Key.Key_S)
    table, spotlight = talk.presentation.parts.table, talk.presentation.spotlight
    spotlight.at = QPointF(1270, 710)
    talk.wait()

    def look() -> int:
        return talk.presentation.grab().toImage().pixelColor(corner).lightness()

    corner = table.geometry().topLeft() + QPoint(2, table.height() // 2)
    assert table.isVisible()
    assert look() < 120
    QTest.mouseMove(table.table.viewport(), QPoint(3, table.table.viewport().height() // 2))
    talk.person.wait_for(lambda: look() > 150)


def _lit(talk: Any) -> int:
    """Return how many pixels at the upper edge of the centre are bright, so not dimmed."""
    image = talk.presentation.grab().toImage()
    ground = np.array([image.pixelColor(640, y).lightness() for y in range(0, 720, 4)])
    return int((ground > 200).sum())


def test_keys_change_the_size_of_type_and_the_theme(lecture: Lecture) -> None:
    talk = lecture()
    small = talk.presentation.view.sheet.body
    talk.press(Key.Key_Plus)
    assert talk.presentation.view.sheet.body > small
    assert talk.presentation.view.drawn.left_out == ()
    talk.press(Key.Key_Minus, Key.Key_Minus)
    assert talk.presentation.view.sheet.body >= 720 / 40
    grounds = []
    for _ in range(4):
        talk.press(Key.Key_T)
        grounds.append(talk.presentation.grab().toImage().pixelColor(3, 3).name().upper())
    assert grounds == ["#121419", "#FFFFFF", "#000000", "#F6F7F9"]


def test_the_card_of_shortcuts_opens_and_closes(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_H)
    card = talk.presentation.parts.help
    assert card.isVisible()
    assert talk.presentation.rect().contains(card.geometry())
    talk.press(Key.Key_Escape)
    assert not card.isVisible()
    assert talk.presentation.isVisible()


def test_the_speaker_window_shows_notes_and_can_go_forward(lecture: Lecture, qtbot: QtBot) -> None:
    talk = lecture()
    talk.press(Key.Key_N)
    speaker = talk.presentation.speaker
    talk.person.wait_for(lambda: speaker.notes.words == "Say what a weight is.")
    assert speaker.head.title.text() == "A short lesson"
    assert speaker.head.place.text().startswith("step 1 of 5 · 0:0")
    assert speaker.now.content is talk.content
    assert speaker.next.content.title == "Row by row"
    talk.press(Key.Key_PageDown, widget=speaker)
    assert talk.content.title == "Row by row"
    talk.person.wait_for(lambda: speaker.notes.words == "No notes for this step.")
    speaker.head.pause_button.click()
    assert speaker.head.pause_button.text() == "Go on"
    held = speaker.watch.elapsed_ms
    assert not speaker.watch.running
    assert speaker.watch.elapsed_ms == held
    speaker.head.reset_button.click()
    assert speaker.head.elapsed.text() == "0:00"
    talk.press(Key.Key_N)
    assert talk.presentation.speaker is None


def test_the_speaker_window_shows_the_audiences_lens(lecture: Lecture) -> None:
    steps = "## First\n\n```state\npreset: journey\n```\n\n## Look\n\n```state\nlens: statistics\n```\n"
    talk = lecture(parse(steps, "look"))
    talk.press(Key.Key_N)
    speaker = talk.presentation.speaker
    talk.person.wait_for(
        lambda: speaker.next_caption.text().endswith("after one → · step 2 · with the lens Statistics")
    )
    talk.press(Key.Key_PageDown)
    talk.press(Key.Key_O)  # operates the lens, of which the speaker sees a picture
    talk.person.wait_for(lambda: speaker.now.content is talk.content and talk.presentation.parts.lens is not None)
    talk.person.wait_for(talk.presentation.parts.lens.isVisible)
    speaker.ticked.emit()
    side = speaker.now.drawn.side
    seen = speaker.now.grab().toImage().copy(round(side.x), round(side.y), round(side.width), round(side.height))
    colours = {seen.pixel(x, y) for x in range(0, seen.width(), 3) for y in range(0, seen.height(), 3)}
    assert len(colours) > 20  # where there was nothing but ground
    talk.press(Key.Key_PageUp)
    talk.person.wait_for(lambda: speaker.now.content is talk.content)
    assert talk.presentation.parts.lens.isHidden()


def test_the_speaker_window_fits_a_single_screen(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_N)
    speaker = talk.presentation.speaker
    room = talk.presentation.screen().availableSize()
    assert speaker.width() < room.width()
    assert speaker.height() < room.height()
    right = max(
        each.mapTo(speaker, each.rect().topRight()).x() for each in (speaker.head.clock, speaker.head.reset_button)
    )
    assert right < speaker.width()


@pytest.mark.parametrize("key", [Key.Key_Escape, Key.Key_F5])
def test_leaving_is_announced_once_and_keeps_the_place_of_the_player(
    lecture: Lecture, qtbot: QtBot, key: Qt.Key
) -> None:
    talk = lecture()
    talk.press(Key.Key_PageDown)
    talk.press(Key.Key_N)
    left: list[bool] = []
    talk.presentation.left.connect(lambda: left.append(True))
    QTest.keyClick(talk.presentation, key)
    assert left == [True]
    assert not talk.presentation.isVisible()
    assert talk.presentation.speaker is None or not talk.presentation.speaker.isVisible()
    assert talk.player.slide.index == 1
    talk.presentation.close()
    assert left == [True]


def test_a_tour_is_walked_at_another_depth(lecture: Lecture) -> None:
    from attnlab.attention.examples.presets import preset
    from attnlab.lessons.tour import make_tour

    talk = lecture(make_tour(preset("journey"), "stage"))
    talk.press(Key.Key_2, Key.Key_Return)
    stage, frames = talk.content.main.title, len(talk.player.frames)
    talk.press(Key.Key_D)
    assert talk.content.main.title == stage
    assert len(talk.player.frames) > frames


def test_the_plan_counts_on_when_a_tour_is_walked_at_another_depth(lecture: Lecture) -> None:
    from attnlab.attention.examples.presets import preset
    from attnlab.lessons.tour import make_tour

    talk = lecture(make_tour(preset("journey"), "stage"))
    talk.press(Key.Key_2, Key.Key_Return, Key.Key_N)
    speaker = talk.presentation.speaker
    talk.person.wait_for(lambda: "and began at 0:00 · " in speaker.plan.told)
    told = speaker.plan.told
    talk.presentation.watch._kept_ms += 90_000  # the step is talked about
    talk.press(Key.Key_D)
    talk.person.wait_for(lambda: speaker.now.content is talk.content)
    assert speaker.plan.told == told
    talk.press(Key.Key_3, Key.Key_Return)
    talk.person.wait_for(lambda: "and began at 1:3" in speaker.plan.told)


def test_a_lens_is_shown_in_place_of_the_map(lecture: Lecture) -> None:
    talk = lecture(parse("## Look\n\n```state\npreset: journey\nlens: statistics\n```\n", "look"))
    talk.press(Key.Key_O)
    talk.person.wait_for(lambda: talk.presentation.parts.lens is not None)
    lens = talk.presentation.parts.lens
    assert lens.isVisible()
    assert lens.lens.name == "statistics"
    assert talk.presentation.rect().contains(lens.geometry())
    talk.press(Key.Key_B)
    assert talk.presentation.grab().toImage().pixelColor(640, 400).name() == "#000000"
    talk.press(Key.Key_B)


def test_the_clock_runs_from_the_start_of_the_presentation(lecture: Lecture) -> None:
    talk = lecture()
    begun = talk.presentation.watch.elapsed_ms
    talk.person.wait_for(lambda: talk.presentation.watch.elapsed_ms > begun)
    talk.press(Key.Key_N)
    assert talk.presentation.speaker.watch is talk.presentation.watch
    talk.presentation.speaker.head.pause_button.click()
    held = talk.presentation.watch.elapsed_ms
    talk.press(Key.Key_N, Key.Key_N)
    assert talk.presentation.speaker.watch.elapsed_ms == held  # neither closing nor opening the window changes it
    assert talk.presentation.speaker.head.pause_button.text() == "Go on"


def test_each_line_of_the_notes_is_a_paragraph_and_an_index_is_lowered(lecture: Lecture) -> None:
    talk = lecture(
        parse("## One\n\n```state\npreset: journey\n```\n\n```notes\nAsk *this*.\nThen: Q = X W_q.\n```\n", "notes")
    )
    talk.press(Key.Key_N)
    notes = talk.presentation.speaker.notes
    talk.person.wait_for(lambda: notes.words == "Ask this.\nThen: Q = X Wq.")
    typeset = QTextDocument()
    typeset.setHtml(notes.text.text())
    cursor = typeset.find("Wq")
    cursor.setPosition(cursor.selectionEnd())
    assert cursor.charFormat().verticalAlignment() == QTextCharFormat.VerticalAlignment.AlignSubScript


def test_the_card_of_shortcuts_has_large_type(lecture: Lecture) -> None:
    talk = lecture(size=(1920, 1080))
    talk.press(Key.Key_H)
    labels = talk.presentation.parts.help.findChildren(QLabel)
    assert min(QFontInfo(label.font()).pixelSize() for label in labels) >= 24
    assert talk.presentation.rect().contains(talk.presentation.parts.help.geometry())


def test_a_sum_in_progress_says_how_far_it_is(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_3, Key.Key_Return)
    talk.press(Key.Key_Right)
    queries, keys = talk.person.painted("queries")[0], talk.person.painted("keys")[0]
    assert talk.arithmetic().endswith(f"so far {number(float(queries[2, 0] * keys[1, 0]))}")


def test_the_speaker_sees_the_plan_and_how_far_behind_it_is(lecture: Lecture) -> None:
    from attnlab.lessons.duration import plan_seconds

    talk = lecture()
    talk.press(Key.Key_N)
    plan = talk.presentation.speaker.plan
    talk.person.wait_for(lambda: "on time" in plan.told)
    assert plan.planned.startswith("planned ")
    steps = plan_seconds(talk.player.lesson)
    plan.show_plan(steps, 1, steps[0] + 49)
    assert plan.told.endswith("49 s behind")
    plan.show_plan(steps, 2, 0.0)
    assert plan.told.endswith("ahead")
    assert plan.told in plan.accessibleDescription()
    talk.press(Key.Key_4, Key.Key_Return)
    talk.person.wait_for(lambda: plan.told.endswith("ahead"))  # three steps were skipped
    talk.presentation.present(size=talk.presentation.size())  # from the fourth step on
    talk.person.wait_for(lambda: plan.told.endswith("on time"))


def test_keys_that_have_nothing_to_do_say_why(lecture: Lecture) -> None:
    talk = lecture()
    note = talk.presentation._note
    for key, sentence in (
        (Key.Key_O, "This step has no lens."),
        (Key.Key_L, "Only the labels of turning arrows can be hidden."),
        (Key.Key_D, "A lesson sets the size of its own steps."),
        (Key.Key_M, "There is only one screen."),
    ):
        talk.press(key)
        assert note.isVisible()
        assert note.text() == sentence
    talk.press(Key.Key_T)
    assert not note.isVisible()

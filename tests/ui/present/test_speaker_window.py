"""The speaker window: what is shown now, what the next press shows, notes, steps, times, and keys of its own."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontInfo
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from attnlab.figures.palette import LIGHT
from attnlab.lessons.duration import plan_seconds
from attnlab.lessons.parse import parse
from attnlab.ui.present.stopwatch import write_clock
from tests.nursery import run_python
from tests.ui.layout_faults import find_layout_faults
from tests.ui.present.conftest import LESSON

Key = Qt.Key
Lecture = Callable[..., Any]


def open_speaker(talk: Any, size: tuple[int, int] = (1440, 900)) -> Any:
    talk.press(Key.Key_N)
    speaker = talk.presentation.speaker
    speaker.resize(*size)
    talk.person.wait_for(lambda: speaker.now.content is talk.content and speaker.next.content is not None)
    return speaker


def read_type(label: QLabel) -> int:
    return QFontInfo(label.font()).pixelSize()


def test_sizes_are_those_of_the_design(lecture: Lecture) -> None:
    speaker = open_speaker(lecture())
    assert (read_type(speaker.head.elapsed), read_type(speaker.notes.text)) == (34, 21)
    assert read_type(speaker.head.clock) < read_type(speaker.head.elapsed)
    assert speaker.now.width() == pytest.approx(800, abs=20)
    assert speaker.next.width() == pytest.approx(536, abs=20)
    frame = speaker.now.grab().toImage()
    middle = frame.height() // 2
    assert frame.pixelColor(1, middle) == QColor(LIGHT.accent)
    assert speaker.next.grab().toImage().pixelColor(1, middle // 2) != QColor(LIGHT.accent)


def test_the_open_table_is_on_the_next_slide_too(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_2, Key.Key_Return)
    speaker = open_speaker(talk)
    talk.press(Key.Key_E)
    talk.person.wait_for(lambda: speaker.next.content is not None and speaker.next.content.table)
    talk.person.settle()
    for view in (speaker.now, speaker.next):
        image = view.grab().toImage()
        view.set_insets(None, None, None)
        assert view.grab().toImage() != image


@pytest.mark.slow
def test_next_is_what_one_press_shows(lecture: Lecture) -> None:
    talk = lecture()
    talk.press(Key.Key_2, Key.Key_Return)
    speaker = open_speaker(talk)
    assert "after one →" in speaker.next_caption.text()
    assert "step" not in speaker.next_caption.text()
    assert speaker.next.content.main.data.unknown.sum() == talk.unknown() - 6  # one more row
    talk.press(Key.Key_5, Key.Key_Return)
    talk.person.wait_for(lambda: speaker.now.content is talk.content)
    assert not speaker.now.content.answered
    assert speaker.next.content.answered
    talk.press(Key.Key_Right)
    talk.person.wait_for(lambda: speaker.next_caption.text() == "<b>This is the end.</b>")
    assert speaker.next.isHidden()
    talk.press(Key.Key_1, Key.Key_Return)
    talk.person.wait_for(lambda: speaker.next_caption.text().endswith("after one → · step 2"))


def test_the_size_of_the_notes_changes_nothing_else(lecture: Lecture) -> None:
    speaker = open_speaker(lecture())
    now, head = speaker.now.size(), read_type(speaker.head.elapsed)
    QTest.mouseClick(speaker.notes.larger, Qt.MouseButton.LeftButton)
    QTest.mouseClick(speaker.notes.larger, Qt.MouseButton.LeftButton)
    assert read_type(speaker.notes.text) == 29
    for _ in range(9):
        QTest.mouseClick(speaker.notes.smaller, Qt.MouseButton.LeftButton)
    assert read_type(speaker.notes.text) == 15
    assert not speaker.notes.smaller.isEnabled()
    assert (speaker.now.size(), read_type(speaker.head.elapsed)) == (now, head)


def test_a_click_on_a_step_goes_there(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk)
    steps = speaker.steps.list
    assert [steps.item(i).text() for i in range(steps.count())] == [step.title for step in talk.player.lesson.steps]
    minutes = plan_seconds(talk.player.lesson)
    assert steps.item(4).data(Qt.ItemDataRole.UserRole + 1) == f"{round(minutes[4] / 60)} min"
    place = steps.visualItemRect(steps.item(3)).center()
    QTest.mouseClick(steps.viewport(), Qt.MouseButton.LeftButton, pos=place)
    talk.wait()
    assert talk.content.title == "With causal masks"
    talk.person.wait_for(lambda: steps.item(3).data(Qt.ItemDataRole.UserRole) == "now")
    assert steps.item(2).data(Qt.ItemDataRole.UserRole) == "past"


def test_the_keys_are_shown_to_the_speaker_not_to_the_class(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk)
    shown = [label.text() for label in speaker.steps.findChildren(QLabel) if label.isVisible()]
    assert shown.count("next") == shown.count("back") == shown.count("black") == 1
    QTest.keyClick(speaker, Key.Key_H)
    assert speaker.help.isVisible()
    assert speaker.rect().contains(speaker.help.geometry())
    assert not talk.presentation.parts.help.isVisible()
    QTest.keyClick(speaker, Key.Key_Escape)
    assert not speaker.help.isVisible()
    assert talk.presentation.isVisible()
    talk.press(Key.Key_PageDown, widget=speaker)
    assert talk.content.title == "Row by row"


def test_the_keys_go_on_also_while_a_button_has_the_focus(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk)
    speaker.activateWindow()
    talk.person.wait_for(lambda: speaker.focusWidget() is speaker)  # not the first button, which Space would press
    talk.press(Key.Key_2, Key.Key_Return, widget=speaker)
    assert talk.content.title == "Row by row"
    rows = talk.unknown()
    speaker.head.pause_button.setFocus()
    talk.press(Key.Key_Right, widget=speaker.head.pause_button)
    assert talk.unknown() < rows
    talk.press(Key.Key_Left, widget=speaker.head.pause_button)
    assert talk.unknown() == rows


def test_the_speaker_reads_the_numbers_that_the_class_reads(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk, (900, 600))
    assert speaker.now.drawn.grid.cell_width == pytest.approx(talk.presentation.view.drawn.grid.cell_width, rel=0.05)


def test_times_are_written_in_words_and_never_in_red(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk)
    steps = plan_seconds(talk.player.lesson)
    speaker.plan.show_plan(steps, 1, steps[0] + 49)
    assert speaker.plan.told.endswith("49 s behind")
    picture = speaker.plan.grab().toImage()
    colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert QColor(LIGHT.bad).name() not in colours
    assert (write_clock(598), write_clock(3661), write_clock(-2)) == ("9:58", "1:01:01", "0:00")


@pytest.mark.parametrize("size", [(1024, 640), (1366, 768), (1920, 1080)])
def test_every_part_is_inside_the_window(lecture: Lecture, size: tuple[int, int]) -> None:
    speaker = open_speaker(lecture(), size)
    assert (speaker.width(), speaker.height()) == size
    for part in (speaker.now, speaker.next, speaker.notes, speaker.steps, speaker.head.clock, speaker.plan):
        place = part.rect().translated(part.mapTo(speaker, part.rect().topLeft()))
        assert speaker.rect().contains(place), part
    assert speaker.steps.list.height() > 40
    assert speaker.notes.height() > 60


def test_titles_of_steps_take_two_lines_where_one_is_too_short(lecture: Lecture) -> None:
    speaker = open_speaker(lecture())
    speaker.resize(1440, 900)
    speaker.grab()
    steps = speaker.steps.list
    high = [steps.visualItemRect(steps.item(row)).height() for row in range(steps.count())]
    speaker.resize(480, 900)
    speaker.grab()
    narrow = [steps.visualItemRect(steps.item(row)).height() for row in range(steps.count())]
    assert max(narrow) > max(high)


def test_indices_in_the_titles_of_steps_are_lowered(lecture: Lecture) -> None:
    lesson = parse(LESSON.replace("## ", "## W_q ", 1), "short")
    speaker = open_speaker(lecture(lesson))
    steps = speaker.steps.list
    assert steps.item(0).text().startswith("W_q ")
    assert not [fault for fault in find_layout_faults(speaker) if "not lowered" in fault]
    drawn = speaker.grab().toImage()
    steps.item(0).setText(steps.item(0).text().replace("W_q", "Wq"))
    assert speaker.grab().toImage() != drawn  # the same letters, not lowered
    steps.item(0).setText(steps.item(0).text().replace("Wq", "W_q"))
    assert speaker.grab().toImage() == drawn


def test_the_speaker_sees_the_table_that_the_class_sees(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk)
    assert read_part(speaker, "table") == {LIGHT.ground.lower()}
    talk.press(Key.Key_E)
    table = talk.presentation.parts.table.table
    talk.person.wait_for(lambda: len(read_part(speaker, "table")) > 20)
    before = speaker.now.grab().toImage()
    QTest.keyClick(table, Key.Key_Up)
    talk.person.settle()
    talk.wait()
    talk.person.wait_for(lambda: speaker.now.grab().toImage() != before)
    talk.press(Key.Key_E, widget=table)
    talk.person.wait_for(lambda: read_part(speaker, "table") == {LIGHT.ground.lower()})


def test_the_speaker_sees_the_fields_for_answers(lecture: Lecture) -> None:
    talk = lecture()
    speaker = open_speaker(talk)
    talk.press(Key.Key_End)
    assert talk.presentation.parts.answers.isVisible()
    talk.person.wait_for(lambda: speaker.now.content is talk.content)
    talk.person.wait_for(lambda: len(read_part(speaker, "side")) > 20)


def read_part(speaker: Any, part: str) -> set[str]:
    """Return the colours in a part of the speaker's picture of the slide that the class fills with a widget."""
    box, scale = getattr(speaker.now.drawn, part), speaker.now.height() / speaker.now.drawn_height
    if box is None:
        return {LIGHT.ground.lower()}
    image = speaker.now.grab().toImage()
    left, top, right, bottom = (round(each * scale) for each in (box.x, box.y, box.x + box.width, box.y + box.height))
    return {image.pixelColor(x, y).name() for x in range(left + 2, right - 2) for y in range(top + 2, bottom - 2, 2)}


@pytest.mark.slow
def test_slides_and_notes_stand_on_a_screen_each(tmp_path: Path) -> None:
    sizes = {"laptop": (0, 1366, 768, 1), "projector": (1366, 1920, 1080, 2)}
    screens = [
        {"name": name, "x": x, "y": 0, "width": width, "height": height, "logicalDpi": 96, "dpr": ratio}
        for name, (x, width, height, ratio) in sizes.items()
    ]
    (config := tmp_path / "screens.json").write_text(json.dumps({"screens": screens}))
    environ = os.environ | {"QT_QPA_PLATFORM": f"offscreen:configfile={config}"}
    file = Path(__file__).with_name("on_two_screens.py")
    done = run_python("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", file, env=environ)
    assert "1 passed" in done.stdout, done.stdout + done.stderr

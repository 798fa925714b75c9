"""The time line of recorded moments: dragged, walked by keys, marked, and described."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.charts.timeline import Timeline, TimeMark

STEPS = (0, 10, 20, 40, 80, 160)


@pytest.fixture
def line(qtbot: QtBot) -> Timeline:
    line = Timeline()
    qtbot.addWidget(line)
    line.resize(600, 36)
    line.show()
    line.show_moments(STEPS, np.linspace(2, 0.1, len(STEPS)))
    return line


def _click(line: Timeline, at: QPointF) -> None:
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(round(at.x()), round(at.y())))


def test_a_press_chooses_the_nearest_moment(line: Timeline, qtbot: QtBot) -> None:
    with qtbot.waitSignal(line.moment_chosen) as chosen:
        _click(line, line.place_of(3) + QPointF(4, 0))
    assert chosen.args == [3]
    assert line.current == 3
    said = line.accessibleName(), line.accessibleDescription()
    assert said == ("Time line: moment 4 of 6, step 40 · loss 0.86", "")


def test_dragging_passes_through_the_moments(line: Timeline) -> None:
    seen: list[int] = []
    line.moment_chosen.connect(seen.append)
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=line.place_of(5).toPoint())
    for index in (4, 3, 1):
        QTest.mouseMove(line, line.place_of(index).toPoint())
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton, pos=line.place_of(1).toPoint())
    assert seen == [5, 4, 3, 1]


def test_keys_walk_to_the_ends(line: Timeline) -> None:
    seen: list[int] = []
    line.moment_chosen.connect(seen.append)
    for key in (Qt.Key.Key_End, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Left):
        QTest.keyClick(line, key)
    assert seen == [5, 5, 4, 0, 0]


def test_space_plays_and_m_marks_the_current_moment(line: Timeline, qtbot: QtBot) -> None:
    line.show_current(2)
    with qtbot.waitSignal(line.play_requested):
        QTest.keyClick(line, Qt.Key.Key_Space)
    with qtbot.waitSignal(line.mark_requested) as marked:
        QTest.keyClick(line, Qt.Key.Key_M)
    assert marked.args == [20]


def test_a_click_on_a_diamond_goes_to_its_moment(line: Timeline, qtbot: QtBot) -> None:
    line.show_marks((TimeMark(80, "The loss drops"),))
    place = line.place_of(4)
    with qtbot.waitSignal(line.moment_chosen) as chosen:
        _click(line, place + QPointF(5, -11))
    assert chosen.args == [4]
    assert line.tool_tip(place) == "The loss drops\nstep 80 · loss 0.48"


def test_an_empty_time_line_emits_nothing(line: Timeline) -> None:
    seen: list[object] = []
    line.show_moments((), ())
    line.moment_chosen.connect(seen.append)
    line.mark_requested.connect(seen.append)
    _click(line, QPointF(300, 20))
    for key in (Qt.Key.Key_End, Qt.Key.Key_M):
        QTest.keyClick(line, key)
    assert not seen
    assert line.accessibleName() == "Time line: nothing is recorded"
    assert "Nothing is recorded yet" in line.tool_tip(QPointF(300, 20))


def test_a_single_moment_is_at_the_beginning(line: Timeline) -> None:
    line.show_moments((0,), (1.0,))
    assert line.moment_at(500.0) == 0
    assert line.place_of(0).x() < 20
    line.grab()

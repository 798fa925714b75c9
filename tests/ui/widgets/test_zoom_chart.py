"""Curves are enlarged with the wheel, by framing and with keys, and a double click shows them whole again."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.charts.lines import Line
from attnlab.ui.widgets.charts.zoom_chart import ZOOM_TIP, ZoomChart

Left, Ctrl, Shift = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def chart(qtbot: QtBot) -> ZoomChart:
    """A chart of a loss that falls from 10 and is almost flat from step 500 on."""
    chart = ZoomChart("Loss")
    qtbot.addWidget(chart)
    chart.resize(400, 160)
    steps = np.arange(0.0, 1001.0)
    loss = np.where(steps < 500, 10 - steps * 0.018, 1.0 - (steps - 500) * 1e-5)
    chart.show_lines([Line("held-out", steps, loss)])
    chart.show()
    qtbot.waitExposed(chart)
    return chart


def turn(chart: ZoomChart, x: float, delta: int, modifiers: Qt.KeyboardModifier = Ctrl) -> bool:
    """Turn the wheel over an x of the chart; return whether the chart took it."""
    at = QPointF(chart.scale().x(x), 60)
    to_all = chart.mapToGlobal(at)
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, to_all, QPoint(), QPoint(0, delta), none, modifiers, phase, False)
    QApplication.sendEvent(chart, event)
    return event.isAccepted()


def shown(chart: ZoomChart) -> tuple[float, float]:
    scale = chart.scale()
    return scale.left_value, scale.right_value


def test_the_wheel_enlarges_about_the_pointer_and_back(chart: ZoomChart) -> None:
    at = chart.scale().x(800)
    turn(chart, 800, 480)
    left, right = shown(chart)
    assert 0 < left < 800 < right <= 1000
    assert chart.scale().x(800) == pytest.approx(at, abs=1)
    turn(chart, 800, -4800)
    assert shown(chart) == (0, 1000)
    assert chart.stretch is None


def test_the_height_is_that_of_the_part_that_is_enlarged(chart: ZoomChart) -> None:
    assert chart.scale().high > 10
    turn(chart, 1000, 960)
    assert shown(chart)[0] > 500
    assert 0.99 < chart.scale().low < chart.scale().high < 1.01
    plain = chart.grab().toImage()
    QTest.keyClick(chart, Qt.Key.Key_0)
    assert chart.grab().toImage() != plain


def test_shift_and_drag_frames_a_part_and_a_double_click_shows_all(chart: ZoomChart, qtbot: QtBot) -> None:
    start, end = (QPoint(round(chart.scale().x(x)), 60) for x in (200, 300))
    with qtbot.waitSignal(chart.stretch_changed):
        QTest.mousePress(chart, Left, Shift, start)
        QTest.mouseMove(chart, end)
        chart.grab()  # with the frame
        QTest.mouseRelease(chart, Left, Shift, end)
    assert shown(chart) == pytest.approx((200, 300), abs=4)
    assert chart.accessibleName().endswith("enlarged: step {:,.0f} to {:,.0f}".format(*shown(chart)))
    QTest.mouseDClick(chart, Left, Qt.KeyboardModifier.NoModifier, start)
    assert shown(chart) == (0, 1000)


def test_a_press_in_an_enlarged_part_selects_the_step_under_it(chart: ZoomChart, qtbot: QtBot) -> None:
    turn(chart, 700, 960)
    with qtbot.waitSignal(chart.x_chosen) as chosen:
        QTest.mouseClick(chart, Left, pos=QPoint(round(chart.scale().x(710)), 60))
    assert chosen.args is not None
    assert chosen.args[0] == pytest.approx(710, abs=1)
    assert shown(chart) != (0, 1000)


def test_the_keys_enlarge_about_the_cursor_and_move(chart: ZoomChart) -> None:
    chart.setFocus()
    chart.show_cursor(900)
    for _ in range(4):
        QTest.keyClick(chart, Qt.Key.Key_Plus)
    left, right = shown(chart)
    assert left < 900 < right
    assert right - left == pytest.approx(1000 / 1.5**4)
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert shown(chart)[0] == pytest.approx(left - (right - left) / 4)
    for _ in range(40):
        QTest.keyClick(chart, Qt.Key.Key_Left)
    assert shown(chart)[0] == 0
    QTest.keyClick(chart, Qt.Key.Key_Minus)
    QTest.keyClick(chart, Qt.Key.Key_0)
    assert shown(chart) == (0, 1000)


def test_the_wheel_alone_scrolls_a_panel_that_can_scroll(chart: ZoomChart, qtbot: QtBot) -> None:
    assert turn(chart, 500, 120, Qt.KeyboardModifier.NoModifier)  # there is nothing to scroll
    chart.show_all()
    area = QScrollArea()
    qtbot.addWidget(area)
    area.resize(300, 100)
    area.setWidget(chart)
    area.show()
    qtbot.waitExposed(area)
    assert not turn(chart, 500, 120, Qt.KeyboardModifier.NoModifier)
    assert chart.stretch is None
    turn(chart, 500, 120)
    assert chart.stretch is not None
    chart.setParent(None)


def test_a_shorter_run_is_shown_whole_and_one_that_grows_stays_enlarged(chart: ZoomChart) -> None:
    turn(chart, 800, 960)
    part = shown(chart)
    steps = np.arange(0.0, 1201.0)
    chart.show_lines([Line("held-out", steps, steps)])
    assert shown(chart) == part
    chart.show_lines([Line("held-out", steps[:100], steps[:100])])
    assert shown(chart) == (0, 99)


def test_the_tip_away_from_the_curve_says_how_to_zoom(chart: ZoomChart) -> None:
    scale = chart.scale()
    assert chart.tool_tip(QPointF(scale.x(900), scale.y(9))) == ZOOM_TIP
    assert chart.tool_tip(QPointF(scale.x(900), scale.y(1))).startswith("held-out: ")


def test_no_part_is_shorter_than_a_few_steps(chart: ZoomChart) -> None:
    for _ in range(60):
        turn(chart, 400, 240)
    left, right = shown(chart)
    assert right - left == pytest.approx(4)
    chart.grab()

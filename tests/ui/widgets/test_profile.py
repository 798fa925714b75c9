"""A long row as a profile: its values, its tool tip, and its clicks."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.charts.profile import Profile


@pytest.fixture
def profile(qtbot: QtBot) -> Profile:
    widget = Profile()
    qtbot.addWidget(widget)
    widget.resize(400, 120)
    values = np.linspace(0, 0.02, 100)
    widget.set_profile(values.tolist(), [f"word{i}" for i in range(100)], 30)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def place(profile: Profile, index: int) -> QPoint:
    """Return the middle of a bar, in pixels of the widget."""
    return profile.plot.getViewBox().mapViewToScene(QPointF(index, 0.01)).toPoint()


def test_a_click_on_a_bar_emits_its_key(profile: Profile, qtbot: QtBot) -> None:
    with qtbot.waitSignal(profile.index_clicked) as clicked:
        qtbot.mouseClick(profile.plot.viewport(), Qt.MouseButton.LeftButton, pos=place(profile, 60))
    assert clicked.args == [60]


def test_the_tool_tip_has_word_and_value(profile: Profile, qtbot: QtBot) -> None:
    qtbot.mouseMove(profile.plot.viewport(), place(profile, 40))
    qtbot.waitUntil(lambda: profile.plot.toolTip().startswith("40 word40: 0.00808"))


def test_nan_values_are_not_drawn(profile: Profile) -> None:
    dress(profile, DARK)
    profile.set_profile([0.5, float("nan"), float("inf"), 0.1], ["a", "b", "c", "d"], None)
    assert profile.accessibleName() == "Profile of 4 weights, the largest at 0"
    assert profile.index_at(place(profile, 3).toPointF()) == 3
    assert profile.index_at(QPoint(-5, 5).toPointF()) is None


def test_a_drag_moves_the_row_and_emits_no_key(profile: Profile, qtbot: QtBot) -> None:
    clicked: list[int] = []
    profile.index_clicked.connect(clicked.append)
    profile.plot.getViewBox().setXRange(0, 20, padding=0)
    before = profile.plot.getViewBox().viewRange()[0]
    qtbot.mousePress(profile.plot.viewport(), Qt.MouseButton.LeftButton, pos=place(profile, 15))
    for index in (13, 11, 9):
        to = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            place(profile, index).toPointF(),
            profile.plot.viewport().mapToGlobal(place(profile, index)).toPointF(),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(profile.plot.viewport(), to)
    qtbot.mouseRelease(profile.plot.viewport(), Qt.MouseButton.LeftButton, pos=place(profile, 9))
    qtbot.waitUntil(lambda: profile.plot.getViewBox().viewRange()[0] != before)
    assert clicked == []

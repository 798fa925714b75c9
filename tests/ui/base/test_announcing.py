"""Announcements: said at once, in words; during a drag only the last of them, when the button is released."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from attnlab.ui.base.announcing import announce
from tests.ears import Ears

LEFT = Qt.MouseButton.LeftButton


def make_widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_an_announcement_is_said_in_words(qtbot: QtBot, ears: Ears) -> None:
    announce("starts → journey is −0.5,\nnot ∞", make_widget(qtbot))
    assert ears.said == ["starts to journey is minus 0.5, not infinity"]


def test_nothing_is_said_without_a_text(qtbot: QtBot, ears: Ears) -> None:
    announce("", make_widget(qtbot))
    assert ears.said == []


def test_nothing_is_said_without_a_screen_reader(qtbot: QtBot, ears: Ears) -> None:
    QAccessible.setActive(False)
    announce("Causal on", make_widget(qtbot))
    assert ears.said == []


def test_a_drag_is_announced_when_it_ends(qtbot: QtBot, ears: Ears) -> None:
    widget = make_widget(qtbot)
    QTest.mousePress(widget, LEFT)
    for value in ("0.41", "0.42", "0.43"):
        announce(f"weights, now {value}", widget, "cell")
        announce(f"W_q to {value}", widget, "edit")
    assert ears.said == []
    QTest.mouseRelease(widget, LEFT)
    assert ears.said == ["weights, now 0.43", "W_q to 0.43"]
    announce("Undid", widget)
    assert ears.said[2:] == ["Undid"]


def test_a_widget_that_is_deleted_during_a_drag_says_nothing(qtbot: QtBot, ears: Ears) -> None:
    widget, gone = make_widget(qtbot), QWidget()
    QTest.mousePress(widget, LEFT)
    announce("gone", gone)
    Shiboken.delete(gone)
    QTest.mouseRelease(widget, LEFT)
    assert ears.said == []

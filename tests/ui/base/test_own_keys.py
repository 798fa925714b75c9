"""A widget's own keys reach it although the window has shortcuts for them; other keys remain shortcuts."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys

Key = Qt.Key


@guarded
class Arrows(KeepsKeys, QWidget):
    """Handles the left arrow."""

    def __init__(self) -> None:
        super().__init__()
        self.pressed: list[int] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() == Key.Key_Left

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.pressed.append(event.key())


@pytest.mark.parametrize(("key", "is_kept"), [(Key.Key_Left, True), (Key.Key_Right, False)])
def test_a_widgets_own_key_does_not_trigger_the_shortcut(qtbot: QtBot, key: Qt.Key, is_kept: bool) -> None:
    window, widget = QWidget(), Arrows()
    QVBoxLayout(window).addWidget(widget)
    qtbot.addWidget(window)
    fired: list[Qt.Key] = []
    shortcut = QShortcut(key, window)
    shortcut.activated.connect(lambda: fired.append(key))
    window.show()
    window.activateWindow()
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    QTest.keyClick(widget, key)
    assert (widget.pressed, fired) == (([key], []) if is_kept else ([], [key]))

"""No test begins with the mouse where another left it, or with a button or a key down.

A card under the mouse would be pointed at, and while a button is down, nothing is announced to a screen reader.
"""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


@pytest.fixture
def _moved_by_another_test(qapp: QApplication) -> None:
    if qapp.platformName() != "offscreen":
        pytest.skip("the mouse is a person's")
    QCursor.setPos(1031, 467)


@pytest.mark.usefixtures("_moved_by_another_test", "qtbot")
def test_the_mouse_is_where_qt_has_it_at_first() -> None:
    assert QCursor.pos() == QPoint(10, 10)


@pytest.fixture(params=["a button", "two buttons", "a key"])
def _held_by_another_test(qapp: QApplication, request: pytest.FixtureRequest) -> None:
    if qapp.platformName() != "offscreen":
        pytest.skip("the mouse is a person's")
    left = QWidget()
    if request.param == "a key":
        QTest.keyClick(left, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier
        return
    QTest.mouseDClick(left, Qt.MouseButton.LeftButton)  # Qt keeps the button of the second press
    if request.param == "two buttons":
        QTest.mousePress(left, Qt.MouseButton.RightButton)
    assert QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton


@pytest.mark.usefixtures("_held_by_another_test", "qtbot")
def test_no_button_and_no_key_is_down_at_first() -> None:
    assert QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton
    assert QGuiApplication.keyboardModifiers() == Qt.KeyboardModifier.NoModifier

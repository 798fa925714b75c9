"""No test begins with the mouse where another left it: a card under it would be pointed at."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication


@pytest.fixture
def _moved_by_another_test(qapp: QApplication) -> None:
    if qapp.platformName() != "offscreen":
        pytest.skip("the mouse is a person's")
    QCursor.setPos(1031, 467)


@pytest.mark.usefixtures("_moved_by_another_test", "qtbot")
def test_the_mouse_is_where_qt_has_it_at_first() -> None:
    assert QCursor.pos() == QPoint(10, 10)

"""The harness that resizes windows: a layout without end is detected, and the program has none in some sizes."""

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tools.resize_windows import comes_to_rest, find_faults


class Restless(QWidget):
    """Asks to be laid out again whenever it is laid out."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            QApplication.postEvent(self, QEvent(QEvent.Type.LayoutRequest))
        return super().event(event)


def test_a_layout_without_end_is_detected(qtbot: QtBot) -> None:
    widget = Restless()
    qtbot.addWidget(widget)
    widget.show()
    assert comes_to_rest()
    QApplication.postEvent(widget, QEvent(QEvent.Type.LayoutRequest))
    assert not comes_to_rest()
    QApplication.removePostedEvents(widget)
    assert comes_to_rest()


@pytest.mark.slow
def test_the_window_comes_to_rest_in_some_sizes() -> None:
    assert find_faults("lessons", 150, 200) == []

"""A fault during a presentation, or in an array window of a script, is shown there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from attnlab.document.settings import Settings
from attnlab.figures.array_maps import take_maps
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.base import faults
from attnlab.ui.base.fault_bar import FaultBar

Provoked = Callable[[], list[str]]


def tell_and_dismiss(window: QWidget, qtbot: QtBot, provoked: Provoked) -> str:
    faults.report(IndexError("far away"), "drawing the slide")
    qtbot.waitUntil(lambda: any(bar.isVisible() for bar in window.findChildren(FaultBar)))
    (bar,) = (each for each in window.findChildren(FaultBar) if each.isVisible())
    assert window.rect().contains(bar.geometry())
    assert QApplication.focusWidget() is not bar.copy
    told = bar.sentence.text()
    qtbot.mouseClick(bar.close_button, Qt.MouseButton.LeftButton)
    assert not any(each.isVisible() for each in window.findChildren(FaultBar))
    assert provoked() == ["IndexError: far away"]
    return told


SENTENCE = "Something went wrong inside attnlab while drawing the slide: IndexError: far away."


@pytest.mark.parametrize("size", [(1280, 720), (640, 400)])
def test_a_fault_is_shown_in_the_presentation(
    lecture: Callable[..., Any], size: tuple[int, int], provoked: Provoked
) -> None:
    lecturer = lecture(size=size)
    assert tell_and_dismiss(lecturer.presentation, lecturer.person.qtbot, provoked) == SENTENCE


def test_a_fault_is_shown_in_the_array_window(qtbot: QtBot, provoked: Provoked) -> None:
    window = ArrayWindow(take_maps(np.eye(4), None), Settings())
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(window.isActiveWindow)
    assert tell_and_dismiss(window, qtbot, provoked) == SENTENCE

"""The sizes of dialogs beside that of their window."""

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.base.dialog_size import fit


@pytest.mark.parametrize("window", [QSize(1366, 768), QSize(800, 600)])
def test_a_dialog_with_large_type_leaves_its_window_in_view(qtbot: QtBot, window: QSize) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(window)
    dialog = QDialog(parent)
    fit(dialog, (560, 420), (1440, 960))  # the export dialog at 150 %
    assert dialog.width() <= 0.9 * window.width()
    assert dialog.height() <= 0.9 * window.height()
    assert dialog.width() >= 560
    assert dialog.height() >= 420


def test_a_dialog_with_very_large_type_takes_what_it_needs(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ui.base.dialog_size.px", lambda pixels: round(1.75 * pixels))
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1024, 640)
    dialog = QDialog(parent)
    fit(dialog, (560, 420), (960, 640))
    assert (dialog.width(), dialog.height()) == (980, 640)

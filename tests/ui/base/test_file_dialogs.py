"""The dialogs that ask for a file: a name without an ending gets that of the chosen type of file."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.base.dialog_parts import ask_where

TYPES = "PNG, pixels (*.png);;SVG, vectors (*.svg);;Numbers of this run (*.csv)"


def choose(dialog: QFileDialog, name_filter: str) -> None:
    """Choose a type of file with the keyboard."""
    box = next(each for each in dialog.findChildren(QComboBox) if each.findText(name_filter) >= 0)
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Home)
    for _ in range(box.findText(name_filter)):
        QTest.keyClick(box, Qt.Key.Key_Down)
    assert dialog.selectedNameFilter() == name_filter


def test_a_name_gets_the_ending_of_the_chosen_type(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    window, asked = QWidget(), list[Path]()
    qtbot.addWidget(window)
    window.show()
    for name_filter, typed, expected in (
        ("PNG, pixels (*.png)", "mine", "mine.png"),
        ("Numbers of this run (*.csv)", "", "curves.csv"),
        ("Numbers of this run (*.csv)", "mine", "mine.csv"),
        ("Numbers of this run (*.csv)", "mine.svg", "mine.svg"),
    ):
        dialog = ask_where(window, "Export the curves", TYPES, "curves.png", asked.append, tmp_path)
        choose(dialog, name_filter)
        if typed:
            field = dialog.findChild(QLineEdit)
            field.selectAll()
            QTest.keyClicks(field, typed)
        dialog.accept()
        assert [path.name for path in asked] == [expected]
        asked.clear()

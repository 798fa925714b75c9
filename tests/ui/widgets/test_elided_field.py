"""A field with a long text: its middle is left out while nobody types in it, and the tool tip has it whole."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.fields.elided_field import ElidedField

LONG = "reverse-seed-0-decoder-1-decoder-2-and-several-more-layers-head-3"


@pytest.fixture
def fields(qtbot: QtBot) -> Iterator[tuple[ElidedField, ElidedField]]:
    """A field, and another one, which has the focus."""
    window, field, other = QWidget(), ElidedField(), ElidedField()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    for each in (field, other):
        each.setFixedWidth(180)
        column.addWidget(each)
    field.setToolTip("The ending depends on the format")
    window.show()
    window.activateWindow()
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)
    yield field, other
    window.close()


def ask_tip(field: ElidedField) -> str:
    QToolTip.hideText()
    QApplication.sendEvent(field, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), field.mapToGlobal(QPoint(5, 5))))
    return QToolTip.text()


def test_a_long_text_shows_its_beginning_and_its_end(fields: tuple[ElidedField, ElidedField], qtbot: QtBot) -> None:
    field, other = fields
    field.setText(LONG)
    assert field.text() == LONG
    beginning, _, end = field.visible_text.partition("…")
    assert LONG.startswith(beginning)
    assert LONG.endswith(end)
    assert min(len(beginning), len(end)) > 5
    assert ask_tip(field).splitlines() == [LONG, "The ending depends on the format"]
    elided = field.grab().toImage()
    other.setText(field.visible_text)
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    QTest.keyClick(field, Qt.Key.Key_End)
    assert field.grab().toImage() != elided
    assert other.grab().toImage() == elided  # the text lies where any other would


def test_a_short_text_is_whole(fields: tuple[ElidedField, ElidedField]) -> None:
    field, _ = fields
    field.setText("weights")
    assert field.visible_text == "weights"
    assert ask_tip(field) == "The ending depends on the format"

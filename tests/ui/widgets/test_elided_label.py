"""A label that elides its text if it does not fit, with the full text in its tool tip."""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.elided_label import ElidedLabel

SENTENCE = "weights: 14 of 36 values are ∞ or NaN in float32."


def made(qtbot: QtBot, width: int) -> ElidedLabel:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.setText(SENTENCE)
    label.resize(width, 24)
    label.show()
    label.grab()  # painting raises nothing
    return label


def told(label: ElidedLabel) -> str:
    """Return the tool tip of the label."""
    at = QPoint(4, 4)
    QApplication.sendEvent(label, QHelpEvent(QHelpEvent.Type.ToolTip, at, label.mapToGlobal(at)))
    text = QToolTip.text()
    QToolTip.hideText()
    return text


def test_a_text_that_fits_is_complete_and_has_no_tool_tip(qtbot: QtBot) -> None:
    label = made(qtbot, 900)
    assert label.visible_text == SENTENCE
    assert told(label) == ""


def test_a_long_text_is_elided_with_a_tool_tip(qtbot: QtBot) -> None:
    label = made(qtbot, 120)
    assert label.visible_text.endswith("…")
    assert SENTENCE.startswith(label.visible_text[:-1])
    assert label.fontMetrics().horizontalAdvance(label.visible_text) <= 120
    assert told(label) == SENTENCE


def test_a_very_narrow_label_shows_nothing(qtbot: QtBot) -> None:
    assert made(qtbot, 14).visible_text == ""


def test_whole_parts_are_left_out_from_the_end(qtbot: QtBot) -> None:
    label = ElidedLabel(separator=" · ")
    qtbot.addWidget(label)
    label.setText("a decoder · 2 layers · 1,773,544 parameters")
    seen = []
    for width in range(600, 60, -1):
        label.resize(width, 24)
        if label.visible_text not in seen:
            seen.append(label.visible_text)
    assert seen[:3] == [label.text(), "a decoder · 2 layers", "a decoder"]
    assert all(text.endswith("…") for text in seen[3:])
    label.resize(200, 24)
    assert told(label) == label.text()


def test_a_text_to_be_shown_whole_is_not_shortened(qtbot: QtBot) -> None:
    label = made(qtbot, 120)
    assert label.visible_text.endswith("…")
    label.whole = True
    assert label.visible_text == ""
    label.resize(2000, label.height())
    assert label.visible_text == SENTENCE


def test_where_no_part_has_room_the_brief_text_stands_in_full(qtbot: QtBot) -> None:
    label = made(qtbot, 70)
    label.brief = "14 NaN"
    assert label.visible_text == "14 NaN"
    label.resize(20, 24)
    assert "14 NaN" not in label.visible_text


def test_the_middle_of_a_path_goes_before_the_end_of_its_sentence(qtbot: QtBot) -> None:
    label = made(qtbot, 420)
    label.setText(f"/home/me/{'lectures/' * 12}heads.attnlab cannot be written: Permission denied.")
    assert label.visible_text.startswith("/home/")
    assert label.visible_text.endswith("heads.attnlab cannot be written: Permission denied.")
    assert label.fontMetrics().horizontalAdvance(label.visible_text) <= 420
    assert told(label) == label.text()

"""A label that breaks its text between its parts."""

import pytest
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.parted_label import PartedLabel


@pytest.mark.parametrize(("width", "lines"), [(400, ["it → animal · head 4"]), (90, ["it → animal", "head 4"])])
def test_no_dot_begins_or_ends_a_line(qtbot: QtBot, width: int, lines: list[str]) -> None:
    label = PartedLabel("muted")
    qtbot.addWidget(label)
    label.show_parts("it → animal", "", "head 4")
    high = label.heightForWidth(width)
    label.resize(width, high)
    label.grab()  # painting raises nothing
    assert label.lines == lines
    assert label.text() == "it → animal · head 4"
    assert high == pytest.approx(len(lines) * label.fontMetrics().lineSpacing(), abs=2)

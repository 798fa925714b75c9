"""A label that folds a long text into two lines."""

import pytest
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.folded_label import FoldedLabel

SENTENCE = "Each row becomes a distribution that sums to 1."


@pytest.mark.parametrize(
    ("size", "lines", "is_whole"),
    [((900, 48), 1, True), ((220, 48), 2, True), ((220, 20), 1, False), ((80, 48), 1, False)],
)
def test_a_long_text_takes_two_lines_where_they_have_room(
    qtbot: QtBot, size: tuple[int, int], lines: int, is_whole: bool
) -> None:
    label = FoldedLabel()
    qtbot.addWidget(label)
    label.setText(SENTENCE)
    label.resize(*size)
    label.grab()  # painting raises nothing
    assert len(label.break_lines()[1]) == lines
    assert (label.visible_text == SENTENCE) is is_whole


def test_the_middle_of_a_path_goes_before_the_end_of_its_sentence(qtbot: QtBot) -> None:
    label = FoldedLabel()
    qtbot.addWidget(label)
    reason = "cannot be written: Permission denied."
    label.setText(f"The run is not saved. /home/me/{'lectures/' * 20}run.json {reason}")
    for width in range(240, 700, 20):
        label.resize(width, 48)
        assert label.visible_text.endswith(reason), width
        assert len(label.break_lines()[1]) == 2

"""The lines of a step in the Explain panel: what has no room beside the rest stands above or below it."""

import pytest
from PySide6.QtWidgets import QApplication

from attnlab.attention.stages.arithmetic import line, plain
from attnlab.attention.stages.steps import Step, Term
from attnlab.ui.base.theme import font
from attnlab.ui.playground.span_text import Pen
from attnlab.ui.playground.step_layout import break_expression, count_lines, lay_out_columns

TERM = Term(line("0.00014753 × 0.47532645"), "7.013e−5", 7.013e-5, label="The → cat")
WHOLE, BROKEN = ["0.00014753 × 0.47532645"], ["0.00014753", "× 0.47532645"]


@pytest.mark.parametrize(("room", "lines"), [(2.0, 1), (1.1, 2), (0.9, 3), (0.6, 4)])
def test_label_expression_and_result_never_share_room(qapp: QApplication, room: float, lines: int) -> None:
    pen = Pen(font("map"), font("map_strong"))
    width = room * (pen.measure_text(TERM.label, True) + 6 + pen.measure(TERM.expression))
    columns = lay_out_columns([Step("Each pair's part", terms=(TERM,))], pen, 0.0, width)
    assert count_lines(TERM, columns, pen) == lines
    written = break_expression(TERM, columns, pen)
    assert [plain(each).strip() for each in written] in (WHOLE, BROKEN)
    assert all(pen.measure(each) <= width for each in written)
    beside = columns.label <= columns.expression - pen.measure(TERM.expression)
    assert beside is not columns.above
    assert columns.label - columns.left >= pen.measure_text(TERM.label)

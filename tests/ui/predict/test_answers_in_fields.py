"""Answers typed in the window are graded like those in a file: sign, size, cell and head."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.trace import Trace
from attnlab.lessons.cell_references import parse_blanks
from attnlab.lessons.exercise import trace_exactly
from attnlab.lessons.lesson import Question
from attnlab.ui.lessons.question_fields import QuestionFields
from attnlab.ui.predict.answer_row import AnswerRow
from attnlab.ui.predict.answer_sheet import AnswerSheet

SIGNED = (Cell("queries", 0, 0, 0), Cell("queries", 0, 1, 0), Cell("queries", 1, 0, 1), Cell("keys", 1, 0, 1))


@pytest.fixture
def trace() -> Trace:
    return trace_exactly(attnlab.preset("uneven-heads"))


@pytest.fixture
def sheet(qtbot: QtBot, trace: Trace) -> AnswerSheet:
    made = AnswerSheet()
    qtbot.addWidget(made)
    made.show_question(Question((), "And these?", 0.01), SIGNED, trace)
    made.show()
    qtbot.waitExposed(made)
    return made


def value(trace: Trace, cell: Cell) -> float:
    return float(trace.array(cell.stage)[cell.head or 0, cell.row, cell.column])


def rows(sheet: AnswerSheet) -> list[AnswerRow]:
    return sheet.findChildren(AnswerRow)


def enter(qtbot: QtBot, row: AnswerRow, text: str) -> str:
    """Type an answer, and return the feedback."""
    row.field.clear()
    row.field.insert(text)  # as by a paste: no key of QTest types a true minus
    qtbot.keyClick(row.field, Qt.Key.Key_Return)
    return row.verdict.text()


def test_the_opposite_sign_is_wrong(sheet: AnswerSheet, trace: Trace, qtbot: QtBot) -> None:
    for row, cell in zip(rows(sheet), SIGNED, strict=True):
        right = value(trace, cell)
        assert abs(right) > 0.02, "its sign would not matter"
        said: list[bool] = []
        sheet.answered.connect(lambda _, good, said=said: said.append(good))
        other = enter(qtbot, row, f"{-right:.3f}".replace("-", "−"))
        assert other.startswith(f"Not yet. Too {'small' if right > 0 else 'large'} by "), other
        assert enter(qtbot, row, f"{right:.3f}").startswith("Right. ")
        assert said == [False, True]


def test_each_field_is_marked_with_its_own_cell(sheet: AnswerSheet, trace: Trace, qtbot: QtBot) -> None:
    values = [value(trace, cell) for cell in SIGNED]
    assert len({round(each, 1) for each in values}) == 4
    places = [row.place.text() for row in rows(sheet)]
    assert [place.rpartition("head\u00a0")[2] for place in places] == ["0", "0", "1", "1"]
    for row, wrong in zip(rows(sheet), values[1:] + values[:1], strict=True):
        assert enter(qtbot, row, f"{wrong:.4f}").startswith("Not yet. ")
    for row, right in zip(rows(sheet), values, strict=True):
        assert enter(qtbot, row, f"{right:.4f}".replace(".", ",")).startswith("Right. ")


@pytest.mark.parametrize(("tolerance", "off", "right"), [(0.01, 0.02, False), (0.05, 0.02, True), (0.0, 0.001, False)])
def test_the_tolerance_of_the_question_is_used(
    tolerance: float, off: float, right: bool, trace: Trace, qtbot: QtBot
) -> None:
    sheet = AnswerSheet()
    qtbot.addWidget(sheet)
    sheet.show_question(Question((), "", tolerance), SIGNED[:1], trace)
    for side in (1, -1):
        sheet.clear()
        sheet.show_question(Question((), f"{side}", tolerance), SIGNED[:1], trace)
        row = next(row for row in rows(sheet) if not row.isHidden())
        with qtbot.waitSignal(sheet.answered) as told:
            said = enter(qtbot, row, f"{value(trace, SIGNED[0]) + side * off:.6f}")
        assert said.startswith("Right. ") == right, said
        assert told.args == [SIGNED[0], right]
        assert sheet.hidden_cells == (() if right else SIGNED[:1])


def test_a_question_about_the_mean_over_heads_says_so(trace: Trace, qtbot: QtBot) -> None:
    sheet = AnswerSheet()
    qtbot.addWidget(sheet)
    cell = Cell("weights", 0, 1)
    sheet.show_question(Question((), "", 1e-4), (cell,), trace)
    (row,) = rows(sheet)
    assert enter(qtbot, row, f"{value(trace, cell):.6f}").startswith("Not yet. "), "the first head is not the mean"
    mean = float(trace.array("weights")[:, 0, 1].mean())
    assert enter(qtbot, row, f"{mean:.6f}").startswith("Right. ")


# The fields in which a question is written


def fields(qtbot: QtBot) -> tuple[QuestionFields, list[Question | None]]:
    made, said = QuestionFields(), []
    qtbot.addWidget(made)
    made.changed.connect(said.append)
    made.show()
    return made, said


@pytest.mark.parametrize(("typed", "tolerance"), [("0.05", 0.05), ("0", 0.0), ("1e-3", 0.001), ("", 0.01), (" 2 ", 2)])
def test_a_typed_tolerance_is_used(typed: str, tolerance: float, qtbot: QtBot) -> None:
    made, said = fields(qtbot)
    qtbot.keyClicks(made.fields["tolerance"], typed)
    qtbot.keyClicks(made.fields["blank"], "queries[1, 0, 1], weights[0, :]")
    question = said[-1]
    assert question is not None
    assert (made.message, question.tolerance) == ("", tolerance)
    assert question.blanks == parse_blanks("queries[1, 0, 1], weights[0, :]")
    first = question.blanks[0]
    assert (first.head, first.row, first.column) == (1, 0, 1)


@pytest.mark.parametrize("typed", ["-0.1", "−0.1", "nan", "inf", "1e9", "a bit"])
def test_an_invalid_tolerance_is_refused(typed: str, qtbot: QtBot) -> None:
    made, said = fields(qtbot)
    qtbot.keyClicks(made.fields["blank"], "weights[0, 1]")
    before = list(said)
    made.fields["tolerance"].setText(typed)
    made.fields["tolerance"].textEdited.emit(typed)
    assert said == before, "the question stays as it was"
    assert made.message == f"The tolerance is {typed!r}; type a number of 0 or more, such as 0.01."
    shown = [label.text() for label in made.findChildren(QLabel) if label.isVisible()]
    assert made.message in shown


def test_a_question_is_shown_as_plain_text(qtbot: QtBot) -> None:
    made, said = fields(qtbot)
    made.show_question(Question(parse_blanks("weights[0, 2, :]"), "How much?", 0.025, "Row by row."))
    shown = {name: field.text() for name, field in made.fields.items()}
    asked = {"blank": "weights[0, 2, :]", "ask": "How much?", "tolerance": "0.025", "hint": "Row by row."}
    assert shown == {**asked, "choices": ""}
    assert said == []
    made.show_question(None)
    assert {field.text() for field in made.fields.values()} == {""}

"""The answer sheet, used by keyboard: answers are hidden, then marked and explained."""

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.token_edits import rename_token
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.trace import Trace
from attnlab.figures.palette import DARK, LIGHT
from attnlab.lessons.exercise import trace_exactly
from attnlab.lessons.lesson import Question
from attnlab.ui.base.themed import dress
from attnlab.ui.predict.answer_sheet import AnswerSheet
from attnlab.ui.predict.choice_sheet import ChoiceSheet

STARTS = (Cell("weights", 2, 1, 0), Cell("weights", 2, 3, 0))
ASK = Question((), "How much does “starts” look at others?", 0.01, "Divide the exponentials by their sum.")


@pytest.fixture
def trace() -> Trace:
    return trace_exactly(attnlab.preset("causal-5x8"))


@pytest.fixture
def sheet(qtbot: QtBot, trace: Trace) -> AnswerSheet:
    made = AnswerSheet()
    qtbot.addWidget(made)
    made.resize(420, 500)
    made.show_question(ASK, STARTS, trace)
    made.show()
    qtbot.waitExposed(made)
    return made


def fields(sheet: AnswerSheet) -> list[QLineEdit]:
    return [field for field in sheet.findChildren(QLineEdit) if field.isVisible()]


def read(sheet: AnswerSheet) -> str:
    """Return all text and descriptions of the sheet."""
    shown = [w for w in sheet.findChildren(QWidget) if w.isVisible()]
    texts = [w.text() for w in shown if isinstance(w, QLabel | QLineEdit)]
    return "\n".join([*texts, *(w.accessibleName() for w in shown), *(w.toolTip() for w in shown)])


def enter(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def value(trace: Trace, cell: Cell) -> float:
    return float(trace.array(cell.stage)[cell.head or 0, cell.row, cell.column])


def test_the_answer_is_hidden_before_it_is_given(sheet: AnswerSheet, trace: Trace) -> None:
    text = read(sheet)
    assert "tok" in text or "→" in text
    assert f"{value(trace, STARTS[0]):.2f}" not in text
    assert "e^" not in text
    assert "Divide" not in text
    assert sheet.hidden_cells == STARTS


def test_a_correct_answer_is_explained_and_the_next_field_focused(
    sheet: AnswerSheet, trace: Trace, qtbot: QtBot
) -> None:
    right = value(trace, STARTS[0])
    with qtbot.waitSignal(sheet.answered) as caught:
        enter(qtbot, fields(sheet)[0], f"{right:.2f}")
    assert caught.args == [STARTS[0], True]
    assert "Right. Within" in read(sheet)
    assert f"{right:.4f}" in read(sheet)
    assert fields(sheet)[0].isReadOnly()
    assert sheet.hidden_cells == STARTS[1:]
    assert sheet.focusProxy() is fields(sheet)[0]
    assert fields(sheet)[1].hasFocus()


def test_masked_is_accepted_as_an_answer(sheet: AnswerSheet, qtbot: QtBot) -> None:
    enter(qtbot, fields(sheet)[1], "masked")
    assert "Right. It is masked." in read(sheet)


def test_a_wrong_answer_shows_its_error_and_a_second_one_the_explanation(
    sheet: AnswerSheet, trace: Trace, qtbot: QtBot
) -> None:
    right = value(trace, STARTS[0])
    enter(qtbot, fields(sheet)[0], f"{right + 0.25:.4f}")
    assert "Not yet. Too large by 0.25" in read(sheet)
    assert "Hint: Divide the exponentials" in read(sheet)
    assert f"{right:.4f}" not in read(sheet)
    with qtbot.waitSignal(sheet.revealed) as caught:
        enter(qtbot, fields(sheet)[0], "0,99")
    assert caught.args == [STARTS[0]]
    assert "Not right. Too large by" in read(sheet)
    assert f"{right:.4f}" in read(sheet)


def test_an_unreadable_answer_does_not_count_as_a_try(sheet: AnswerSheet, qtbot: QtBot) -> None:
    for text in ("abc", "1/0", "x"):
        enter(qtbot, fields(sheet)[0], text)
        assert "; use " in read(sheet)
    enter(qtbot, fields(sheet)[1], "")
    assert "Type a number first." in read(sheet)
    assert sheet.hidden_cells == STARTS


def test_a_refusal_goes_when_the_answer_is_edited_but_a_verdict_stays(sheet: AnswerSheet, qtbot: QtBot) -> None:
    field, other = fields(sheet)[:2]
    enter(qtbot, field, "")
    enter(qtbot, other, "77")
    assert "Type a number first." in read(sheet)
    qtbot.keyClicks(field, "0")
    assert "Type a number first." not in read(sheet)
    qtbot.keyClicks(other, "8")
    assert "Not yet. Too large by" in read(sheet)


def test_the_button_gives_the_hint_first_and_then_everything(sheet: AnswerSheet, qtbot: QtBot, trace: Trace) -> None:
    assert sheet.reveal_button.text() == "Hint"
    qtbot.mouseClick(sheet.reveal_button, Qt.MouseButton.LeftButton)
    assert "Hint: Divide" in read(sheet)
    assert sheet.hidden_cells == STARTS
    with qtbot.waitSignals([sheet.revealed, sheet.revealed]):
        qtbot.mouseClick(sheet.reveal_button, Qt.MouseButton.LeftButton)
    assert f"It is {value(trace, STARTS[0]):.4f}." in read(sheet)
    assert sheet.hidden_cells == ()
    assert not sheet.reveal_button.isVisible()


def test_check_marks_every_typed_answer(sheet: AnswerSheet, qtbot: QtBot) -> None:
    qtbot.keyClicks(fields(sheet)[0], "0.9999")
    qtbot.keyClicks(fields(sheet)[1], "0")
    qtbot.mouseClick(sheet.check_button, Qt.MouseButton.LeftButton)
    assert "Not yet." in read(sheet)
    assert "Right. Exactly." in read(sheet)


def test_enter_stays_in_the_field(qtbot: QtBot, trace: Trace) -> None:
    pressed: list[int] = []

    class Hall(QWidget):
        def keyPressEvent(self, event: object) -> None:
            pressed.append(event.key())  # type: ignore[attr-defined]

    hall = Hall()
    qtbot.addWidget(hall)
    sheet = AnswerSheet(hall)
    sheet.show_question(ASK, STARTS, trace)
    hall.show()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_5, Qt.Key.Key_B, Qt.Key.Key_PageDown):
        qtbot.keyClick(fields(sheet)[0], key)
    assert pressed == [Qt.Key.Key_PageDown]
    sheet.reveal()
    qtbot.keyClick(fields(sheet)[0], Qt.Key.Key_Return)
    assert pressed == [Qt.Key.Key_PageDown, Qt.Key.Key_Return], "what is revealed stands in nobody's way"


def test_an_edit_of_the_numbers_marks_the_answers_again(sheet: AnswerSheet, trace: Trace, qtbot: QtBot) -> None:
    enter(qtbot, fields(sheet)[0], f"{value(trace, STARTS[0]):.4f}")
    other = trace_exactly(edits.scale(trace.experiment, "W_q", -3))
    sheet.show_question(ASK, STARTS, other)
    assert sheet.hidden_cells == STARTS[1:]
    assert "Not right. Too" in read(sheet)
    assert f"{value(other, STARTS[0]):.4f}" in read(sheet)


def test_refilling_placeholders_keeps_the_question(sheet: AnswerSheet, trace: Trace, qtbot: QtBot) -> None:
    sheet.show_question(replace(ASK, line=7), STARTS, trace)
    enter(qtbot, fields(sheet)[0], f"{value(trace, STARTS[0]):.4f}")
    sheet.show_question(replace(ASK, line=7, ask="It was 0.35 before. And now?"), STARTS, trace)
    assert sheet.hidden_cells == STARTS[1:]
    assert "It was 0.35 before" in read(sheet)
    sheet.show_question(replace(ASK, line=9), STARTS, trace)
    assert sheet.hidden_cells == STARTS


def test_another_question_starts_empty_without_absent_cells(sheet: AnswerSheet, trace: Trace, qtbot: QtBot) -> None:
    sheet.reveal()
    elsewhere = (Cell("weights", 99, 0, 0), Cell("rotated_keys", 0, 0, 0), Cell("output", 1, 0))
    sheet.show_question(Question((), "And now?"), elsewhere, trace)
    assert len(fields(sheet)) == 1
    assert sheet.hidden_cells == elsewhere[2:]
    assert "And now?" in read(sheet)
    assert sheet.reveal_button.text() == "Show the arithmetic"
    sheet.clear()
    assert (fields(sheet), sheet.hidden_cells) == ([], ())


def test_the_sheet_has_the_colours_of_its_slide(sheet: AnswerSheet, qtbot: QtBot) -> None:
    for palette in (DARK, LIGHT):
        dress(sheet, palette)
        enter(qtbot, fields(sheet)[0], "0.9")
        labels = [label for label in sheet.findChildren(QLabel) if label.isVisible() and label.text()]
        colours = {label.palette().color(label.foregroundRole()).name().upper() for label in labels}
        assert colours <= {palette.ink, palette.muted, palette.bad}
        assert palette.ink in colours
        assert fields(sheet)[0].palette().text().color().name().upper() == palette.ink


@pytest.mark.parametrize(
    ("preset", "cell"),
    [
        ("rope", Cell("rotated_queries", 1, 0, 0)),
        ("alibi", Cell("biased", 2, 0)),
        ("sparsemax", Cell("weights", 1, 1, 0)),
        ("additive", Cell("scores", 0, 1, 0)),
        ("cross-attention", Cell("memory", 1, 1)),
        ("padding-batch", Cell("masked", 0, 5, 0)),
        ("dropout", Cell("dropped", 0, 0, 0)),
    ],
)
def test_every_kind_of_attention_is_asked_and_explained(preset: str, cell: Cell, qtbot: QtBot) -> None:
    sheet = AnswerSheet(zoom=2.0)
    qtbot.addWidget(sheet)
    dress(sheet, DARK)
    sheet.show_question(Question((cell,)), (cell,), trace_exactly(attnlab.preset(preset)))
    sheet.show()
    assert "arithmetic:" not in read(sheet)
    sheet.reveal()
    assert "It is " in read(sheet)
    assert "The cell as arithmetic" in read(sheet)


def test_check_stays_where_it_is_when_the_verdict_and_the_hint_appear(qtbot: QtBot, sheet: AnswerSheet) -> None:
    at = sheet.check_button.geometry()
    enter(qtbot, fields(sheet)[0], "0.99")
    assert "Not yet" in read(sheet)
    assert "Hint:" in read(sheet)
    assert sheet.check_button.geometry() == at


def test_of_many_answers_more_are_in_sight(qtbot: QtBot, sheet: AnswerSheet, trace: Trace) -> None:
    """A row without a sentence keeps no line for it, and gets one when there is something to say."""
    high = fields(sheet)[1].mapTo(sheet, QPoint()).y() - fields(sheet)[0].mapTo(sheet, QPoint()).y()
    row = tuple(Cell("weights", 4, column, 0) for column in range(5))
    sheet.show_question(ASK, row, trace)
    qtbot.waitUntil(lambda: len(fields(sheet)) == len(row))
    sheet.layout().activate()
    tops = [field.mapTo(sheet, QPoint()).y() for field in fields(sheet)]
    assert max(below - above for above, below in pairwise(tops)) < 0.75 * high
    enter(qtbot, fields(sheet)[0], "9")
    assert "Not yet" in read(sheet)


def test_names_of_tables_have_subscripts_in_the_question_and_none_in_a_token(qtbot: QtBot) -> None:
    trace = trace_exactly(rename_token(attnlab.preset("causal-5x8"), 1, "x_i"))
    made, choices = AnswerSheet(), ChoiceSheet()
    for each in (made, choices):
        qtbot.addWidget(each)
    made.show_question(Question((), "What is dW_q?", 0.01, "Use W_k."), (Cell("weights", 2, 1, 0),), trace)
    choices.show_question("What moves W_q?", ("d_k", "the loss"), 1, "It is no loss of W_v.", known=False)
    labels = {label.text(): label for each in (made, choices) for label in each.findChildren(QLabel)}
    for text in ("What is dW_q?", "Hint: Use W_k.", "What moves W_q?", "d_k", "Hint: It is no loss of W_v."):
        assert "vertical-align:sub" in getattr(labels[text], "markup", ""), text
    assert labels["sat → x_i"].textFormat() == Qt.TextFormat.PlainText

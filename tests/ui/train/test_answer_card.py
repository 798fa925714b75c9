"""The answer to one's own probe: at every moment, for every task, with the right tokens before or the model’s own."""

import re
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from attnlab.training.answers import Place
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.tasks import TASKS
from attnlab.ui.base.themed import palette_of
from attnlab.ui.train.answer_line import AnswerLine
from attnlab.ui.train.answer_words import Column, format_share

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from attnlab.ui.train.answer_card import AnswerCard
    from tests.ui.train.conftest import Student

Left = Qt.MouseButton.LeftButton


def _choose_task(student: "Student", task: str) -> "AnswerCard":
    box, inspection = student.ws.settings.task, student.ws.session.inspection
    student.choose(box, box.itemText(box.findData(task)))
    card = student.ws.maps.answer
    student.wait_for(lambda: inspection.seen is not None and inspection.seen.spec.task == task and not card.is_behind)
    student.window.grab()
    return card


def _shows(card: "AnswerCard", seen: Any) -> bool:
    """Return whether the card shows the likeliest tokens of the model that was looked at last."""
    places = Viewer(seen.spec).look(0, draw_first_weights(seen.spec), seen.probe).answer.places
    bars = [[bar.share for bar in column.bars] for column in card.columns.columns]
    return all(
        shown == pytest.approx([share for _, share in place.likeliest], abs=1e-6)
        for shown, place in zip(bars, places, strict=False)
    )


@pytest.mark.slow
def test_every_task_shows_its_answer_before_the_first_step(student: "Student", subtests: pytest.Subtests) -> None:
    for task in TASKS:
        with subtests.test(task=task):
            _check_first_answer(student, task)


def _check_first_answer(student: "Student", task: str) -> None:
    card = _choose_task(student, task)
    inspection = student.ws.session.inspection
    student.wait_for(lambda: _shows(card, inspection.seen))  # a task that reads data is looked at twice
    seen = inspection.seen
    assert seen is not None
    assert card.isVisible()
    assert card.columns.isVisible()
    found = Viewer(seen.spec).look(0, draw_first_weights(seen.spec), seen.probe).answer
    assert len(card.columns.columns) == len(found.places or found.numbers) > 0
    for column, place in zip(card.columns.columns, found.places, strict=False):
        assert [bar.text for bar in column.bars] == [format_share(share) for _, share in place.likeliest]
        assert [bar.share for bar in column.bars] == pytest.approx([share for _, share in place.likeliest], abs=1e-6)
        assert column.right is place.right
        assert column.spoken in card.columns.name_cell(card.columns.columns.index(column))
    assert "step 0" in card.sentence.text()
    assert card.text.isVisible() is (task in ("characters", "induction", "lines"))


@pytest.mark.slow
def test_the_answer_follows_probe_and_time_line(student: "Student") -> None:
    ws, card = student.ws, student.ws.maps.answer
    student.small()
    student.train_to_the_end()
    student.wait_for(lambda: "step 60" in card.sentence.text())
    said = card.sentence.text()
    assert re.fullmatch(r"\d of 7 right, given the right tokens, \d of 7 writing freely, at step 60", said)
    assert card.sentence.visible_text in {said, said.rpartition(", ")[0]}  # without room a part is left out, not cut
    last = [column.bars for column in card.columns.columns]
    student.key(Qt.Key.Key_Home)
    student.wait_for(lambda: "step 0" in card.sentence.text() and not card.is_behind)
    assert [column.bars for column in card.columns.columns] != last
    run = ws.session.run
    assert run is not None
    moment = run.recorder.moments[0]
    own = Viewer(run.spec).look(moment.step, moment.weights, ws.maps.head.probe.text()).answer
    assert [bar.share for column in card.columns.columns for bar in column.bars] == pytest.approx(
        [share for place in own.places for _, share in place.likeliest], abs=1e-6
    )
    ws.maps.head.focus_probe()
    QTest.keyClicks(ws.maps.head.probe, "a b c")
    student.wait_for(lambda: [column.wanted for column in card.columns.columns] == ["c", "b", "a", "⟩"])
    assert [column.read for column in card.columns.columns] == ["⟨", "c", "b", "a"]


def test_a_click_shows_what_the_model_writes_itself(student: "Student") -> None:
    card, seen = student.ws.maps.answer, student.ws.session.inspection.seen
    assert seen is not None
    given, own = card.reads.buttons()
    QTest.mouseClick(own, Left)
    assert own.isChecked()
    places = seen.look.answer.written
    assert [column.read for column in card.columns.columns] == [place.read for place in places]
    assert card.sentence.text().startswith(f"Writes {''.join(place.likeliest[0][0] for place in places)}: ")
    QTest.mouseClick(given, Left)
    assert [column.read for column in card.columns.columns] == ["⟨", *seen.look.expected[:-1]]


@pytest.mark.slow
def test_rows_that_write_are_named_by_what_they_write(student: "Student") -> None:
    _choose_task(student, "dates")
    view, maps = student.ws.maps.view, student.ws.maps
    QTest.mouseClick(maps.overview.groups.buttons()[3], Left)
    years = ("⟨→2", "2→0", "0→1", "1→9")
    assert tuple(view.data[0].row_labels[:4]) == years
    assert view.cell_text((0, 0, 0)).startswith("⟨ (writes “2”) → t: ")
    assert "writes “2”" in view.name_cell(0)
    maps.open_map(0)
    assert maps.large_map.sheet.data is not None
    assert maps.large_map.sheet.data.row_labels[1] == "2 (writes “0”)"


@pytest.mark.slow
def test_a_character_leads_to_the_place_that_predicted_it(student: "Student") -> None:
    card = _choose_task(student, "characters")
    seen = student.ws.session.inspection.seen
    assert seen is not None
    answer = seen.look.answer
    for index, (token, place) in enumerate(zip(card.text.tokens[1:], answer.places, strict=False)):
        assert token.probability == place.probability
        assert bool(token.likelier) is (place.right is False)
        assert card.text.tokens[index + 1].token == place.wanted
    assert not card.text.tokens[0].is_asked
    last = len(card.text.tokens) - 1
    QTest.mouseClick(card.text.viewport(), Left, pos=card.text.locate_cell(last).center().toPoint())
    assert card.columns.current_cell == last - 1
    assert card.columns.viewport().rect().contains(card.columns.column_rect(last - 1).center())


@pytest.mark.slow
def test_keys_walk_the_places_without_moving_the_time_line(student: "Student") -> None:
    columns = _choose_task(student, "dates").columns
    student.window.resize(1024, 640)
    student.wait_for(lambda: student.window.width() == 1024)
    student.window.grab()
    columns.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(columns, Qt.Key.Key_End)
    assert columns.current_cell == 10
    assert columns.horizontalScrollBar().value() == columns.horizontalScrollBar().maximum()
    QTest.keyClick(columns, Qt.Key.Key_Left)
    assert columns.current_cell == 9
    QTest.keyClick(columns, Qt.Key.Key_Home)
    assert columns.column_rect(0).topLeft() == QPoint(0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "high"), [("reverse", 640), ("characters", 720)])
def test_a_low_window_shows_the_answer_in_one_line_until_it_is_unfolded(
    student: "Student", task: str, high: int
) -> None:
    card, window = _choose_task(student, task), student.window
    assert not card.is_folded
    assert not card.fold_button.isVisible()
    whole = card.height()
    window.change_settings(type_size=175)
    window.resize(1024, high)
    student.wait_for(lambda: card.is_folded and window.width() == 1024 and card.height() < whole)
    shown = card.text if task == "characters" else card.line
    assert shown.isVisible()
    assert card.fold_button.isVisible()
    assert not card.columns.isVisible()
    assert card.height() < whole
    if task == "reverse":
        seen = student.ws.session.inspection.seen
        assert seen is not None
        assert [column.short for column in card.line.columns] == [
            place.likeliest[0][0] for place in seen.look.answer.places
        ]
        assert "wrong" in card.line.name_cell(0) or "right" in card.line.name_cell(0)
    QTest.mouseClick(card.fold_button, Left)
    assert card.columns.isVisible()
    assert card.reads.isVisible() is (task == "reverse")
    assert card.fold_button.accessibleName() == "Show the answer in one line"
    window.change_settings(type_size=100)
    window.resize(1440, 900)
    student.wait_for(lambda: not card.fold_button.isVisible())
    assert card.columns.isVisible()
    assert not card.is_folded


@pytest.mark.slow
def test_a_large_map_in_a_low_window_leaves_one_line_to_the_answer(student: "Student") -> None:
    card, maps, window = student.ws.maps.answer, student.ws.maps, student.window
    window.change_settings(type_size=175)
    window.resize(1024, 640)
    student.wait_for(lambda: card.is_folded and card.fold_button.isVisible())
    QTest.mouseClick(card.fold_button, Left)
    assert not card.is_folded
    maps.open_map(0)
    assert card.is_folded
    student.wait_for(lambda: maps.large_map.sheet.height() > 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "told"),
    [("dates", "written freely · "), ("characters", "given the right tokens · "), ("sum", "the first column")],
)
def test_examples_say_how_they_are_predicted_and_how_many_are_right(
    student: "Student", task: str, told: str, qtbot: "QtBot"
) -> None:
    written = student.ws.written
    with qtbot.waitSignal(written.described, check_params_cb=lambda sentence: sentence.startswith(told)) as heard:
        _choose_task(student, task)
    sentence = heard.args[0]
    pairs = [row.pairs for row in written.rows]
    if task == "dates":
        right = sum(all(expected == predicted for expected, predicted in row) for row in pairs)
        assert sentence == f"written freely · {right} of 4 exactly right"
    elif task == "characters":
        right = sum(expected == predicted for row in pairs for expected, predicted in row)
        assert sentence == f"given the right tokens · {right} of {sum(map(len, pairs))} right"
    assert student.ws.curves.right.isVisibleTo(student.ws.curves) == (task != "sum"), "only tokens can be correct"


def test_an_answer_in_one_line_shows_no_mark_in_part(qtbot: "QtBot") -> None:
    place = Place(0, "a", "b", (("b", 0.9),), 0.9)
    line = AnswerLine("The answer in one line")
    qtbot.addWidget(line)
    line.show_columns([Column("a", "b", True, (), "b", place)] * 8)
    line.show()
    good = QColor(palette_of(line).good)
    for width in range(120, 200, 7):
        line.resize(width, line.height())
        image = line.viewport().grab().toImage()
        inks = [sum(image.pixelColor(x, y) == good for y in range(image.height())) for x in range(image.width())]
        discs = "".join("x" if ink else " " for ink in inks).split()
        assert len(discs) >= 2
        assert len({len(disc) for disc in discs}) == 1, width

"""A training by ear: its maps are walked with the keyboard, and its start, pause and end are said."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ears import NAME, Ears, element, names
from tests.ui.train.conftest import Student

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
TAB = Qt.FocusReason.TabFocusReason


def test_the_cells_of_all_maps_are_walked(student: Student, ears: Ears) -> None:
    view = student.ws.maps.view
    view.setFocus(TAB)
    data, title = view.data[0], view.titles[0].replace(" · ", ", ")
    heard = names(view)
    assert len(heard) == sum(each.values.size for each in view.data)
    QTest.keyClick(view, Key.Key_Down, CTRL)
    assert ears.read[-1].startswith(f"{title}, {data.row_labels[0]}")
    QTest.keyClick(view, Key.Key_Down, CTRL)
    QTest.keyClick(view, Key.Key_Down, CTRL)
    QTest.keyClick(view, Key.Key_Right, CTRL)
    assert student.ws.maps.told.startswith(view.titles[0])
    assert ears.read[-1].endswith(f"{float(data.values[0, 2, 1]):.4f}")
    ears.forget()
    QTest.keyClick(view, Key.Key_PageDown, CTRL)
    assert view.ringed
    assert ears.read[-1].startswith(view.titles[1].replace(" · ", ", "))
    QTest.keyClick(view, Key.Key_Left)
    assert ears.said == [view.titles[0].replace(" ·", ",")]


def test_a_large_map_is_walked_and_left_with_the_keyboard(student: Student, ears: Ears) -> None:
    maps = student.ws.maps
    maps.view.clearFocus()
    maps.view.setFocus(TAB)
    QTest.keyClick(maps.view, Key.Key_Return)
    assert maps.large_map.sheet.hasFocus()
    ears.forget()
    QTest.keyClick(maps.large_map.sheet, Key.Key_Right, CTRL)
    QTest.keyClick(maps.large_map.sheet, Key.Key_End, CTRL)
    assert maps.large_map.sheet.data is not None
    last = maps.large_map.sheet.data.values[0, -1, -1]
    assert ears.read[-1].endswith(f", {float(last):.4f}")
    assert element(maps.large_map.sheet).focusChild().text(NAME) == ears.read[-1]
    assert maps.told
    QTest.keyClick(maps.large_map.sheet, Key.Key_Escape)
    assert maps.view.hasFocus()
    assert maps.view.ringed


def test_masked_cells_of_a_decoder_say_so(student: Student, listening: None) -> None:
    view = student.ws.maps.view
    masked = view.data[0].masked
    assert masked is not None
    assert names(view)[int(np.flatnonzero(masked)[0])].endswith("hidden by the mask")


@pytest.mark.slow
def test_start_pause_and_end_are_said(student: Student, ears: Ears) -> None:
    student.small()
    student.type("steps", "100000")
    student.ready()
    ears.forget()
    student.press(student.ws.header.main)
    student.wait_for(lambda: student.ws.session.run is not None and student.ws.session.run.step > 0)
    assert ears.said[0] == "Training started"
    student.ws.session.pause()
    student.wait_for(lambda: student.ws.session.state == "paused")
    assert any(said.startswith("Training paused at step ") and ", loss " in said for said in ears.said)
    student.ws.start()
    student.wait_for(lambda: any(said.startswith("Training continues at step ") for said in ears.said))
    with student.qtbot.waitSignal(student.ws.session.ended):
        student.ws.session.stop()
    run = student.ws.session.run
    assert run is not None
    ended = f"Training ended at step {run.step:,}, loss {float(run.losses[-1]):.4f}"
    assert ended in ears.said


@pytest.mark.slow
def test_the_time_line_reads_the_moment_it_moves_to(student: Student, ears: Ears) -> None:
    student.small()
    student.train_to_the_end()
    line = student.ws.footer.line
    student.wait_for(lambda: len(line.steps) > 2)
    line.setFocus(TAB)
    ears.forget()
    QTest.keyClick(line, Key.Key_Home)
    assert ears.read[-1].startswith(f"moment 1 of {len(line.steps)}, step 0, loss ")
    assert len(names(line)) == len(line.steps)


@pytest.mark.slow
def test_predictions_are_a_list_of_examples(student: Student, listening: None) -> None:
    student.small()
    student.train_to_the_end()
    student.wait_for(lambda: len(student.ws.written.rows) == 4)
    first = names(student.ws.written)[0]
    assert "expected: " in first
    assert "predicted: " in first


@pytest.mark.slow
def test_a_chart_says_its_first_and_last_values(student: Student, listening: None) -> None:
    student.small()
    student.train_to_the_end()
    loss = student.ws.curves.loss
    student.wait_for(lambda: " now" in element(loss).text(NAME))
    assert " at first, " in element(loss).text(NAME)

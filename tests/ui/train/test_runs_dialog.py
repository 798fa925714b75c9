"""The dialog of all runs: their names, actions on the selected one, and its keys."""

import math
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from attnlab.training import store
from attnlab.training.store import Summary
from attnlab.training.store_manifest import MANIFEST
from attnlab.ui.base.theme import dress_type
from attnlab.ui.train.run_row import RunRow
from attnlab.ui.train.run_views import _describe_memory
from attnlab.ui.train.run_words import find_loss, format_line, format_title, make_heading, make_title
from attnlab.ui.train.runs_dialog import RunsDialog
from attnlab.ui.train.runs_table import COLUMNS, NAME, RunsTable
from tests.training.runs import made_up_run
from tests.ui.train.pupil import Pupil, tiny, trained


@pytest.mark.slow
def test_runs_can_be_renamed_and_deleted(pupil: Pupil) -> None:
    first = trained(pupil, 0)
    trained(pupil, 1)
    pupil.tools.show_runs()
    dialog = pupil.window.findChild(RunsDialog)
    assert dialog is not None
    table = dialog.table
    rows = [table.item(row, NAME).text() for row in range(table.rowCount())]
    assert [re.sub(r"(\d+ [A-Z][a-z]+ )?\d\d:\d\d:\d\d$", "now", row) for row in rows] == [
        "Reverse · seed 1 · now",
        "Reverse · seed 0 · now",
    ]
    assert table.item(1, NAME).toolTip() == f"{rows[1]}\n{first.name}"
    assert not any(each.isEnabled() for each in (dialog.open_button, dialog.rename_button, dialog.delete_button))
    assert dialog.open_button.toolTip() == "Choose a run in the table first"
    table.selectRow(0)
    assert dialog.open_button.toolTip() == "This is the run that is open"
    table.selectRow(1)
    assert "(Enter)" in dialog.open_button.toolTip()
    QTest.keyClick(table, Qt.Key.Key_F2)
    field = table.findChild(QLineEdit)
    assert field is not None
    field.selectAll()
    QTest.keyClicks(field, "the first one")
    QTest.keyClick(field, Qt.Key.Key_Return)
    pupil.wait_for(lambda: store.read_summary(first).name == "the first one")
    pupil.wait_for(lambda: "the first one" in [each.name for each in pupil.tools.runs.found])
    place = next(row for row in range(2) if table.item(row, NAME).text() == "the first one")
    table.selectRow(place)
    QTest.keyClick(table, Qt.Key.Key_Delete)
    box = pupil.window.findChild(QMessageBox)
    assert box is not None
    assert "the first one" in box.text()
    pupil.wait_for(lambda: box.focusWidget() is not None)
    QTest.keyClick(box.focusWidget(), Qt.Key.Key_Return)  # a key too many deletes nothing
    pupil.wait_for(lambda: pupil.window.findChild(QMessageBox) is None)
    pupil.wait_for(lambda: not pupil.tools.keeper.busy)
    assert first.exists()
    QTest.keyClick(table, Qt.Key.Key_Delete)
    box = pupil.window.findChild(QMessageBox)
    assert box is not None
    pupil.click(next(each for each in box.buttons() if each.text() == "Delete"))
    pupil.wait_for(lambda: table.rowCount() == 1)
    assert not first.exists()
    dialog.reject()


@pytest.mark.slow
def test_no_button_moves_when_curves_are_overlaid_or_hidden(pupil: Pupil) -> None:
    other = trained(pupil, 0)
    trained(pupil, 1)
    pupil.tools.show_runs()
    dialog = pupil.window.findChild(RunsDialog)
    assert dialog is not None
    dialog.table.choose(other)
    texts, places = [], []
    for over in (True, False, True):
        pupil.wait_for(lambda over=over: (pupil.tools.runs.find_overlaid(other) is not None) == over)
        QApplication.processEvents()  # which lays the buttons out
        texts.append(dialog.over_button.text())
        places.append([button.geometry() for button in dialog.findChildren(QPushButton)])
        dialog.over_button.click()
    assert texts == ["Hide curves", "Overlay curves", "Hide curves"]
    assert places[0] == places[1] == places[2]
    pupil.wait_for(lambda: not pupil.tools.keeper.busy)
    dialog.reject()


@pytest.mark.slow
def test_enter_opens_the_selected_run_and_the_header_shows_the_sorting(pupil: Pupil) -> None:
    first = trained(pupil, 0)
    trained(pupil, 1)
    pupil.tools.show_runs()
    dialog = pupil.window.findChild(RunsDialog)
    assert dialog is not None
    table = dialog.table
    header = table.horizontalHeader()
    assert [text for text in titles(dialog) if "↓" in text] == ["Saved ↓"]
    seed = COLUMNS.index("Seed")
    at = QPoint(header.sectionViewportPosition(seed) + 8, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert [text for text in titles(dialog) if "↑" in text] == ["Seed ↑"]
    assert [table.item(row, seed).text() for row in range(2)] == ["0", "1"]
    table.selectRow(0)
    QTest.keyClick(table, Qt.Key.Key_Return)
    pupil.wait_for(lambda: pupil.tools.keeper.find_folder(pupil.run) == first)
    assert pupil.window.findChild(RunsDialog) is None


def test_the_dialog_and_the_list_show_steps_and_end_of_a_run(pupil: Pupil) -> None:
    run = made_up_run(3)
    told = {"crashed": "step 2 of 2,000, interrupted", "broken": "step 2 of 2,000, failed", "whole": "step 2 of 2"}
    for name, status, steps in (("crashed", "running", 2000), ("broken", "failed", 2000), ("whole", "ended", 2)):
        spec = replace(run.spec, train=replace(run.spec.train, steps=steps))
        store.save(replace(run.state(), name=name, spec=spec, status=status), store.find_runs_folder() / name)
    pupil.window.show_workspace("train")
    pupil.tools.keeper.refresh()
    pupil.wait_for(lambda: len(pupil.tools.runs.rows) == 3)
    rows = {folder.name: row for folder, row in pupil.tools.runs.rows.items() if folder is not None}
    pupil.tools.show_runs()
    dialog = pupil.window.findChild(RunsDialog)
    assert dialog is not None
    for row in range(3):
        dialog.table.selectRow(row)
        name = dialog.table.item(row, NAME).text()
        assert dialog.note.text() == f"{name}: {told[name]}."
        assert rows[name].toolTip().startswith(f"{name} · {told.pop(name)} · saved ")
    assert not told
    dialog.reject()


def test_the_table_has_loss_accuracy_and_time_of_each_run_with_units(qtbot: QtBot, tmp_path: Path) -> None:
    table = RunsTable()
    qtbot.addWidget(table)
    spec = tiny(steps=2000)
    of_runs = [
        Summary(tmp_path / "a", "a", spec, "ended", 2000, seconds=42.0, loss=0.125, right=0.985, saved=1.0),
        Summary(tmp_path / "b", "b", spec, "interrupted", 120, seconds=1800.0, loss=2.5, saved=2.0),
    ]
    table.resize(1200, 300)
    table.show()
    table.show_runs(of_runs)
    told = [{title: table.item(row, i).text() for i, title in enumerate(COLUMNS)} for row in range(2)]
    told.sort(key=lambda row: row["Name"])
    columns = ("Name", "Seed", "Steps", "Loss", "Correct", "Time")
    assert [tuple(row[each] for each in columns) for row in told] == [
        ("a", "0", "2,000", "0.1250", "98.5\N{NO-BREAK SPACE}%", "42 s"),
        ("b", "0", "120 of 2,000", "2.5000", "", "30 min"),
    ]


def test_branches_of_a_run_are_told_apart_where_their_names_do_not_fit(qtbot: QtBot, tmp_path: Path) -> None:
    names = [f"reverse, seed 0, from step 1,265, from step {step}" for step in (237, 654)]
    summaries = [Summary(tmp_path, name, tiny(), "ended", 400, saved=1.0) for name in names]
    table, rows = RunsTable(), [RunRow(format_line(each, tiny())[0], math.nan, "muted", "") for each in summaries]
    qtbot.addWidget(table)
    table.show_runs(summaries)
    table.resize(700, 300)
    table.show()
    cells = [table.visualItemRect(table.item(row, NAME)) for row in range(2)]
    title = format_title(summaries[0])
    assert table.fontMetrics().horizontalAdvance(title) > cells[0].width()
    first, second = (table.viewport().grab(cell).toImage() for cell in cells)
    assert first != second
    assert title in {table.item(row, NAME).toolTip().splitlines()[0] for row in range(2)}
    for row in rows:
        qtbot.addWidget(row)
        row.resize(200, 26)
    assert rows[0].grab().toImage() != rows[1].grab().toImage()


def test_a_text_that_nearly_fits_has_a_second_line(qtbot: QtBot, tmp_path: Path) -> None:
    table, short = RunsTable(), tiny(steps=400)
    qtbot.addWidget(table)
    long = replace(short, model=replace(short.model, kind="encoder-decoder"))
    moment = time.time()  # of today, so that the time of the save is in one line
    table.show_runs([Summary(tmp_path, "a", spec, "ended", 400, 8.0, loss=0.1, saved=moment) for spec in (short, long)])
    table.show()
    lines = set()
    for width in range(560, 1000, 4):
        table.resize(width, 300)
        for row in () if table.isColumnHidden(1) else range(2):
            text = table.item(row, 2).text()  # type: ignore[union-attr]
            hint = table.sizeHintForIndex(table.model().index(row, 2)).width()
            folds = table.columnWidth(2) < hint
            assert not folds or table.rowHeight(row) > 2 * table.fontMetrics().height(), (width, text)
            lines.add((text, folds))
    assert len(lines) == 4, "each model is seen in one line and in two"


def test_the_title_of_an_earlier_run_is_one_line(qtbot: QtBot, tmp_path: Path) -> None:
    now = time.localtime()
    day = 2 if now[1:3] == (1, 1) else 1
    folder = tmp_path / f"reverse-0-{now.tm_year}01{day:02}-143216"
    table, spec = RunsTable(), tiny(steps=2000, task="reverse")
    qtbot.addWidget(table)
    dress_type()
    table.resize(1008, 300)  # in a dialog of its first size
    table.show()
    saved = time.mktime((now.tm_year, 1, day, 14, 33, 0, 0, 0, -1))
    table.show_runs([Summary(folder, "reverse, seed 0", spec, "ended", 400, 42.0, loss=0.1, right=1.0, saved=saved)])
    assert table.item(0, NAME).text() == f"Reverse · seed 0 · {day} Jan 14:32:16"  # type: ignore[union-attr]
    assert table.sizeHintForColumn(NAME) <= table.columnWidth(NAME)


def test_with_large_type_the_table_folds_texts_instead_of_scrolling_sideways(qtbot: QtBot, tmp_path: Path) -> None:
    table = RunsTable()
    qtbot.addWidget(table)
    table.show_runs([Summary(tmp_path, "a", tiny(steps=2000), "ended", 2000, 42.0, loss=0.125, right=0.985, saved=1.0)])
    table.show()
    heights = []
    for width in (1300, 780, 1300):
        table.resize(width, 300)
        assert table.horizontalHeader().length() <= table.viewport().width()
        heights.append(table.rowHeight(0))
    assert heights[0] == heights[2] < heights[1]


def test_the_loss_and_memory_of_a_run_are_its_last_loss_and_its_recorded_bytes() -> None:
    run = made_up_run(3)  # held-out losses 1.5, 0.75 and 0.5; 20 bytes of weights and what Python holds of them
    assert find_loss(run) == pytest.approx(0.5)
    run.recorder.limit = 3 << 20
    run.recorder._bytes = 2 << 20
    assert _describe_memory(run) == "3 moments · 2 of 3 MiB"


def titles(dialog: RunsDialog) -> list[str]:
    return [dialog.table.horizontalHeaderItem(column).text() for column in range(len(COLUMNS))]


@pytest.mark.slow
def test_a_renamed_run_keeps_its_time_and_its_place(pupil: Pupil) -> None:
    first, second = trained(pupil, 0), trained(pupil, 1)
    os.utime(first / MANIFEST, (1e9, 1e9))
    runs, keeper = pupil.tools.runs, pupil.tools.keeper
    keeper.rename(first, "Baseline")
    pupil.wait_for(lambda: "Baseline" in [each.name for each in runs.found])
    assert [(each.folder, each.saved == 1e9) for each in runs.found] == [(second, False), (first, True)]


def test_runs_of_the_command_line_have_readable_names(tmp_path: Path) -> None:
    spec = tiny()
    name = "reverse-0-20200102-143216"
    assert make_title(name, spec, tmp_path / name) == "Reverse · seed 0 · 2 Jan 2020 14:32:16"
    assert make_title("mine", spec, tmp_path / name) == "mine"
    later = make_title(name, spec, tmp_path / "reverse-0-20200102-143221")
    assert later != make_title(name, spec, tmp_path / name)  # short runs begin in the same minute
    assert make_title("reverse-9-20200102-143216", spec, None) == "reverse-9-20200102-143216"
    assert make_title("reverse, seed 0", spec, tmp_path / "x-20209999-999999") == "Reverse · seed 0"


@pytest.mark.parametrize("name", ["reverse, seed 0", "reverse-0-20200102-143216"])
def test_a_branch_of_a_run_without_a_name_is_titled_as_the_run(name: str, tmp_path: Path) -> None:
    spec, folder = tiny(), tmp_path / "reverse-0-20200102-143216"
    title = "Reverse · seed 0, from step 1,265, rate 0.001 · 2 Jan 2020 14:32:16"
    assert make_title(f"{name}, from step 1,265, rate 0.001", spec, folder) == title
    assert make_title("mine, from step 265", spec, folder) == "mine, from step 265"
    found = Summary(folder, f"{name}, from step 265", spec, "ended", 300)
    assert format_line(found, spec)[0] == "seed 0, from step 265"  # not the words for its origin
    assert format_line(replace(found, name=name), spec)[0] == "seed 0"


def test_in_a_small_window_with_large_type_columns_are_joined(pupil: Pupil, tmp_path: Path) -> None:
    pupil.window.change_settings(type_size=175)
    table, spec = RunsTable(), tiny(steps=2000)
    pupil.qtbot.addWidget(table)
    other = replace(spec, model=replace(spec.model, kind="encoder-decoder"))
    found = Summary(tmp_path, "a", spec, "ended", 1061, 4200.0, loss=0.0514, right=1.0, saved=1.0)
    table.show_runs([found, replace(found, spec=other, step=2000)])
    renamed: list[object] = []
    table.itemChanged.connect(renamed.append)
    table.show()
    table.resize(968, 400)  # as wide as in a window of 1024 pixels
    assert table.horizontalHeader().length() <= table.viewport().width()
    shown = [title for column, title in enumerate(COLUMNS) if not table.isColumnHidden(column)]
    assert shown == ["Name", "Model", "Steps", "Loss", "Correct", "Saved"]
    texts = [table.item(0, COLUMNS.index(title)).text() for title in ("Model", "Steps")]  # type: ignore[union-attr]
    assert texts == ["Reverse, seed 0\nGPT-style decoder", "1,061 of 2,000\n70 min"]
    assert table.rowHeight(0) > 3 * table.fontMetrics().height()
    table.resize(1500, 400)
    assert not any(table.isColumnHidden(column) for column in range(len(COLUMNS)))
    assert table.item(0, COLUMNS.index("Steps")).text() == "1,061 of 2,000"  # type: ignore[union-attr]
    assert renamed == []


def test_a_run_is_called_by_its_name_in_a_heading_and_its_seed_tells_namesakes_apart() -> None:
    spec = tiny()
    other = replace(spec, train=replace(spec.train, seed=1))
    for name, others, told in (
        ("reverse, seed 0", (), "Reverse, seed 0"),
        ("reverse-0-20200102-143216", (), "Reverse, seed 0"),
        ("reverse, seed 0, from step 265", (), "Reverse, seed 0, from step 265"),
        ("mine", (), "mine"),
        ("mine", (("mine", spec), ("yours", other)), "mine"),
        ("mine", (("mine", spec), ("mine", other)), "mine, seed 0"),
        ("mine, seed 0", (("mine, seed 0", other),), "mine, seed 0"),
        ("mine, seed 01", (("mine, seed 01", other),), "mine, seed 01, seed 0"),
    ):
        assert make_heading(name, spec, others) == told

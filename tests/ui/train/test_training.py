"""A training in the window: pick a task, start, pause, step, rewind, reset, stop."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from attnlab.base import fault_log
from attnlab.training.messages import Checkpoint
from tests.nursery import run_python

if TYPE_CHECKING:
    from tests.ui.train.conftest import Student

Key = Qt.Key
LONG = "1000000"


def test_a_run_can_be_trained_paused_stepped_rewound_and_reset_to_the_same_curve(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    first = ws.maps.view.data[0].values.copy()
    student.small()
    student.train_to_the_end()
    assert session.run is not None
    assert session.run.step == 60
    assert "of the held-out tokens are right" in ws.footer.message.text()
    student.wait_for(lambda: ws.maps.head.step.text() == "step 60")
    last = ws.maps.view.data[0].values.copy()
    assert not np.array_equal(first, last)
    curve = student.curve()
    assert len(curve) == 60

    student.key(Key.Key_Home)
    student.wait_for(lambda: ws.maps.head.step.text() == "step 0")
    assert ws.curves.loss.cursor_x == 0
    assert not np.array_equal(ws.maps.view.data[0].values, last)
    student.key(Key.Key_End)
    student.wait_for(lambda: ws.maps.head.step.text() == "step 60")
    np.testing.assert_array_equal(ws.maps.view.data[0].values, last)

    assert ws.header.reset.text() == "Reset · seed 0"
    student.press(ws.header.reset)
    student.ready()
    assert not len(ws.footer.line.steps)
    student.train_to_the_end()
    assert student.curve() == curve
    assert ws.curves.loss.lines[0].name.startswith("seed 0")


@pytest.mark.slow
def test_a_running_training_can_pause_step_and_continue(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.type("steps", LONG)
    student.small()
    student.type("steps", LONG)
    student.ready()
    student.press(ws.header.main)
    student.wait_for(lambda: session.run is not None and session.run.step > 5)
    assert ws.header.main.text() == "Pause"
    assert not ws.settings.task.isEnabled()
    student.press(ws.header.main)
    student.wait_for(lambda: session.state == "paused")
    run = session.run
    assert run is not None
    paused = run.step
    assert ws.header.main.text() == "Resume"
    student.press(ws.header.step)
    student.wait_for(lambda: run.step == paused + 1 and session.state == "paused")
    student.press(ws.header.main)
    student.wait_for(lambda: run.step > paused + 5)
    with student.qtbot.waitSignal(session.ended):
        student.press(ws.header.stop)
    assert "Stopped" in ws.footer.message.text()
    assert session.can_go_on
    assert ws.header.main.text() == "Resume"
    stopped = run.step
    student.press(ws.header.main)
    student.wait_for(lambda: run.step > stopped)
    assert session.run is run


@pytest.mark.slow
def test_a_single_step_starts_a_training(student: "Student") -> None:
    student.small()
    student.press(student.ws.header.step)
    session = student.ws.session
    student.wait_for(lambda: session.state == "paused" and session.run is not None and session.run.step == 1)
    student.wait_for(lambda: student.ws.maps.head.step.text() == "step 1")


@pytest.mark.slow
def test_invalid_weights_are_refused_with_a_message_and_training_continues(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.type("steps", LONG)
    student.ready()
    student.press(ws.header.main)
    student.wait_for(lambda: session.state == "running" and session.run is not None and session.run.step > 0)
    session.put({"nobody": np.zeros(3, np.float32)})
    student.wait_for(lambda: "has no weights 'nobody'" in ws.footer.message.text())
    run = session.run
    assert run is not None
    step = run.step
    student.wait_for(lambda: run.step > step)
    assert session.state == "running"


@pytest.mark.slow
def test_maps_follow_the_training_only_while_visible(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.type("steps", LONG)
    student.ready()
    student.press(ws.header.main)
    steps: set[str] = set()
    session.inspection.looked.connect(lambda _: steps.add(ws.maps.head.step.text()))
    student.wait_for(lambda: len(steps) > 4)
    QTest.keySequence(student.window, QKeySequence("Ctrl+1"))
    assert student.window.current == "playground"
    assert not ws.body.isVisible()
    assert session.run is not None
    seen, step, run = ws.maps.head.step.text(), session.run.step, session.run
    student.wait_for(lambda: run.step > step + 20)
    assert ws.maps.head.step.text() == seen
    QTest.keySequence(student.window, QKeySequence("Ctrl+3"))
    student.wait_for(lambda: ws.maps.head.step.text() != seen)


@pytest.mark.slow
def test_the_time_line_can_be_dragged_while_training(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.type("steps", LONG)
    student.ready()
    student.press(ws.header.main)
    student.wait_for(lambda: len(ws.footer.line.steps) > 6)
    line = ws.footer.line
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(round(line.place_of(1).x()), line.height() // 2))
    assert session.viewed_step is not None
    shown = session.viewed_step
    student.wait_for(lambda: session.inspection.seen is not None and session.inspection.seen.look.step == shown)
    run = session.run
    assert run is not None
    step = run.step
    student.wait_for(lambda: run.step > step + 20)
    assert ws.maps.head.step.text() == f"step {shown:,}"
    student.key(Key.Key_End)
    assert session.viewed_step is None
    student.wait_for(lambda: ws.maps.head.step.text() != f"step {shown:,}")


@pytest.mark.slow
def test_a_key_marks_and_unmarks_a_moment(student: "Student") -> None:
    student.small()
    student.train_to_the_end()
    ws = student.ws
    student.wait_for(lambda: len(ws.footer.line.steps) > 1)
    student.key(Key.Key_Home)
    student.key(Key.Key_M, ws.footer.line)
    assert [(mark.step, mark.own) for mark in ws.footer.line.marks if mark.own] == [(0, True)]
    student.key(Key.Key_M, ws.footer.line)
    assert not [mark for mark in ws.footer.line.marks if mark.own]


@pytest.mark.slow
def test_recorded_moments_can_be_played(student: "Student") -> None:
    student.small()
    student.train_to_the_end()
    ws = student.ws
    student.wait_for(lambda: len(ws.footer.line.steps) > 1)
    shown: list[int] = []
    ws.footer.moment_chosen.connect(shown.append)
    student.key(Key.Key_Space, ws.footer.line)
    assert ws.footer.playing
    student.wait_for(lambda: not ws.footer.playing)
    assert shown == sorted(shown)
    assert shown[-1] == len(ws.footer.line.steps) - 1


@pytest.mark.slow
def test_a_killed_process_is_reported_and_its_moments_are_kept(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.type("steps", LONG)
    student.ready()
    student.press(ws.header.main)
    student.wait_for(lambda: session.run is not None and session.run.step > 10 and len(ws.footer.line.steps) > 1)
    assert session.process is not None
    with student.qtbot.waitSignal(session.failed):
        os.kill(session.process.pid, signal.SIGKILL)
    assert "killed (signal 9)" in ws.footer.message.text()
    assert len(ws.footer.line.steps) > 1
    assert ws.maps.view.data
    assert ws.header.main.text() == "Resume"
    student.press(ws.header.main)
    student.wait_for(lambda: session.state == "running")
    assert not ws.footer.message.text()


@pytest.mark.slow
def test_a_fault_of_the_training_process_is_reported_with_its_traceback(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.train_to_the_end()
    assert session.run is not None
    with student.qtbot.waitSignal(session.failed):
        session.go_on_from(session.run, Checkpoint(1, 0.0, []))  # type: ignore[arg-type]
    assert ws.footer.message.text().startswith("The training failed before its first step (")
    (fault,) = fault_log.take()
    assert fault.sentence.startswith("Something went wrong inside attnlab while training: ")
    assert "in _restore" in fault.details


@pytest.mark.slow
def test_a_diverging_rate_ends_with_a_sentence(student: "Student") -> None:
    ws = student.ws
    student.small()
    student.type("rate", "1e30")
    student.ready()
    student.train_to_the_end()
    assert "stopped at step" in ws.footer.message.text()
    assert not ws.session.can_go_on
    assert ws.header.main.text() == "Restart"


@pytest.mark.slow
def test_closing_the_window_ends_the_process_at_once(student: "Student") -> None:
    ws = student.ws
    student.small()
    student.type("steps", LONG)
    student.ready()
    student.press(ws.header.main)
    student.wait_for(lambda: ws.session.run is not None and ws.session.run.step > 1)
    process = ws.session.process
    assert process is not None
    student.window.close()
    assert not process.alive
    assert ws.session.process is None


@pytest.mark.slow
def test_a_finished_run_restarts_or_continues_with_more_steps(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.train_to_the_end()
    student.wait_for(lambda: ws.header.main.text() == "Restart")
    assert "new run from the first weights" in ws.header.main.toolTip()
    run, curve = session.run, student.curve()
    student.type("steps", "90")
    student.wait_for(lambda: ws.header.main.text() == "Resume")
    student.train_to_the_end()
    assert session.run is run
    assert run is not None
    assert run.step == 90
    assert student.curve()[:60] == curve
    assert len(student.curve()) == 90


@pytest.mark.slow
def test_entropies_of_heads_are_kept_when_continuing_from_an_earlier_moment(student: "Student") -> None:
    ws, session = student.ws, student.ws.session
    student.small()
    student.train_to_the_end()
    run = session.run
    assert run is not None
    assert run.checkpoint is not None
    steps = {moment.step for moment in run.recorder.moments}
    student.wait_for(lambda: steps <= session.inspection.course.rows.keys())
    before = {step: row.copy() for step, row in session.inspection.course.rows.items()}
    middle = sorted(steps)[len(steps) // 2]
    run.rewind(middle)
    run.weights_step = middle
    session.inspection.follow(run)
    ws.views.show_course()
    shown = ws.maps.chart.chart.lines[0]
    assert set(shown.x.tolist()) == {step for step in steps if step < middle}
    assert shown.y.tolist() == [before[step][1][0] for step in sorted(steps) if step < middle]


@pytest.mark.slow
def test_a_screenshot_of_a_run_waits_for_its_maps(tmp_path: Path) -> None:
    run, picture = str(tmp_path / "run"), str(tmp_path / "shot.png")
    small = [f"--set={name}={value}" for name, value in (("layers", 1), ("d_model", 16), ("d_ff", 16), ("batch", 4))]
    attnlab = ["-m", "attnlab"]
    run_python(*attnlab, "train", "copy", "--steps", "20", *small, "-o", run).check_returncode()
    run_python(*attnlab, run, "--screenshot", picture, "--size", "1440x900").check_returncode()
    with Image.open(picture) as shot:
        maps = np.asarray(shot.crop((380, 110, 1080, 400)).convert("RGB")).reshape(-1, 3)
        curve = np.asarray(shot.crop((1160, 100, 1420, 260)).convert("RGB")).reshape(-1, 3)
    assert len(np.unique(maps, axis=0)) > 100  # cells of many weights
    assert len(np.unique(curve, axis=0)) > 20  # of the run, not of one that has not begun

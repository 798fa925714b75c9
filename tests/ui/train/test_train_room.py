"""The room of training: buttons that stay in place, ends told apart, titles, names and messages seen whole."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from attnlab.base.counted import format_percent
from attnlab.training.recorder import MIB, Moment, Recorder
from attnlab.training.store import Summary
from attnlab.training.tasks import make_spec
from attnlab.ui.base.theme import px
from attnlab.ui.train.run_words import describe_state

if TYPE_CHECKING:
    from tests.ui.train.conftest import Student


@pytest.mark.slow
def test_start_and_stop_stay_where_they_are(student: "Student") -> None:
    header = student.ws.header

    def locate() -> tuple[int, int, int]:
        student.window.grab()
        return header.main.x(), header.main.width(), header.stop.x()

    student.small()
    places = {locate()}
    student.press(header.step)
    student.wait_for(lambda: student.ws.session.state == "paused")
    places.add(locate())
    assert header.main.text() == "Resume"
    student.train_to_the_end()
    assert header.main.text() == "Restart"
    places.add(locate())
    box = student.ws.settings.task
    student.choose(box, box.itemText(box.findData("sum")))
    student.wait_for(lambda: header.main.text() == "Start")
    places.add(locate())
    assert len(places) == 1


@pytest.mark.slow
def test_the_bar_says_how_a_run_ended(student: "Student") -> None:
    header = student.ws.header
    student.small()
    student.type("steps", "100000")
    student.ready()
    student.press(header.step)
    student.wait_for(lambda: student.ws.session.state == "paused" and header.stop.isEnabled())
    with student.qtbot.waitSignal(student.ws.session.ended):
        student.press(header.stop)
    assert header.speed.text() == "step 1 of 100,000 · stopped"
    student.type("steps", "60")
    student.ready()
    student.train_to_the_end()
    assert header.speed.text() == "step 60 of 60 · finished"
    told = student.ws.footer.message.text()
    right = student.ws.session.run.metrics[-1].right if student.ws.session.run is not None else -1.0
    assert told == f"Done: {format_percent(right)} of the held-out tokens are right."


@pytest.mark.slow
def test_another_size_of_type_does_not_open_settings_that_are_closed(student: "Student") -> None:
    window, settings = student.window, student.ws.header.settings
    window.change_settings(type_size=150)
    window.resize(1366, 768)
    student.wait_for(settings.isVisible)
    student.press(settings)
    for type_size in (175, 150):
        with student.qtbot.waitSignal(student.ws.body.restyled):
            window.change_settings(type_size=type_size)
        QApplication.processEvents()  # the panels are arranged after this signal
        assert not student.ws.room.left.isVisible()
        assert not settings.isChecked()


def test_the_list_of_runs_tells_finished_stopped_and_nan_apart(tmp_path: Path) -> None:
    spec = make_spec("reverse")
    told = {
        "Done at step 120: 100 % of held-out tokens right.": "finished",
        "Stopped at step 120.": "stopped",
        "Training stopped at step 120: the loss is ∞. Try a lower rate.": "stopped: NaN",
    }
    for sentence, end in told.items():
        found = Summary(tmp_path, "a", spec, "ended", 120, sentence=sentence)
        assert describe_state(found) == f"step 120 of {spec.train.steps:,}, {end}"


@pytest.mark.slow
def test_the_window_has_the_title_of_the_run(student: "Student") -> None:
    window = student.window
    assert window.windowTitle() == "Reverse · seed 0 — attnlab"
    box = student.ws.settings.task
    student.choose(box, box.itemText(box.findData("copy")))
    student.wait_for(lambda: window.windowTitle() == "Copy · seed 0 — attnlab")
    window.show_workspace("playground")
    assert window.windowTitle() != "Copy · seed 0 — attnlab"


@pytest.mark.slow
@pytest.mark.parametrize(("size", "type_size"), [((1024, 640), 100), ((1366, 768), 100), ((1366, 768), 150)])
def test_a_long_message_is_folded_beside_the_time_line_and_moves_nothing(
    student: "Student", size: tuple[int, int], type_size: int
) -> None:
    footer, window = student.ws.footer, student.window
    window.resize(*size)
    window.change_settings(type_size=type_size)
    window.grab()
    before = footer.height(), student.ws.body.height(), footer.line.y()
    sentence = "Training stopped at step 1,265: the loss is not a number. Try a lower rate, or clip the gradients; "
    sentence += "the last good weights are kept."
    student.ws.say(sentence)
    window.grab()
    assert (footer.height(), student.ws.body.height(), footer.line.y()) == before
    assert footer.message.visible_text == sentence
    assert footer.line.width() >= px(140)
    assert footer.message.geometry().right() < footer.width()
    student.ws.say(3 * sentence)
    window.grab()
    assert len(footer.message.break_lines()[1]) == 2
    assert (footer.height(), student.ws.body.height(), footer.line.y()) == before
    assert footer.message.visible_text.endswith("…")  # the tip has the whole
    assert footer.message.text() == 3 * sentence


@pytest.mark.slow
def test_the_end_of_a_run_is_told_beside_the_time_line_and_moves_nothing(student: "Student") -> None:
    footer, window = student.ws.footer, student.window
    student.small()
    for size, type_size in (((1366, 768), 100), ((1024, 640), 100), ((1366, 768), 150)):
        window.resize(*size)
        window.change_settings(type_size=type_size)
        student.ws.footer.show_message("")
        window.grab()
        before = footer.height(), student.ws.body.height(), footer.line.y()
        student.train_to_the_end()
        window.grab()
        assert footer.message.isVisible()
        assert footer.message.text().startswith("Done")
        assert footer.message.visible_text == footer.message.text()
        assert footer.message.x() > footer.line.geometry().right() >= 300
        assert (footer.height(), student.ws.body.height(), footer.line.y()) == before


@pytest.mark.slow
def test_gradients_have_a_colour_bar_with_their_largest_value(student: "Student") -> None:
    maps = student.ws.maps
    assert not maps.head.scale.isVisible()
    maps.head.gradients.click()
    student.wait_for(lambda: maps.view.data[0].kind == "signed")
    assert maps.head.scale.isVisible()
    limit = maps.view.data[0].limit
    assert 0 < limit < 1
    low, high = maps.head.scale.accessibleDescription().removeprefix("Colours of the gradients, from ").split(" to ")
    assert low.startswith("−")
    assert abs(float(high) - limit) <= max(0.005, 0.06 * limit)
    assert float(high) > 0
    maps.head.gradients.click()
    student.wait_for(lambda: not maps.head.scale.isVisible())


@pytest.mark.slow
def test_the_memory_of_moments_is_a_setting(student: "Student") -> None:
    window = student.window
    student.small()
    student.train_to_the_end()
    run = student.ws.session.run
    assert run is not None
    assert run.recorder.limit == 128 * MIB
    window.actions_list["moments-memory-16"].trigger()
    assert window.settings.moments_mib == 16
    assert run.recorder.limit == 16 * MIB
    assert student.ws.footer.memory.text().endswith("of 16 MiB")
    student.train_to_the_end()
    assert student.ws.session.run is not run
    assert student.ws.session.run is not None
    assert student.ws.session.run.recorder.limit == 16 * MIB


@pytest.mark.slow
def test_the_name_of_a_text_file_is_seen_whole(student: "Student", tmp_path: Path) -> None:
    own = tmp_path / "my-first-text.txt"
    own.write_text("To train on. " * 400, encoding="utf-8")
    box = student.ws.settings.task
    student.choose(box, box.itemText(box.findData("characters")))
    control = student.control("text")
    student.wait_for(lambda: student.control("text").isVisible())
    control.taken.emit(str(own))
    name = student.control("text").file_name  # type: ignore[attr-defined]
    student.wait_for(lambda: name.text() == "my-first-text.txt")
    student.window.grab()
    assert name.visible_text == "my-first-text.txt"


def test_a_smaller_limit_drops_moments_at_once() -> None:
    recorder = Recorder()
    for step in range(12):
        recorder.add(Moment(step, {"a": np.zeros(1 << 18, np.float32)}, 1.0, None))  # 1 MiB each
    recorder.mark(4)
    recorder.set_limit(5 * MIB)
    steps = [moment.step for moment in recorder.moments]
    assert recorder.bytes <= 5 * MIB
    assert {0, 4, 11} <= set(steps)
    recorder.set_limit(1)
    assert [moment.step for moment in recorder.moments] == [11]

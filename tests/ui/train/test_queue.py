"""Is it typical? The student queues runs, stops them, goes on, and reads what they have in common."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea, QSlider

from attnlab.figures.diagram.scene import Label
from attnlab.training import queue_file
from attnlab.training.questions import SEEDS, vary
from attnlab.training.results import find_range, format_loss, to_csv
from attnlab.training.specs import RunSpec
from attnlab.training.store import delete, list_runs, load
from attnlab.ui.base.themed import palette_of
from attnlab.ui.train.queue_dialog import QueueDialog
from attnlab.ui.train.queue_panel import QueuePanel
from attnlab.ui.train.queue_table import LARGEST, LEAST
from attnlab.ui.train.run_queue import RunQueue
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny


def queue_of(pupil: Pupil) -> RunQueue:
    return pupil.tools.queue


def panel_of(pupil: Pupil) -> QueuePanel:
    return pupil.tools.queue_panel


def ask(pupil: Pupil, name: str, spec: RunSpec) -> None:
    """Set a run up and press the button of a question."""
    pupil.begin(spec)
    pupil.wait_for(lambda: panel_of(pupil).questions[name].isEnabled())
    QTest.mouseClick(panel_of(pupil).questions[name], Qt.MouseButton.LeftButton)


def wait_for_results(pupil: Pupil) -> None:
    queue = queue_of(pupil)
    pupil.wait_for(lambda: bool(queue.entries) and queue.done == len(queue.entries) and not queue.alive)
    pupil.wait_for(lambda: not queue.measuring and all(entry.patterns for entry in queue.entries))
    pupil.wait_for(lambda: not pupil.tools.keeper.busy)


def rows_of(panel: QueuePanel) -> list[tuple[str, str]]:
    return [(name.text(), value.text()) for name, value in panel._cells if name.isVisibleTo(panel)]


@pytest.mark.slow
def test_five_seeds_are_trained_saved_and_compared(pupil: Pupil, tmp_path: Path) -> None:
    ask(pupil, "seeds", tiny(steps=40))
    queue, panel = queue_of(pupil), panel_of(pupil)
    assert [name for name, _ in rows_of(panel)] == [f"seed {seed}" for seed in SEEDS]
    wait_for_results(pupil)
    assert panel.told.text() == "Seeds 0 to 4: all 5 runs are done."
    assert not panel.go_button.isVisibleTo(panel)
    for (_, value), result in zip(rows_of(panel), queue.list_results(), strict=True):
        assert value == f"{100 * result.right:.1f}\N{NO-BREAK SPACE}%"
    saved = {each.spec.train.seed: each for each in list_runs() if each.spec is not None}
    assert sorted(saved) == list(SEEDS)
    for result in queue.list_results():  # the same numbers as in the files
        assert load(saved[result.spec.train.seed].folder).metrics[-1].loss == result.loss

    band = pupil.trainer.curves.loss.bands[0]
    steps, low, high = find_range(queue.runs, "loss")
    np.testing.assert_array_equal(band.x, steps)
    np.testing.assert_array_equal(band.low, low)
    np.testing.assert_array_equal(band.high, high)
    assert "seeds 0 to 4" in pupil.trainer.curves.legends[0].names
    thin = [line for line in pupil.trainer.curves.loss.lines if not line.listed]  # each run within the band
    assert [line.name for line in thin] == [f"seed {seed}, held-out" for seed in SEEDS]
    assert [line.y.tolist() for line in thin] == [[m.loss for m in run.metrics] for run in queue.runs]

    QTest.mouseClick(panel.results_button, Qt.MouseButton.LeftButton)
    dialog = pupil.window.findChild(QueueDialog)
    assert dialog is not None
    table = dialog.table
    assert [table.item(row, 0).text() for row in (5, 6)] == [LEAST, LARGEST]
    rights = [result.right for result in queue.list_results()]
    assert [table.item(row, 3).text() for row in (5, 6)] == [
        f"{100 * end(rights):.1f}\N{NO-BREAK SPACE}%" for end in (min, max)
    ]
    pupil.wait_for(lambda: len(dialog.view.titles) == 5)
    heads = [entry.patterns[0].head for entry in queue.entries]
    assert list(dialog.view.titles) == [f"Seed {seed} · {head}" for seed, head in zip(SEEDS, heads, strict=True)]
    assert _is_seen_whole(dialog)
    last = [each.values.copy() for each in dialog.view.data]
    dialog.place.setValue(0)
    pupil.wait_for(lambda: not np.array_equal(dialog.view.data[0].values, last[0]))
    assert dialog.step.text() == "step 0"
    path = tmp_path / "results.csv"
    dialog.save(path)
    pupil.wait_for(lambda: dialog.told.text() == f"Saved {path}")
    assert path.read_text(encoding="utf-8") == to_csv(queue.list_results())
    dialog.accept()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "names"),
    [("rates", ("rate 0.001", "rate 0.003", "rate 0.009")), ("heads", ("heads 1", "heads 2", "heads 4"))],
)
def test_rates_and_heads_are_compared_and_told_apart(pupil: Pupil, question: str, names: tuple[str, ...]) -> None:
    ask(pupil, question, tiny(steps=40))
    queue = queue_of(pupil)
    wait_for_results(pupil)
    band = pupil.trainer.curves.loss.bands[0]
    last = [run.metrics[-1].loss for run in queue.runs]
    assert (band.low[-1], band.high[-1]) == (min(last), max(last))
    assert {each.name for each in list_runs()} == {f"reverse, seed 0, {name}" for name in names}
    figures = pupil.tools.figures  # curves of a queue are exported without a run of one's own
    assert [plot.title for plot in figures.read_plots()] == ["Loss", "Held-out tokens correct"]
    assert next(each.text for each in figures.draw_curves().shapes if isinstance(each, Label)) == "Reverse"

    QTest.mouseClick(panel_of(pupil).results_button, Qt.MouseButton.LeftButton)
    dialog = pupil.window.findChild(QueueDialog)
    assert dialog is not None
    assert [dialog.table.item(row, 0).text() for row in range(5)] == [*names, LEAST, LARGEST]
    told = [format_loss(result.loss) for result in queue.list_results()]
    assert [dialog.table.item(row, 2).text() for row in range(3)] == told  # with the digits of the table of runs
    heads = [entry.patterns[0].head for entry in queue.entries]
    titles = [f"{name.capitalize()} · {head}" for name, head in zip(names, heads, strict=True)]
    pupil.wait_for(lambda: list(dialog.view.titles) == titles)
    curves = pupil.trainer.curves
    pupil.begin(tiny("sort"))
    assert not any((curves.loss.bands, curves.right.bands, curves.loss.lines[:-2])), "they are of another task"
    pupil.begin(tiny())
    assert curves.loss.bands[0].high.tolist() == band.high.tolist()
    dialog.accept()


@pytest.mark.slow
def test_maps_of_a_queue_are_of_one_step_and_another_is_said(pupil: Pupil) -> None:
    plan = [
        replace(planned, spec=replace(tiny(steps=steps), train=replace(planned.spec.train, steps=steps)))
        for planned, steps in zip(vary(tiny(), "seed", (0, 1, 2)), (40, 40, 20), strict=True)
    ]
    pupil.begin(tiny(steps=40))
    queue = queue_of(pupil)
    queue.begin("Seeds 0 to 2", plan)
    wait_for_results(pupil)
    assert [[moment.step for moment in run.recorder.moments] for run in queue.runs] == [
        list(range(steps + 1)) for steps in (40, 40, 20)
    ]
    for run in queue.runs[1:]:  # moments every other step, as a large model has them
        run.recorder._drop({moment.step for moment in run.recorder.moments if moment.step % 2})
    QTest.mouseClick(panel_of(pupil).results_button, Qt.MouseButton.LeftButton)
    dialog = pupil.window.findChild(QueueDialog)
    assert dialog is not None
    heads = [entry.patterns[0].head for entry in queue.entries]
    titles = [f"Seed {seed} · {head}" for seed, head in enumerate(heads)]
    pupil.wait_for(lambda: list(dialog.view.titles) == [*titles[:2], f"{titles[2]} · step 20"])
    assert dialog.step.text() == "step 40"
    dialog.place.setValue(11)  # only one of the three has recorded this step
    pupil.wait_for(lambda: list(dialog.view.titles) == titles)
    assert dialog.step.text() == "step 10"
    dialog.accept()


def _is_seen_whole(dialog: QueueDialog) -> bool:
    """Return whether all maps are in view at once, below the table."""
    area = next(each for each in dialog.findChildren(QScrollArea))
    return all(
        area.viewport()
        .rect()
        .contains(QRect(dialog.view.mapTo(area.viewport(), card.rect.topLeft()), card.rect.size()))
        for card in dialog.view.cards
    )


@pytest.mark.slow
def test_a_queue_stopped_in_the_middle_keeps_what_is_done_and_goes_on(pupil: Pupil) -> None:
    ask(pupil, "heads", tiny(steps=150))
    queue, panel = queue_of(pupil), panel_of(pupil)
    pupil.wait_for(lambda: queue.done == 1 and len(queue.runs) == 2 and queue.runs[1].step > 0)
    QTest.mouseClick(panel.go_button, Qt.MouseButton.LeftButton)
    assert not queue.alive
    assert panel.go_button.text() == "Go on"
    done, partly = queue.runs
    pupil.wait_for(lambda: not pupil.tools.keeper.busy)
    folder = pupil.tools.keeper.find_folder(partly)
    assert folder is not None
    assert load(folder).step == partly.step
    if not queue.entries[1].over:
        assert rows_of(panel)[1] == ("heads 2", f"stopped at {partly.step:,}")
    assert rows_of(panel)[2] == ("heads 4", "waiting")
    QTest.mouseClick(panel.go_button, Qt.MouseButton.LeftButton)
    wait_for_results(pupil)
    assert queue.runs[:2] == (done, partly)
    assert [run.step for run in queue.runs] == [150, 150, 150]
    assert len({pupil.tools.keeper.find_folder(run) for run in queue.runs}) == 3
    assert partly.steps.tolist() == list(range(150))  # each step once


@pytest.mark.slow
def test_a_question_shows_its_queue_with_the_focus_on_the_button_that_stops_it(pupil: Pupil) -> None:
    pupil.window.resize(1366, 768)
    ask(pupil, "seeds", tiny(steps=100_000))
    stop = panel_of(pupil).go_button
    assert stop.hasFocus()
    pupil.wait_for(lambda: stop.visibleRegion().boundingRect() == stop.rect())
    pupil.wait_for(lambda: queue_of(pupil).current is not None)
    QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
    pupil.wait_for(lambda: not queue_of(pupil).alive)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_handle_of_the_steps_stands_out_and_grows_with_the_type(pupil: Pupil, theme: str) -> None:
    slider, heights = QSlider(Qt.Orientation.Horizontal, pupil.window), []
    for type_size in (100, 175):
        pupil.window.change_settings(theme=theme, type_size=type_size)
        slider.resize(200, slider.sizeHint().height())
        image, accent = slider.grab().toImage(), QColor(palette_of(slider).accent)
        column = [image.pixelColor(6, y) for y in range(image.height())]
        heights.append(column.count(accent))
    assert heights[0] >= 12
    assert heights[1] > heights[0]


@pytest.mark.slow
def test_no_line_ends_between_a_setting_and_its_value(pupil: Pupil) -> None:
    ask(pupil, "heads", tiny())
    assert panel_of(pupil).told.text() == "Heads 1, 2, 4: 0 of 3 runs done, training heads\N{NO-BREAK SPACE}1."
    pupil.click(panel_of(pupil).go_button)


@pytest.mark.slow
def test_a_window_closed_with_a_queue_leaves_no_process_and_loses_nothing(pupil: Pupil) -> None:
    ask(pupil, "seeds", tiny(steps=100_000))
    queue = queue_of(pupil)
    pupil.wait_for(lambda: bool(queue.runs) and queue.runs[0].checkpoint is not None and queue.runs[0].step > 10)
    process = queue._trainee.process
    assert process is not None
    step = queue.runs[0].step
    pupil.window.close()
    assert not process.alive
    found = list_runs()
    assert len(found) == 1
    assert found[0].step >= step
    assert load(found[0].folder).checkpoint is not None


def queue_long_run(pupil: Pupil) -> None:
    """Queue three runs, of which the second goes on until it is stopped, and wait until it can be continued."""
    pupil.begin(tiny(steps=40))
    plan = [
        replace(planned, spec=tiny(steps=steps))
        for planned, steps in zip(vary(tiny(), "seed", (0, 1, 2)), (40, 100_000, 40), strict=True)
    ]
    queue = queue_of(pupil)
    queue.begin("Seeds 0 to 2", plan)
    pupil.wait_for(lambda: len(queue.runs) == 2 and queue.runs[1].checkpoint is not None and queue.runs[1].step > 20)


@pytest.mark.slow
def test_the_next_window_offers_what_waited_and_goes_on_with_it(pupil: Pupil, sit_down: Callable[..., Person]) -> None:
    queue_long_run(pupil)
    pupil.window.close()
    done, partly = queue_of(pupil).runs

    person = sit_down(remember=True)
    later = Pupil(person.window, person.qtbot)
    later.begin(tiny(steps=40))
    again, panel = queue_of(later), panel_of(later)
    later.wait_for(lambda: len(again.runs) == 2 and not again.measuring)
    assert "2 runs waited when the window was closed" in later.trainer.footer.message.text()
    assert "1 of 3 runs done, the others waited when the window was closed" in panel.told.text()
    assert [value for _, value in rows_of(panel)][1:] == [f"stopped at {partly.step:,}", "waiting"]
    assert again.runs[0].losses.tolist() == done.losses.tolist()
    assert not again.alive  # it goes on when it is told to
    QTest.mouseClick(panel.go_button, Qt.MouseButton.LeftButton)
    later.wait_for(lambda: again.runs[1].step > partly.step)
    QTest.mouseClick(panel.go_button, Qt.MouseButton.LeftButton)
    assert again.runs[1].losses[: partly.step].tolist() == partly.losses[: partly.step].tolist()
    later.wait_for(lambda: not later.tools.keeper.busy)
    assert len(list_runs()) == 2  # the run that was stopped has gone on in its own folder
    QTest.mouseClick(panel.clear_button, Qt.MouseButton.LeftButton)
    later.window.close()

    person = sit_down(remember=True)
    person.window.show_workspace("train")
    last = Pupil(person.window, person.qtbot)
    last.wait_for(lambda: not last.tools.keeper.busy)
    assert not queue_of(last).entries  # nothing waits


@pytest.mark.slow
def test_another_window_takes_no_queue_of_a_living_one(pupil: Pupil, sit_down: Callable[..., Person]) -> None:
    queue_long_run(pupil)
    pupil.wait_for(lambda: not pupil.tools.keeper.busy)
    assert queue_file.list_files()[0].is_file()
    person = sit_down(remember=True)
    other = Pupil(person.window, person.qtbot)
    other.begin(tiny())
    with person.qtbot.waitSignal(other.tools.keeper.listed):  # after the queue was looked for, in the same lane
        other.tools.keeper.refresh()
    assert not queue_of(other).entries
    queue_of(other).begin("Seed 7", [replace(vary(tiny(), "seed", (7,))[0], spec=tiny())])
    other.wait_for(lambda: queue_of(other).alive and not other.tools.keeper.busy)
    found = [queue_file.read(path).title for path in queue_file.list_files() if path.is_file()]
    assert found == ["Seeds 0 to 2", "Seed 7"]
    other.window.close()


@pytest.mark.slow
def test_a_killed_program_leaves_its_queue(sit_down: Callable[..., Person]) -> None:
    """Kill a whole program in the middle of its queue: the next window offers what waited, and trains it."""
    settings = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    child = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, env=settings)
    try:
        assert child.stdout is not None
        assert child.stdout.readline().split() == [b"trains"]
    finally:
        child.kill()
        child.communicate()
    person = sit_down(remember=True)
    person.window.show_workspace("train")
    later = Pupil(person.window, person.qtbot)
    later.wait_for(lambda: bool(queue_of(later).entries))
    later.wait_for(lambda: not any(entry.loading for entry in queue_of(later).entries))
    assert [entry.planned.name for entry in queue_of(later).entries] == ["seed 0", "seed 1"]
    assert "2 runs waited when the window was closed" in later.trainer.footer.message.text()
    queue_of(later).go_on()
    later.wait_for(lambda: queue_of(later).alive)
    queue_of(later).clear()


KILLED = """
from attnlab.ui.app.application import make_application
application = make_application()
from attnlab.training.questions import vary
from attnlab.ui.train.run_files import RunFiles
from attnlab.ui.train.run_queue import RunQueue
from attnlab.ui.train.train_session import TrainSession
from tests.ui.train.pupil import tiny

spec = tiny()
keeper = RunFiles(TrainSession(spec))
queue = RunQueue(keeper)
queue.changed.connect(lambda: print("trains", flush=True) if queue.runs[0].step > 0 and not keeper.busy else None)
queue.begin("Seeds 0 and 1", vary(spec, "seed", (0, 1)))
application.exec()
"""
"""A program with a queue of two endless runs, which says when it trains and the queue has been written."""


@pytest.mark.slow
def test_a_left_run_that_was_deleted_waits_again(pupil: Pupil, sit_down: Callable[..., Person]) -> None:
    ask(pupil, "seeds", tiny(steps=100_000))
    queue = queue_of(pupil)
    pupil.wait_for(lambda: bool(queue.runs) and queue.runs[0].checkpoint is not None and queue.runs[0].step > 10)
    pupil.window.close()
    delete(list_runs()[0].folder)
    person = sit_down(remember=True)
    later = Pupil(person.window, person.qtbot)
    later.begin(tiny(steps=100_000))
    panel = panel_of(later)
    later.wait_for(lambda: not any(entry.loading for entry in queue_of(later).entries))
    assert panel.problem.text().startswith("Seed 0 waits again. ")
    assert [value for _, value in rows_of(panel)] == ["waiting"] * 5
    QTest.mouseClick(panel.clear_button, Qt.MouseButton.LeftButton)
    assert not queue_of(later).entries


@pytest.mark.slow
def test_the_open_run_counts_if_it_is_one_of_those_asked_for(pupil: Pupil) -> None:
    spec = tiny(steps=30)
    pupil.begin(spec)
    pupil.train_to_the_end()
    mine = pupil.run
    pupil.wait_for(lambda: panel_of(pupil).questions["heads"].isEnabled())
    QTest.mouseClick(panel_of(pupil).questions["heads"], Qt.MouseButton.LeftButton)
    wait_for_results(pupil)
    assert queue_of(pupil).runs[1] is mine  # it has two heads


@pytest.mark.slow
def test_a_run_that_diverges_is_named_and_the_next_one_is_trained(pupil: Pupil) -> None:
    spec = tiny(steps=20)
    train = replace(spec.train, rate=1e30, clip=0.0, warmup=0, schedule="constant")
    ask(pupil, "rates", replace(spec, train=train))
    queue = queue_of(pupil)
    pupil.wait_for(lambda: queue.done == 3 and not queue.alive)
    for (_, value), entry in zip(rows_of(panel_of(pupil)), queue.entries, strict=True):
        assert entry.run is not None
        assert entry.run.sentence in panel_of(pupil)._cells[0][0].toolTip() or entry is not queue.entries[0]
        assert value.startswith("NaN at ")


def test_a_model_without_heads_is_not_asked_for_them(pupil: Pupil) -> None:
    pupil.begin(tiny("reverse", 30, "recurrent"))
    questions = panel_of(pupil).questions
    pupil.wait_for(lambda: questions["seeds"].isEnabled())
    assert not questions["heads"].isEnabled()
    assert questions["heads"].toolTip().endswith("has no heads")

"""Computing maps of many moments stops when they are no longer needed."""

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.training.head_effects import HeadEffects, measure_heads
from attnlab.training.look import Look
from attnlab.training.messages import Progress
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.training.tasks import make_spec
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.train.inspection import Inspection
from attnlab.ui.train.inspector import Inspector, Seen
from attnlab.ui.train.train_session import TrainSession
from tests.patience import PATIENCE_S
from tests.training.runs import tiny


class Waited(Mapping[str, NDArray[np.generic]]):
    """Weights that signal when they are read, and block reading until released."""

    def __init__(self, weights: Mapping[str, NDArray[np.generic]]) -> None:
        self._weights = weights
        self.read, self.let = threading.Event(), threading.Event()

    def __getitem__(self, name: str) -> NDArray[np.generic]:
        self.read.set()
        assert self.let.wait(PATIENCE_S)
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)


@pytest.mark.parametrize("wanted", ["course", "marks"])
def test_closing_waits_for_one_moment_and_not_for_all(qtbot: QtBot, wanted: str) -> None:
    spec, inspection = make_spec("reverse"), Inspection()
    weights = Waited(Inspector().make_first_weights(spec))
    moments = [Moment(step, weights, 1.0) for step in range(8)]
    seen: list[int] = []
    inspector = inspection.inspector
    viewer = inspector._find_viewer(spec)
    look = viewer.look

    def counted(step: int, *rest: Any, **options: bool) -> Look:
        seen.append(step)
        return look(step, *rest, **options)

    viewer.look = counted  # type: ignore[method-assign, assignment]
    probe = viewer.data.probe_text
    curve = np.arange(3), np.ones(3)
    jobs = {
        "course": lambda: inspector.compute_course(spec, moments, probe),
        "marks": lambda: inspector.suggest_marks(spec, moments, probe, curve),
    }
    inspection.worker.ask(wanted, jobs[wanted], print, print)
    assert weights.read.wait(PATIENCE_S)
    inspector.leave()
    weights.let.set()
    inspection.stop()
    assert inspection.worker.join(PATIENCE_S)
    assert seen == [0]


def test_results_for_another_run_are_dropped(qtbot: QtBot) -> None:
    inspection, told = Inspection(), list[object]()
    inspection.suggested.connect(lambda run, marks: told.append((run, marks)))
    runs = [Run(make_spec("reverse"), name) for name in ("one", "two")]
    inspection.probe = "a"
    inspection.follow(runs[1])
    inspection.worker.ask("marks", tuple, partial(inspection._take_marks, (runs[1], "a")), print)
    inspection.follow(runs[0])
    qtbot.waitUntil(lambda: not inspection.worker.has_job("marks"))
    assert told == []
    inspection.worker.ask("marks", tuple, partial(inspection._take_marks, (runs[0], "a")), print)
    qtbot.waitUntil(lambda: told == [(runs[0], ())])
    inspection.stop()


def test_the_course_of_a_long_run_covers_its_first_and_last_moment(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.ui.train.head_course.MOST", 3)
    inspection, run = Inspection(), Run(tiny(), "long")
    weights = inspection.inspector.make_first_weights(run.spec)
    for step in range(9):
        run.take(Progress(step, 0.0, (), (), weights, moment=True))
    inspection.probe = inspection.inspector.check(run.spec).probe
    inspection.follow(run)
    with qtbot.waitSignal(inspection.course.grown):
        inspection.course.fill()
    inspection.stop()
    steps, heads = inspection.course.make_lines()
    assert steps.tolist() == [0, 4, 8]
    assert heads.shape == (3, 3, 2)  # entropy and two patterns of two heads


def test_the_course_of_another_input_is_filled_though_that_of_the_one_before_has_begun(qtbot: QtBot) -> None:
    inspection, run = Inspection(), Run(tiny(), "read anew")
    for step in range(3):
        run.recorder.add(Moment(step, inspection.inspector.make_first_weights(run.spec), math.nan))
    viewer, begun, let = inspection.inspector._find_viewer(run.spec), threading.Event(), threading.Event()
    look = viewer.look

    def held(*given: Any, **options: bool) -> Look:
        begun.set()
        assert let.wait(PATIENCE_S)
        return look(*given, **options)

    viewer.look = held  # type: ignore[method-assign, assignment]
    inspection.follow(run)
    inspection.probe = viewer.data.probe_text
    inspection.course.fill()
    qtbot.waitUntil(begun.is_set)
    inspection.probe = inspection.probe[::-1]
    inspection.course.fill()
    with qtbot.waitSignal(inspection.course.grown):
        let.set()
    inspection.stop()
    assert list(inspection.course.rows) == [0, 1, 2]


def test_a_window_closed_before_the_first_maps_leaks_nothing(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = open_window()
    with qtbot.waitSignal(window.ready):
        window.load()
    QTest.keySequence(window, QKeySequence("Ctrl+3"))
    trainer = window.trainer
    assert trainer is not None
    window.close()
    assert trainer.session.inspection.worker.join(PATIENCE_S)
    assert not trainer.maps.view.data


def test_an_interrupted_course_has_its_moments_so_far(qtbot: QtBot) -> None:
    inspection, run = Inspection(), Run(tiny(), "left")
    first, *rest = (Moment(step, inspection.inspector.make_first_weights(run.spec), 1.0) for step in range(4))
    viewer = inspection.inspector._find_viewer(run.spec)
    look = viewer.look

    def closed_meanwhile(*given: Any, **options: bool) -> Look:
        inspection.stop()
        return look(*given, **options)

    viewer.look = closed_meanwhile  # type: ignore[method-assign, assignment]
    assert list(inspection.course._compute(run, [first, *rest], viewer.data.probe_text)) == [first]


def test_maps_do_not_wait_until_all_heads_are_measured(qtbot: QtBot) -> None:
    spec, inspection = make_spec("reverse"), Inspection()
    at = spec, 0, inspection.inspector.make_first_weights(spec)
    inspection.probe = inspection.inspector.check(spec).probe
    told: list[object] = []
    inspection.heads_measured.connect(lambda found, _: told.append(found))
    inspection.looked.connect(told.append)
    inspection.measure_heads(at)
    inspection.look(at)
    qtbot.waitUntil(lambda: len(told) == 2)
    inspection.stop()
    seen, effects = told
    assert isinstance(seen, Seen)
    assert isinstance(effects, HeadEffects)
    assert (len(effects.without), effects.missing) == (8, ())
    assert effects.without == measure_heads(inspection.inspector._find_viewer(spec), at[2], 0).without


def test_a_run_of_another_task_that_is_opened_at_once_is_shown_and_not_what_was_being_computed(qtbot: QtBot) -> None:
    session, copied = TrainSession(tiny(task="reverse")), tiny(task="copy")
    run = Run(copied, "copy")
    run.recorder.add(Moment(0, Inspector().make_first_weights(copied), math.nan))
    with qtbot.waitSignal(session.checked):  # the maps of the first task are requested
        pass
    seen: list[str] = []
    session.inspection.looked.connect(lambda found: seen.append(found.spec.task))
    session.open_run(run)
    qtbot.waitUntil(lambda: session.inspection.seen is not None and not session.inspection.busy)
    assert seen
    assert set(seen) == {"copy"}
    session.close()


def test_the_heads_of_the_newest_moment_are_measured_though_an_earlier_one_has_begun(qtbot: QtBot) -> None:
    spec, inspection = make_spec("reverse"), Inspection()
    weights = Inspector().make_first_weights(spec)
    earlier = Waited(weights)
    inspection.measure_heads((spec, 80, earlier))
    qtbot.waitUntil(earlier.read.is_set)
    inspection.measure_heads((spec, 120, weights))
    with qtbot.waitSignal(inspection.heads_measured) as measured:
        earlier.let.set()
    assert measured.args is not None
    assert measured.args[0].step == 120
    inspection.stop()

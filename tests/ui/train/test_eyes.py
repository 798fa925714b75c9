"""What looks: through many moments it goes only as long as somebody waits for it."""

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.training.messages import Progress
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.training.tasks import task_spec
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.train.eyes import Eyes
from attnlab.ui.train.looking import Looking
from tests.patience import PATIENCE_S
from tests.training.runs import tiny


class Waited(Mapping[str, NDArray[np.generic]]):
    """Weights that tell when they are read, and let nobody see them before they may be seen."""

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
def test_who_closes_waits_for_one_moment_and_not_for_all(qtbot: QtBot, wanted: str) -> None:
    spec, looking = task_spec("reverse"), Looking()
    weights = Waited(Eyes().first(spec))
    moments = [Moment(step, weights, 1.0) for step in range(8)]
    seen: list[int] = []
    eyes = looking.eyes
    viewer = eyes._of(spec)
    look = viewer.look

    def counted(step: int, *rest: object) -> object:
        seen.append(step)
        return look(step, *rest)  # type: ignore[arg-type]

    viewer.look = counted  # type: ignore[method-assign, assignment]
    probe = viewer.data.probe_text
    curve = np.arange(3), np.ones(3)
    jobs = {
        "course": lambda: eyes.course(spec, moments, probe),
        "marks": lambda: eyes.marks(spec, moments, probe, curve),
    }
    looking.worker.ask(wanted, jobs[wanted], print, print)
    assert weights.read.wait(PATIENCE_S)
    eyes.leave()
    weights.let.set()
    looking.stop()
    assert looking.worker.join(PATIENCE_S)
    assert seen == [0]


def test_what_was_found_for_another_run_is_dropped(qtbot: QtBot) -> None:
    looking, told = Looking(), list[object]()
    looking.suggested.connect(lambda run, marks: told.append((run, marks)))
    runs = [Run(task_spec("reverse"), name) for name in ("one", "two")]
    looking.probe = "a"
    looking.follow(runs[1])
    looking.worker.ask("marks", tuple, partial(looking._take_marks, (runs[1], "a")), print)
    looking.follow(runs[0])
    qtbot.waitUntil(lambda: not looking.worker.waits("marks"))
    assert told == []
    looking.worker.ask("marks", tuple, partial(looking._take_marks, (runs[0], "a")), print)
    qtbot.waitUntil(lambda: told == [(runs[0], ())])
    looking.stop()


def test_the_course_of_a_long_run_goes_from_its_first_moment_to_its_last(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.ui.train.looking.MOST_COURSE", 3)
    looking, run = Looking(), Run(tiny(), "long")
    weights = looking.eyes.first(run.spec)
    for step in range(9):
        run.take(Progress(step, 0.0, (), (), weights, moment=True))
    looking.probe = looking.eyes.check(run.spec).probe
    looking.follow(run)
    with qtbot.waitSignal(looking.course_grown):
        looking.fill_course()
    looking.stop()
    steps, heads = looking.course_lines()
    assert steps.tolist() == [0, 4, 8]
    assert heads.shape == (3, 2)


def test_a_window_that_is_closed_before_the_first_maps_leaves_nothing_behind(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = open_window()
    with qtbot.waitSignal(window.ready):
        window.load()
    QTest.keySequence(window, QKeySequence("Ctrl+3"))
    trainer = window.trainer
    assert trainer is not None
    window.close()
    assert trainer.session.looking.worker.join(PATIENCE_S)
    assert not trainer.maps.view.data


def test_a_course_that_is_left_halfway_has_the_moments_until_then(qtbot: QtBot) -> None:
    looking, run = Looking(), Run(tiny(), "left")
    first, *rest = (Moment(step, looking.eyes.first(run.spec), 1.0) for step in range(4))
    viewer = looking.eyes._of(run.spec)
    look = viewer.look

    def closed_meanwhile(*given: object) -> object:
        looking.stop()
        return look(*given)  # type: ignore[arg-type]

    viewer.look = closed_meanwhile  # type: ignore[method-assign, assignment]
    assert list(looking._course(run, [first, *rest], viewer.data.probe_text)) == [first]

"""Benchmark of training in the window: the cost of watching, the window's delays, stopping and scrubbing."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from attnlab.bench.measure import Case, collect_garbage_like_the_program, find_percentile, make_case, run_in_turns
from attnlab.bench.train import (
    ENDLESS,
    LATE_MS,
    PATIENCE_S,
    PICTURES,
    STOP_MS,
    STOPS,
    TASK,
    TURN_S,
    TURNS,
    Bare,
    make_run_spec,
)
from attnlab.bench.window import Driver, open_window, wait_until
from attnlab.training.messages import Ended, Failed
from attnlab.training.process import TrainingProcess
from attnlab.training.questions import QUESTIONS, Planned
from attnlab.training.tasks import make_spec
from attnlab.ui.base.guard import guarded
from attnlab.ui.train.run_queue import RunQueue
from attnlab.ui.train.train_tools import TrainTools
from attnlab.ui.train.train_workspace import TrainWorkspace
from attnlab.ui.workspaces.train import TRAIN

TICK_MS = 5
"""The interval of a timer in the window's thread, whose lateness is measured."""
MOVE_MS = 8
"""The time between two mouse moves along the time line."""
_LINE = "import sys; sys.path[:] = sys.argv[1:]; from attnlab.bench.train_window import serve; serve()"


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of a run trained and watched in the window.

    Raises:
        AttnlabError: training does not start or end.
    """
    turn_s, turns, stops = (0.3, 1, 1) if quick else (TURN_S, TURNS, STOPS)
    with watch() as watched:
        with start_bare_process() as bare:
            ours, baseline = run_in_turns(turns, lambda: watched.measure_steps_per_s(turn_s), lambda: bare(turn_s))
        yield make_case("train", f"window: {TASK}, steps", ours, baseline, "1/s", "ratio ≥ 0.9", rate=True)
        pictures = watched.pictures_per_s[1:]  # the first turn is discarded
        yield make_case("train", "window: pictures of the maps", pictures, [PICTURES], "1/s", "about 30", rate=True)
        for name, share in (("p50", 50), ("p99", 99), ("longest", 100)):
            late = find_percentile(watched.late_ms, share)
            target = f"ours < {LATE_MS:g}" if share == 99 else ""
            yield make_case("train", f"window: lateness of a timer, {name}", [late], [LATE_MS], "ms", target)
        found = [watched.measure_stop_ms() for _ in range(stops)]
        yield make_case("train", "window: stop, until it is reported", found, [STOP_MS], "ms", f"p95 < {STOP_MS:g}")
        scrubbed = [watched.measure_scrubbed_per_s(turn_s) for _ in range(turns)]
        yield make_case("train", "window: scrubbing, pictures", scrubbed, [PICTURES], "1/s", "ours ≥ 30", rate=True)
        plan = QUESTIONS["seeds"].plan(make_run_spec(20) if quick else make_spec(TASK))
        alone = train_alone(plan)
        queued = watched.measure_queue_s(plan)
        yield make_case("train", f"window: queue of {len(plan)} runs", [queued], [alone], "s", "≤ 1.1 × the runs alone")


@guarded
class Watched(QObject):
    """The default run in the window's workspace; it is paused between measurements."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver)
        self.pictures_per_s: list[float] = []
        self.late_ms: list[float] = []
        driver.window.show_workspace(TRAIN.name)
        assert driver.window.trainer is not None
        self.workspace: TrainWorkspace = driver.window.trainer
        self.session, self._view = self.workspace.session, self.workspace.maps.view
        self._painted, self._pictures, self._before = self._view.data, 0, 0.0
        self._view.installEventFilter(self)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_time)
        self._timer.start(TICK_MS)
        self.session.set_spec(make_run_spec(ENDLESS))
        wait_until(lambda: self.session.can_start)
        self._go()
        self._pause()

    def measure_steps_per_s(self, seconds: float) -> float:
        """Return the steps per second while the maps are painted."""
        run = self.session.run
        assert run is not None
        self._before, begun, step, pictures = 0.0, time.perf_counter(), run.step, self._pictures
        self._go()
        wait_until(lambda: time.perf_counter() - begun >= seconds)
        self._pause()
        took = time.perf_counter() - begun
        self.pictures_per_s.append((self._pictures - pictures) / took)
        return (run.step - step) / took

    def measure_stop_ms(self) -> float:
        """Return the time from pressing Stop until the process has ended and the window shows it."""
        self._go()
        begun = time.perf_counter()
        self.workspace.header.stop.click()
        wait_until(lambda: not self.session.alive)
        return (time.perf_counter() - begun) * 1e3

    def measure_scrubbed_per_s(self, seconds: float) -> float:
        """Return the pictures per second while the time line is dragged back and forth."""
        line = self.workspace.footer.line
        pictures, begun = self._pictures, time.perf_counter()
        self._press(QEvent.Type.MouseButtonPress, 0.0)
        while (passed := time.perf_counter() - begun) < seconds:
            share = passed / seconds * 2 % 2
            self._press(QEvent.Type.MouseMove, line.width() * (share if share < 1 else 2 - share))
            wait_until(partial(_is_past, time.perf_counter() + MOVE_MS / 1e3))
        self._press(QEvent.Type.MouseButtonRelease, 0.0)
        return (self._pictures - pictures) / (time.perf_counter() - begun)

    def measure_queue_s(self, plan: Sequence[Planned]) -> float:
        """Return the time that the window's queue takes for a plan, until its last run is over."""
        assert isinstance(self.workspace.tools, TrainTools)
        queue, begun = self.workspace.tools.queue, time.perf_counter()
        queue.begin("Bench", plan)
        for done in range(len(plan)):
            wait_until(partial(_is_further, queue, done))
        return time.perf_counter() - begun

    def _go(self) -> None:
        """Press the button until the run takes steps."""
        run, step = self.session.run, self.session.run.step if self.session.run is not None else 0
        self.workspace.header.main.click()
        wait_until(
            lambda: self.session.run is not None and self.session.state == "running" and self._has_moved(run, step)
        )

    def _has_moved(self, run: object, step: int) -> bool:
        now = self.session.run
        return now is not None and (now is not run or now.step != step) and now.step > 0

    def _pause(self) -> None:
        self.workspace.header.main.click()
        wait_until(lambda: self.session.state == "paused")

    def _press(self, kind: QEvent.Type, x: float) -> None:
        line = self.workspace.footer.line
        at, button = QPointF(x, line.height() / 2), Qt.MouseButton.LeftButton
        held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else button
        now = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else button
        event = QMouseEvent(kind, at, line.mapToGlobal(at), now, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(line, event)

    def _on_time(self) -> None:
        now = time.perf_counter()
        if self._before and self.session.state == "running":
            self.late_ms.append(max(0.0, (now - self._before) * 1e3 - TICK_MS))
        self._before = now

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._view.data is not self._painted:
            self._painted = self._view.data
            self._pictures += 1
        return False


def train_alone(plan: Sequence[Planned]) -> float:
    """Return the time that the runs of a plan take one after the other, each in a process of its own, unwatched."""
    begun = time.perf_counter()
    for planned in plan:
        process = TrainingProcess(planned.spec, interval=planned.spec.train.steps)
        process.start()
        while not any(isinstance(message, Ended | Failed) for message in process.poll(PATIENCE_S)):
            pass
        process.stop()
    return time.perf_counter() - begun


@contextmanager
def watch() -> Iterator[Watched]:
    """Open the window with the default run, paused, and remove everything afterwards."""
    with open_window() as driver, collect_garbage_like_the_program(driver.window):
        yield Watched(driver)


@contextmanager
def start_bare_process() -> Iterator[Callable[[float], float]]:
    """Return a function that measures the bare loop's steps per second in a separate process."""
    command = [sys.executable, "-c", _LINE, *sys.path]
    with ExitStack() as stack:
        bare = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        assert bare.stdin is not None
        assert bare.stdout is not None
        asked, told = bare.stdin, bare.stdout

        def measure_steps_per_s(seconds: float) -> float:
            print(seconds, file=asked, flush=True)
            return float(told.readline())

        yield measure_steps_per_s


def serve() -> None:
    """Train for the seconds given in each input line, and print the steps per second."""
    import torch

    torch.set_num_threads(1)
    bare = Bare(make_run_spec(ENDLESS))
    for line in sys.stdin:
        print(bare.measure_steps_per_s(float(line)), flush=True)


def _is_further(queue: RunQueue, done: int) -> bool:
    return queue.done > done


def _is_past(end: float) -> bool:
    return time.perf_counter() >= end

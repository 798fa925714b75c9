"""Benchmark of a drag: 200 edits in a second; measures the time to the last picture and counts outdated pictures."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QEventLoop, Qt, QTimer

from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.bench.measure import Case, make_case
from attnlab.bench.notebook import Notebook
from attnlab.bench.window import Driver, wait_until

EDITS, PERIOD_MS = 200, 5
AFTERWARDS_MS = 300
"""How long pictures are still counted after the last state is on screen."""


@dataclass(slots=True)
class Drag:
    """The result of one drag: milliseconds from the last edit to its picture, pictures painted, and outdated ones."""

    lag_ms: float = 0.0
    stale: int = 0
    pictures: list[int] = field(default_factory=list)


def measure_drags(driver: Driver, runs: int) -> Iterator[Case]:
    """Yield the cases of a drag in the window, compared with a notebook that skips the edits it cannot draw in time."""
    notebook = Notebook()
    notebook.draw_kept(driver.experiment)
    pairs = [(drag(driver), drag_notebook(driver, notebook)) for _ in range(runs)]
    ours, baseline = [mine for mine, _ in pairs], [other for _, other in pairs]
    lag, other_lag = ([each.lag_ms for each in way] for way in (ours, baseline))
    yield make_case("live", "drag, last edit to picture", lag, other_lag, "ms", "≤ 50 ms")
    stale, other_stale = ([float(sum(each.stale for each in way))] for way in (ours, baseline))
    yield make_case("live", "drag, stale pictures", stale, other_stale, "pictures", "0")
    drawn, other_drawn = ([float(len(each.pictures)) for each in way] for way in (ours, baseline))
    yield make_case("live", "drag, pictures in a second", drawn, other_drawn, "pictures", rate=True)


def drag(driver: Driver) -> Drag:
    """Make the edits in the window, each at its due time like a mouse; late ones follow at once."""
    numbers, seen = {id(driver.experiment): -1}, Drag()
    alive: list[Experiment] = []  # ids are unique while the objects exist
    made, start = 0, time.perf_counter()

    def on_timeout() -> None:
        nonlocal made
        due = min(EDITS, int((time.perf_counter() - start) * 1e3 / PERIOD_MS) + 1)
        while made < due:
            driver.edit(driver.choose_next_value())
            alive.append(driver.experiment)
            numbers[id(driver.experiment)] = made
            made += 1

    def on_painted() -> None:
        seen.pictures.append(numbers[id(driver.shown)])

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(PERIOD_MS)
    timer.timeout.connect(on_timeout)
    driver.painted.connect(on_painted)
    timer.start()
    wait_until(lambda: made == EDITS)
    timer.stop()
    seen.lag_ms = (driver.wait() - start) * 1e3 - (EDITS - 1) * PERIOD_MS
    _listen(AFTERWARDS_MS)
    driver.painted.disconnect(on_painted)
    seen.stale = sum(later < earlier for earlier, later in zip(seen.pictures, seen.pictures[1:], strict=False))
    driver.check()
    return seen


def drag_notebook(driver: Driver, notebook: Notebook) -> Drag:
    """Repeatedly draw the newest edit that is due, skipping earlier ones, until the last is drawn."""
    seen, before = Drag(), driver.experiment
    states: list[Callable[[], Experiment]] = []
    for _ in range(EDITS):
        states.append(partial(edits.set_block, before, "W_q", 0, 0, [[driver.choose_next_value()]]))
    start, drawn = time.perf_counter(), -1
    while drawn < EDITS - 1:
        due = min(EDITS - 1, int((time.perf_counter() - start) * 1e3 / PERIOD_MS))
        notebook.draw_kept(states[due]())
        seen.pictures.append(due)
        drawn = due
    seen.lag_ms = (time.perf_counter() - start) * 1e3 - (EDITS - 1) * PERIOD_MS
    return seen


def _listen(duration_ms: int) -> None:
    """Handle events for a while."""
    loop, timer = QEventLoop(), QTimer()
    timer.setSingleShot(True)
    timer.timeout.connect(loop.quit)
    timer.start(duration_ms)
    loop.exec()

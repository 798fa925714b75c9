"""Benchmark of presenting at 1920 × 1080: from a key to its picture, compared with matplotlib drawing the slide."""

import gc
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest

from attnlab.bench.measure import Case, collect_garbage_like_the_program, make_case
from attnlab.bench.notebook import require_matplotlib
from attnlab.bench.window import wait_until
from attnlab.compute.engine import compute

if TYPE_CHECKING:
    from attnlab.bench.window import Driver
    from attnlab.lessons.slides import Slide
    from attnlab.ui.present.present_window import PresentWindow

LESSON = "causal-masks"
SIZE = (1920, 1080)
DPI = 100
TARGET = "≤ 16.7 ms, p95 too"
BASELINES = 16
"""The number of slides the baseline draws; each takes about the same time."""


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of walking a lesson forward, back, and forward without pauses.

    Raises:
        AttnlabError: matplotlib is missing.
    """
    require_matplotlib()
    from attnlab.bench.window import open_window
    from attnlab.lessons.library import find
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.present.present_window import PresentWindow

    with open_window() as driver, collect_garbage_like_the_program(driver.window):
        player = LessonPlayer(driver.playground.document, driver.window)
        player.open(find(LESSON))
        presentation = PresentWindow(driver.playground, player, driver.window)
        walk = Walk(driver, presentation, 3 if quick else None)
        try:
            presentation.present(size=QSize(*SIZE))
            forward = walk.press_key(Qt.Key.Key_PageDown)
            baseline = [draw_in_notebook(slide) for slide in player.slides[: 1 if quick else BASELINES]]
            back = walk.press_key(Qt.Key.Key_PageUp)
            hurried = walk.press_key(Qt.Key.Key_PageDown, rest=False)
        finally:
            presentation.close()
            presentation.deleteLater()
        yield make_case("lesson", "forward, key to picture", forward, baseline, "ms", TARGET)
        yield make_case("lesson", "back, key to picture", back, baseline, "ms", TARGET)
        yield make_case("lesson", "forward without pauses", hurried, baseline, "ms", "")


class Walk:
    """Presses keys in the audience's window, and waits each time until the slide is completely painted."""

    def __init__(self, driver: "Driver", presentation: "PresentWindow", most: int | None) -> None:
        self._driver, self._presentation, self._most = driver, presentation, most
        self._painted_s = 0.0
        presentation.view.painted.connect(self._on_painted)

    def press_key(self, key: Qt.Key, *, rest: bool = True) -> list[float]:
        """Press a key until the lesson ends; return the milliseconds from each press to its picture.

        With a ``rest``, all background work is finished before the next key, as when a speaker pauses.
        """
        found: list[float] = []
        while self._can_go_on(key) and (self._most is None or len(found) < self._most):
            if rest:
                self._rest()
            self._painted_s = 0.0
            start = time.perf_counter()
            QTest.keyClick(self._presentation, key)
            wait_until(self._is_whole)
            found.append((self._painted_s - start) * 1e3)
        return found

    def _can_go_on(self, key: Qt.Key) -> bool:
        player = self._presentation.presenter.player
        return not player.at_start if key == Qt.Key.Key_PageUp else not player.at_end

    def _rest(self) -> None:
        wait_until(lambda: not self._driver.playground.lane.busy and not self._presentation.view.moving)
        self._driver.settle()
        self._driver.settle()

    def _is_whole(self) -> bool:
        """Whether the slide is painted completely, text and numbers."""
        shown = self._presentation.view.content
        return self._painted_s > 0 and shown is not None and (shown.main is not None or shown.whole)

    def _on_painted(self) -> None:
        content = self._presentation.view.content
        if content is not None and content is self._presentation.presenter.content:
            self._painted_s = time.perf_counter()


def draw_in_notebook(slide: "Slide") -> float:
    """Compute a slide's state and draw its map, numbers, labels and text with matplotlib; return milliseconds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    assert slide.experiment is not None
    start = time.perf_counter()
    values, (rows, columns) = _compute_numbers(slide)
    figure = Figure((SIZE[0] / DPI, SIZE[1] / DPI), DPI)
    FigureCanvasAgg(figure)
    figure.suptitle(slide.step.title, fontsize=32, x=0.05, y=0.95, ha="left")
    figure.text(0.05, 0.8, slide.step.text, fontsize=18, wrap=True, parse_math=False)
    axis = figure.add_axes((0.1, 0.08, 0.4, 0.6))
    axis.imshow(values)
    _write(axis, values, rows, columns)
    figure.canvas.draw()
    took_ms = (time.perf_counter() - start) * 1e3
    gc.collect()  # collect the garbage of figures outside the measurement
    return took_ms


def _compute_numbers(slide: "Slide") -> tuple[Any, tuple[tuple[str, ...], tuple[str, ...]]]:
    from attnlab.attention.axes import labels

    assert slide.experiment is not None
    trace = compute(slide.experiment)
    values = trace.array(slide.stage)
    values = values[0] if values.ndim == 3 else values
    axes = trace.stage(slide.stage).axes[-2:]
    rows, columns = (labels(slide.experiment, axis, n) for axis, n in zip(axes, values.shape, strict=True))
    return np.where(np.isfinite(values), values, np.nan), (rows, columns)


def _write(axis: Any, values: Any, rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
    axis.set_xticks(range(len(columns)), columns)
    axis.set_yticks(range(len(rows)), rows)
    for (row, column), value in np.ndenumerate(values):
        axis.text(column, row, f"{value:.2f}", ha="center", va="center")

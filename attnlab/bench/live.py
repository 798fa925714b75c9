"""Benchmark of edits: from an edit to its picture in the window, compared with a notebook; and a drag."""

import gc
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import TYPE_CHECKING

from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.bench.engine import make_experiment
from attnlab.bench.measure import Case, collect_garbage_like_the_program, make_case, run_in_turns
from attnlab.bench.notebook import Notebook, require_matplotlib

if TYPE_CHECKING:
    from attnlab.bench.window import Driver

SIZES = {6: 20, 16: 40, 64: 20, 128: 12, 256: 12}
"""Tokens: the number of rounds; each measures the window twice for each of the two baselines."""
MAIN, RESIZED, AGAIN = 16, 64, 20
DRAGS = 5
SWITCHES: tuple[tuple[str, tuple[object, object]], ...] = (
    ("causal", (False, True)),
    ("normalizer", ("softmax", "entmax15")),
    ("positions", ("none", "rope")),
)
"""Switches to toggle: one adds a card, one changes a card, one adds a row of cards."""
TARGETS = {"kept": "ratio ≥ 20, aim 40 and 16 ms; p95 ≤ 2 × ours", "new": "", "flip": "as an edit: ratio ≥ 20"}


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases for each sentence length, then those of a drag.

    Raises:
        AttnlabError: matplotlib is missing.
    """
    require_matplotlib()
    from attnlab.bench.drag import measure_drags
    from attnlab.bench.window import open_window

    with open_window() as driver, collect_garbage_like_the_program(driver.window):
        for tokens, rounds in SIZES.items():
            driver.open(make_experiment(tokens, causal=False))
            yield from _measure_edits(driver, tokens, 1 if quick else rounds)
        driver.open(make_experiment(MAIN, causal=False))
        yield from measure_drags(driver, 1 if quick else DRAGS)
        yield from _measure_resizing(driver, 1 if quick else AGAIN)
        yield from _measure_overview(1 if quick else AGAIN)
        for name, values in SWITCHES:
            driver.open(make_experiment(MAIN, causal=False))
            yield from _measure_switch(driver, name, values, 1 if quick else SIZES[MAIN] // 2)


def _measure_switch(driver: "Driver", name: str, values: tuple[object, object], rounds: int) -> Iterator[Case]:
    """Yield the time from a switch to its picture, compared with a notebook that redraws an existing figure: toggling,
    where cards reuse what they drew before, and switching to a state they have never shown."""
    notebook = Notebook()

    def flip() -> float:
        driver.settle()
        start = time.perf_counter()
        driver.flip(name, values)
        took_ms = (driver.wait() - start) * 1e3
        driver.check()
        return took_ms

    def flip_first() -> float:
        driver.forget()
        return flip()

    def redraw() -> float:
        start = time.perf_counter()
        notebook.draw_kept(driver.experiment)
        took_ms = (time.perf_counter() - start) * 1e3
        gc.collect()
        return took_ms

    for title, ours in (("flip", flip), ("first flip", flip_first)):
        mine, theirs = run_in_turns(rounds, ours, redraw)
        yield make_case("live", f"T={MAIN} {title} {name}", mine, theirs, "ms", TARGETS["flip"])


def _measure_resizing(driver: "Driver", rounds: int) -> Iterator[Case]:
    """Yield the time from a new size of the window to its picture, compared with a figure that is redrawn."""
    driver.open(make_experiment(RESIZED, causal=False))
    notebook, shares = Notebook(), cycle((0.98, 0.95, 0.97, 0.94, 0.96))
    notebook.draw_kept(driver.experiment)

    def resize() -> float:
        driver.settle()
        share = next(shares)
        start = time.perf_counter()
        driver.resize(round(1440 * share), round(900 * share))
        return (time.perf_counter() - start) * 1e3

    def redraw() -> float:
        start = time.perf_counter()
        notebook.draw_resized(next(shares))
        return (time.perf_counter() - start) * 1e3

    mine, theirs = run_in_turns(rounds, resize, redraw)
    yield make_case("live", f"T={RESIZED} resize the window", mine, theirs, "ms", "≤ 33 ms")


def _measure_overview(rounds: int) -> Iterator[Case]:
    """Yield the time to paint 72 maps of 512 tokens again in another size, compared with a figure of 72 images."""
    from attnlab.bench.overview import Overview

    overview = Overview()
    overview.paint()
    mine, theirs = run_in_turns(rounds, overview.time_painting, overview.time_figure)
    yield make_case("live", "72 maps of 512 tokens, again", mine, theirs, "ms", "≤ 100 ms")


def _measure_edits(driver: "Driver", tokens: int, rounds: int) -> Iterator[Case]:
    kept, new = Notebook(), Notebook()

    def edit() -> float:
        value = driver.choose_next_value()
        driver.settle()
        start = time.perf_counter()
        driver.edit(value)
        took_ms = (driver.wait() - start) * 1e3
        driver.check()
        return took_ms

    def time_notebook(draw: Callable[[Experiment], None]) -> Callable[[], float]:
        def run() -> float:
            value, before = driver.choose_next_value(), driver.experiment
            start = time.perf_counter()
            draw(edits.set_block(before, "W_q", 0, 0, [[value]]))
            took_ms = (time.perf_counter() - start) * 1e3
            gc.collect()  # collect the garbage of figures outside the measurement
            return took_ms

        return run

    first, kept_ms, second, new_ms = run_in_turns(
        rounds, edit, time_notebook(kept.draw_kept), edit, time_notebook(new.draw_new)
    )
    for name, baseline in (("kept", kept_ms), ("new", new_ms)):
        target = TARGETS[name] if tokens == MAIN else ""
        yield make_case("live", f"T={tokens} {name}", first + second, baseline, "ms", target)
    if tokens == MAIN:
        yield from _measure_explanation(driver, rounds)


def _measure_explanation(driver: "Driver", rounds: int) -> Iterator[Case]:
    """Yield the time from an edit until Explain, which follows the cards, is painted too."""
    notebook = Notebook()

    def edit() -> float:
        value = driver.choose_next_value()
        driver.settle()
        start = time.perf_counter()
        driver.edit(value)
        driver.wait_explained()
        return (time.perf_counter() - start) * 1e3

    def redraw() -> float:
        start = time.perf_counter()
        notebook.draw_kept(driver.experiment)
        return (time.perf_counter() - start) * 1e3

    mine, theirs = run_in_turns(rounds, edit, redraw)
    yield make_case("live", f"T={MAIN} with Explain", mine, theirs, "ms", TARGETS["kept"])

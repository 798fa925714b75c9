"""Benchmark of exports: a grid of 12 × 12 weight maps as PNG and SVG, compared with matplotlib; and a film."""

import io
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from PySide6.QtWidgets import QApplication

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.stages.trace import Trace
from attnlab.bench.measure import Case, make_case, run_in_turns
from attnlab.bench.notebook import require_matplotlib
from attnlab.compute.engine import compute
from attnlab.figures.panels.figure_file import encode_figure
from attnlab.figures.panels.figure_spec import MM_PER_INCH, WIDTH_MM, FigureSpec

SIDE, TOKENS, DPI = 12, 64, 300
SPEC = FigureSpec(("weights",), columns=SIDE, width_mm=170.0, height_mm=190.0, dpi=DPI, title="Weights of 144 heads")
TARGET_BYTES = 5_000_000
RUNS = 7
FRAMES, FPS, WIDTH_PX = 100, 25, 960


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield cases for the PNG's time and the SVG's size, both compared with matplotlib, and for a film unless quick."""
    require_matplotlib()
    app = QApplication.instance() or QApplication([])
    trace = compute(make_experiment())
    trace.array("weights")
    ours, baseline = run_in_turns(1 if quick else RUNS, lambda: _time_ours(trace), lambda: _time_baseline(trace))
    yield make_case("export", f"PNG, {SIDE}×{SIDE} maps of T={TOKENS}", ours, baseline, "ms", "ratio ≥ 3")
    sizes = [len(encode_figure(trace, SPEC, ".svg")) / 1e6], [len(draw_by_matplotlib(trace, "svg")) / 1e6]
    yield make_case("export", f"SVG, {SIDE}×{SIDE} maps of T={TOKENS}", *sizes, "MB", f"ours < {TARGET_BYTES / 1e6:g}")
    if not quick:
        yield measure_film()
    del app


def measure_film(frames: int = FRAMES) -> Case:
    """Return the time to write a temperature sweep as an MP4, compared with its playing time."""
    from attnlab.attention.examples.presets import preset
    from attnlab.figures.films.film_frame import make_film_spec
    from attnlab.lessons.sweep import make_sweep
    from attnlab.ui.base.slices import draw_now
    from attnlab.ui.export.filming import Filming, Scenario

    e = preset("journey")
    spec = make_film_spec(FigureSpec(("weights",)), WIDTH_PX, WIDTH_MM)
    scenario = Scenario(e, make_sweep(e, "temperature", 0.1, 4.0, frames), spec, FPS)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        draw_now(Filming(scenario, Path(folder) / "film.mp4").run_steps())
        took = (time.perf_counter() - start) * 1e3
    return make_case("export", f"MP4, {frames} frames", [took], [frames / FPS * 1e3], "ms", "ratio ≥ 1")


def make_experiment() -> Experiment:
    """Return a random layer of 144 heads over 64 tokens."""
    g = torch.Generator().manual_seed(0)
    heads = SIDE * SIDE
    X = torch.randn(TOKENS, 2 * heads, generator=g)
    weights = [torch.randn(2 * heads, 2 * heads, generator=g) / (2 * heads) ** 0.5 / 2 for _ in range(3)]
    return Experiment([f"token{i}" for i in range(TOKENS)], X, Weights(*weights), AttentionConfig(n_heads=heads))


def draw_by_matplotlib(trace: Trace, kind: str) -> bytes:
    """Draw the same grid with matplotlib: the same size, titles, tokens along the outer maps, and one scale."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    assert SPEC.width_mm is not None
    assert SPEC.height_mm is not None
    maps = trace.array("weights")
    figure = Figure((SPEC.width_mm / MM_PER_INCH, SPEC.height_mm / MM_PER_INCH), DPI, layout=None)
    FigureCanvasAgg(figure)
    grid = figure.subplots(SIDE, SIDE)
    tokens, places = trace.experiment.tokens, list(range(0, TOKENS, 16))
    names = [tokens[i] for i in places]
    for head, axis in enumerate(grid.flat):
        image = axis.imshow(maps[head], vmin=0, vmax=float(maps.max()), cmap="Purples")
        axis.set_title(f"{head}", fontsize=5, pad=1)
        line, place = divmod(head, SIDE)
        axis.set_xticks(places if line == SIDE - 1 else [], names if line == SIDE - 1 else [], rotation=90, fontsize=4)
        axis.set_yticks([] if place else places, [] if place else names, fontsize=4)
    figure.colorbar(image, ax=list(grid.flat), orientation="horizontal", fraction=0.02)
    figure.suptitle("Weights of 144 heads")
    data = io.BytesIO()
    figure.savefig(data, format=kind, dpi=DPI)
    return data.getvalue()


def _time_ours(trace: Trace) -> float:
    start = time.perf_counter()
    encode_figure(trace, SPEC, ".png")
    return (time.perf_counter() - start) * 1e3


def _time_baseline(trace: Trace) -> float:
    start = time.perf_counter()
    draw_by_matplotlib(trace, "png")
    return (time.perf_counter() - start) * 1e3

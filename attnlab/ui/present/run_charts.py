"""The curves of a recorded run beside the text of a step, up to the moment that it shows."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from attnlab.figures.slides.lens_content import Chart, ChartLine
from attnlab.figures.slides.slide_content import SlidePicture

if TYPE_CHECKING:
    from attnlab.lessons.recordings import Recorded
    from attnlab.lessons.slides import Slide

_TITLES = {"loss": "Loss", "right": "Held-out tokens correct"}
_ROLES = "attention", "query", "value", "key"


def make_charts(slide: "Slide", answered: bool) -> tuple[SlidePicture, ...]:
    """Return the charts that a step asks for; while its answer is open, up to the moment of the step before."""
    run, before = slide.recorded, slide.recorded_before
    if run is None:
        return ()
    told = before is not None and before.recording is run.recording and before.step < run.step
    end = before.step if told and before is not None and slide.step.has_answer and not answered else run.step
    curves = slide.step.curves or ()
    charts = [_make_chart(_TITLES[name], _list_lines(run, name, end), run, end) for name in curves if name in _TITLES]
    patterns = [name for name in curves if name not in _TITLES]
    if patterns:
        lines = [_make_score_line(run, name, end, role) for name, role in zip(patterns, _ROLES, strict=False)]
        charts.append(_make_chart("Best head’s score", lines, run, end))
    return tuple(charts)


def _list_lines(run: "Recorded", name: str, end: int) -> list[ChartLine]:
    state = run.recording.state
    metrics = [metric for metric in state.metrics if metric.step <= end]
    xs = tuple(float(metric.step) for metric in metrics)
    if name == "right":
        return [ChartLine("", xs, tuple(metric.right for metric in metrics), "value")]
    steps, losses = state.curve.steps, state.curve.losses
    trained = [(float(step), float(loss)) for step, loss in zip(steps, losses, strict=True) if step < end]
    return [
        ChartLine("training", tuple(x for x, _ in trained), tuple(y for _, y in trained), "query"),
        ChartLine("held-out", xs, tuple(metric.loss for metric in metrics), "attention"),
    ]


def _make_score_line(run: "Recorded", name: str, end: int, role: str) -> ChartLine:
    scores = [
        (float(step), run.recording.measure_scores(step, run.probe).get(name, math.nan))
        for step in run.recording.steps
        if step <= end
    ]
    return ChartLine(name, tuple(x for x, _ in scores), tuple(y for _, y in scores), role)


def _make_chart(title: str, lines: Sequence[ChartLine], run: "Recorded", end: int) -> SlidePicture:
    """Return a chart over the whole length of the run, with the last value of every curve in words."""
    last = run.recording.state.step
    kept = tuple(line for line in lines if line.xs and all(map(math.isfinite, line.ys)))
    ticks = tuple(last * part / 4 for part in range(5))
    named = tuple(replace(line, name=f"{line.name} {_format(line.ys[-1])}".strip()) for line in kept)
    chart = Chart(title, named, "steps", ticks, log_x=False, x_range=(0.0, float(last)))
    return SlidePicture(b"", f"{title} up to step {end:,}: {', '.join(line.name for line in named)}", chart)


def _format(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")

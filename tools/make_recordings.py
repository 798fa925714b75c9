"""Trains the runs that the lessons on training show, and keeps the moments at which their steps look.

    python -m tools.make_recordings [NAME …]

All take about a minute. The numbers may differ in the last digits on another processor, so the runs are in the
repository, beside the lessons; the texts of the lessons read every number from them.
"""

import shutil
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnlab.training import store
from attnlab.training.messages import Metric, Point
from attnlab.training.recorder import Moment
from attnlab.training.run import Curve, RunState
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import make_spec
from attnlab.training.trainer import Trainer

FOLDER = Path(__file__).parents[1] / "resources" / "lessons"


@dataclass(frozen=True, slots=True)
class Recording:
    """A run to train: the name of its folder and its title, its settings, and the steps whose weights are kept."""

    name: str
    title: str
    spec: RunSpec
    kept: tuple[int, ...]


def _set(task: str, options: dict[str, Any], model: dict[str, Any], train: dict[str, Any]) -> RunSpec:
    spec = make_spec(task)
    return replace(
        spec,
        options={**spec.options, **options},
        model=replace(spec.model, **model),
        train=replace(spec.train, **train),
    )


_ROWS = {"sequences": 24, "columns": 16}
_SMALL = {"d_model": 16, "heads": 2}
RECORDINGS = (
    Recording(
        "induction-forms",
        "Induction, seed 0",
        _set("induction", {}, {"d_model": 32}, {"rate": 0.004, "steps": 1000, "evaluate_every": 20}),
        (0, 100, 200, 240, 280, 320, 400, 1000),
    ),
    Recording(
        "by-heart",
        "24 rows, no positions",
        _set("sum", _ROWS, _SMALL, {"rate": 0.003, "steps": 600, "batch": 24, "evaluate_every": 10}),
        (0, 20, 60, 120, 600),
    ),
    Recording(
        "by-rule",
        "Fresh rows, with positions",
        _set(
            "sum",
            {**_ROWS, "fresh": True},
            {**_SMALL, "positions": "learned"},
            {"rate": 0.01, "steps": 600, "batch": 64, "evaluate_every": 10},
        ),
        (0, 60, 600),
    ),
)


def main(names: list[str]) -> int:
    """Train the runs with these names, or all of them."""
    torch.set_num_threads(1)
    for recording in RECORDINGS:
        if not names or recording.name in names:
            shutil.rmtree(FOLDER / recording.name, ignore_errors=True)
            store.save(record(recording), FOLDER / recording.name)
    return 0


def record(recording: Recording) -> RunState:
    """Return the trained run with its whole curve, and the weights of the kept steps."""
    trainer, start = Trainer(recording.spec), time.process_time()
    every, parameters = recording.spec.train.evaluate_every, sum(each.numel() for each in trainer.model.parameters())
    points: list[Point] = []
    metrics, moments = [trainer.evaluate()], []
    while True:
        if trainer.step in recording.kept:
            moments.append(_make_moment(trainer, points, metrics[-1]))
        if (end := trainer.find_end()) is not None:
            break
        points.append(trainer.take())
        if trainer.step % every == 0:
            metrics.append(trainer.evaluate())
    numbers = np.array([(point.step, point.loss, point.rate) for point in points])
    return RunState(
        spec=recording.spec,
        name=recording.title,
        status="ended",
        sentence=end.sentence,
        step=trainer.step,
        seconds=time.process_time() - start,
        parameters=parameters,
        trainable=parameters,
        device="cpu",
        interval=1,
        curve=Curve(numbers[:, 0].astype(np.int64), numbers[:, 1], numbers[:, 2]),
        metrics=tuple(metrics),
        moments=tuple(moments),
        marks=(),
        checkpoint=None,
    )


def _make_moment(trainer: Trainer, points: list[Point], metric: Metric) -> Moment:
    assert metric.step == trainer.step, "a moment is kept where the run was evaluated"
    return Moment(trainer.step, trainer.read_weights(), points[-1].loss if points else np.nan, metric)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

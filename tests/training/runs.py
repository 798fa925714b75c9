"""Tiny runs that the training tests share, and waiting for their messages."""

from dataclasses import replace

import numpy as np

from attnlab.training.marks import Mark
from attnlab.training.messages import Checkpoint, Ended, Failed, Message, Metric, Point, Progress, Started
from attnlab.training.process import TrainingProcess
from attnlab.training.run import Run
from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
from attnlab.training.tasks import make_spec
from tests.patience import PATIENCE_S


def tiny(steps: int = 12, task: str = "copy", **train: float | str) -> RunSpec:
    """Return a fast run: one layer of 16 numbers, batches of 4."""
    spec = make_spec(task)
    model = replace(spec.model, layers=1, heads=2, d_model=16, d_ff=16)
    return replace(spec, model=model, train=replace(TrainSpec(batch=4, steps=steps, evaluate_every=5), **train))


def all_of(process: TrainingProcess) -> list[Message]:
    """Return the messages to the last one."""
    found: list[Message] = []
    while not found or not isinstance(found[-1], Ended | Failed):
        came = process.poll(PATIENCE_S)
        assert came, f"nothing came after {found[-1:]}"
        found += came
    return found


def started(spec: RunSpec, **options: object) -> TrainingProcess:
    """Return a started process."""
    process = TrainingProcess(spec, **options)  # type: ignore[arg-type]
    process.start()
    return process


def wait_for(process: TrainingProcess, kind: type[Message]) -> list[Message]:
    """Return all messages up to the first of a kind."""
    found: list[Message] = []
    while not any(isinstance(message, kind) for message in found):
        came = process.poll(PATIENCE_S)
        assert came, f"no {kind.__name__} came after {found[-1:]}"
        found += came
    return found


def points(messages: list[Message]) -> list[Point]:
    """Return the points of all messages."""
    return [point for message in messages if isinstance(message, Progress) for point in message.points]


def made_up_run(moments: int = 3) -> Run:
    """Return an invented run of small round numbers."""
    run = Run(RunSpec("copy", {"longest": 8}, ModelSpec(), TrainSpec(steps=100)), "made up")
    run.take(Started(6, 6, "cpu"))
    for step in range(moments):
        weights = {"a.b": np.full((2, 2), step, np.float32), "c": np.array(0.5 + step, np.float32)}
        norms = (("embedding", 0.5), ("output", 0.25 * step)) if step else ()
        metric = Metric(step, 1.5 / (step + 1), 0.25, float("nan"), ((3, 0.5), (4, 0.0)), norms)
        done = (Point(step - 1, 2.0 - step, 0.001),) if step else ()
        run.take(Progress(step, 0.5 * step, done, (metric,), weights, moment=True))
    last = moments - 1
    state = {"model/a.b": np.ones((2, 2), np.float32), "random 0": np.arange(5, dtype=np.uint8), "n": np.array(3)}
    run.take(Checkpoint(last, 0.5 * last, state))
    run.mark(Mark(1, "here it begins"))
    return run

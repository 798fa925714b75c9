"""Benchmark of the answers to a probe: what they add to a picture of a model in training."""

import statistics
import time
from collections.abc import Iterator

from attnlab.bench.measure import Case, make_case
from attnlab.training import tasks
from attnlab.training.answers import read_answer
from attnlab.training.look import Viewer
from attnlab.training.trainer import Trainer

PICTURE_MS, SHARE = 1e3 / 30, 0.1
"""The time of a picture, and the share of it that the answers may take."""
STEPS, EVERY = 400, 2
"""Steps of training, and steps from one picture to the next."""


def measure_answers(quick: bool = False) -> Iterator[Case]:
    """Yield the mean time of the answers, for a short answer and for the longest that a model writes itself."""
    for task in ("reverse", "dates"):
        found = list(_train(task, 4 if quick else STEPS))
        mean = statistics.fmean(found)
        limit = PICTURE_MS * SHARE
        yield make_case("train", f"answers to the probe, {task}", [mean], [limit], "ms", f"ours ≤ {limit:.1f}")


def _train(task: str, steps: int) -> Iterator[float]:
    """Train a model and yield the milliseconds that the answers take in each picture."""
    trainer = Trainer(tasks.make_spec(task))
    viewer = Viewer(trainer.spec, trainer.data)
    probe = trainer.data.probe_text
    batch = trainer.data.make_probe(probe)
    while trainer.step < steps:
        if trainer.step % EVERY == 0:
            weights = trainer.read_weights()
            viewer.look(trainer.step, weights, probe, write=False)  # the first picture after a step takes longer
            begun = time.perf_counter()
            viewer.look(trainer.step, weights, probe)
            seen = time.perf_counter()
            viewer.look(trainer.step, weights, probe, write=False)
            unwritten = time.perf_counter()
            outputs = viewer.model(batch)
            computed = time.perf_counter()
            read_answer(viewer.model, viewer.data, batch, outputs.detach(), None)
            writing = (seen - begun) - (unwritten - seen)
            yield 1e3 * (writing + time.perf_counter() - computed)
        trainer.take()

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
START = 400
"""The first steps of a run, in which a model still writes much that is wrong, so that its answers take longest."""
EVERY, LATER = 2, 10
"""Steps from one picture to the next, in the first steps and after them."""


def measure_answers(quick: bool = False) -> Iterator[Case]:
    """Yield the mean time of the answers, for a short answer and for the longest that a model writes itself.

    The mean is that of a whole run with the task's own number of steps, and that of its first steps.
    """
    limit = PICTURE_MS * SHARE
    for task in ("reverse", "dates"):
        times = dict(_train(task, LATER if quick else tasks.make_spec(task).train.steps))
        first = {step: taken for step, taken in times.items() if step < START}
        for name, found in ((task, times), (f"{task}, first {START} steps", first)):
            mean = statistics.fmean(found.values(), weights=map(_steps_to_next, found))
            yield make_case("train", f"answers to the input, {name}", [mean], [limit], "ms", f"ours ≤ {limit:.1f}")


def _steps_to_next(step: int) -> int:
    """Return the number of steps from a picture to the next."""
    return EVERY if step < START else LATER


def _train(task: str, steps: int) -> Iterator[tuple[int, float]]:
    """Train a model and yield the step of each picture, and the milliseconds that the answers take in it."""
    trainer = Trainer(tasks.make_spec(task))
    viewer = Viewer(trainer.spec, trainer.data)
    probe = trainer.data.probe_text
    batch = trainer.data.make_probe(probe)
    while trainer.step < steps:
        if trainer.step % _steps_to_next(trainer.step) == 0:
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
            yield trainer.step, 1e3 * (writing + time.perf_counter() - computed)
        trainer.take()

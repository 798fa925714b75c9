"""Benchmark of watched training, compared with a bare PyTorch loop; of stopping, recording and scrubbing."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch.nn import functional as F

from attnlab.base.errors import TrainingError
from attnlab.bench.measure import Case, make_case, run_in_turns
from attnlab.bench.train_answers import measure_answers
from attnlab.training import models, tasks
from attnlab.training.batch import IGNORED, Batch
from attnlab.training.look import Viewer
from attnlab.training.messages import Ended, Failed, Interval, Message, Pause, Progress, Resume, Started, Want
from attnlab.training.optimizers import compute_rate
from attnlab.training.process import TrainingProcess
from attnlab.training.recorder import LIMIT
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.training.store import save

TASK, ENDLESS = "reverse", 10**6
TURN_S, TURNS = 4.0, 5
PICTURES = 30
"""The largest number of map pictures per second, as in the window."""
STOPS, RECORDED = 5, 10_000
STOP_MS, LATE_MS = 200.0, 33.0
PATIENCE_S = 300.0


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of a run that is watched without a window, then of one in the window.

    Raises:
        AttnlabError: the training failed.
    """
    from attnlab.bench import train_window

    yield from measure_process(quick)
    yield from train_window.run_cases(quick)


def measure_process(quick: bool = False) -> Iterator[Case]:
    """Yield the cases of a run without a window."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for both, as in the training process
    try:
        yield from measure_speed(0.3 if quick else TURN_S, 1 if quick else TURNS)
        yield measure_stop(1 if quick else STOPS)
        yield from measure_recording(40 if quick else RECORDED)
        yield from measure_answers(quick)
    finally:
        torch.set_num_threads(threads)


def measure_speed(turn_s: float, turns: int) -> Iterator[Case]:
    """Yield the steps per second of a run whose maps are computed 30 times a second, and the number of pictures."""
    spec = make_run_spec(ENDLESS)
    watched, bare = Watched(spec), Bare(spec)
    try:
        ours, baseline = run_in_turns(
            turns, lambda: watched.measure_steps_per_s(turn_s), lambda: bare.measure_steps_per_s(turn_s)
        )
    finally:
        watched.process.stop()
    yield make_case("train", f"{TASK}, steps", ours, baseline, "1/s", "ratio ≥ 0.9", rate=True)
    pictures = watched.pictures_per_s[1:]  # the first turn is discarded
    yield make_case("train", f"{TASK}, pictures", pictures, [PICTURES], "1/s", "about 30", rate=True)


def measure_stop(runs: int) -> Case:
    """Return the time until a training process has completely ended."""
    found = []
    for _ in range(runs):
        process = TrainingProcess(make_run_spec(ENDLESS))
        process.start()
        _wait_until(process, lambda message: isinstance(message, Progress) and message.step > 0)
        start = time.perf_counter()
        process.stop()
        found.append((time.perf_counter() - start) * 1e3)
    return make_case("train", "stop", found, [STOP_MS], "ms", f"p95 < {STOP_MS:g}")


def measure_recording(steps: int) -> Iterator[Case]:
    """Yield the memory of a recorded run, the scrubbing rate, and how long saving blocks the window."""
    run, most = record(steps)
    moments = f"{steps:,} steps, {len(run.recorder.moments)} moments"
    yield make_case("train", f"recording of {moments}", [most / 1e6], [LIMIT / 1e6], "MB", f"ours ≤ {LIMIT / 1e6:.0f}")
    viewer = Viewer(run.spec)
    probe = tasks.make_data(run.spec).probe_text
    looks = []
    for moment in run.recorder.moments:
        start = time.perf_counter()
        viewer.look(moment.step, moment.weights, probe)
        looks.append(1 / (time.perf_counter() - start))
    yield make_case("train", "scrubbing, moments shown", looks, [PICTURES], "1/s", "ours ≥ 30", rate=True)
    yield make_case(
        "train", "saving, longest hold-up", [measure_hold_up_ms(run)], [LATE_MS], "ms", f"ours < {LATE_MS:g}"
    )


def record(steps: int) -> tuple[Run, int]:
    """Return a run trained for a number of steps, and the peak bytes of its moments."""
    run, most = Run(make_run_spec(steps), TASK), 0
    process = TrainingProcess(run.spec, interval=run.recorder.interval)
    process.start()
    last: Message | None = None
    while not isinstance(last, Ended | Failed):
        for last in process.poll(1.0):
            if run.take(last) or isinstance(last, Started):
                process.send(Interval(run.recorder.interval))
            most = max(most, run.recorder.bytes)
    process.stop()
    return run, most


def measure_hold_up_ms(run: Run) -> float:
    """Return the longest time that another thread was blocked while a worker saved a run."""
    state = run.state()
    with TemporaryDirectory() as folder:
        worker = threading.Thread(target=save, args=(state, Path(folder)), name="saving")
        worker.start()
        worst, before = 0.0, time.perf_counter()
        while worker.is_alive():
            worker.join(0.001)  # long enough for work, short enough to notice blocking
            now = time.perf_counter()
            worst, before = max(worst, now - before - 0.001), now
    return worst * 1e3


class Watched:
    """A run in its process whose maps are computed as in the window, without painting."""

    def __init__(self, spec: RunSpec) -> None:
        self.pictures_per_s: list[float] = []
        self._viewer, self._probe = Viewer(spec), tasks.make_data(spec).probe_text
        self.process = TrainingProcess(spec, interval=ENDLESS)
        self.process.start()
        self.process.send(Pause())
        self._step = _wait_until(self.process, _is_paused).step

    def measure_steps_per_s(self, seconds: float) -> float:
        """Return the steps per second while maps are computed continuously, at most 30 times a second."""
        begun, looks, step = time.perf_counter(), 0, self._step
        self.process.send(Resume())
        self.process.send(Want())
        while (now := time.perf_counter()) - begun < seconds:
            for message in self.process.poll(begun + seconds - now):
                if isinstance(message, Progress) and message.weights is not None:
                    self._viewer.look(message.step, message.weights, self._probe)
                    looks += 1
                    self.process.send(Want())
        self.process.send(Pause())
        self._step = _wait_until(self.process, _is_paused).step
        took = time.perf_counter() - begun
        self.pictures_per_s.append(looks / took)
        return (self._step - step) / took


class Bare:
    """A plain training loop: the same model, examples and optimiser, and nothing else.

    It evaluates the held-out examples as often as the run.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec, self._data = spec.train, tasks.make_data(spec)
        torch.manual_seed(spec.train.seed)
        self._model = models.build(spec.model, self._data)
        self._generator = torch.Generator().manual_seed(spec.train.seed)
        self._optimizer = torch.optim.AdamW(self._model.parameters(), spec.train.rate, fused=True)
        self._steps = 0

    def measure_steps_per_s(self, seconds: float) -> float:
        """Return the steps per second."""
        begun, step = time.perf_counter(), self._steps
        while time.perf_counter() - begun < seconds:
            self._optimizer.param_groups[0]["lr"] = compute_rate(self._spec, self._steps)
            loss = self._compute_loss(self._data.draw_batch(self._generator, self._spec.batch))
            self._optimizer.zero_grad()
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._spec.clip)
            self._optimizer.step()
            self._steps += 1
            if self._steps % self._spec.evaluate_every == 0:
                self._model.eval()
                with torch.no_grad():
                    self._compute_loss(self._data.held_out).item()
                self._model.train()
        return (self._steps - step) / (time.perf_counter() - begun)

    def _compute_loss(self, batch: Batch) -> torch.Tensor:
        return F.cross_entropy(self._model(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED)


def make_run_spec(steps: int) -> RunSpec:
    """Return the settings of the measured run, for a number of steps."""
    spec = tasks.make_spec(TASK)
    return replace(spec, train=replace(spec.train, steps=steps))


def _is_paused(message: Message) -> bool:
    return isinstance(message, Progress) and message.paused


def _wait_until(process: TrainingProcess, right: Callable[[Message], bool]) -> Progress:
    """Return the first message of the expected kind.

    Raises:
        TrainingError: the run failed, or sent no message for too long.
    """
    while messages := process.poll(PATIENCE_S):
        for message in messages:
            if isinstance(message, Progress) and right(message):
                return message
            if isinstance(message, Failed):
                raise TrainingError(message.sentence)
    raise TrainingError("The training process does not respond.")

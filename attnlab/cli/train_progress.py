"""Follows a training run in a terminal: records its messages, saves it regularly, and shows progress on one line."""

import math
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from attnlab.base.console import INTERRUPTED, OK, USER_ERROR, refuse, say, warn, write
from attnlab.base.counted import format_percent
from attnlab.base.errors import FileError
from attnlab.training.marks import find_loss_drops
from attnlab.training.messages import Ended, Failed, Interval, Message, Started
from attnlab.training.process import TrainingProcess
from attnlab.training.run import Run
from attnlab.training.store import save

POLL_S, SAVE_S = 0.05, 30.0
LINE_S, QUIET_S = 0.1, 5.0
"""Seconds between lines of progress, on a terminal and elsewhere."""
STOP_S = 5.0
"""Seconds to wait for the current step after Ctrl+C."""
_SPEED_S = 5.0
_MEAN = 20


def follow(run: Run, process: TrainingProcess, folder: Path) -> int:
    """Train until the run ends, save it in a folder, print the path, and return the exit code.

    Raises:
        FileError: the run cannot be saved.
    """
    line = ProgressLine(run)
    process.start()
    try:
        last = _follow(run, process, folder, line)
        code = INTERRUPTED if last is None else OK
    finally:
        process.stop(0.0)
    if last is None:
        last = _process_messages(run, process)
    line.warn_if_unrecorded()
    line.end()
    for mark in find_loss_drops(run.steps, run.losses):
        run.mark(mark)
    save(run.state(), folder)
    say(f"{folder}\n")
    if isinstance(last, Failed) or (isinstance(last, Ended) and last.reason == "nan"):
        return refuse(last.sentence, USER_ERROR)
    if isinstance(last, Ended):
        warn(last.sentence)
    return code


def _follow(run: Run, process: TrainingProcess, folder: Path, line: "ProgressLine") -> Ended | Failed | None:
    """Process messages up to the last one, and return it; None after Ctrl+C, with messages left."""
    saver = _Saver(run, folder)
    try:
        while (last := _process_messages(run, process, POLL_S)) is None:
            saver.save_when_due(line)
            line.show()
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):  # a second Ctrl+C: save without waiting for the step
            process.stop(STOP_S)
        return None
    return last


def _process_messages(run: Run, process: TrainingProcess, wait: float = 0.0) -> Ended | Failed | None:
    """Process the messages received so far, and return the final message of the run if it is among them."""
    last: Message | None = None
    for last in process.poll(wait):
        if run.take(last) or isinstance(last, Started):
            process.send(Interval(run.recorder.interval))
    return last if isinstance(last, Ended | Failed) else None


class _Saver:
    """Saves a run regularly, so that little is lost if the machine is switched off."""

    def __init__(self, run: Run, folder: Path) -> None:
        self._run, self._folder = run, folder
        self._due = 0.0
        self._failed = ""

    def save_when_due(self, line: "ProgressLine") -> None:
        """Save if it is time to; a failure is reported once, and training continues.

        Raises:
            FileError: the first save failed.
        """
        if self._run.checkpoint is None or time.monotonic() < self._due:
            return
        first = self._due == 0.0
        try:
            save(self._run.state(), self._folder)
            self._failed = ""
        except FileError as error:
            if first:
                raise
            if not self._failed:
                line.end()
                refuse(f"{str(error).rstrip('.')}; training continues.", USER_ERROR)
            self._failed = str(error)
        self._due = time.monotonic() + SAVE_S


class ProgressLine:
    """The progress on standard error: one changing line on a terminal, otherwise a new line at intervals."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._terminal = sys.stderr.isatty()
        self._due = 0.0
        self._course: deque[tuple[float, int]] = deque()
        self._open = self._refused = False

    def show(self) -> None:
        """Print the progress, if it is time to."""
        now = time.monotonic()
        self.warn_if_unrecorded()
        if self._run.status != "running":
            return
        if not self._course and not self._terminal:
            self._due = now + QUIET_S
        self._course.append((now, self._run.step))
        while now - self._course[0][0] > _SPEED_S:
            self._course.popleft()
        if now < self._due:
            return
        self._due = now + (LINE_S if self._terminal else QUIET_S)
        text = format_progress(self._run, self._compute_speed())
        write(sys.stderr, f"\r{text}\x1b[K" if self._terminal else f"{text}\n")
        sys.stderr.flush()
        self._open = self._terminal

    def warn_if_unrecorded(self) -> None:
        """Say once that the model is too large to record."""
        if self._run.recorder.refused and not self._refused:
            self._refused = True
            self.end()
            warn(self._run.recorder.refused)

    def end(self) -> None:
        """End the progress line."""
        if self._open:
            write(sys.stderr, "\n")
        self._open = False

    def _compute_speed(self) -> float:
        (begun, first), (now, last) = self._course[0], self._course[-1]
        return (last - first) / (now - begun) if now > begun else 0.0


def format_progress(run: Run, speed: float) -> str:
    """Return the progress of a run as one line; ``speed`` is in steps per second, 0 if unknown."""
    steps = run.spec.train.steps
    parts = [f"step {run.step:,} of {steps:,}"]
    if len(run.losses):
        parts.append(f"loss {run.losses[-_MEAN:].mean():.3g}")
    if run.metrics:
        last = run.metrics[-1]
        right = math.isfinite(last.right)
        parts.append(f"held-out {format_percent(last.right)} right" if right else f"held-out loss {last.loss:.3g}")
    if speed > 0:
        parts += [f"{speed:,.0f} steps/s" if speed >= 10 else f"{speed:.1f} steps/s"]
        parts.append(f"{_format_time((steps - run.step) / speed)} left")
    return " · ".join(parts)


def _format_time(seconds: float) -> str:
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole // 60 % 60:02} min"

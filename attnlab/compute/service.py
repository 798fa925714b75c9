"""Computes beside the window: one long-lived thread, one waiting request, newest wins."""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PySide6.QtCore import QObject, Signal, Slot

from attnlab.attention.experiment import Experiment
from attnlab.attention.presence import source
from attnlab.attention.trace import Trace
from attnlab.compute.engine import check_size, compute
from attnlab.errors import AttnlabError
from attnlab.fault_log import report


@dataclass(frozen=True, slots=True)
class Request:
    """What to compute, where, in what, and which stages will be looked at (None: all), averaged over heads or not."""

    id: int
    experiment: Experiment
    device: str = "cpu"
    dtype: str = "float32"
    stages: frozenset[str] | None = None
    mean: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request. ``trace`` holds its stages as arrays already; None when ``error`` says why not.

    ``elapsed_ms`` is the time of the mathematics alone; ``row_sums`` the least and the largest sum of a row
    of the weights that mix the values, but for rows with nothing left to attend to.
    """

    request: Request
    trace: Trace | None
    elapsed_ms: float = 0.0
    warnings: tuple[str, ...] = ()
    empty_rows: tuple[tuple[int, int], ...] = ()
    row_sums: tuple[float, float] = (1.0, 1.0)
    error: str = ""

    @property
    def largest_gap(self) -> float:
        """How far the row sum furthest from 1 is off; NaN when a row sums to nothing that is a number."""
        return max(1 - self.row_sums[0], self.row_sums[1] - 1)


def answer(request: Request, stopped: Callable[[], bool] = lambda: False) -> Reply:
    """Compute a request; every error raised on purpose becomes the reply's sentence. Runs on any thread.

    ``stopped`` is asked before each stage; when it says so, the rest is left out.
    """
    try:
        start = time.perf_counter()
        check_size(request.experiment, request.dtype)
        trace = compute(request.experiment, request.device, request.dtype)
        for name in trace.all_stages:
            if stopped():
                return Reply(request, None, error="The computation was stopped.")
            trace[name]
        if trace.device.type == "cuda":
            torch.cuda.synchronize(trace.device)
        elapsed_ms = (time.perf_counter() - start) * 1e3
        for name in trace.all_stages if request.stages is None else request.stages.intersection(trace.all_stages):
            if stopped():
                return Reply(request, None, error="The computation was stopped.")
            trace.array(name)
            if trace.stage(name).has_heads and (request.mean or name == "weights"):  # whose mean is always shown
                trace.mean(name)
        empty = trace.empty_rows
        return Reply(request, trace, elapsed_ms, _warnings(trace), empty, _row_sums(trace, empty))
    except AttnlabError as error:
        return Reply(request, None, error=str(error))
    except (RuntimeError, MemoryError, NotImplementedError) as error:  # what torch says of a device that fails
        sentence = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Reply(request, None, error=f"{request.device} could not compute this in {request.dtype}: {sentence}")


def _answered(request: Request, stopped: Callable[[], bool]) -> Reply:
    """Answer a request, come what may: a fault of the program's own is told and logged too."""
    try:
        return answer(request, stopped)
    except Exception as error:  # noqa: BLE001  # the thread must outlive a fault: whoever waits would wait for ever
        return Reply(request, None, error=report(error, "computing").sentence)


def _warnings(trace: Trace) -> tuple[str, ...]:
    with np.errstate(all="ignore"):
        return trace.warnings


def _row_sums(trace: Trace, empty: tuple[tuple[int, int], ...]) -> tuple[float, float]:
    name = source(trace.experiment, "context")
    sums = trace[name].sum(-1, dtype=torch.float64 if trace.device.type != "mps" else None)
    for head, query in empty:
        sums[head, query] = 1
    return float(sums.min()), float(sums.max())


class ComputeService(QObject):
    """Owns the worker thread. ``request`` returns at once; the newest answer arrives as ``computed``."""

    computed = Signal(object)
    job_done = Signal(object, object)
    _reply_posted = Signal()
    _job_posted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wake = threading.Condition()
        self._waiting: Request | None = None
        self._jobs: deque[tuple[Hashable, Callable[[], Any]]] = deque()
        self._done: deque[tuple[Hashable, Any]] = deque()
        self._reply: Reply | None = None
        self._newest = self._pending = 0
        self._stopping = False
        self._reply_posted.connect(self._on_reply_posted)
        self._job_posted.connect(self._on_job_posted)
        self._thread = threading.Thread(target=self._work, name="attnlab-compute", daemon=False)
        self._thread.start()

    @property
    def newest(self) -> int:
        """The id of the newest request."""
        return self._newest

    def request(
        self, experiment: Experiment, device: str, dtype: str, stages: frozenset[str] | None, mean: bool
    ) -> int:
        """Ask for an experiment; a request that still waits is replaced. Returns the request's id."""
        self._newest += 1
        with self._wake:
            self._waiting = Request(self._newest, experiment, device, dtype, stages, mean)
            self._wake.notify()
        return self._newest

    def run(self, key: Hashable, job: Callable[[], Any]) -> None:
        """Run a job when no request waits; its result arrives as ``job_done(key, result)``, unless it raises."""
        with self._wake:
            self._jobs.append((key, job))
            self._pending += 1
            self._wake.notify()

    @property
    def busy(self) -> bool:
        """Whether a job waits or its result has not been announced yet."""
        with self._wake:
            return self._pending > 0

    def stop(self) -> None:
        """End the thread after what it is doing now; may be called twice."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not (self._stopping or self._waiting or self._jobs):
                    self._wake.wait()
                if self._stopping:
                    return
                request, self._waiting = self._waiting, None
                job = None if request is not None else self._jobs.popleft()
            if request is not None:
                self._post(_answered(request, lambda: self._stopping))
            elif job is not None:
                self._run(*job)

    def _run(self, key: Hashable, job: Callable[[], Any]) -> None:
        try:
            self._finish(key, job())
        except Exception as error:  # noqa: BLE001  # the thread must outlive a fault
            report(error, "working beside the window")
            with self._wake:
                self._pending -= 1

    def _post(self, reply: Reply) -> None:
        with self._wake:
            first, self._reply = self._reply is None, reply
        if first:
            self._reply_posted.emit()

    def _finish(self, key: Hashable, result: Any) -> None:
        with self._wake:
            self._done.append((key, result))
        self._job_posted.emit()

    @Slot()
    def _on_reply_posted(self) -> None:
        with self._wake:
            reply, self._reply = self._reply, None
        if reply is not None:  # one thread answers in order, so this one is newer than any shown before
            self.computed.emit(reply)

    @Slot()
    def _on_job_posted(self) -> None:
        with self._wake:
            key, result = self._done.popleft()
            self._pending -= 1
        self.job_done.emit(key, result)

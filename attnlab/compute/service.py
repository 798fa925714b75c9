"""Computes in the background: one long-lived thread and one waiting request, the newest. Jobs run between requests."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from PySide6.QtCore import QObject, Signal, Slot

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import AttnlabError
from attnlab.base.fault_log import report
from attnlab.compute.engine import check_size, compute, prepare

PATIENCE_S = 0.05
"""How long a running job may delay a request: most jobs end sooner, and users do not notice the delay."""
END_S = 1.0
"""How long to wait for the thread to end; a thread that is still computing ends with the process."""


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
    """Answer a request in every case; a fault of the program is reported and answered as well."""
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
    """Owns the compute thread. ``request`` returns at once; the newest answer arrives as ``computed``."""

    computed = Signal(object)
    _reply_posted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wake = threading.Condition()
        self._waiting: Request | None = None
        self._reply: Reply | None = None
        self._newest = 0
        self._computing = self._stopping = False
        self._jobs, self._patient_until = 0, 0.0
        self._reply_posted.connect(self._on_reply_posted)
        self._thread = threading.Thread(target=self._work, name="attnlab-compute", daemon=True)
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
            self._wake.notify_all()
        return self._newest

    @contextmanager
    def between(self) -> Iterator[None]:
        """Wait, in another thread, until no request is waiting or being computed; the body runs between requests.

        A request waits for the body, but at most ``PATIENCE_S``; then both run at the same time.
        """
        with self._wake:
            while (self._waiting is not None or self._computing) and not self._stopping:
                self._wake.wait()
            self._jobs += 1
            self._patient_until = time.monotonic() + PATIENCE_S
        prepare()  # a new thread inherits torch's last thread count, which a training may have set
        try:
            yield
        finally:
            with self._wake:
                self._jobs -= 1
                self._wake.notify_all()

    def stop(self) -> None:
        """End the thread after the stage that it is computing, and wait briefly for that; may be called twice."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join(END_S)

    def _work(self) -> None:
        while (request := self._next()) is not None:
            self._post(_answered(request, lambda: self._stopping))
            del request  # or it would stay in memory until the next one
            with self._wake:
                self._computing = False
                self._wake.notify_all()

    def _next(self) -> Request | None:
        """Wait for the next request; None when the thread should end."""
        with self._wake:
            while not self._stopping:
                left = self._patient_until - time.monotonic() if self._jobs else 0.0
                if self._waiting is not None and left <= 0:
                    request, self._waiting, self._computing = self._waiting, None, True
                    return request
                self._wake.wait(left if self._waiting is not None else None)
            return None

    def _post(self, reply: Reply) -> None:
        with self._wake:
            first, self._reply = self._reply is None, reply
            if first and not self._stopping:
                self._reply_posted.emit()

    @Slot()
    def _on_reply_posted(self) -> None:
        with self._wake:
            reply, self._reply = self._reply, None
        if reply is not None:  # one thread answers in order, so this one is newer than any shown before
            self.computed.emit(reply)

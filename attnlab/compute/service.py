"""Computes in one background thread with at most one waiting request, the newest. Jobs run between requests."""

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
"""The longest delay of a request by a running job: most jobs end sooner, and users do not notice this delay."""
END_S = 1.0
"""How long to wait for the thread to end; a thread that is still computing ends with the process."""


@dataclass(frozen=True, slots=True)
class Request:
    """An experiment, a device, a dtype, the stages that will be shown (None: all), and whether as means over heads."""

    id: int
    experiment: Experiment
    device: str = "cpu"
    dtype: str = "float32"
    stages: frozenset[str] | None = None
    mean: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a request. ``trace`` already holds its stages as arrays; None if ``error`` says what went wrong.

    ``elapsed_ms`` is the time of the computation alone. ``row_sums`` are the smallest and the largest row sum of the
    weights that mix the values, without rows that have no visible key.
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
        """The largest difference of a row sum from 1; NaN if a row sum is NaN."""
        return max(1 - self.row_sums[0], self.row_sums[1] - 1)


def answer(request: Request, stopped: Callable[[], bool] = lambda: False) -> Reply:
    """Return the reply to a request; an error raised on purpose becomes the reply's sentence. Runs in any thread.

    ``stopped`` is called before each stage; if it returns True, the remaining stages are not computed.
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
            if trace.stage(name).has_heads and (request.mean or name == "weights"):  # always shown
                trace.mean(name)
        empty = trace.empty_rows
        return Reply(request, trace, elapsed_ms, _warnings(trace), empty, _row_sums(trace, empty))
    except AttnlabError as error:
        return Reply(request, None, error=str(error))
    except (RuntimeError, MemoryError, NotImplementedError) as error:  # torch's errors if a device fails
        sentence = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Reply(request, None, error=f"{request.device} could not compute this in {request.dtype}: {sentence}")


def _answer_always(request: Request, stopped: Callable[[], bool]) -> Reply:
    """Return a reply to a request in every case; an unexpected error is reported and becomes the reply's error."""
    try:
        return answer(request, stopped)
    except Exception as error:  # noqa: BLE001  # the thread must survive, or the window would wait forever
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
    """Owns the compute thread. ``request`` returns at once; the signal ``computed`` brings the newest reply."""

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
        """Request the computation of an experiment, replacing a request that still waits; return the request's id."""
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
        """End the thread after the stage in progress, and wait briefly for it; may be called twice."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join(END_S)

    def _work(self) -> None:
        while (request := self._next()) is not None:
            self._post(_answer_always(request, lambda: self._stopping))
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

"""A lane: a thread that runs jobs one at a time and delivers their results in the window's thread."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol
from weakref import WeakSet, ref

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from attnlab.base.errors import AttnlabError
from attnlab.base.fault_log import report

LANES: "WeakSet[Lane]" = WeakSet()
"""All lanes, so that they can be ended with the program."""


class GivenUpError(Exception):
    """Raised within a job that was cancelled, to end it; never shown."""


class Job:
    """The handle of one call. Its references are dropped in the window's thread, as they may keep widgets alive."""

    def __init__(
        self,
        lane: "Lane",
        call: Callable[[], Any],
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        *,
        doing: str,
        kind: str = "",
        owner: QObject | None = None,
        on_end: Callable[["Job"], object] | None = None,
    ) -> None:
        self.kind, self.given_up = kind, threading.Event()
        self.over = threading.Event()
        self._lane, self._doing, self._owner = lane, doing, owner
        self._call: Callable[[], Any] | None = call
        self._on_done, self._on_failed, self._on_end = on_done, on_failed, on_end
        self._result: Any = None
        self._problem: str | None = None
        self._settled = False

    @property
    def done(self) -> bool:
        """Whether the job is over: its result was delivered, or it was cancelled."""
        return self._settled or self.given_up.is_set()

    def cancel(self) -> None:
        """Cancel the job: it does not begin, or its result is ignored."""
        self.given_up.set()
        self._on_done = self._on_failed = _tell_nobody
        if self._lane.drop(self):
            self.settle()

    def withdraw(self) -> bool:
        """Cancel the job if it has not begun; return whether it was cancelled."""
        waits = self._lane.drop(self)
        if waits:
            self.given_up.set()
            self.settle()
        return waits

    def wait(self, seconds: float | None) -> bool:
        """Wait for the end and deliver the results of this job and earlier ones of its lane; False if it takes longer.

        For the few places where the window may freeze for a moment. Call it in the window's thread.
        """
        if not self._settled and self.over.wait(seconds):
            while not self._settled:
                self._lane.tell_one()
        return self._settled

    def execute(self) -> None:
        """Run the call, in the lane's thread."""
        assert self._call is not None
        try:
            self._result = self._call()
        except AttnlabError as error:
            self._problem = str(error)
        except GivenUpError:
            self._problem = ""
        except BaseException as error:  # noqa: BLE001  # the caller waits for an answer to any error
            self.refuse(error)

    def refuse(self, error: BaseException) -> None:
        """Make the job fail with an unexpected error."""
        self._problem = report(error, self._doing).sentence

    def settle(self) -> None:
        """Deliver the result, once, and drop all references, in the window's thread."""
        if self._settled:
            return
        self._settled = True
        done, failed, ended, result, problem = self._on_done, self._on_failed, self._on_end, self._result, self._problem
        self._call = self._result = self._on_end = None
        self._on_done = self._on_failed = _tell_nobody
        if ended is not None:
            ended(self)
        if self.given_up.is_set() or (self._owner is not None and not isValid(self._owner)):
            return
        try:
            done(result) if problem is None else failed(problem)
        except Exception as error:  # noqa: BLE001  # a fault in one callback must not stop the results of other jobs
            report(error, self._doing)


class Order(Protocol):
    """Chooses the next job of a lane, where it is not the one that has waited longest."""

    def next(self, waiting: Sequence[Job]) -> tuple[Job | None, float | None]:
        """Return the next job; or None and the seconds after which to ask again."""

    def note(self, job: Job, seconds: float) -> None:
        """Record that a job has ended, and how long it took."""


class Lane:
    """A thread that runs jobs one at a time; it starts with the first job and ends with :meth:`close`.

    The lane closes with its ``owner``. Each job runs inside the context ``around``, which is entered before the job is
    chosen; ``order`` chooses among waiting jobs.
    """

    def __init__(
        self,
        name: str,
        owner: QObject | None = None,
        *,
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
        order: Order | None = None,
    ) -> None:
        self.name = name
        self._around, self._order = around, order
        self._wake = threading.Condition()
        self._waiting: list[Job] = []
        self._running: Job | None = None
        self._over: deque[Job] = deque()
        self._ending = False
        self._thread: threading.Thread | None = None
        LANES.add(self)
        if owner is not None:
            owner.destroyed.connect(partial(_close, ref(self)))

    @property
    def busy(self) -> bool:
        """Whether a job is waiting or running, or its result is still to be delivered."""
        with self._wake:
            return bool(self._waiting or self._running or self._over)

    @property
    def ending(self) -> bool:
        """Whether the lane accepts no more jobs."""
        return self._ending

    def add(self, job: Job) -> None:
        """Queue a job; it is cancelled if the lane has ended, and fails if no thread can be started."""
        with self._wake:
            ending = self._ending
            refusal = None if ending else self._begin()
            if not ending and refusal is None:
                self._waiting.append(job)
                self._wake.notify_all()
        if ending:
            job.cancel()
            job.settle()
        elif refusal is not None:
            job.refuse(refusal)
            self._leave(job)

    def _begin(self) -> RuntimeError | None:
        """Start the thread if there is none yet; return the error if the system refuses."""
        if self._thread is None:
            thread = threading.Thread(target=self._work, name=f"attnlab-{self.name}", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                return error
            self._thread = thread
        return None

    def drop(self, job: Job) -> bool:
        """Remove a job from the queue; return whether it was there."""
        with self._wake:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)
            return True

    def close(self) -> None:
        """Cancel every job without waiting. The thread ends after the job that is running."""
        with self._wake:
            begun = [*self._over, *([self._running] if self._running is not None else [])]
            waiting, self._waiting = self._waiting, []
        self.finish()
        for job in (*begun, *waiting):
            job.cancel()
        for job in waiting:
            job.settle()

    def finish(self) -> None:
        """Accept no more jobs; the thread ends once the queue is empty."""
        with self._wake:
            self._ending = True
            self._wake.notify_all()

    def join(self, seconds: float) -> bool:
        """Wait for the end of the thread of a lane that was closed or finished; return whether it has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    # In the thread

    def _work(self) -> None:
        while self._wait():
            with self._around():
                self._do_next()

    def _wait(self) -> bool:
        """Wait until a job can run; False when there will be none."""
        with self._wake:
            while not (self._ending and not self._waiting):
                job, seconds = self._turn()
                if job is not None:
                    return True
                self._wake.wait(seconds)
            return False

    def _turn(self) -> tuple[Job | None, float | None]:
        if not self._waiting:
            return None, None
        return self._order.next(self._waiting) if self._order is not None else (self._waiting[0], None)

    def _do_next(self) -> None:
        """Run one job; this thread keeps no reference to it afterwards."""
        with self._wake:
            job, _ = self._turn()
            if job is None:  # cancelled meanwhile
                return
            self._waiting.remove(job)
            self._running = job
        began = time.monotonic()
        job.execute()
        if self._order is not None:
            self._order.note(job, time.monotonic() - began)
        self._leave(job)

    def _leave(self, job: Job) -> None:
        """Deliver the result of a job that is over, in the window's thread."""
        with self._wake:
            self._running = None if self._running is job else self._running
            self._over.append(job)
        post(self.tell_one)
        job.over.set()  # last: a program that waited for it may end at once, and Qt with it

    # In the window's thread

    def tell_one(self) -> None:
        """Deliver the result of the next finished job."""
        with self._wake:
            job = self._over.popleft() if self._over else None
        if job is not None:
            job.settle()


def _close(lane: "ref[Lane]", *_: object) -> None:
    """Close a lane whose owner is destroyed. When both are garbage, Python may have emptied the lane before."""
    there = lane()
    if there is not None:
        there.close()


class _Post(QObject):
    """Calls functions from other threads in the thread in which it was created, the window's."""

    _left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._calls: deque[Callable[[], None]] = deque()
        self._left.connect(self._on_left, Qt.ConnectionType.QueuedConnection)

    def leave(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        try:
            self._left.emit()
        except RuntimeError:  # Qt is gone, and with it every receiver
            return

    @Slot()
    def _on_left(self) -> None:
        if self._calls:
            self._calls.popleft()()


_posts: list[_Post] = []


def prepare_post() -> None:
    """Create the object that delivers results in this thread, which must be the window's; once."""
    if not _posts:
        _posts.append(_Post())


def post(call: Callable[[], None]) -> None:
    """Call a function in the window's thread, from any thread."""
    _posts[0].leave(call)


def _tell_nobody(_: object) -> None:
    """Ignore a result."""

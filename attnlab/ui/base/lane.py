"""A lane: jobs done one after the other in a thread, and the way of what came of them into the window's thread."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol
from weakref import WeakSet

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from attnlab.errors import AttnlabError
from attnlab.fault_log import report

LANES: "WeakSet[Lane]" = WeakSet()
"""All that there are, for the end of the program."""


class GivenUpError(Exception):
    """Nobody waits for the job any more: raised within it, told to nobody."""


class Job:
    """The handle of one call. What it holds is let go in the window's thread, as widgets may hang on it."""

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
        """Whether the job is over: what came of it was told, or it was cancelled."""
        return self._settled or self.given_up.is_set()

    def cancel(self) -> None:
        """Give the job up: it does not begin, or nobody hears what comes of it."""
        self.given_up.set()
        self._on_done = self._on_failed = _tell_nobody
        if self._lane.drop(self):
            self.settle()

    def withdraw(self) -> bool:
        """Cancel the job if it has not begun; return whether it had not."""
        waits = self._lane.drop(self)
        if waits:
            self.given_up.set()
            self.settle()
        return waits

    def wait(self, seconds: float | None) -> bool:
        """Wait for the end, and tell what came of this job and those before it in its lane; False if it takes longer.

        For the few places where the window may stand still for a moment. Call it in the window's thread.
        """
        if not self._settled and self.over.wait(seconds):
            while not self._settled:
                self._lane.tell_one()
        return self._settled

    def execute(self) -> None:
        """Do it, in the lane's thread."""
        assert self._call is not None
        try:
            self._result = self._call()
        except AttnlabError as error:
            self._problem = str(error)
        except GivenUpError:
            self._problem = ""
        except BaseException as error:  # noqa: BLE001  # whatever it is, somebody waits for an answer
            self._problem = report(error, self._doing).sentence

    def settle(self) -> None:
        """Tell what came of it, once, and let go of everything, in the window's thread."""
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
        except Exception as error:  # noqa: BLE001  # a fault of one listener must not keep results from the others
            report(error, self._doing)


class Order(Protocol):
    """Which job of a lane goes next, where that is not the one that has waited longest."""

    def next(self, waiting: Sequence[Job]) -> tuple[Job | None, float | None]:
        """Return the job whose turn it is; or None, and after how many seconds to ask again."""

    def note(self, job: Job, seconds: float) -> None:
        """Take notice that a job has ended, and how long it took."""


class Lane:
    """Jobs that are done one after the other, in a thread that begins with the first and ends with :meth:`close`.

    It closes with its ``owner``. ``around`` is entered in the thread before a job is chosen, and left after it;
    ``order`` chooses among those that wait.
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
            owner.destroyed.connect(self.close)

    @property
    def busy(self) -> bool:
        """Whether a job waits, is being done, or what came of it is still to be told."""
        with self._wake:
            return bool(self._waiting or self._running or self._over)

    @property
    def ending(self) -> bool:
        """Whether no more jobs are taken."""
        return self._ending

    def add(self, job: Job) -> None:
        """Have a job done; after the end of the lane it is cancelled."""
        with self._wake:
            ending = self._ending
            if not ending:
                self._waiting.append(job)
                self._wake.notify_all()
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name=f"attnlab-{self.name}", daemon=True)
                    self._thread.start()
        if ending:
            job.cancel()
            job.settle()

    def drop(self, job: Job) -> bool:
        """Take a job out of those that wait; return whether it was among them."""
        with self._wake:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)
            return True

    def close(self, *_: object) -> None:
        """Cancel every job. The thread ends after what it is doing now; nobody waits for that."""
        with self._wake:
            begun = [*self._over, *([self._running] if self._running is not None else [])]
            waiting, self._waiting = self._waiting, []
        self.finish()
        for job in (*begun, *waiting):
            job.cancel()
        for job in waiting:
            job.settle()

    def finish(self) -> None:
        """Take no more jobs; the thread ends after those that wait."""
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
        """Wait for a job whose turn it is; False when there will be none."""
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
        """Do one job; in this thread nothing holds on to it afterwards."""
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
        with self._wake:
            self._running = None
            self._over.append(job)
        job.over.set()
        post(self.tell_one)

    # In the window's thread

    def tell_one(self) -> None:
        """Tell what came of the next job that is over."""
        with self._wake:
            job = self._over.popleft() if self._over else None
        if job is not None:
            job.settle()


class _Post(QObject):
    """Calls in the window's thread, in which it is made, what other threads leave for it."""

    _left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._calls: deque[Callable[[], None]] = deque()
        self._left.connect(self._on_left, Qt.ConnectionType.QueuedConnection)

    def leave(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        try:
            self._left.emit()
        except RuntimeError:  # Qt is gone, and with it everybody who waited
            return

    @Slot()
    def _on_left(self) -> None:
        if self._calls:
            self._calls.popleft()()


_posts: list[_Post] = []


def prepare_post() -> None:
    """Make what brings results into this thread, which is the window's, unless it is there."""
    if not _posts:
        _posts.append(_Post())


def post(call: Callable[[], None]) -> None:
    """Have something called in the window's thread; from any thread."""
    _posts[0].leave(call)


def _tell_nobody(_: object) -> None:
    """Let a result go."""

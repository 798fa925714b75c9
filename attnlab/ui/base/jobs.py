"""Background jobs: :func:`run` calls a function in a thread and delivers its result in the window's thread.

A job must not touch widgets. If it fails, a sentence that says why arrives instead of the result. An ``AttnlabError``
is such a sentence; any other error is also reported as a fault of the program. Drawing, which must happen in the
window's thread, uses :func:`attnlab.ui.base.slices.draw`.
"""

import threading
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

from PySide6.QtCore import QObject

from attnlab.ui.base.lane import LANES, GivenUpError, Job, Lane, Order, post, prepare_post

__all__ = ["GivenUpError", "Job", "Lane", "Order", "Progress", "leave", "run"]

T = TypeVar("T")

END_S, SAVE_S = 2.0, 30.0
"""How long the program waits at its end for jobs, and for jobs that are saving."""

_newest: dict[Hashable, Job] = {}


class Progress:
    """Counts the steps of a job and reports them in the window's thread."""

    def __init__(self, on_step: Callable[[int], object] | None = None) -> None:
        self.done = 0
        self.job: Job | None = None
        self._on_step, self._told = on_step, threading.Event()

    def step(self) -> None:
        """Count one more step.

        Raises:
            GivenUpError: the job was cancelled.
        """
        if self.job is not None and self.job.given_up.is_set():
            raise GivenUpError
        self.done += 1
        if self._on_step is not None and not self._told.is_set():  # the report under way includes this step
            self._told.set()
            post(self._tell)

    def _tell(self) -> None:
        self._told.clear()
        if self._on_step is not None and self.job is not None and not self.job.done:
            self._on_step(self.done)


def run(
    function: Callable[..., T],
    *arguments: object,
    on_done: Callable[[T], object],
    on_failed: Callable[[str], object],
    doing: str,
    latest: Hashable = None,
    progress: Callable[[int], object] | None = None,
    lane: Lane | None = None,
    kind: str = "",
    owner: QObject | None = None,
) -> Job:
    """Call ``function(*arguments)`` in a thread; return a handle that can cancel it. Call this in the window's thread.

    ``on_done`` is called with the result, or ``on_failed`` with one sentence, in the window's thread; ``doing``
    completes "Something went wrong inside attnlab while …". A job cancels an earlier one with the same ``latest``. With
    ``progress``, the function gets a :class:`Progress` as its first argument, and ``progress`` is called with the
    number of steps done.

    The jobs of a ``lane`` run one at a time, in order or as the lane's order chooses by ``kind``; without a lane, a job
    has its own thread. Neither function is called once the job's ``owner``, or the lane's, is gone.
    """
    prepare_post()
    way = lane if lane is not None else Lane("job")
    steps = Progress(progress) if progress is not None else None
    given = arguments if steps is None else (steps, *arguments)
    job = Job(
        way,
        lambda: function(*given),
        on_done,
        on_failed,
        doing=doing,
        kind=kind,
        owner=owner,
        on_end=_forget(latest),
    )
    if steps is not None:
        steps.job = job
    before = _newest.get(latest)
    if before is not None:
        before.cancel()
    if latest is not None:
        _newest[latest] = job
    way.add(job)
    if lane is None:
        way.finish()
    return job


def _forget(latest: Hashable) -> Callable[[Job], object]:
    def end(job: Job) -> None:
        if _newest.get(latest) is job:
            del _newest[latest]

    return end


def leave() -> bool:
    """End all lanes, let those that are saving finish, and wait for the threads; return whether they ended in time.

    For the end of the program, which must not wait for ever, lose a file being saved or interrupt torch.
    """
    begun = time.monotonic()
    lanes = list(LANES)
    saving = [lane for lane in lanes if lane.ending]
    for lane in lanes:
        if lane not in saving:
            lane.close()
    ended = [lane.join(max(0.0, begun + SAVE_S - time.monotonic())) for lane in saving]
    others = [lane.join(max(0.0, begun + END_S - time.monotonic())) for lane in lanes if lane not in saving]
    return all((*ended, *others))

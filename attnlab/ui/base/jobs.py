"""The one road for work beside the window: :func:`run` calls a function in a thread and brings back what came of it.

A job knows no widget. Its result, or the sentence that says why there is none, arrives in the window's thread. An
``AttnlabError`` is a sentence for the user; any other error is reported as a fault of the program, and told as well.
What has to be drawn in the window's thread is :func:`attnlab.ui.base.slices.draw`.
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
"""How long the end of the program waits for jobs, and for those that finish what they save."""

_newest: dict[Hashable, Job] = {}


class Progress:
    """How far a job is: counted by the job, told in the window's thread."""

    def __init__(self, on_step: Callable[[int], object] | None = None) -> None:
        self.done = 0
        self.job: Job | None = None
        self._on_step, self._told = on_step, threading.Event()

    def step(self) -> None:
        """Count one more step.

        Raises:
            GivenUpError: nobody waits for the job any more.
        """
        if self.job is not None and self.job.given_up.is_set():
            raise GivenUpError
        self.done += 1
        if self._on_step is not None and not self._told.is_set():  # what is on its way will tell this step too
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
    """Call ``function(*arguments)`` in a thread; call this in the window's. Returns the handle, by which to cancel it.

    ``on_done`` is called with the result, or ``on_failed`` with one sentence, in the window's thread; ``doing``
    completes "Something went wrong while …". A job cancels the one before it with the same ``latest``. With
    ``progress`` the function is given a :class:`Progress` first, and ``progress`` told how many steps are done.

    Jobs of one ``lane`` are done one after the other, or as its order chooses by their ``kind``; without a lane, a job
    has a thread to itself. Nobody hears of it once its ``owner``, or the lane's, is gone.
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
    """End all lanes, what they save included, and wait for the threads; return whether they have ended in time.

    For the end of the program, which must neither wait for ever, nor lose what is being saved, nor cut torch off.
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

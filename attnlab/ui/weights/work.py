"""Long work of a dialog: one thread beside the window, in which the newest job wins."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Generic, TypeVar

from PySide6.QtCore import QObject

from attnlab.errors import AttnlabError
from attnlab.ui.export.filming import waited
from attnlab.ui.predict.slices import Slices

T = TypeVar("T")


class GivenUpError(AttnlabError):
    """A job is no longer wanted; nobody hears of it."""


class Progress:
    """How far a job is, told by it and read by the window, and whether it is still wanted."""

    def __init__(self) -> None:
        self.done = 0
        self.given_up = Event()

    def step(self) -> None:
        """Count one more step.

        Raises:
            GivenUpError: nobody waits for the job any more.
        """
        if self.given_up.is_set():
            raise GivenUpError
        self.done += 1


class Work(Generic[T]):
    """Runs jobs in a thread; ``slices`` of its owner say how one ended. What a job returns is given to ``then``."""

    def __init__(self, owner: QObject) -> None:
        self.slices = Slices(owner)
        self.progress = Progress()
        self._pool = ThreadPoolExecutor(1)

    def start(self, job: Callable[[Progress], T], then: Callable[[T], object]) -> None:
        """Begin a job; one that is under way is given up, but may still read to the end of an array."""
        self.slices.start(self._run(job, then))

    def stop(self) -> None:
        """Give up for good, without waiting for what cannot be broken off."""
        self.slices.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Callable[[Progress], T], then: Callable[[T], object]) -> Iterator[None]:
        progress = self.progress = Progress()
        future = self._pool.submit(job, progress)
        try:
            result = yield from waited(future)
        finally:
            progress.given_up.set()
            future.cancel()
        then(result)

"""Work on the models of a training, beside the window: of each kind only the newest, the most urgent kind first."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject

from attnlab.ui.base.jobs import Job, Lane, run

T = TypeVar("T")

SHARE, REST_S = 0.2, 0.1
"""How much of the time patient work may take while other work comes, and after how many seconds none does any more."""


class Urgency:
    """The order of kinds, the most urgent first. Those that are patient hold up the others for a share of the time."""

    def __init__(self, kinds: tuple[str, ...], patient: tuple[str, ...]) -> None:
        self._kinds, self._patient = kinds, patient
        self._urgent_at = self._patient_from = 0.0

    def next(self, waiting: Sequence[Job]) -> tuple[Job | None, float | None]:
        """Return the job whose turn it is; or None, and in how many seconds that of what waits comes."""
        job = min(waiting, key=lambda job: self._kinds.index(job.kind))
        if job.kind not in self._patient:
            return job, None
        left = min(self._patient_from, self._urgent_at + REST_S) - time.monotonic()
        return (None, left) if left > 0 else (job, None)

    def note(self, job: Job, seconds: float) -> None:
        """Take notice that a job has ended, and how long it took."""
        now = time.monotonic()
        if job.kind in self._patient:
            self._patient_from = now + seconds * (1 / SHARE - 1)
        else:
            self._urgent_at = now


class Prepared:
    """Calls what prepares the thread before its first job."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        self._prepare, self._done = prepare, False

    def do(self, job: Callable[[], T]) -> T:
        """Do a job, in the thread."""
        if not self._done:
            self._prepare()
            self._done = True
        return job()


class Worker:
    """Does jobs in one thread. A newer one of a kind takes the place of one that waits, but not of one that is done.

    ``kinds`` are all kinds, the most urgent first, each with what is done in words: "computing the maps".
    """

    def __init__(
        self,
        kinds: dict[str, str],
        prepare: Callable[[], None],
        owner: QObject | None = None,
        patient: tuple[str, ...] = (),
    ) -> None:
        self._kinds = kinds
        self._prepared = Prepared(prepare)
        self._lane = Lane("train-view", owner, order=Urgency(tuple(kinds), patient))
        self._newest: dict[str, Job] = {}

    def ask(
        self, kind: str, job: Callable[[], T], on_done: Callable[[T], object], on_failed: Callable[[str], object]
    ) -> None:
        """Have a job done, and tell what came of it, or in a sentence why not."""
        before = self._newest.get(kind)
        if before is not None:
            before.withdraw()
        self._newest[kind] = run(
            partial(self._prepared.do, job),
            on_done=on_done,
            on_failed=on_failed,
            lane=self._lane,
            kind=kind,
            doing=self._kinds[kind],
        )

    def waits(self, kind: str) -> bool:
        """Whether a job of a kind waits, is being done, or its result is still to be told."""
        return kind in self._newest and not self._newest[kind].done

    def stop(self) -> None:
        """Do nothing more, and tell nobody; may be called twice. What is being done may go on for a while."""
        self._lane.close()

    def join(self, seconds: float) -> bool:
        """Wait for the end of the thread after :meth:`stop`; return whether it has ended."""
        return self._lane.join(seconds)

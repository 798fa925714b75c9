"""Background work on a training's models: only the newest job of each kind, the most urgent kind first."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject

from attnlab.ui.base.jobs import Job, Lane, run

T = TypeVar("T")

SHARE, REST_S = 0.2, 0.1
"""The largest share of the time for patient jobs while others come, and the seconds after which they get none."""


class Urgency:
    """Orders jobs by kind, the most urgent first. Patient kinds get only a share of the time, and take turns in it."""

    def __init__(self, kinds: tuple[str, ...], patient: tuple[str, ...]) -> None:
        self._kinds, self._patient = kinds, patient
        self._urgent_at = self._patient_from = 0.0
        self._ended = dict.fromkeys(patient, 0.0)

    def next(self, waiting: Sequence[Job]) -> tuple[Job | None, float | None]:
        """Return the next job; or None and the seconds until a waiting job may run."""
        job = min(waiting, key=lambda job: (self._ended.get(job.kind, -1.0), self._kinds.index(job.kind)))
        if job.kind not in self._patient:
            return job, None
        left = min(self._patient_from, self._urgent_at + REST_S) - time.monotonic()
        return (None, left) if left > 0 else (job, None)

    def note(self, job: Job, seconds: float) -> None:
        """Record that a job has ended, and how long it took."""
        now = time.monotonic()
        if job.kind in self._patient:
            self._patient_from = now + seconds * (1 / SHARE - 1)
            self._ended[job.kind] = now
        else:
            self._urgent_at = now


class Prepared:
    """Prepares the thread before its first job."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        self._prepare, self._done = prepare, False

    def do(self, job: Callable[[], T]) -> T:
        """Run a job, in the thread."""
        if not self._done:
            self._prepare()
            self._done = True
        return job()


class ModelWorker:
    """Runs jobs in one thread. A newer job replaces a waiting one of its kind, but not one that is running.

    ``kinds`` maps each kind, the most urgent first, to words for the user: "computing the maps".
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
        self,
        kind: str,
        job: Callable[[], T],
        on_done: Callable[[T], object],
        on_failed: Callable[[str], object],
        owner: QObject | None = None,
    ) -> None:
        """Queue a job and deliver its result, or a sentence that says why there is none, unless its owner is gone."""
        before = self._newest.get(kind)
        if before is not None:
            before.withdraw()
        self._newest[kind] = run(
            partial(self._prepared.do, job),
            on_done=on_done,
            on_failed=on_failed,
            lane=self._lane,
            owner=owner,
            kind=kind,
            doing=self._kinds[kind],
        )

    def has_job(self, kind: str) -> bool:
        """Whether a job of a kind waits, runs, or has a result to deliver."""
        return kind in self._newest and not self._newest[kind].done

    def stop(self) -> None:
        """Cancel all jobs; may be called twice. The running job may continue for a while."""
        self._lane.close()

    def join(self, seconds: float) -> bool:
        """Wait for the end of the thread after :meth:`stop`; return whether it has ended."""
        return self._lane.join(seconds)

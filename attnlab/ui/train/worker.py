"""A thread beside the window: of each kind of work only the newest request is done, in the order they are urgent."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.errors import AttnlabError
from attnlab.fault_log import report

SHARE, REST_S = 0.2, 0.1
"""How much of the time patient work may take while other work comes, and after how many seconds none does any more."""


class Refusal:
    """What comes instead of a result: one sentence."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


class Worker(QObject):
    """Owns the thread. ``ask`` returns at once; what came of it arrives as ``answered(kind, result)``.

    The result of work that cannot be done is a :class:`Refusal`. ``kinds`` are all kinds, the most urgent first;
    ``prepare`` is called by the thread before the first. Kinds that are ``patient`` hold up the others, of which many
    a second may come, for but a share of the time.
    """

    answered = Signal(str, object)
    _posted = Signal()

    def __init__(
        self,
        kinds: tuple[str, ...],
        prepare: Callable[[], None],
        parent: QObject | None = None,
        patient: tuple[str, ...] = (),
    ) -> None:
        super().__init__(parent)
        self._prepare = prepare
        self._kinds, self._patient = kinds, patient
        self._urgent_at = self._patient_from = 0.0
        self._wake = threading.Condition()
        self._waiting: dict[str, Callable[[], Any]] = {}
        self._done: deque[tuple[str, Any]] = deque()
        self._working = ""
        self._stopping = False
        self._posted.connect(self._on_posted)
        self._thread = threading.Thread(target=self._work, name="attnlab-train-view", daemon=False)
        self._thread.start()

    def ask(self, kind: str, job: Callable[[], Any]) -> None:
        """Have a job done; one of the same kind that still waits is forgotten."""
        assert kind in self._kinds
        with self._wake:
            self._waiting[kind] = job
            self._wake.notify()

    def waits(self, kind: str) -> bool:
        """Whether a job of a kind waits, is being done, or its result is still to be told."""
        with self._wake:
            return kind in self._waiting or kind == self._working or any(kind == each for each, _ in self._done)

    def forget(self) -> None:
        """Drop all that waits."""
        with self._wake:
            self._waiting.clear()

    def stop(self) -> None:
        """End the thread after what it is doing now; may be called twice."""
        with self._wake:
            self._stopping = True
            self._waiting.clear()
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        prepared = False
        while True:
            with self._wake:
                while not (self._stopping or (due := self._due())[0]):
                    self._wake.wait(due[1])
                if self._stopping:
                    return
                kind = due[0]
                job, self._working = self._waiting.pop(kind), kind
            if not prepared:
                self._prepare()
                prepared = True
            begun = time.monotonic()
            result = _answer(job)
            ended = time.monotonic()
            if kind in self._patient:
                self._patient_from = ended + (ended - begun) * (1 / SHARE - 1)
            else:
                self._urgent_at = ended
            with self._wake:
                self._done.append((kind, result))
                self._working = ""
            self._posted.emit()

    def _due(self) -> tuple[str, float | None]:
        """Return the kind whose turn it is; or "", and in how many seconds that of what waits comes."""
        kind = next((kind for kind in self._kinds if kind in self._waiting), "")
        if kind not in self._patient:
            return kind, None
        left = min(self._patient_from, self._urgent_at + REST_S) - time.monotonic()
        return ("", left) if left > 0 else (kind, None)

    @Slot()
    def _on_posted(self) -> None:
        with self._wake:
            kind, result = self._done.popleft()
        self.answered.emit(kind, result)


def _answer(job: Callable[[], Any]) -> Any:
    try:
        return job()
    except AttnlabError as error:
        return Refusal(str(error))
    except Exception as error:  # noqa: BLE001  # the thread must outlive a fault: whoever waits would wait for ever
        return Refusal(report(error, "preparing what Train shows").sentence)

"""Reads sessions in the background, so that the window stays responsive; the newest request wins."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.document.opened import Opened, open_session
from attnlab.ui.base.jobs import Job, run

PATIENCE_MS = 150
"""The delay before a message says that a file is being read; nearly all files take less."""


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """A session being opened; ``then`` is called once with whether it was opened, unless the window closes."""

    path: Path
    label: str
    then: Callable[[bool], object]
    saved: bool = True


class Reader(QObject):
    """Reads the requested session; a newer request replaces the current one."""

    ended = Signal(object, object, str)
    """An :class:`Opening` with the :class:`Opened` session, or with None and a reason ("" if replaced)."""
    delayed = Signal(object)
    """This :class:`Opening` is taking a while."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted: Opening | None = None
        self._job: Job | None = None
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(PATIENCE_MS)
        self._late.timeout.connect(self._on_late)

    @property
    def busy(self) -> bool:
        """Whether a requested file is being read."""
        return self._wanted is not None

    def read(self, opening: Opening) -> None:
        """Start reading."""
        before, self._wanted = self._wanted, opening
        self._late.start()
        self._job = run(
            open_session,
            opening.path,
            on_done=partial(self._end, opening),
            on_failed=partial(self._end, opening, None),
            latest=(self, "open"),
            owner=self,
            doing="opening a session",
        )
        if before is not None:
            self.ended.emit(before, None, "")

    def stop(self) -> None:
        """Cancel the reading without a result; may be called twice."""
        self._wanted = None
        self._late.stop()
        if self._job is not None:
            self._job.cancel()

    def _end(self, opening: Opening, opened: Opened | None, problem: str = "") -> None:
        self._wanted = None
        self._late.stop()
        self.ended.emit(opening, opened, problem)

    @Slot()
    def _on_late(self) -> None:
        if self._wanted is not None:
            self.delayed.emit(self._wanted)

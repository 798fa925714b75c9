"""Reads sessions in a thread, so that the window goes on while a large one is read; the newest wish wins."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.document.opened import Opened, read
from attnlab.errors import AttnlabError
from attnlab.files.atomic import shown

PATIENCE_MS = 150
"""After so long it is said that a file is being read; nearly all are there before."""


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """A session on its way into the window; ``then`` is told once whether it was opened, unless the window closes."""

    path: Path
    label: str
    then: Callable[[bool], object]
    saved: bool = True


class Reader(QObject):
    """Reads one file at a time. A wish that comes meanwhile takes the place of the one before it."""

    ended = Signal(object, object, str)
    """This :class:`Opening` is what was read, :class:`Opened`; or None, for this reason, "" where another one came."""
    delayed = Signal(object)
    """This :class:`Opening` takes a while."""
    _ended = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._thread: Thread | None = None
        self._wanted: Opening | None = None
        self._results: deque[tuple[Opening, Opened | None, str]] = deque()
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(PATIENCE_MS)
        self._late.timeout.connect(self._on_late)
        self._ended.connect(self._on_ended)

    @property
    def busy(self) -> bool:
        """Whether a file is being read that is still wanted."""
        return self._wanted is not None

    def read(self, opening: Opening) -> None:
        """Begin to read."""
        before, self._wanted = self._wanted, opening
        self._late.start()
        self._thread = Thread(target=self._read, args=(opening, self._thread), name="attnlab-open")
        self._thread.start()
        if before is not None:
            self.ended.emit(before, None, "")

    def stop(self) -> None:
        """Give up, and wait for the thread: nobody hears of what was being read. May be called twice."""
        self._wanted = None
        self._late.stop()
        if self._thread is not None:
            self._thread.join()

    def _read(self, opening: Opening, former: Thread | None) -> None:
        if former is not None:
            former.join()
        if opening is not self._wanted:
            return
        opened: Opened | None = None
        problem = f"{shown(opening.path)} was not opened: something went wrong inside attnlab."
        try:
            opened, problem = read(opening.path), ""
        except AttnlabError as error:
            problem = str(error)
        finally:  # after a fault of the program's own too: the window waits for an answer
            self._results.append((opening, opened, problem))
            self._ended.emit()

    @Slot()
    def _on_ended(self) -> None:
        while self._results:
            opening, opened, problem = self._results.popleft()
            if opening is self._wanted:
                self._wanted = None
                self._late.stop()
                self.ended.emit(opening, opened, problem)

    @Slot()
    def _on_late(self) -> None:
        if self._wanted is not None:
            self.delayed.emit(self._wanted)

"""Writes sessions in a thread, one after the other, so that the window goes on while a large one is written."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.document.history import Entry
from attnlab.errors import AttnlabError
from attnlab.files.session import Session, save_session

PATIENCE_S = 0.03
"""So long the window waits for a file: what is small is saved when the key comes up, what is large soon after."""


@dataclass(frozen=True, slots=True, eq=False)
class Saving:
    """A session on its way to a file, and the entry of the history that it is."""

    session: Session
    path: Path
    entry: Entry


class Saver(QObject):
    """Writes what it is given in the order that it came in, and tells what became of each."""

    ended = Signal(object, str)
    """This :class:`Saving` lies in its file, or does not, for this reason."""
    _written = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._thread: Thread | None = None
        self._results: deque[tuple[Saving, str]] = deque()
        self._written.connect(self._on_written)

    def save(self, saving: Saving) -> bool:
        """Begin to write; tell whether that has ended already."""
        self._thread = Thread(target=self._write, args=(saving, self._thread), name="attnlab-save")
        self._thread.start()
        self._thread.join(PATIENCE_S)
        running = self._thread.is_alive()
        self._on_written()
        return not running

    def finish(self) -> None:
        """Wait until all is written."""
        if self._thread is not None:
            self._thread.join()
        self._on_written()

    def _write(self, saving: Saving, former: Thread | None) -> None:
        problem = ""
        if former is not None:
            former.join()
        try:
            save_session(saving.session, saving.path)
        except AttnlabError as error:
            problem = str(error)
        self._results.append((saving, problem))
        self._written.emit()

    @Slot()
    def _on_written(self) -> None:
        while self._results:
            self.ended.emit(*self._results.popleft())

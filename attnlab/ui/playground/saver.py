"""Writes sessions one at a time in the background, so that the window stays responsive."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from attnlab.document.history import Entry
from attnlab.files.sessions.session_file import Session, save_session
from attnlab.ui.base.jobs import Job, Lane, run

PATIENCE_S = 0.03
"""So long the window waits for a file: what is small is saved when the key comes up, what is large soon after."""
LEAVE_S = 5.0
"""How long a closing window waits for a file, in seconds; the file is then written without the window."""


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

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lane = Lane("save")
        self._last: Job | None = None

    def save(self, saving: Saving) -> bool:
        """Start writing; return whether that has already ended."""
        self._last = run(
            save_session,
            saving.session,
            saving.path,
            on_done=partial(self._end, saving),
            on_failed=partial(self._end, saving, None),
            lane=self._lane,
            owner=self,
            doing="saving",
        )
        return self._last.wait(PATIENCE_S)

    def finish(self) -> bool:
        """Wait, for a limited time, until everything is written; return whether it is."""
        return self._last is None or self._last.wait(LEAVE_S)

    def stop(self) -> None:
        """Finish the saves under way and start no more, without waiting."""
        self._lane.finish()

    def _end(self, saving: Saving, _: object, problem: str = "") -> None:
        self.ended.emit(saving, problem)

"""Writes sessions one at a time in the background, so that the window stays responsive."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from attnlab.document.history import Entry
from attnlab.files.sessions.session_file import Session, save_session
from attnlab.ui.base.jobs import Job, Lane, run

PATIENCE_S = 0.03
"""How long the window waits for a file: small files are saved when the key is released, large ones soon after."""
LEAVE_S = 5.0
"""How long a closing window waits for a file, in seconds; after that it closes and the write goes on."""


@dataclass(frozen=True, slots=True, eq=False)
class Saving:
    """A session being written to a file, and its entry in the history."""

    session: Session
    path: Path
    entry: Entry


class Saver(QObject):
    """Writes sessions in the order given, and emits the result of each."""

    ended = Signal(object, str)
    """This :class:`Saving` was written, or failed for this reason."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lane = Lane("save")
        self._last: Job | None = None

    def save(self, saving: Saving) -> bool:
        """Start writing; return whether it has already finished."""
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
        """Finish the current saves and start no more, without waiting."""
        self._lane.finish()

    def _end(self, saving: Saving, _: object, problem: str = "") -> None:
        self.ended.emit(saving, problem)

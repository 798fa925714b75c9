"""Saves unsaved work beside the settings, so that closing the window or a power cut does not lose it."""

import contextlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, QTimer, Signal, Slot

from attnlab.document.settings import settings_path
from attnlab.files.atomic import format_name
from attnlab.files.sessions.session_file import Session, save_session
from attnlab.files.sessions.unsaved import FILE, Unsaved, UnsavedFolder
from attnlab.ui.base.jobs import Job, Lane, run
from attnlab.ui.base.locks import try_lock

if TYPE_CHECKING:
    from attnlab.document.document import View
    from attnlab.document.scene import Scene
    from attnlab.ui.playground.playground import Playground

WAIT_MS = 2000
LEAVE_S = 10.0
"""How long a closing window waits for its work to be saved, in seconds."""
MOST_WINDOWS = 8
"""The number of programs that each have a file of their own; further ones share the first program's file."""
OLD_NAME = "last.attnlab"
"""The file of the unsaved work in versions that had no list."""
NOTE = "Unsaved work from last time was kept: choose File, Restore the last unsaved work."
LABEL = "Restore unsaved work"


class Recovery(QObject):
    """Writes changes to ``current.attnlab``; sessions left there by earlier windows are listed as unsaved work."""

    written = Signal(str)
    """Unsaved work was written, or failed to be, for this reason."""

    def __init__(self, playground: "Playground") -> None:
        super().__init__(playground)
        self._playground = playground
        folder = settings_path().parent
        self._kept = UnsavedFolder(folder)
        before = self._kept.list_all()
        self._lock, self._current = _claim_file(folder, self._kept)
        self.news = self.list_all()[:1] != before[:1]
        """Whether the previous window left unsaved work."""
        self._restored: tuple[int, Path, Scene] | None = None  # its opening, its file, and the scene in the file
        self._left: Scene | None = None
        self._seen = _lasting(playground.document.view)
        self._complained = False
        self._lane = Lane("keep")
        self._writing: Job | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self._on_timeout)
        playground.document.history_changed.connect(self._on_history_changed)
        playground.document.view_changed.connect(self._on_view_changed)
        playground.files.save_failed.connect(self._on_save_failed)

    def list_all(self) -> tuple[Unsaved, ...]:
        """Return the unsaved work of earlier windows, newest first."""
        return self._kept.list_all()

    def restore(self, path: Path | None = None) -> None:
        """Open unsaved work, the newest by default, as one undoable step; its file remains until it is saved."""
        kept = self.list_all()
        if path is None and kept:
            path = kept[0].path
        if path is not None:
            self._playground.files.open_unsaved(path, LABEL, partial(self._on_restored, path))

    def _on_restored(self, path: Path, opened: bool) -> None:
        if opened:
            current = self._playground.document.history.current
            self._restored = current.opening, path, current.scene

    def keep(self) -> bool:
        """Write the open experiment if it is not saved, else remove the earlier file; False if writing fails."""
        self._timer.stop()
        self._playground.files.finish()
        if self._forget_saved():
            return True
        self._complained = False
        if not self._write().wait(LEAVE_S):
            self._complain(f"{format_name(self._current)} was not written within {LEAVE_S:g} seconds.")
        return not self._complained

    def may_close(self) -> bool:
        """Write the unsaved work and then stop; if that fails, show a message, and allow the next attempt to close."""
        document = self._playground.document
        if not self.keep() and self._left is not document.scene:
            self._left = document.scene
            more = "Save it elsewhere, or close again to leave without saving."
            self._playground.step_bar.show_message(f"{self._playground.step_bar.message} {more}")
            return False
        if self._restored is not None and document.scene is self._restored[2] and self._current.is_file():
            self._kept.remove(self._restored[1])  # the same work was just written again
        document.history_changed.disconnect(self._on_history_changed)
        document.view_changed.disconnect(self._on_view_changed)
        if self._lock is not None:
            self._lock.unlock()
        return True

    def stop(self) -> None:
        """Finish the write in progress and start no more, without waiting."""
        self._timer.stop()
        self._lane.finish()

    def _forget_saved(self) -> bool:
        """Remove files of work that has been saved; return whether nothing is left to write."""
        document = self._playground.document
        if self._restored is not None and document.ever_saved(self._restored[0]):
            self._kept.remove(self._restored[1])
            self._restored = None
        if not document.modified:
            if self._lane.busy:  # otherwise the write in progress would recreate the file
                run(_remove, self._current, on_done=_nothing, on_failed=_nothing, lane=self._lane, doing="cleaning up")
            else:
                _remove(self._current)
        return not document.modified

    def _session(self) -> Session:
        """Return the open session with the file it belongs to: recovered work is saved there again."""
        session, path = self._playground.files.session(self._current.parent), self._playground.document.path
        said = {} if path is None else {FILE: str(path.absolute())}
        return replace(session, view={**session.view, **said})

    def _write(self) -> Job:
        """Write the open experiment in the background, as a large one takes a while."""
        self._writing = run(
            _write_session,
            self._session(),
            self._current,
            on_done=self._on_written,
            on_failed=self._on_refused,
            lane=self._lane,
            owner=self,
            doing="saving unsaved work",
        )
        return self._writing

    @Slot()
    def _on_timeout(self) -> None:
        if self._writing is not None and not self._writing.done:
            self._timer.start()
        elif not self._forget_saved():
            self._write()

    def _on_written(self, _: object) -> None:
        self._complained = False
        self.written.emit("")

    def _on_refused(self, problem: str) -> None:
        if not self._complained:  # once, not every few seconds
            self._complain(problem)
        self.written.emit(problem)

    def _complain(self, problem: str) -> None:
        self._complained = True
        self._playground.step_bar.show_message(f"Unsaved work cannot be saved for recovery. {problem}")

    @Slot(str)
    def _on_save_failed(self, problem: str) -> None:
        if self._playground.document.modified:
            kept = "the work is kept for recovery, and offered at the next start"
            more = kept if self.keep() else "it cannot be kept for recovery either"
            self._playground.step_bar.show_message(f"{problem.rstrip('.')}; {more}.")

    @Slot()
    def _on_history_changed(self) -> None:
        if not self._timer.isActive():  # a long drag is saved too
            self._timer.start()

    @Slot(object)
    def _on_view_changed(self, view: "View") -> None:
        """Save changes of the view of unsaved work as well, except for the pointed cell."""
        seen, self._seen = self._seen, _lasting(view)
        if seen != self._seen and self._playground.document.modified:
            self._on_history_changed()


def _write_session(session: Session, path: Path) -> None:
    """Write a session.

    Raises:
    FileError: it cannot be written.
    """
    with contextlib.suppress(OSError):  # the write below reports the reason
        path.parent.mkdir(parents=True, exist_ok=True)
    save_session(session, path)


def _nothing(_: object) -> None:
    """Ignore the result."""


def _lasting(view: "View") -> "View":
    return view if view.pinned else replace(view, cell=None)


def _claim_file(folder: Path, kept: UnsavedFolder) -> tuple[QLockFile | None, Path]:
    """Return the file for unsaved work, and its lock; files left by programs that have ended are listed first.

    Each program running at the same time has its own file. The lock of a killed process does not count.
    """
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if (old := folder / OLD_NAME).is_file():
        kept.take(old)
    own: tuple[QLockFile | None, Path] = None, folder / "current.attnlab"
    for number in range(1, MOST_WINDOWS + 1):
        path = folder / ("current.attnlab" if number == 1 else f"current-{number}.attnlab")
        left = path.is_file()
        if (own[0] is None or left) and (lock := try_lock(path)) is not None:
            if left:
                kept.take(path)
            if own[0] is None:
                own = lock, path
            else:
                lock.unlock()
    return own


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)

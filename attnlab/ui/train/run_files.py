"""Keeps a window's runs on disk: saves them during training in a thread of its own, lists, opens and deletes them."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary, WeakSet

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.training import store
from attnlab.training.queue_file import LeftQueue
from attnlab.training.run import Run, RunState
from attnlab.training.store_manifest import MANIFEST
from attnlab.ui.base import jobs
from attnlab.ui.train.kept_queue import KeptQueue
from attnlab.ui.train.train_session import TrainSession

T = TypeVar("T")
_Standing = tuple[Run, int, str, tuple[int, ...]]

SAVE_MS = 30_000
"""How often a run is saved while it is training."""
LEAVE_S = 5.0
"""How long a closing window waits for a run to be saved, in seconds; after that it closes and saving goes on."""


class RunFiles(QObject):
    """Saves a session's run when it pauses or ends, and regularly between; ``listed`` carries the saved runs.

    If runs are not kept, it leaves the user's folder alone, and lists nothing.
    """

    listed = Signal(object)
    renamed = Signal()
    """A run of the window has another name."""
    failed = Signal(str)
    text_asked = Signal(str, object)
    """A run names this text, which the user has not chosen; call the function to allow reading it."""

    def __init__(self, session: TrainSession, *, keeps: bool = True) -> None:
        super().__init__(session)
        self._session, self._keeps = session, keeps
        self._folders: WeakKeyDictionary[Run, Path] = WeakKeyDictionary()
        self._saved_names: WeakKeyDictionary[Run, str] = WeakKeyDictionary()  # of runs that are being renamed
        self._shipped: WeakKeyDictionary[Run, Path] = WeakKeyDictionary()
        self._last: Run | None = None
        self._saved: _Standing | None = None
        self._lane = jobs.Lane("runs")
        self._queue = KeptQueue()
        self._refused: WeakSet[Run] = WeakSet()
        """The runs that could not be saved the last time."""
        self._closed = False
        self.timer = QTimer(self)
        self.timer.setInterval(SAVE_MS)
        self.timer.timeout.connect(self._on_time_to_save)
        session.started.connect(self._on_started)
        session.progressed.connect(self._on_progressed)
        for over in (session.ended, session.failed):
            over.connect(self._on_over)

    def find_folder(self, run: Run) -> Path | None:
        """Return the folder of a run; None if it is not saved yet."""
        return self._folders.get(run)

    def find_source(self, run: Run) -> Path | None:
        """Return the folder of a run, or that of a lesson from which it was read, which is never written to."""
        return self._folders.get(run) or self._shipped.get(run)

    @property
    def busy(self) -> bool:
        """Whether a run is being read or written."""
        return self._lane.busy

    def close(self) -> None:
        """Save pending runs, waiting briefly, and stop the thread; may be called twice."""
        if not self._closed:
            self.timer.stop()
            self._save(self._session.run, again=True)
            for run in list(self._refused):  # earlier ones, such as one that was reset
                self._write(run)
            self._closed = True
            self._lane.finish()
            self._lane.join(LEAVE_S)
            self._queue.release()

    # Requests

    def refresh(self) -> None:
        """List the saved runs; ``listed`` follows."""
        if self._keeps:
            self._do(store.list_runs, self.listed.emit, "listing the runs")

    def load(
        self,
        folder: Path,
        then: Callable[[Run], None],
        *,
        whole: bool = True,
        shipped: bool = False,
        otherwise: Callable[[str], object] | None = None,
    ) -> None:
        """Read a run and call ``then`` with it; unless ``whole``, without its moments.

        A ``shipped`` run stays as it is: what the user adds to it is saved in a folder of its own. ``otherwise`` is
        called with the sentence of an error, which else is ``failed``.
        """

        limit = self._session.limit

        def read() -> Run | str:
            from attnlab.training import allowed_texts
            from attnlab.training.tasks import check_text, find_own_text

            state = store.load(folder)
            if not allowed_texts.is_allowed(text := find_own_text(state.spec)):
                return text
            run = Run.of(state if whole else replace(state, moments=(), marks=(), checkpoint=None), limit)
            if run.digest:
                run.refused = check_text(run.spec, run.digest)
            return run

        def take(found: Run | str) -> None:
            if isinstance(found, str):
                self.text_asked.emit(found, partial(self._allow, found, partial(self.load, folder, then, whole=whole)))
                return
            (self._shipped if shipped else self._folders)[found] = folder
            then(found)

        def fail(problem: str) -> None:
            self.refresh()  # its folder may have been moved or deleted in a file manager
            (otherwise or self.failed.emit)(problem)

        self._do(read, take, "opening a run", fail)

    def rename(self, folder: Path, name: str) -> None:
        """Give a run another name; it keeps the last one that was saved if this cannot be."""
        runs = [run for run, at in self._folders.items() if at == folder]
        for run in runs:
            self._saved_names.setdefault(run, run.name)
        self._set_names(dict.fromkeys(runs, name))  # at once: a save that begins meanwhile writes it too

        def settle(*, saved: bool) -> None:
            for run in runs:
                if saved and run in self._saved_names:
                    self._saved_names[run] = name
            newest = [run for run in runs if run.name == name]  # else another name is still being saved
            kept = {run: self._saved_names.pop(run, run.name) for run in newest}
            if not saved:
                self._set_names(kept)
            self.refresh()

        def fail(problem: str) -> None:
            settle(saved=False)
            self.failed.emit(f"The run keeps its name. {problem}")

        self._do(partial(_rename_saved, folder, name), lambda _: settle(saved=True), "renaming a run", fail)

    def _set_names(self, names: dict[Run, str]) -> None:
        for run, name in names.items():
            run.name = name
        self.renamed.emit()

    def delete(self, folder: Path) -> None:
        """Delete a run permanently."""
        for run in [run for run, at in self._folders.items() if at == folder]:
            del self._folders[run]
        self._do(partial(store.delete, folder), lambda _: self.refresh(), "deleting a run")

    def _allow(self, text: str, then: Callable[[], None]) -> None:
        from attnlab.training import allowed_texts

        self._do(partial(allowed_texts.allow, text, remember=self._keeps), lambda _: then(), "remembering a text")

    # Automatic saving

    def _save(self, run: Run | None, *, again: bool = False) -> None:
        """Save a run with steps or marks since the last save; with ``again``, also one that could not be saved."""
        now = _read_state(run) if run is not None else None
        if not self._keeps or run is None or len(run.steps) < 1:
            return
        if now == self._saved and not (again and run in self._refused):
            return
        self._saved = now
        self._write(run)

    def keep(self, run: Run) -> None:
        """Save a run that was trained beside the session's, as it is."""
        if self._keeps and len(run.steps):
            self._write(run)

    def leave_queue(self, queue: LeftQueue) -> None:
        """Write a queue down as it stands, for the next window even if this one is killed."""
        if self._keeps:
            self._do(partial(self._queue.write, queue), lambda _: None, "keeping the queue")

    def forget_queue(self) -> None:
        """Leave no queue to the next window."""
        if self._keeps:
            self._do(self._queue.forget, lambda _: None, "forgetting the queue")

    def take_queue(self, then: Callable[[LeftQueue], None]) -> None:
        """Call ``then`` with the queue that the last window left, if there is one."""
        if self._keeps:
            self._do(self._queue.take, lambda found: then(found) if found is not None else None, "reading the queue")

    def _write(self, run: Run) -> None:
        self._refused.discard(run)
        folder = self._folders.get(run) or store.new_folder(run.spec)
        if run not in self._folders:
            self._folders[run] = folder
            with suppress(OSError):  # saving reports this error
                folder.mkdir(parents=True)  # reserves the name
        save = partial(store.save, run.state(), folder)
        self._do(save, lambda _: self.refresh(), "saving the run", partial(self._on_refused, run))

    def _on_refused(self, run: Run, problem: str) -> None:
        self._refused.add(run)
        self.failed.emit(f"The run is not saved. {problem}")

    @Slot()
    def _on_started(self) -> None:
        from attnlab.training.tasks import find_own_text

        self._last = self._session.run
        if self._last is not None and (text := find_own_text(self._last.spec)):  # chosen here, or allowed before
            self._allow(text, lambda: None)
        self.timer.start()

    @Slot()
    def _on_progressed(self) -> None:
        run = self._session.run
        if run is not self._last:
            self._save(self._last, again=True)
            self._last, self._saved = run, None
            if run is not None and self.find_source(run) is not None:
                self._saved = _read_state(run)
            self.refresh()
        elif self._session.state == "paused":
            self._save(run)

    @Slot()
    def _on_time_to_save(self) -> None:
        if self._session.alive:
            self._save(self._session.run, again=True)
        else:
            self.timer.stop()

    @Slot()
    def _on_over(self) -> None:
        self.timer.stop()
        self._save(self._session.run)

    # The thread

    def _do(
        self,
        job: Callable[[], T],
        then: Callable[[T], object],
        doing: str,
        otherwise: Callable[[str], object] | None = None,
    ) -> None:
        if not self._closed:
            failed = otherwise or self.failed.emit
            jobs.run(job, on_done=then, on_failed=failed, lane=self._lane, owner=self, doing=doing)


def _read_state(run: Run) -> _Standing:
    """Return the parts of a run whose change makes a save necessary: step, status and the user's marks."""
    return run, run.step, run.status, tuple(mark.step for mark in run.marks if not mark.suggested)


def _rename_saved(folder: Path, name: str) -> None:
    state: RunState = store.load(folder)
    saved = store.read_summary(folder).saved
    store.save(replace(state, name=name), folder)
    with suppress(OSError):
        os.utime(folder / MANIFEST, (saved, saved))  # a name is no progress: the run keeps its time and its place

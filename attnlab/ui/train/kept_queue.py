"""The file of a window's queue, which no other window takes while this one lives; after a crash the next one does."""

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QLockFile

from attnlab.base.errors import TrainingError
from attnlab.training import queue_file
from attnlab.training.queue_file import LeftQueue
from attnlab.ui.base.locks import try_lock


class KeptQueue:
    """The queue of one window on disk. Its methods read and write; call them from one thread at a time."""

    def __init__(self) -> None:
        self._held: tuple[QLockFile, Path] | None = None

    def take(self) -> LeftQueue | None:
        """Return the queue that a window left which has closed or died; its file stays until :meth:`forget`.

        Raises:
            TrainingError: the file is damaged. It is deleted; the runs that had begun are still on disk.
        """
        for path in queue_file.list_files():
            if not path.is_file() or (lock := _lock(path)) is None:
                continue
            self._held = lock, path
            try:
                return queue_file.read(path)
            except FileNotFoundError:  # its window has just ended it
                self.release()
            except TrainingError:
                self.forget()
                raise
        return None

    def write(self, queue: LeftQueue) -> None:
        """Write the queue as it stands, in a file of this window; raises FileError.

        If as many windows as there are files have a queue, it is not written.
        """
        if self._held is None:
            free = ((lock, path) for path in queue_file.list_files() if not path.is_file() and (lock := _lock(path)))
            self._held = next(free, None)
        if self._held is not None:
            queue_file.leave(queue, self._held[1])

    def forget(self) -> None:
        """Delete the file: nothing waits any more."""
        if self._held is not None:
            with suppress(OSError):
                self._held[1].unlink(missing_ok=True)
            self.release()

    def release(self) -> None:
        """Leave the file to the next window."""
        if self._held is not None:
            self._held[0].unlock()
            self._held = None


def _lock(path: Path) -> QLockFile | None:
    with suppress(OSError):  # writing reports this error
        path.parent.mkdir(parents=True, exist_ok=True)
    return try_lock(path)

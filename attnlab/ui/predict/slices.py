"""Long work in slices: a little each time the window has nothing else to do, with progress, and it can be stopped."""

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.errors import AttnlabError


class Slices(QObject):
    """Runs one job, a step of its generator at a time. A step that raises an AttnlabError ends it with the sentence.

    ``progressed`` says how many steps are done, ``finished`` with which sentence it ended, "" when all went well, and
    ``stopped`` that it was given up.
    """

    progressed = Signal(int)
    finished = Signal(str)
    stopped = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timeout)
        self._job: Iterator[None] | None = None
        self._done = 0

    @property
    def running(self) -> bool:
        """Whether a job is under way."""
        return self._job is not None

    def start(self, job: Iterator[None]) -> None:
        """Begin a job; one that is under way is given up."""
        self.stop()
        self._job, self._done = job, 0
        self._timer.start()

    def stop(self) -> None:
        """Give up the job that is under way, if any."""
        if self._job is not None:
            self._end()
            self.stopped.emit()

    def _end(self) -> None:
        self._timer.stop()
        job, self._job = self._job, None
        close = getattr(job, "close", None)
        if close is not None:
            close()  # what it holds open is closed now

    @Slot()
    def _on_timeout(self) -> None:
        assert self._job is not None
        try:
            next(self._job)
        except StopIteration:
            self._end()
            self.finished.emit("")
        except AttnlabError as error:
            self._end()
            self.finished.emit(str(error))
        else:
            self._done += 1
            self.progressed.emit(self._done)

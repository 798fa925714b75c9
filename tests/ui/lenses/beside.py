"""A substitute for the window that runs a lens's jobs and records their results."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from attnlab.ui.base.jobs import Lane, run


class Beside(QObject):
    """Runs the jobs of one lens; ``job_done`` carries the key and the result, after the lens received it."""

    job_done = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.lane = Lane("lens", self)

    def run(
        self,
        job: Callable[[], Any],
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        latest: Hashable = None,
    ) -> None:
        assert isinstance(on_done, partial)
        done = partial(self._tell, on_done)
        run(job, on_done=done, on_failed=partial(self._tell, on_failed), latest=latest, lane=self.lane, doing="testing")

    def _tell(self, tell: "partial[object]", result: object) -> None:
        tell(result)
        self.job_done.emit(tell.args[0], result)

    def mark(self, name: str) -> None:
        """Emit ``job_done`` with a name when all earlier jobs are done."""
        run(int, on_done=lambda _: self.job_done.emit(name, None), on_failed=print, lane=self.lane, doing="testing")

    def stop(self) -> None:
        self.lane.close()

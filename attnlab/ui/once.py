"""One job for the worker, whose result comes back, once, to whoever asked for it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from attnlab.errors import AttnlabError

if TYPE_CHECKING:
    from attnlab.compute.service import ComputeService


class Once(QObject):
    """Runs a job in the worker and goes: its result is for ``done``, an AttnlabError's sentence for ``refused``."""

    def __init__(
        self, service: "ComputeService", job: Callable[[], Any], done: Callable[[Any], None],
        refused: Callable[[str], None], parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._service, self._done, self._refused = service, done, refused
        self._key = ("once", id(self))
        service.job_done.connect(self._on_job_done)
        service.run(self._key, partial(_answer, job))

    @Slot(object, object)
    def _on_job_done(self, key: object, result: object) -> None:
        if key != self._key:
            return
        self._service.job_done.disconnect(self._on_job_done)
        self.deleteLater()
        if isinstance(result, AttnlabError):
            self._refused(str(result))
        else:
            self._done(result)


def _answer(job: Callable[[], Any]) -> Any:
    try:
        return job()
    except AttnlabError as error:
        return error

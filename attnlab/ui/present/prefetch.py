"""Computes the states of the neighbouring slides in the worker, so that a key finds their numbers ready."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from attnlab.compute.engine import estimate_bytes
from attnlab.compute.service import Reply, Request, answer
from attnlab.ui.base.jobs import run

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.ui.playground.playground import Playground

KEPT = 8
"""The number of states whose numbers are kept; the least recently used go first."""
LARGEST = 64 << 20
"""Bytes of the largest state that is computed ahead; a larger one is computed only when needed."""


class Prefetch(QObject):
    """Caches the traces of a few experiments; ``ready`` says that one was added."""

    ready = Signal()

    def __init__(self, playground: "Playground", parent: QObject) -> None:
        super().__init__(parent)
        self._playground = playground
        self._kept: dict[int, tuple[Experiment, Trace]] = {}
        self._asked: dict[int, Experiment] = {}
        self._must: Experiment | None = None
        self._setting = ("cpu", "float32")

    def find_trace(self, experiment: "Experiment") -> "Trace | None":
        """Return the cached numbers of an experiment in the current precision."""
        if self._setting != self._read_precision():
            self._kept.clear()
            self._setting = self._read_precision()
        kept = self._kept.pop(id(experiment), None)
        if kept is None:
            return None
        self._kept[id(experiment)] = kept
        return kept[1]

    def has_trace(self, trace: "Trace | None") -> bool:
        """Return whether exactly these numbers are cached."""
        return trace is not None and self._kept.get(id(trace.experiment), (None, None))[1] is trace

    def keep(self, trace: "Trace") -> None:
        """Cache numbers that were computed elsewhere."""
        if not self._has_room(trace.experiment):
            return
        self._kept[id(trace.experiment)] = trace.experiment, trace
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def want(self, experiments: "Sequence[Experiment | None]", must: "Experiment | None" = None) -> None:
        """Compute those of these experiments that are not cached, in this order, but ``must`` first.

        ``must`` is kept at any size until it is replaced.
        """
        self._must = must
        self._kept = {at: kept for at, kept in self._kept.items() if self._has_room(kept[0])}
        for experiment in (must, *experiments):
            if experiment is None or id(experiment) in self._asked or self.find_trace(experiment) is not None:
                continue
            if not self._has_room(experiment):
                continue
            self._asked[id(experiment)] = experiment
            request = Request(0, experiment, *self._read_precision(), None, True)
            run(
                answer,
                request,
                on_done=self._on_answered,
                on_failed=partial(self._on_failed, experiment),
                lane=self._playground.lane,
                owner=self,
                doing="computing the neighbouring slides",
            )

    def _has_room(self, experiment: "Experiment") -> bool:
        return experiment is self._must or estimate_bytes(experiment) <= LARGEST

    def _read_precision(self) -> tuple[str, str]:
        scene = self._playground.document.scene
        return scene.device, scene.dtype

    def _on_failed(self, experiment: "Experiment", _sentence: str) -> None:
        self._asked.pop(id(experiment), None)  # the slide asks again, and the window then says why it is empty

    def _on_answered(self, reply: Reply) -> None:
        self._asked.pop(id(reply.request.experiment), None)
        if reply.trace is not None:
            if (reply.request.device, reply.request.dtype) == self._read_precision():
                self.keep(reply.trace)
            self.ready.emit()  # numbers of another precision are dropped and requested again

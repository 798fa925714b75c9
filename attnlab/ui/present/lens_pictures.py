"""Computes the pictures of lenses in the worker, and keeps the latest of each lens."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from attnlab.ui.base.jobs import run
from attnlab.ui.present.lens_values import Shown, has_picture, make_picture

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.lens_content import LensPicture
    from attnlab.ui.playground.playground import Playground

MEASURED = "cost"
"""The lens that measures this machine: not again for other numbers of the same sizes."""


class LensPictures(QObject):
    """Keeps a picture of each lens; ``ready`` says that a newer one was computed."""

    ready = Signal()

    def __init__(self, playground: "Playground", parent: QObject) -> None:
        super().__init__(parent)
        self._playground = playground
        self._kept: dict[str, tuple[object, LensPicture]] = {}
        self._asked: dict[str, object] = {}
        self._failed: dict[str, object] = {}

    def find(self, lens: str, trace: "Trace", shown: Shown, *, wanted: bool) -> "LensPicture | None":
        """Return the picture of a lens for a trace; if it is ``wanted``, compute it, and meanwhile return the last."""
        key, (known, picture) = (_make_key(lens, trace), shown), self._kept.get(lens, (None, None))
        if known == key:
            return picture
        if not wanted or not self.has_picture(lens, trace):
            return None
        if self._asked.get(lens) != key:
            self._asked[lens] = key
            run(
                make_picture,
                lens,
                trace,
                shown,
                on_done=partial(self._keep, lens, key),
                on_failed=partial(self._give_up, lens, key),
                latest=(self, lens),
                lane=self._playground.lane,
                owner=self,
                doing="drawing the lens",
            )
        return picture

    def has_picture(self, lens: str, trace: "Trace | None") -> bool:
        """Return whether a lens is drawn for a trace, unless that failed."""
        return has_picture(lens) and (trace is None or self._failed.get(lens) != _make_key(lens, trace))

    def _keep(self, lens: str, key: tuple[object, Shown], picture: "LensPicture | None") -> None:
        if picture is None:
            self._give_up(lens, key)
            return
        self._kept[lens] = key, picture
        self.ready.emit()

    def _give_up(self, lens: str, key: tuple[object, Shown], _sentence: str = "") -> None:
        self._failed[lens] = key[0]  # the lens is then shown as in the window, which says why
        self.ready.emit()


def _make_key(lens: str, trace: "Trace") -> object:
    e = trace.experiment
    return (e.T_q, e.T_k, e.d_model, e.n_heads, e.config) if lens == MEASURED else id(trace)

"""What every lens has: a name, a trace and a view to show while it can be seen, and the worker for what takes long."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from attnlab.figures.palette import LIGHT, Palette
from attnlab.lessons.lenses import LENSES

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


class Runner(Protocol):
    """Runs a job in the background when no request waits; delivers its result or a sentence in the window's thread."""

    def __call__(
        self,
        job: Callable[[], Any],
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        latest: Hashable = None,
    ) -> object:
        """Run a job, and cancel an earlier one with the same ``latest``."""


class Lens(QWidget):
    """A view beside the canvas. It is given traces only while it can be seen, so hidden it costs nothing.

    It holds no copy of the state: an edit is asked for by ``edit_requested(label, function of an Experiment)``.
    """

    cell_clicked = Signal(object)
    edit_requested = Signal(str, object)
    name = ""

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._palette = LIGHT
        self.setObjectName(f"lens-{self.name}")
        self.setAccessibleName(LENSES[self.name].title if self.name in LENSES else "")

    def ask(self, key: Hashable, job: Callable[[], Any], latest: str = "") -> None:
        """Run a job in the background; ``on_result`` gets its result and the key.

        A job cancels an earlier one with the same ``latest``.
        """
        newest = (self, latest) if latest else None
        self._run(job, partial(self._take, key), partial(self._take_failure, key), newest)

    def _take(self, key: Hashable, result: Any) -> None:
        if isValid(self):  # it may have been deleted with a presentation
            self.on_result(key, result)

    def _take_failure(self, key: Hashable, sentence: str) -> None:
        if isValid(self):
            self.on_failed(key, sentence)

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours, and the present size of type, from now on."""
        self._palette = palette

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show another trace."""
        raise NotImplementedError

    def open_page(self, page: str) -> None:
        """Show one of several pages by name, "" for whichever is open; most lenses have one alone."""

    def show_view(self, view: "View") -> None:
        """Show the same trace as another view asks; most lenses look the same in each."""

    def on_result(self, key: Hashable, result: Any) -> None:
        """Take the result of a job."""

    def on_failed(self, key: Hashable, sentence: str) -> None:
        """Show why a job has no result; most lenses show the sentence in place of the result."""
        self.on_result(key, sentence)

"""The base of every lens: a name, the trace and view to show while visible, and the worker for slow jobs."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


class Runner(Protocol):
    """Runs a job in the background when no request waits; delivers its result or an error in the window's thread."""

    def __call__(
        self,
        job: Callable[[], Any],
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        latest: Hashable = None,
    ) -> object:
        """Run a job, and cancel an earlier one with the same ``latest``."""


class Lens(QWidget):
    """A view that replaces the canvas. It receives traces only while visible, so a hidden lens costs nothing.

    It keeps no copy of the state; it requests edits by ``edit_requested(label, function of an Experiment)``. Before its
    methods a lens has constants: its name, the title and tool tip of its tab, the place of the tab, and the names of
    its pages if it has several. They are read without loading the module, so they must be literals.
    """

    cell_clicked = Signal(object)
    cell_hovered = Signal(object)
    cell_moved = Signal(object)
    alone_requested = Signal(object)
    colours_asked = Signal(str, QPoint)
    card_menu_wanted = Signal(object, QPoint)
    """The last four are those of a canvas, for a lens that has one."""
    edit_requested = Signal(str, object)
    gesture_requested = Signal(str, object, object)
    """Emitted like ``edit_requested`` with a gesture: the edits of one gesture are undone together."""
    export_requested = Signal(object)
    """Emitted with the Sheets to export as a figure."""
    name = ""
    title = ""
    about = ""
    tab_order = 0
    pages: tuple[str, ...] = ()
    is_explained = True
    """Whether the explanation beside the lens tells about what it shows."""
    has_cards = False
    """Whether it has a canvas, whose cards compare the current state with the pinned one."""

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self.setObjectName(f"lens-{self.name}")
        self.setAccessibleName(self.title)

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

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show another trace."""
        raise NotImplementedError

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare with a pinned trace, or with none; only a lens with a canvas does."""

    def open_page(self, page: str) -> None:
        """Show a page by name, "" for the open one; most lenses have only one page."""

    def turn_to(self, stage: str) -> None:
        """Show what a step of a lesson about a stage is about; most lenses show the same for all stages."""

    def show_view(self, view: "View") -> None:
        """Show the same trace with another view; most lenses do not depend on the view."""

    def suits(self, width: int) -> bool:
        """Whether a width in pixels is enough, as any is for most lenses."""
        return True

    def on_result(self, key: Hashable, result: Any) -> None:
        """Handle the result of a job."""

    def on_failed(self, key: Hashable, sentence: str) -> None:
        """Show why a job has no result; most lenses show this in place of the result."""
        self.on_result(key, sentence)

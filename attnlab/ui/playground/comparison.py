"""The comparison of the present state with a pinned one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.base.errors import AttnlabError
from attnlab.document.document import Document
from attnlab.figures.panels.figure_source import Pair, Source

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace


class Comparison(QObject):
    """Holds the pinned state, and chooses which of the two states the cards show."""

    pin_changed = Signal(object)
    """Another state is pinned, or None."""
    look_changed = Signal(bool, str)
    """Whether a state is pinned, and what the cards show: "present", "pinned", "both" or "difference"."""

    def __init__(self, document: Document, find_present: "Callable[[], Trace | None]", parent: QObject) -> None:
        """``find_present`` returns the numbers that are visible, None before the first."""
        super().__init__(parent)
        self._document, self._find_present = document, find_present
        self.pinned: Trace | None = None

    @Slot()
    def toggle(self) -> None:
        """Pin the visible state, or discard the pinned one."""
        self.pin(self._find_present() if self.pinned is None else None)

    def pin(self, trace: "Trace | None") -> None:
        """Keep a state to compare with, None for none; the cards show the present one."""
        self.pinned = trace
        self.pin_changed.emit(trace)
        self.look("present")

    @Slot()
    def pin_before(self) -> None:
        """Pin the visible state before something is removed or moved, to show the difference, unless one is pinned."""
        present = self._find_present()
        if self.pinned is None and present is not None:
            self.pin(present)

    @Slot(object)
    def look(self, look: object) -> None:
        """Show the present state, the pinned one, both or their difference on every card."""
        self._document.show(look=look if self.pinned is not None else "present")
        self.look_changed.emit(self.pinned is not None, self._document.view.look)

    @property
    def shown(self) -> str:
        """What the cards show: "present", "pinned", "both" or "difference"."""
        return self._document.view.look if self.pinned is not None else "present"

    def choose_source(self, trace: "Trace", stage: str = "") -> Source:
        """Return what a figure shows, as the cards do: a state, or the pinned one, or both, or their difference.

        Raises:
            AttnlabError: the card of ``stage`` shows no maps; the sentence says why.
        """
        if self.pinned is None or self.shown == "present":
            return trace
        if self.shown == "both":
            return Pair(self.pinned, trace)
        from attnlab.ui.playground.difference_sheets import make_difference_sheets  # loads torch
        from attnlab.ui.playground.stage_maps import look_at

        view, pinned = self._document.view, self.pinned
        found = make_difference_sheets(trace, pinned, view) if self.shown == "difference" else pinned
        if stage and stage not in found:
            raise AttnlabError(look_at(trace, pinned, trace.stage(stage), view).reason)
        return found

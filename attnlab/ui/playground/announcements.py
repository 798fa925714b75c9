"""What the playground announces to a screen reader: edits, undo, steps, what the cards show, and the held cell."""

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import ref

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAccessible

from attnlab.document.document import View
from attnlab.document.scene import Scene
from attnlab.ui.base.announcing import announce

if TYPE_CHECKING:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.document.document import Document
    from attnlab.ui.playground.canvas import Canvas
    from attnlab.ui.playground.step_bar import StepBar
    from attnlab.ui.widgets.matrix.matrix_view import MatrixView

LOOKS = {
    "present": "Current state",
    "pinned": "Pinned state",
    "both": "Pinned and current state side by side",
    "difference": "Difference from the pinned state",
}


class Announcements(QObject):
    """Follows the document and the numbers of a playground; says nothing while a lesson brings a step's state.

    Create it after the views, which must show a change before it is announced.
    """

    def __init__(
        self, document: "Document", canvas: "Canvas", step_bar: "StepBar", table: "MatrixView", parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document, self._canvas, self._step_bar, self._table = document, canvas, step_bar, table
        history = document.history
        self._index = history.index
        self._shown: ref[Scene] = ref(history.current.scene)
        self._newest: ref[Scene] = ref(history.newest.scene)
        self._view = document.view
        self._held: tuple[Cell | None, str] = (None, "")
        self.is_led: Callable[[], bool] = lambda: False
        """Whether a lesson is changing the document, which says so itself."""
        document.history_changed.connect(self._on_history_changed)
        document.view_changed.connect(self._on_view_changed)

    @Slot()
    def _on_history_changed(self) -> None:
        """Say an edit, or that it was undone or redone; only an edit changes the newest entry."""
        history = self._document.history
        now, newest = history.current, history.newest
        before, index, self._index = self._shown, self._index, history.index
        walked = self._newest() is newest.scene
        self._shown, self._newest = ref(now.scene), ref(newest.scene)
        if before() is now.scene or self.is_led() or not QAccessible.isActive():
            return
        if walked and index == history.index + 1:
            self._say(f"Undid: {history.entries[index].label}", "edit")
        elif walked and index == history.index - 1:
            self._say(f"Redid: {now.label}", "edit")
        elif not (isinstance(now.gesture, tuple) and now.gesture[0] == "table" and self._table.said_edit):
            self._say(f"Back to: {now.label}" if walked else now.label, "edit")

    @Slot(object)
    def _on_view_changed(self, view: View) -> None:
        before, self._view = self._view, view
        if not QAccessible.isActive():
            return
        if (view.cell, view.pinned) != (before.cell, before.pinned):
            self._held = self._find_held()
        if self.is_led():
            return
        if view.at != before.at:
            self._say(self._step_bar.step_text, "step")
        if view.head != before.head:
            self._say(f"Showing head {view.head}" if isinstance(view.head, int) else f"Showing {_HEADS[view.head]}")
        if view.alone != before.alone:
            card = self._canvas.cards.get(view.alone or "")
            self._say(f"{card.title} alone" if card is not None else "All cards")
        if view.look != before.look:
            self._say(LOOKS[view.look])

    @Slot(object)
    def show_computed(self, _: object) -> None:
        """Say the new value of the held cell, if it changed."""
        if not QAccessible.isActive():
            return
        before, self._held = self._held, self._find_held()
        cell, name = self._held
        if cell is not None and before[0] == cell and before[1] not in ("", name) and name and not self.is_led():
            self._say(self._name_held(cell, now=True), "cell")

    def _find_held(self) -> "tuple[Cell | None, str]":
        """Return the held cell, and the cell in words, "" while its card does not show it."""
        view = self._document.view
        cell = view.cell if view.pinned else None
        return cell, self._name_held(cell) if cell is not None else ""

    def _name_held(self, cell: "Cell", *, now: bool = False) -> str:
        card = self._canvas.cards.get(cell.stage)
        if card is None:  # a gradient, whose card in the lens tells itself
            return ""
        place = card.current_cell
        return card.name_cell(place, now=now) if place is not None else ""

    def _say(self, text: str, about: str = "view") -> None:
        announce(text, self._canvas, about)


_HEADS = {"all": "all heads", "mean": "the mean of the heads"}

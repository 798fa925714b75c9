"""Painting the mask: the brush on the cards, and the custom mask that it edits."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.attention import edits
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.ui.playground.lens_bar import CANVAS

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground

HINT = "Drag over cells or press Space to mask or unmask; Esc ends painting."


class MaskPainting(QObject):
    """Switches the brush of a playground on and off, and turns its strokes into edits of the custom mask."""

    def __init__(self, playground: "Playground") -> None:
        super().__init__(playground)
        self._playground = playground
        self._stroke = 0, True  # the gesture, and whether it masks or unmasks

    @Slot()
    def toggle(self) -> None:
        """Start or stop painting."""
        self.set_painting(not self._playground.canvas.painting)

    def set_painting(self, on: bool) -> None:
        """Start or stop painting; starting shows a map on the canvas, as only its cards can be painted."""
        playground = self._playground
        playground.canvas.set_painting(on)
        playground.top_bar.switches.show_painting(on)
        if on:
            playground.lenses.open_lens(CANVAS)
            playground.comparison.look("present")
            self._show_map()
            playground.step_bar.show_note(HINT)
        elif playground.step_bar.message == HINT:
            playground.step_bar.show_message("")

    def _show_map(self) -> None:
        """Scroll to the weights, unless a card that can be painted is whole in view."""
        canvas, document = self._playground.canvas, self._playground.document
        if document.view.alone is not None and not BY_NAME[document.view.alone].is_map:
            document.show(alone=None)
        maps = [card.geometry() for card in canvas.cards.values() if card.stage.is_map and card.isVisible()]
        if not any(map(canvas.rect().contains, maps)):
            canvas.show_card("weights")

    @Slot()
    def clear(self) -> None:
        """Remove the custom mask."""
        self._playground.document.edit("Clear the painted mask", lambda e: edits.configure(e, mask=None))

    @Slot(object, int)
    def paint_cell(self, cell: Cell, gesture: int) -> None:
        """Mask or unmask a pair of query and key; the first pair of a gesture decides which for all of it."""
        document = self._playground.document
        e = document.experiment
        if cell.row >= e.T_q or cell.column >= e.T_k:
            return  # the cards show a state of another size
        if gesture != self._stroke[0]:
            self._stroke = gesture, e.config.mask is None or bool(e.config.mask[cell.row, cell.column])
        hide = self._stroke[1]
        label = f"{'Mask' if hide else 'Unmask'} by brush"
        document.edit(label, lambda e: edits.paint_mask(e, cell.row, cell.column, not hide), ("brush", gesture))
